// All layers by name: how each is made, which options it takes and what it can do. Whoever asks for
// a layer by name asks here.
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

struct LayerDescriptor {
  std::string_view name;
  std::shared_ptr<Conv> (*make)(const ConvSpec&) = nullptr;  // null: a network of its own (ga-mlp)
  std::vector<std::string_view> options = {};                // as configurations call them
  bool is_typed = false;           // for graphs with several types of nodes and edges
  bool last_has_one_head = false;  // the last layer of a network, as the papers have it

  bool takes(std::string_view option) const;
};

// In the order of the paper's tables; what they do not have comes last.
const std::vector<LayerDescriptor>& layer_table();
// Throws kUsage with the known names.
const LayerDescriptor& layer_descriptor(std::string_view name);

// Throws kUsage with the options that the layer takes unless `option` is one of them. `spelling`:
// how the person wrote it, for instance --self-loops.
void check_takes(std::string_view layer, std::string_view option, std::string_view spelling);

// Throws kUsage with the known names.
std::shared_ptr<Conv> make_conv(std::string_view name, const ConvSpec& spec);
std::vector<std::string_view> conv_names();  // of those that make_conv knows

// What make_conv takes for egc-s, egc-m and egc.
EgcConvOptions egc_options(std::string_view name, const ConvSpec& spec);

}  // namespace egc::nn
