// Attention over in-edges (GAT and GATv2), forward and backward, in O(V) memory: scores are
// softmaxed row by row and recomputed in the backward pass, nothing is kept per edge.
// Scalar truth: reference.cpp. Plain functions over a row range; no threads here.
//
// For target i, head h and its in-neighbours j:
//   GAT:   s_ij = leaky(source_score[j, h] + target_score[i, h])
//   GATv2: s_ij = <attention[h], leaky(values[j, h] + query[i, h])>
//   alpha_ij = softmax over j of s_ij,   y[i, h] = sum over j of alpha_ij * values[j, h]
// The mathematics of the passes is in docs/kernels.md.
#pragma once

#include <cstdint>

#include "egc/kernels/csr_view.h"

namespace egc::kernels {

template <class T>
struct AttentionInput {
  CsrView graph;              // edge weights are not used
  bool self_loops = false;    // one loop for every row, first; loops of the graph are replaced
  bool is_v2 = false;         // GATv2
  int64_t heads = 1;          // H
  int64_t width = 0;          // C
  T slope = T{0.2};           // of the leaky ReLU, in [0, 1]
  const T* values = nullptr;  // [num_sources, H*C]
  // GAT
  const T* source_score = nullptr;  // [num_sources, H]
  const T* target_score = nullptr;  // [N, H]
  // GATv2
  const T* query = nullptr;      // [N, H*C]
  const T* attention = nullptr;  // [H*C]
  bool prefetch = false;         // pays when the values do not fit the caches

  int64_t columns() const { return heads * width; }
};

// What training keeps of the forward pass.
template <class T>
struct AttentionSaved {
  T* softmax = nullptr;  // [N, 2, H]: the greatest score, and 1 / the sum of exponentials
  // GAT only: as y, but every alpha times the slope of its leaky ReLU; and the sum of those alphas.
  // With them the gradient of target_score needs no walk over the neighbours.
  T* sloped_y = nullptr;    // [N, H*C]
  T* sloped_sum = nullptr;  // [N, H]
};

// Scratch of one call: values, and neighbour ids. `max_degree` is the longest row of the graph (of
// the transposed one for attention_sources).
inline int64_t attention_scratch_size(int64_t heads, int64_t max_degree) {
  return 5 * ((max_degree + 1) * heads + 16) + 2 * heads;
}

// bias: [H*C] or null.   out: [N, H*C].   saved: empty for inference.
template <class T>
void attention_forward(const AttentionInput<T>& in, RowRange rows, const T* bias, T* out,
                       const AttentionSaved<T>& saved, T* scratch, int32_t* neighbours);

template <class T>
struct AttentionGrad {
  const T* grad_out = nullptr;  // [N, H*C]
  const T* out = nullptr;       // what forward wrote
  const T* bias = nullptr;      // what it added
  AttentionSaved<T> saved;
  // Written by attention_targets, read by attention_sources. [N, 4, H]: target_score, the two of
  // saved.softmax, and <grad_out, y>.
  T* records = nullptr;
};

// Pass 1, over targets: the records, and grad_target_score [N, H] (GAT) or grad_query [N, H*C] and
// grad_attention [H*C], which is added to (GATv2).
template <class T>
void attention_targets(const AttentionInput<T>& in, const AttentionGrad<T>& grad, RowRange rows,
                       T* grad_target_score, T* grad_query, T* grad_attention, T* scratch,
                       int32_t* neighbours);

// Pass 2, over sources, along the transposed graph: grad_values [num_sources, H*C] and, for GAT,
// grad_source_score [num_sources, H].
template <class T>
void attention_sources(const AttentionInput<T>& in, const AttentionGrad<T>& grad,
                       CsrView transposed, RowRange sources, T* grad_values, T* grad_source_score,
                       T* scratch, int32_t* neighbours);

}  // namespace egc::kernels
