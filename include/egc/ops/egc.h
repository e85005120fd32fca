// The EGC operator: from x and the weights of a layer to its output, differentiable in all of them.
//
//   y[i, h] = sum over aggregators a and bases b of w[i, h, a, b] * agg_a(x Theta_b')[i] + bias[h]
//   w = activation(x Phi' + phi_bias)
//
// How the bases lie in memory (engine/slice_layout.h) is its own business.
#pragma once

#include "egc/graph/csr.h"
#include "egc/kernels/aggregator.h"
#include "egc/ops/epilogue.h"
#include "egc/ops/weight_activation.h"

namespace egc::ops {

struct EgcShape {
  AggregatorSet aggregators;
  SelfLoops self_loops = SelfLoops::kAll;
  int64_t heads = 1;
  int64_t bases = 1;
  WeightActivation activation = WeightActivation::kIdentity;
};

struct EgcWeights {
  Tensor theta;     // [B * L, F]
  Tensor phi;       // [H * A * B, F], rows ordered (h, a, b)
  Tensor phi_bias;  // [1, H * A * B] or undefined
  Tensor bias;      // [1, H * L] or undefined
};

// x: [num_own_sources, F].   Weights of rows are computed from `x_target` [num_targets, F] where it
// is given: graphs whose targets are other nodes.   Result: [num_targets, H * L].
// Of a part of a graph, x is its own rows; those of others are exchanged (halo_exchange.h).
Tensor egc(Tape& tape, const EgcShape& shape, const EgcWeights& weights, const Tensor& x,
           const Csr& graph, const EpilogueTensors& epilogue = {}, const Tensor& x_target = {});

// The second half by itself, on bases and weights that are there: for layers that share bases.
// bases: [num_own_sources, B*L].   weights: [num_targets, H*A*B], activated.   bias: [1, H*L].
Tensor egc_aggregate(Tape& tape, const EgcShape& shape, const Tensor& bases, const Tensor& weights,
                     const Tensor& bias, const Csr& graph);

}  // namespace egc::ops
