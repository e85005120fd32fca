// The one interface of all graph layers.
#pragma once

#include <memory>

#include "egc/graph/csr.h"
#include "egc/nn/module.h"
#include "egc/ops/epilogue.h"

namespace egc::nn {

// Products of two widths stay far from the limits of 64 bits.
inline constexpr int64_t kMaxChannels = int64_t{1} << 24;

class Conv : public Module {
 public:
  // x: [N, in], N = nodes of the (square) graph.   Result: [N, out]. The epilogue is what an
  // inference pass folds in; it has no gradient.
  virtual Tensor forward(Tape& tape, const Tensor& x, const Csr& graph,
                         const ops::EpilogueTensors& epilogue = {}) = 0;
};

// Throws unless x fits the layer and the graph.
void check_conv_input(const char* layer, const Tensor& x, const Csr& graph, int64_t in_channels);

}  // namespace egc::nn
