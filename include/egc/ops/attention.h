// Attention of GAT and GATv2 in O(V) memory: scores are recomputed in the backward pass instead of
// stored per edge. Throws kUsage for graphs with edge weights, which neither definition has.
#pragma once

#include "egc/graph/csr.h"
#include "egc/ops/epilogue.h"

namespace egc::ops {

// Options of an attention.
struct AttentionShape {
  int64_t heads = 1;            // number of heads H
  double negative_slope = 0.2;  // of the leaky ReLU, in [0, 1]
  bool self_loops = true;       // add one to every node; they replace those of the graph
};

// GAT: a softmax over neighbours of leaky_relu(score of source + score of target). values: [N,
// H*C].   scores: [N, 2*H], each node's scores as a source, then as a target. bias: [1, H*C] or
// undefined.   Result: [N, H*C]. Differentiable in values, scores and bias.
Tensor gat_attention(Tape& tape, const Csr& graph, const AttentionShape& shape,
                     const Tensor& values, const Tensor& scores, const Tensor& bias,
                     const EpilogueTensors& epilogue = {});

// GATv2: scores are attention . leaky_relu(value of source + query of target). values, query: [N,
// H*C].   attention: [H, C].   bias: [1, H*C] or undefined. Result: [N, H*C]. Differentiable in
// values, query, attention and bias.
Tensor gatv2_attention(Tape& tape, const Csr& graph, const AttentionShape& shape,
                       const Tensor& values, const Tensor& query, const Tensor& attention,
                       const Tensor& bias, const EpilogueTensors& epilogue = {});

}  // namespace egc::ops
