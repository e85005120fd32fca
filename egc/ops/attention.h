// Attention of GAT and GATv2 on tensors, with autograd. Memory O(V): nothing is kept per edge.
// Graphs with edge weights are refused: neither definition has a place for them.
#pragma once

#include <ATen/core/Tensor.h>

#include "egc/graph/csr.h"
#include "egc/ops/epilogue.h"

namespace egc::ops {

struct AttentionShape {
  int64_t heads = 1;
  double negative_slope = 0.2;  // of the leaky ReLU, in [0, 1]
  bool self_loops = true;       // one for every node; loops of the graph are replaced
};

// values: [N, H*C].   scores: [N, 2*H], what a node gives as a source, then as a target.
// bias: [H*C] or undefined.   Result: [N, H*C]. Differentiable in values, scores and bias.
at::Tensor gat_attention(const Csr& graph, const AttentionShape& shape, const at::Tensor& values,
                         const at::Tensor& scores, const at::Tensor& bias,
                         const EpilogueTensors& epilogue = {});

// query: as values.   attention: [H*C]. Differentiable in these too.
at::Tensor gatv2_attention(const Csr& graph, const AttentionShape& shape, const at::Tensor& values,
                           const at::Tensor& query, const at::Tensor& attention,
                           const at::Tensor& bias, const EpilogueTensors& epilogue = {});

}  // namespace egc::ops
