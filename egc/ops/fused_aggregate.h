// The fused EGC operator on tensors, with autograd.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/Optional.h>

#include "egc/engine/slice_layout.h"
#include "egc/graph/csr.h"
#include "egc/kernels/fused_aggregate.h"
#include "egc/ops/epilogue.h"

namespace egc::ops {

// Of a part of a graph, bases are its own rows; those of others are exchanged (halo_exchange.h).
//
// bases: [num_sources, B*L], float32 or float64, its memory in `layout` (slice_layout.h; row-major
// is one slice).   weights: [N, H*A*B], ordered (h, a, b).   bias: [H*L].   Result: [N, H*L].
// Differentiable in bases, weights and bias. Saves its inputs and nothing else.
at::Tensor fused_aggregate(const Csr& graph, const kernels::FusedShape& shape,
                           const SliceLayout& layout, const at::Tensor& bases,
                           const at::Tensor& weights, const c10::optional<at::Tensor>& bias,
                           const EpilogueTensors& epilogue = {});

// The aggregates themselves, next to each other: x [num_sources, F] gives [N, A*F]. An aggregate
// that is infinite makes the others of its column NaN: they are selected by products with 0 and 1.
at::Tensor aggregate(const Csr& graph, const AggregatorSet& aggregators, SelfLoops self_loops,
                     const at::Tensor& x, const at::Tensor& bias = {},
                     const EpilogueTensors& epilogue = {});

}  // namespace egc::ops
