// Plain scalar truth for every kernel, kept for ever: no blocking, no tricks, double accumulators.
#pragma once

#include <cstdint>
#include <vector>

#include "egc/kernels/fused_aggregate.h"

namespace egc::kernels {

// bases: [num_sources, B*L] row-major.   weights: [N, H, A, B].   out: [N, H*L].
struct ReferenceInput {
  FusedShape shape;
  CsrView graph;
  const double* bases = nullptr;
  const double* weights = nullptr;
  const double* bias = nullptr;  // [H*L] or null
};

std::vector<double> reference_forward(const ReferenceInput& input);

struct ReferenceGradients {
  std::vector<double> bases;
  std::vector<double> weights;
};
ReferenceGradients reference_backward(const ReferenceInput& input, const double* grad_out);

// out[i] = sum of e_ij * x[j]; x: [num_sources, columns].
std::vector<double> reference_spmm(CsrView graph, const double* x, int64_t columns);

}  // namespace egc::kernels
