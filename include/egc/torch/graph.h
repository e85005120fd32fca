// Graphs from LibTorch tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include "egc/graph/csr.h"

namespace egc::torch {

// Features of edges, constants in the order of edge_index: both may be undefined.
struct EdgeAttr {
  at::Tensor categories;  // integers [E] or [E, columns]
  at::Tensor numbers;     // floats [E] or [E, columns]
};

// Makes a graph. edge_index: int64 [2, E], row 0 sources, row 1 targets. edge_weight: [E],
// constant, or undefined. Sorts the edges, so make it once and not in every step.
Csr graph_from_edge_index(const at::Tensor& edge_index, int64_t num_nodes,
                          const at::Tensor& edge_weight = {}, const EdgeAttr& edge_attr = {});

// Makes a graph in CSR form. offsets: integers [N + 1], by target.   sources: integers [E].
// edge_weight: [E] or undefined.
Csr graph_from_csr(const at::Tensor& offsets, const at::Tensor& sources,
                   const at::Tensor& edge_weight = {});

}  // namespace egc::torch
