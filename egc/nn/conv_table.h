// All graph layers by name.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "egc/graph/hetero_graph.h"
#include "egc/kernels/aggregator.h"
#include "egc/nn/conv.h"
#include "egc/nn/egc_conv.h"

namespace egc::nn {

// What a layer is made from; a layer takes what it knows of, and its own default where nothing is
// given.
struct ConvSpec {
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  std::optional<int64_t> heads;
  std::optional<int64_t> bases;
  std::optional<AggregatorSet> aggregators;
  SelfLoops self_loops = SelfLoops::kAll;                     // egc
  WeightActivation activation = WeightActivation::kIdentity;  // egc
  int64_t towers = 4;                                         // mpnn, pna
  double mean_log_degree = 1.0;                               // pna
  HeteroSchema schema = HeteroSchema::homogeneous();          // rgcn, regc
};

// egc-s, egc-m, egc, gcn, gin, sage, gat, gatv2, mpnn-sum, mpnn-max, pna, mlp, rgcn, regc.
std::shared_ptr<Conv> make_conv(std::string_view name, const ConvSpec& spec);
std::vector<std::string_view> conv_names();

// What make_conv takes for egc-s, egc-m and egc.
EgcConvOptions egc_options(std::string_view name, const ConvSpec& spec);

}  // namespace egc::nn
