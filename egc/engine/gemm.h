// Dense products over whole matrices, with threads. Rows are cut into blocks of fixed size and
// gradients of weights are added up in a fixed order: the same bits for any number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "egc/kernels/csr_view.h"

namespace egc {

// A matrix, or a range of columns of one: rows are `stride` apart.
template <class T>
struct Columns {
  T* data = nullptr;
  int64_t stride = 0;
};

// y = x w' + bias, or y += x w'.   x: [rows, in].   w: [out, in].   y: [rows, out].
template <class T>
struct GemmTerm {
  int64_t in = 0;
  int64_t out = 0;
  Columns<const T> x;
  Columns<const T> w;
  Columns<T> y;
  const T* bias = nullptr;  // [out] or null
  bool accumulate = false;
};

// The terms in order for every block of rows; then `finish`, if given, for the same block while its
// rows are still in the caches.
template <class T>
void gemm(int64_t rows, std::span<const GemmTerm<T>> terms,
          const std::function<void(RowRange)>& finish = {});

// The gradients of a term: grad_w = grad_y' x and grad_x = grad_y w. Null: nobody asks.
template <class T>
struct GemmGradTerm {
  int64_t in = 0;
  int64_t out = 0;
  Columns<const T> x;
  Columns<const T> w;
  Columns<const T> grad_y;
  Columns<T> grad_x = {};
  bool add_to_x = false;
  Columns<T> grad_w = {};
  bool add_to_w = false;
};

template <class T>
void gemm_backward(int64_t rows, std::span<const GemmGradTerm<T>> terms);

}  // namespace egc
