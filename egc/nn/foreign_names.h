// The names and orders that other implementations of the layers use for their parameters.
#pragma once

#include <string_view>

#include "egc/tensor/nd_array.h"

namespace egc::nn {

// The shape of a layer's weighting, for reordering it.
struct ForeignShape {
  int64_t heads = 1;
  int64_t bases = 1;
  int64_t aggregators = 1;
};

// A layer's state under our names and in our orders. Known are those of PyTorch Geometric (whose
// names ours are) and of the authors' release: one bases matrix [F, L] per basis, weights ordered
// (h, b, a). A gradient by those names is translated the same way. Throws kModel where shapes do
// not fit together.
State conv_state(std::string_view layer, const ForeignShape& shape, const State& foreign);

// The way back to the names and orders of the authors' release.
State authors_conv_state(std::string_view layer, const ForeignShape& shape, const State& own);

}  // namespace egc::nn
