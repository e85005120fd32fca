// The last pass of the fused backward: the gradients of max and min go to the sources that won.
#pragma once

#include <cstdint>
#include <type_traits>

#include "egc/kernels/csr_view.h"

namespace egc::kernels {

// The gradient of max, and of min, is one source and one value per target and column.
template <class T>
struct Winners {
  using Index = std::conditional_t<std::is_const_v<T>, const int32_t, int32_t>;
  Index* source = nullptr;  // [winners, N, B*width], -1: none (an empty row)
  T* gradient = nullptr;    // [winners, N, B*width]
};

// Adds to grad_bases [num_sources, columns] the columns [begin, end) of one kind of winners of all
// targets, in the order of the targets. own: whether a target is one of its own sources, with a
// loop that the graph does not have. cached: whether grad_bases fits the caches.
template <class T>
void backward_winners(const CsrView& graph, bool own, bool cached, int64_t columns, int64_t begin,
                      int64_t end, Winners<const T> winners, T* grad_bases);

}  // namespace egc::kernels
