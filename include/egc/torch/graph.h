// Graphs from LibTorch's tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include "egc/graph/csr.h"

namespace egc::torch {

// edge_index: int64 [2, E], row 0 sources, row 1 targets.   edge_weight: [E], a constant, or
// undefined. Made once for a graph, not once a step: it sorts the edges.
Csr graph_from_edge_index(const at::Tensor& edge_index, int64_t num_nodes,
                          const at::Tensor& edge_weight = {});

// offsets: whole numbers [N + 1], by target.   sources: whole numbers [E].   edge_weight: as above.
Csr graph_from_csr(const at::Tensor& offsets, const at::Tensor& sources,
                   const at::Tensor& edge_weight = {});

}  // namespace egc::torch
