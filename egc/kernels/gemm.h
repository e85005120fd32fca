// Dense products: a Linear's forward and its two gradients. The matrix of weights is packed once,
// into panels of a few vectors; rows are read where they are. No threads here, no allocation.
//
// Every element is one chain of fused multiply-adds in order: its bits depend neither on the
// number of rows or columns nor on the blocks they are computed in. (Plain scalar code rounds
// the product as well.)
#pragma once

#include <cstdint>

namespace egc::kernels {

// Elements of a packed matrix [k, n], padding included; enough for every instruction set. What is
// packed on one instruction set is not readable on another. Fastest where aligned to 64 bytes.
template <class T>
int64_t packed_size(int64_t k, int64_t n);

// w: [n, k], rows ldw apart. Packs w' for y = x w', the forward pass.
template <class T>
void pack_transposed(const T* w, int64_t ldw, int64_t k, int64_t n, T* packed);

// w: [k, n], rows ldw apart. Packs w for y = x w, the gradient of the input.
template <class T>
void pack(const T* w, int64_t ldw, int64_t k, int64_t n, T* packed);

// y = x * packed + bias, or y += x * packed: then the bias is ignored.
// x: [m, k]  packed: [k, n]  bias: [n] or null  y: [m, n]; the rows of x are ldx apart, of y ldy.
template <class T>
void gemm(int64_t m, int64_t n, int64_t k, const T* x, int64_t ldx, const T* packed, const T* bias,
          bool accumulate, T* y, int64_t ldy);

// y = x w, or y += x w, with w as it is: for fewer rows than packing is worth. The same bits.
// x: [m, k]  w: [k, n]  y: [m, n], rows ldx, ldw and ldy apart.
template <class T>
void gemm_unpacked(int64_t m, int64_t n, int64_t k, const T* x, int64_t ldx, const T* w,
                   int64_t ldw, bool accumulate, T* y, int64_t ldy);

// w = g' x, or w += g' x: the gradient of the weights, summed over the rows in order.
// g: [m, o]  x: [m, i]  w: [o, i], rows ldg, ldx and ldw apart.
template <class T>
void gemm_grad_weight(int64_t m, int64_t o, int64_t i, const T* g, int64_t ldg, const T* x,
                      int64_t ldx, bool accumulate, T* w, int64_t ldw);

}  // namespace egc::kernels
