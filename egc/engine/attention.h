// Attention over a whole graph (kernels/attention.h), with threads; the same bits for any number.
#pragma once

#include "egc/engine/epilogue.h"
#include "egc/graph/csr.h"
#include "egc/kernels/attention.h"

namespace egc {

// `in` is filled by the caller but for graph and prefetch.   out: [N, H*C].   bias: [H*C] or null.
template <class T>
void attention_forward(const Csr& graph, kernels::AttentionInput<T> in, const T* bias, T* out,
                       const kernels::AttentionSaved<T>& saved, const Epilogue<T>& epilogue);

// Where the gradients go; GAT has the scores, GATv2 the query and the attention vector.
template <class T>
struct AttentionGradients {
  T* values = nullptr;
  T* source_score = nullptr;
  T* target_score = nullptr;
  T* query = nullptr;
  T* attention = nullptr;
};

// `grad` is filled by the caller but for the records.
template <class T>
void attention_backward(const Csr& graph, kernels::AttentionInput<T> in,
                        kernels::AttentionGrad<T> grad, const AttentionGradients<T>& out);

}  // namespace egc
