// A matrix put together of blocks of others, zero elsewhere: for weights that several parameters
// share a product in.
#pragma once

#include <vector>

#include "egc/tensor/tape.h"

namespace egc::ops {

// `rows` x `columns` of `from` at (from_row, from_column), which go to (to_row, to_column); or,
// transposed, to `columns` x `rows` there.
struct AssemblyBlock {
  Tensor from;
  int64_t from_row = 0;
  int64_t from_column = 0;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t to_row = 0;
  int64_t to_column = 0;
  bool transposed = false;
};

// Blocks do not overlap in the result. Differentiable in what they are taken from. For small
// matrices: it is serial.
Tensor assemble(Tape& tape, int64_t rows, int64_t columns,
                const std::vector<AssemblyBlock>& blocks);

}  // namespace egc::ops
