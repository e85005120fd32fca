// Dense products that threads cannot change: rows are cut into blocks of fixed size with one
// single-threaded GEMM per block and term, and weight gradients are added up over blocks in a fixed
// order. Below autograd: the operators that use this make their own nodes.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "egc/kernels/csr_view.h"

namespace egc::ops {

// y = x w' + bias, or y += x w'. Matrices may be column ranges of wider ones.
struct GemmTerm {
  at::Tensor x;     // [N, i]
  at::Tensor w;     // [o, i]
  at::Tensor y;     // [N, o]
  at::Tensor bias;  // [o] or undefined
  bool accumulate = false;
};

// The terms in order for every block of rows; then `finish`, if given, for the same block while its
// rows are still in the caches.
void blocked_gemm(int64_t rows, const std::vector<GemmTerm>& terms,
                  const std::function<void(RowRange)>& finish = {});

// The gradients of a term: grad_w = grad_y' x and grad_x = grad_y w.
struct GemmGradTerm {
  at::Tensor x;
  at::Tensor w;
  at::Tensor grad_y;
  at::Tensor grad_x;  // undefined where nobody asks
  bool accumulate = false;
};

// Fills the grad_x of the terms; gives their grad_w, one [o, i] each.
std::vector<at::Tensor> blocked_gemm_backward(int64_t rows, const std::vector<GemmGradTerm>& terms);

}  // namespace egc::ops
