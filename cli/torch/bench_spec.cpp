#include "cli/torch/bench_spec.h"

namespace egc::cli {

nn::ConvSpec bench_spec(const LayerBenchOptions& o, int64_t hidden) {
  nn::ConvSpec spec;
  spec.in_channels = spec.out_channels = hidden;
  spec.mean_log_degree = 2.0;
  if (o.heads > 0) spec.heads = o.heads;
  if (o.bases > 0) spec.bases = o.bases;
  if (!o.aggregators.empty()) spec.aggregators = parse_aggregators(o.aggregators);
  spec.self_loops = parse_self_loops(o.self_loops);
  spec.activation = nn::parse_weight_activation(o.activation);
  return spec;
}

}  // namespace egc::cli
