// Graphs from LibTorch tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include "egc/graph/csr.h"

namespace egc::torch {

// Makes a graph. edge_index: int64 [2, E], row 0 sources, row 1 targets. edge_weight: [E],
// constant, or undefined. Sorts the edges, so make it once and not in every step.
Csr graph_from_edge_index(const at::Tensor& edge_index, int64_t num_nodes,
                          const at::Tensor& edge_weight = {});

// Makes a graph in CSR form. offsets: integers [N + 1], by target.   sources: integers [E].
// edge_weight: [E] or undefined.
Csr graph_from_csr(const at::Tensor& offsets, const at::Tensor& sources,
                   const at::Tensor& edge_weight = {});

}  // namespace egc::torch
