// Aggregation of neighbours, sparse products and row lookups.
#pragma once

#include <memory>
#include <span>

#include "egc/graph/csr.h"
#include "egc/kernels/aggregator.h"
#include "egc/ops/edge_term.h"
#include "egc/ops/epilogue.h"

namespace egc::ops {

// Several aggregators in one pass. x: [num_own_sources, F].   bias: [1, A*F] or undefined. Result:
// [num_targets, A*F]; aggregator a fills the columns from a*F on. edges: of F columns, or absent.
// Differentiable in x, bias and the edge term.
Tensor aggregate(Tape& tape, const Csr& graph, const AggregatorSet& aggregators,
                 SelfLoops self_loops, const Tensor& x, const Tensor& bias = {},
                 const EpilogueTensors& epilogue = {}, const EdgeTerm& edges = {});

// Sparse-dense product: out[i] = sum of e_ij * x[j]. x: [num_own_sources, C]. Result: [num_targets,
// C].
Tensor spmm(Tape& tape, const Csr& graph, const Tensor& x);

// Rows of `table` by index, like torch.index_select; indices may repeat. Result: [indices,
// columns].
Tensor select_rows(Tape& tape, const Tensor& table, std::span<const int64_t> indices);

}  // namespace egc::ops
