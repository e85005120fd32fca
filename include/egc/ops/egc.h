// The EGC operator, from x and the parameters of a layer to its output:
//   y[i, h] = sum over aggregators a and bases b of w[i, h, a, b] * agg_a(x Theta_b')[i] + bias[h]
//   w = activation(x Phi' + phi_bias)
// With an edge term, agg_a runs over the messages phi(x_j Theta_b' + e_ij) instead.
#pragma once

#include "egc/graph/csr.h"
#include "egc/kernels/aggregator.h"
#include "egc/ops/edge_term.h"
#include "egc/ops/epilogue.h"
#include "egc/ops/weight_activation.h"

namespace egc::ops {

// Options of EGC: A aggregators, H heads, B bases, each L columns wide.
struct EgcShape {
  AggregatorSet aggregators;               // in the order of the combination weights
  SelfLoops self_loops = SelfLoops::kAll;  // which aggregators see the node itself
  int64_t heads = 1;                       // H
  int64_t bases = 1;                       // B
  WeightActivation activation = WeightActivation::kIdentity;  // of the combination weights
};

// Parameters of EGC for F input columns.
struct EgcWeights {
  Tensor theta;      // [B*L, F], makes the bases
  Tensor phi;        // [H*A*B, F], makes the combination weights; rows ordered (h, a, b)
  Tensor phi_bias;   // [1, H*A*B] or undefined
  Tensor bias;       // [1, H*L] or undefined
  EdgeTerm edges{};  // of B*L columns, or absent
};

// The whole operator. x: [num_own_sources, F].   x_target: [num_targets, F], for graphs whose
// targets are other nodes; undefined: x.   Result: [num_targets, H*L]. Differentiable in x,
// x_target and the weights. In a partition, x has the rows of its own nodes; the halo is exchanged
// by the operator.
Tensor egc(Tape& tape, const EgcShape& shape, const EgcWeights& weights, const Tensor& x,
           const Csr& graph, const EpilogueTensors& epilogue = {}, const Tensor& x_target = {});

// What the forward pass keeps for the backward pass.
struct EgcProducts {
  Tensor bases;    // [num_sources, B*L], its columns in an order of the engine's own
  Tensor weights;  // [num_targets, H*A*B], activated
};

// The two passes without a tape, for callers who own all memory. The forward pass writes out:
// [num_targets, H*L] and the products. The backward pass adds to the gradients of x, x_target and
// the weights, of those tensors that have one.
void egc_forward(const EgcShape& shape, const EgcWeights& weights, const Tensor& x,
                 const Tensor& x_target, const Csr& graph, EgcProducts& products,
                 const Tensor& out);
// As above.
void egc_backward(const EgcShape& shape, const EgcWeights& weights, const Tensor& x,
                  const Tensor& x_target, const Csr& graph, const EgcProducts& products,
                  const Tensor& grad_out);

// The second half alone, on given bases and combination weights, for layers that share bases.
// bases: [num_own_sources, B*L].   weights: [num_targets, H*A*B], activated.   bias: [1, H*L] or
// undefined.   Result: [num_targets, H*L].
Tensor egc_aggregate(Tape& tape, const EgcShape& shape, const Tensor& bases, const Tensor& weights,
                     const Tensor& bias, const Csr& graph);

}  // namespace egc::ops
