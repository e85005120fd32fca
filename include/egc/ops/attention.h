// Attention of GAT and GATv2. Memory O(V): nothing is kept per edge.
// Graphs with edge weights are refused: neither definition has a place for them.
#pragma once

#include "egc/graph/csr.h"
#include "egc/ops/epilogue.h"

namespace egc::ops {

struct AttentionShape {
  int64_t heads = 1;
  double negative_slope = 0.2;  // of the leaky ReLU, in [0, 1]
  bool self_loops = true;       // one for every node; loops of the graph are replaced
};

// values: [N, H*C].   scores: [N, 2*H], what a node gives as a source, then as a target.
// bias: [1, H*C] or undefined.   Result: [N, H*C]. Differentiable in values, scores and bias.
Tensor gat_attention(Tape& tape, const Csr& graph, const AttentionShape& shape,
                     const Tensor& values, const Tensor& scores, const Tensor& bias,
                     const EpilogueTensors& epilogue = {});

// query: as values.   attention: [H, C]. Differentiable in these too.
Tensor gatv2_attention(Tape& tape, const Csr& graph, const AttentionShape& shape,
                       const Tensor& values, const Tensor& query, const Tensor& attention,
                       const Tensor& bias, const EpilogueTensors& epilogue = {});

}  // namespace egc::ops
