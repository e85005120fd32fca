// The interface of all graph layers.
#pragma once

#include <memory>

#include "egc/graph/csr.h"
#include "egc/nn/module.h"
#include "egc/ops/epilogue.h"

namespace egc::nn {

// Maximum number of input or output channels: products of two widths cannot overflow.
inline constexpr int64_t kMaxChannels = int64_t{1} << 24;

// A graph layer. nn/conv_table.h makes one by name.
class Conv : public Module {
 public:
  // x: [N, in_channels], N = nodes of the square graph.   Result: [N, out_channels]. `epilogue` is
  // applied to the result; inference only.
  virtual Tensor forward(Tape& tape, const Tensor& x, const Csr& graph,
                         const ops::EpilogueTensors& epilogue = {}) = 0;
};

// Throws kUsage unless x is [N, in_channels] for the N nodes of the graph.
void check_conv_input(const char* layer, const Tensor& x, const Csr& graph, int64_t in_channels);

}  // namespace egc::nn
