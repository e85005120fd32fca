#include "egc/exchange/states.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "egc/core/error.h"
#include "egc/models/body.h"
#include "egc/nn/conv_table.h"

namespace egc::exchange {
namespace {

using Json = nlohmann::ordered_json;
using models::ModelConfig;

bool is_hetero(const ModelConfig& c) { return c.task == Task::kNodeClassificationHetero; }

// Of layer k: "body.blocks.k.conv".
std::string prefix_of(const ModelConfig& c, int64_t layer) {
  return is_hetero(c) ? fmt::format("convs.{}", layer) : fmt::format("body.blocks.{}.conv", layer);
}

// PyTorch Geometric's name of an aggregator.
std::string pyg_name(Aggregator a) {
  return a == Aggregator::kAdd ? "sum" : std::string(name_of(a));
}

Json pyg_names(const AggregatorSet& set) {
  Json out = Json::array();
  for (const Aggregator a : set) out.push_back(pyg_name(a));
  return out;
}

// [1], float32.
NdArray single(double value) { return {{1}, Tensor::full(1, 1, DType::kF32, value)}; }

// The relations of RGCN one above the other, transposed, for each type's root likewise.
void stack_relations(const HeteroSchema& schema, const std::string& prefix, State& state) {
  std::vector<NdArray> relations;
  for (const auto& r : schema.relations)
    relations.push_back(
        state.extract(prefix + ".rel_lins." + r.name + ".weight").mapped().transposed());
  state[prefix + ".weight"] = NdArray::stack(relations);
  const std::string root = prefix + ".root_lins." + schema.node_types[0];
  state[prefix + ".root"] = state.extract(root + ".weight").mapped().transposed();
  state[prefix + ".bias"] = state.extract(root + ".bias").mapped();
}

Json layer_arguments(const ModelConfig& c, int64_t layer) {
  if (c.model == "rgcn") {
    const int64_t first = c.encoder == models::Encoder::kLinear ? c.hidden : c.features;
    return {{"class", "RGCNConv"},
            {"in_channels", layer == 0 ? first : c.hidden},
            {"out_channels", layer + 1 == c.layers ? c.outputs : c.hidden},
            {"num_relations", std::ssize(c.schema.relations)}};
  }
  const nn::ConvSpec spec = models::conv_spec(c, layer);
  Json out = {{"class", ""}, {"in_channels", spec.in_channels}};
  if (c.model == "gat" || c.model == "gatv2") {
    const int64_t heads = spec.heads.value_or(8);
    out.update({{"class", c.model == "gat" ? "GATConv" : "GATv2Conv"},
                {"out_channels", spec.out_channels / heads},
                {"heads", heads}});
    return out;
  }
  out["out_channels"] = spec.out_channels;
  if (c.model.starts_with("egc")) {
    const auto o = nn::egc_options(c.model, spec);
    out.update({{"class", "EGConv"},
                {"aggregators", pyg_names(o.aggregators)},
                {"num_heads", o.heads},
                {"num_bases", o.bases},
                {"add_self_loops", o.self_loops != SelfLoops::kNone}});
    if (!c.edge_categories.empty()) out["edge_categories"] = c.edge_categories;
    if (c.edge_numbers > 0) out["edge_dim"] = c.edge_numbers;
    if (c.edge_features) out["message"] = o.relu_messages ? "relu" : "identity";
  } else if (c.model == "gcn") {
    out["class"] = "GCNConv";
  } else if (c.model == "gin") {
    out.update({{"class", "GINConv"}, {"nn", "Linear"}, {"train_eps", true}});
  } else if (c.model == "sage") {
    const auto a = spec.aggregators.value_or(AggregatorSet{Aggregator::kMean});
    out.update({{"class", "SAGEConv"}, {"aggr", pyg_name(a[0])}});
  } else if (c.model == "pna") {
    out.update({{"class", "PNAConv"},
                {"aggregators", {"mean", "min", "max", "std"}},
                {"scalers", {"identity", "amplification", "attenuation"}},
                {"towers", spec.towers},
                {"divide_input", true}});
  }
  return out;
}

}  // namespace

bool has_pyg_layer(const ModelConfig& c) {
  if (is_hetero(c)) return c.model == "rgcn" && c.schema.node_types.size() == 1;
  for (const char* other : {"mpnn-sum", "mpnn-max", "regc", "rgcn", "mlp", "ga-mlp"})
    if (c.model == other) return false;
  return true;
}

State pyg_state(const ModelConfig& c, const State& own) {
  State out = own;
  if (!has_pyg_layer(c)) return out;
  check(!c.edge_features || c.model.starts_with("egc"),
        "cannot export a network of {} layers that use features of edges to PyTorch Geometric, "
        "whose layer is another; those of egc layers are exported for egc.torch",
        c.model);
  for (int64_t k = 0; k < c.layers; ++k) {
    const std::string prefix = prefix_of(c, k);
    if (c.model == "gat") {
      out[prefix + ".lin.weight"] = out.extract(prefix + ".lin_src.weight").mapped();
    } else if (c.model == "pna") {
      // Its scalers read the logarithm; the plain mean is of a scaler that the network has not, so
      // the degree whose logarithm it is stands for it.
      const double log_degree = c.mean_log_degree.value_or(1.0);
      out[prefix + ".aggr_module.avg_deg_log"] = single(log_degree);
      out[prefix + ".aggr_module.avg_deg_lin"] = single(std::exp(log_degree) - 1);
    } else if (c.model == "rgcn") {
      stack_relations(c.schema, prefix, out);
    }
  }
  return out;
}

std::string pyg_layers(const ModelConfig& c) {
  if (!has_pyg_layer(c)) return "";
  Json out = Json::object();
  for (int64_t k = 0; k < c.layers; ++k) out[prefix_of(c, k)] = layer_arguments(c, k);
  return out.dump();
}

std::string pyg_config(const ModelConfig& c) {
  Json out = Json::parse(models::to_json(c));
  if (c.aggregators) out["aggregators"] = pyg_names(*c.aggregators);
  return out.dump();
}

}  // namespace egc::exchange
