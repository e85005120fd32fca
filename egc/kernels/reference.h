// Plain scalar truth for every kernel, kept for ever: no blocking, no tricks, double accumulators.
#pragma once

#include <cstdint>
#include <vector>

#include "egc/kernels/attention.h"
#include "egc/kernels/fused_aggregate.h"

namespace egc::kernels {

// bases: [num_sources, B*L] row-major.   weights: [N, H, A, B], or null: head a is aggregate a.
// out: [N, H*L].
struct ReferenceInput {
  FusedShape shape;
  CsrView graph;
  const double* bases = nullptr;
  const double* weights = nullptr;
  const double* bias = nullptr;  // [H*L] or null
  EdgeTerm<double> edges{};      // of B*L columns
};

std::vector<double> reference_forward(const ReferenceInput& input);

struct ReferenceGradients {
  std::vector<double> bases;
  std::vector<double> weights;  // empty where there are none
  std::vector<double> edges;    // [EdgeTerm::rows(), B*L]; empty without a term
};
ReferenceGradients reference_backward(const ReferenceInput& input, const double* grad_out);

// out[i] = sum of e_ij * x[j]; x: [num_sources, columns].
std::vector<double> reference_spmm(CsrView graph, const double* x, int64_t columns);

// The output and its gradients; those of the other kind of attention are empty.
struct ReferenceAttention {
  std::vector<double> out;                // [N, H*C]
  std::vector<double> grad_values;        // [num_sources, H*C]
  std::vector<double> grad_source_score;  // [num_sources, H]
  std::vector<double> grad_target_score;  // [N, H]
  std::vector<double> grad_query;         // [N, H*C]
  std::vector<double> grad_attention;     // [H*C]
};
// bias: [H*C] or null.   grad_out: [N, H*C].   The leaky ReLU's derivative at 0 is its slope.
ReferenceAttention reference_attention(const AttentionInput<double>& in, const double* bias,
                                       const double* grad_out);

// y = dropout(relu(batch_norm(x))) + residual; every part is optional.   Matrices: [rows, columns].
struct ReferenceNormActInput {
  int64_t rows = 0;
  int64_t columns = 0;
  const double* x = nullptr;
  const double* weight = nullptr;  // [columns], with bias; null: no batch norm
  const double* bias = nullptr;
  const double* mean = nullptr;  // [columns], with variance: constants; null: those of x
  const double* variance = nullptr;
  bool relu = false;
  const double* keep = nullptr;  // [rows, columns]: what dropout multiplies with; null: 1
  const double* residual = nullptr;
  const double* grad_y = nullptr;
};
struct ReferenceNormAct {
  std::vector<double> mean;  // [columns], of x or as given
  std::vector<double> variance;
  std::vector<double> y;
  std::vector<double> grad_x;
  std::vector<double> grad_weight;  // [columns]; zero without batch norm
  std::vector<double> grad_bias;
};
inline constexpr double kNormEpsilon = 1e-5;
ReferenceNormAct reference_norm_act(const ReferenceNormActInput& in);

// Each row minus its mean, over its deviation; g: gradient of `normal`.   Matrices: [rows,
// columns].
struct ReferenceLayerNorm {
  std::vector<double> normal;
  std::vector<double> grad_x;
};
ReferenceLayerNorm reference_layer_norm(const std::vector<double>& x, const std::vector<double>& g,
                                        int64_t rows, int64_t columns);

}  // namespace egc::kernels
