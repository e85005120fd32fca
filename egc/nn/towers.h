// Towers: a layer's columns cut into groups, each with weights of its own, and messages that are
// linear in both ends.
//
// A message W [x_i || x_j] + b is the sum of a part of the target and a part of the source. What is
// the same for all neighbours of i can be taken out of every aggregator (sum, mean, max, min move
// with it, the variance does not see it), so only the source's part is aggregated, in the fused
// pass, and no message is ever stored: memory O(V) instead of O(E).
#pragma once

#include <vector>

#include "egc/graph/csr.h"
#include "egc/nn/linear.h"

namespace egc::nn {

struct Towers {
  int64_t count = 4;
  int64_t in = 0;  // columns of a tower
  int64_t out = 0;
};

// Checked: both widths divide by the number of towers.
Towers make_towers(const char* layer, int64_t in_channels, int64_t out_channels, int64_t count);

// Registers `count` Linears as "<name>.<t>" or "<name>.<t>.0" (`nested`).
std::vector<Linear> register_towers(torch::nn::Module& parent, const char* name, int64_t count,
                                    int64_t in, int64_t out, bool nested);

struct MessageParts {
  at::Tensor of_target;  // [N, T*out], the bias included
  at::Tensor of_source;  // [N, T*out]
};
// x: [N, T*in].   messages: per tower a Linear of [x_i || x_j], weight [out, 2*in].
MessageParts message_parts(const Towers& towers, const std::vector<Linear>& messages,
                           const at::Tensor& x);

// In-edges of every node, [N, 1]. Graphs with edge weights are refused.
at::Tensor in_degrees(const Csr& graph, const at::TensorOptions& options);

}  // namespace egc::nn
