// What edges add to messages: m = phi(x_j + e), with e = table[type] + values . linear and phi the
// identity or ReLU.
#pragma once

#include <cstdint>

namespace egc::kernels {

// Rows of `table` and of `linear` have the columns of a slice of the bases.
template <class T>
struct EdgeTerm {
  const T* table = nullptr;       // [types + 1]: the last row is that of added loops; null: no term
  int64_t types = 0;              // at least 1
  const int32_t* type = nullptr;  // [E]; null: all edges have type 0
  const T* values = nullptr;      // [E, columns]
  const T* linear = nullptr;      // [columns]
  int64_t columns = 0;
  bool relu = false;

  bool present() const { return table != nullptr; }
  // Rows of the table and of `linear`, that is, of the gradient: [table; linear].
  int64_t rows() const { return present() ? types + 1 + columns : 0; }
};

}  // namespace egc::kernels
