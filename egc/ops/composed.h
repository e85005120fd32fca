// The fused operator composed of ATen calls: what a LibTorch user would write. Serves devices
// without kernels of ours, and as a second, independent oracle. Memory O(E * B*L); gradients by
// autograd, so at ties max and min share their gradient instead of giving it to the first winner.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/Optional.h>

#include "egc/graph/csr.h"
#include "egc/kernels/fused_aggregate.h"

namespace egc::ops {

// The edge lists that the composed operator needs, made once for a graph and kept, as its users do.
struct ComposedGraph {
  ComposedGraph(const Csr& graph, const kernels::FusedShape& shape,
                const at::TensorOptions& options);

  // An edge list, with or without self-loops, and with the factor of each message.
  struct Edges {
    at::Tensor source;  // [E]
    at::Tensor target;  // [E]
    at::Tensor weight;  // [E, 1], or undefined: 1
  };
  int64_t num_targets;
  Edges plain;
  at::Tensor count;  // [N, 1] in-edges of `plain`, at least 1
  Edges sym;         // weight: the symmetric normalisation; empty without symnorm
};

// What compositions are made of.   messages: [E, C].   target: [E].   Results: [rows, C], 0 for a
// row without messages.
at::Tensor sum_over(const at::Tensor& messages, const at::Tensor& target, int64_t rows);
// reduce: amax or amin.
at::Tensor extremum_over(const at::Tensor& messages, const at::Tensor& target, int64_t rows,
                         const char* reduce);

// Arguments as ops::fused_aggregate, bases row-major.
at::Tensor composed_aggregate(const ComposedGraph& graph, const kernels::FusedShape& shape,
                              const at::Tensor& bases, const at::Tensor& weights,
                              const c10::optional<at::Tensor>& bias);
inline at::Tensor composed_aggregate(const Csr& graph, const kernels::FusedShape& shape,
                                     const at::Tensor& bases, const at::Tensor& weights,
                                     const c10::optional<at::Tensor>& bias) {
  return composed_aggregate(ComposedGraph(graph, shape, bases.options()), shape, bases, weights,
                            bias);
}

}  // namespace egc::ops
