// The table of layers: their names, how each is made, and which options it takes.
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

// What a layer is made from. Layers ignore options that they do not take; options without a value
// get the layer's default.
struct ConvSpec {
  int64_t in_channels = 0;                   // columns of the input
  int64_t out_channels = 0;                  // columns of the output
  std::optional<int64_t> heads;              // egc, gat, regc
  std::optional<int64_t> bases;              // egc, regc
  std::optional<AggregatorSet> aggregators;  // sage, egc-s, egc-m, egc, regc
  SelfLoops self_loops = SelfLoops::kAll;    // egc: which aggregators see the node itself
  WeightActivation activation = WeightActivation::kIdentity;  // egc: of the combination weights
  int64_t towers = 4;                                         // mpnn, pna
  double mean_log_degree = 1.0;                               // pna: of the training set
  HeteroSchema schema = HeteroSchema::homogeneous();          // rgcn, regc
  EdgeSchema edges;            // features of edges; of layers that take them
  bool relu_messages = false;  // egc: messages ReLU(z_j + e_ij)
};

// A row of the table.
struct LayerDescriptor {
  std::string_view name;  // as in configurations: "egc-s"
  // Null: not a layer but a whole network (ga-mlp).
  std::shared_ptr<Conv> (*make)(const ConvSpec&) = nullptr;
  std::vector<std::string_view> options = {};  // keys of the configuration that it takes
  bool is_typed = false;                       // for heterogeneous graphs
  bool takes_edges = false;                    // whether it can use edge features
  bool last_has_one_head = false;  // the last layer of a network has one head, as in the papers

  bool takes(std::string_view option) const;  // whether the layer takes this option
};

// All layers, in the order of the paper's tables; others come last.
const std::vector<LayerDescriptor>& layer_table();
// The row of a name. Throws kUsage with the known names.
const LayerDescriptor& layer_descriptor(std::string_view name);

// Throws kUsage with the options that the layer takes unless `option` is one of them. `spelling`:
// the option as the user wrote it, for instance --self-loops.
void check_takes(std::string_view layer, std::string_view option, std::string_view spelling);

// Makes a layer; call reset_parameters() to initialize it. Throws kUsage for unknown names and
// invalid options.
std::shared_ptr<Conv> make_conv(std::string_view name, const ConvSpec& spec);
std::vector<std::string_view> conv_names();  // names that make_conv() knows

// The options with which make_conv() makes egc-s, egc-m or egc.
EgcConvOptions egc_options(std::string_view name, const ConvSpec& spec);

}  // namespace egc::nn
