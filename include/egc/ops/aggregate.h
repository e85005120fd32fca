// The aggregates of neighbours themselves, and sums of embeddings.
#pragma once

#include <memory>
#include <span>

#include "egc/graph/csr.h"
#include "egc/kernels/aggregator.h"
#include "egc/ops/epilogue.h"

namespace egc::ops {

// Several aggregators from one pass, next to each other: x [num_own_sources, F] gives
// [num_targets, A*F], column a*F + c. bias: [1, A*F] or undefined.
Tensor aggregate(Tape& tape, const Csr& graph, const AggregatorSet& aggregators,
                 SelfLoops self_loops, const Tensor& x, const Tensor& bias = {},
                 const EpilogueTensors& epilogue = {});

// out[i] = sum of e_ij * x[j]: a sparse matrix times a dense one.
Tensor spmm(Tape& tape, const Csr& graph, const Tensor& x);

// The rows of `table` by index: [indices, columns]. Rows may come several times.
Tensor select_rows(Tape& tape, const Tensor& table, std::span<const int64_t> indices);

}  // namespace egc::ops
