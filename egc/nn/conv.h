// The one interface of all graph layers.
#pragma once

#include <torch/nn/cloneable.h>

#include <memory>

#include "egc/graph/csr.h"
#include "egc/ops/epilogue.h"

namespace egc::nn {

// Products of two widths stay far from the limits of 64 bits.
inline constexpr int64_t kMostChannels = int64_t{1} << 24;

class Conv {
 public:
  virtual ~Conv() = default;

  // x: [N, in], N = nodes of the (square) graph.   Result: [N, out]. The epilogue is what an
  // inference pass folds in; it has no gradient.
  virtual at::Tensor forward(const at::Tensor& x, const Csr& graph,
                             const ops::EpilogueTensors& epilogue = {}) = 0;
};

// A layer is a LibTorch module and a Conv.
template <class Derived>
class ConvModule : public torch::nn::Cloneable<Derived>, public Conv {
 public:
  // The parameters' values as they are before training.
  virtual void reset_parameters() = 0;
};

// The module behind a Conv, for registering it in a network.
inline std::shared_ptr<torch::nn::Module> as_module(const std::shared_ptr<Conv>& conv) {
  return std::dynamic_pointer_cast<torch::nn::Module>(conv);
}

// Throws unless x fits the layer and the graph.
void check_conv_input(const char* layer, const at::Tensor& x, const Csr& graph,
                      int64_t in_channels);

}  // namespace egc::nn
