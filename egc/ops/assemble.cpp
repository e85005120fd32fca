#include "egc/ops/assemble.h"

#include <algorithm>

namespace egc::ops {
namespace {

// Calls f(element of the block's matrix, element of the result) by their positions.
template <class F>
void for_each_element(const AssemblyBlock& b, int64_t result_columns, F&& f) {
  const int64_t from_columns = b.from.columns();
  for (int64_t r = 0; r < b.rows; ++r)
    for (int64_t c = 0; c < b.columns; ++c) {
      const int64_t row = b.to_row + (b.transposed ? c : r);
      const int64_t column = b.to_column + (b.transposed ? r : c);
      f((b.from_row + r) * from_columns + b.from_column + c, row * result_columns + column);
    }
}

template <class T>
void backward(const std::vector<AssemblyBlock>& blocks, const Tensor& grad) {
  for (const AssemblyBlock& b : blocks) {
    if (b.from.gradient() == nullptr) continue;
    const auto sink = b.from.gradient()->sink(b.from.rows(), b.from.columns(), grad.dtype());
    if (!sink.accumulate) sink.to.fill(0);
    T* to = sink.to.data<T>();
    const T* g = grad.data<T>();
    for_each_element(b, grad.columns(), [&](int64_t from, int64_t at) { to[from] += g[at]; });
  }
}

}  // namespace

Tensor assemble(Tape& tape, int64_t rows, int64_t columns,
                const std::vector<AssemblyBlock>& blocks) {
  check(!blocks.empty(), "assemble: a block is needed");
  const DType type = blocks[0].from.dtype();
  Tensor out = Tensor::zeros(rows, columns, type);
  std::vector<Tensor> inputs;
  for (const AssemblyBlock& b : blocks) {
    expect_matrix("assemble", "a block", b.from, kAnySize, kAnySize, type);
    const int64_t high = b.transposed ? b.columns : b.rows;
    const int64_t wide = b.transposed ? b.rows : b.columns;
    const bool rises =
        std::min({b.rows, b.columns, b.from_row, b.from_column, b.to_row, b.to_column}) >= 0;
    check(rises && b.from_row + b.rows <= b.from.rows() &&
              b.from_column + b.columns <= b.from.columns() && b.to_row + high <= rows &&
              b.to_column + wide <= columns,
          "assemble: a block [{}, {}] from ({}, {}) of {} does not fit at ({}, {}) of [{}, {}]",
          b.rows, b.columns, b.from_row, b.from_column, describe(b.from), b.to_row, b.to_column,
          rows, columns);
    with_type(type, [&](auto zero) {
      using T = decltype(zero);
      const T* from = b.from.data<T>();
      T* to = out.data<T>();
      for_each_element(b, columns, [&](int64_t at, int64_t place) { to[place] = from[at]; });
    });
    inputs.push_back(b.from);
  }
  if (tape.wants(inputs))
    tape.record(out, inputs, [blocks](const Tensor& grad) {
      with_type(grad.dtype(), [&](auto zero) { backward<decltype(zero)>(blocks, grad); });
    });
  return out;
}

}  // namespace egc::ops
