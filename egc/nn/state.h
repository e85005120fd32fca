// Parameters and buffers by name: taking them into a module, and reading the names and orders that
// other implementations of the layers use.
#pragma once

#include <torch/nn/module.h>

#include <map>
#include <string>
#include <string_view>

#include "egc/core/safetensors.h"

namespace egc::nn {

using State = std::map<std::string, at::Tensor>;

// A copy of a tensor in a file. Types that LibTorch has; others are ErrorKind::kModel.
at::Tensor to_tensor(const TensorView& view);

// All parameters and buffers.
State state_of(const torch::nn::Module& module);

// Every parameter and buffer must be there, with its shape, and nothing else. Types are converted.
void load_state(torch::nn::Module& module, const State& state, const std::string& where);

// The shape of a layer's weighting, for reordering it.
struct ForeignShape {
  int64_t heads = 1;
  int64_t bases = 1;
  int64_t aggregators = 1;
};

// A layer's state under our names and in our orders. Known are those of PyTorch Geometric (whose
// names ours are) and of the authors' release: one bases matrix [F, L] per basis, weights ordered
// (h, b, a). A gradient by those names is translated the same way.
State conv_state(std::string_view layer, const ForeignShape& shape, const State& foreign);

// The way back to the names and orders of the authors' release.
State authors_conv_state(std::string_view layer, const ForeignShape& shape, const State& own);

}  // namespace egc::nn
