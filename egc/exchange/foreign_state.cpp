#include "egc/exchange/states.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "egc/core/error.h"
#include "egc/models/body.h"

namespace egc::exchange {
namespace {

using models::Encoder;
using models::ModelConfig;

// "graph_layers.3.0.bias" -> {"graph_layers", "3", "0", "bias"}
std::vector<std::string> split(const std::string& name) {
  std::vector<std::string> parts(1);
  for (const char c : name) {
    if (c == '.')
      parts.emplace_back();
    else
      parts.back().push_back(c);
  }
  return parts;
}

std::string joined(const std::vector<std::string>& parts, size_t from) {
  return fmt::format("{}", fmt::join(parts.begin() + static_cast<int64_t>(from), parts.end(), "."));
}

int index_of(const std::string& part) {
  int index = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
  if (error != std::errc() || end != part.data() + part.size() || index < 0)
    fail(ErrorKind::kModel, "expected an index in a tensor's name, found \"{}\"", part);
  return index;
}

// The same, written as we write it.
std::string number(const std::string& part) { return std::to_string(index_of(part)); }

// What is called so in checkpoints of the authors and of PyTorch Geometric's examples.
bool is_encoder(const std::string& name) {
  return name == "embedding" || name == "embed" || name == "encoder" || name == "node_emb";
}
bool is_norm(const std::string& name) {
  return name == "bns" || name == "norms" || name == "batch_norms";
}

// A bias of the rows of `weight`.
NdArray zeros_for(const NdArray& weight) {
  const std::vector<float> values(static_cast<size_t>(weight.size(0)));
  return NdArray({weight.size(0)}, std::span<const float>(values)).to(weight.dtype());
}

// The tables of a categorical encoder, in the order of its features.
constexpr const char* kAstTables[] = {"type_encoder", "attribute_encoder", "depth_encoder"};

class Translator {
 public:
  Translator(const ModelConfig& config, const State& foreign) : config_(config), foreign_(foreign) {
    for (const auto& [name, array] : foreign) {
      const auto parts = split(name);
      if (parts.size() < 3) continue;
      if (parts[0] == "graph_layers") stages_[parts[1]].insert(index_of(parts[2]));
      if (parts[0] == "mlp" && parts.back() == "running_mean") norms_.insert(index_of(parts[1]));
    }
    for (const auto& [name, array] : foreign)
      if (const auto parts = split(name); parts[0] == "mlp" && parts.size() == 3)
        if (const int at = index_of(parts[1]); !norms_.contains(at)) linears_.insert(at);
  }

  State run() {
    std::vector<std::string> unknown;
    for (const auto& [name, array] : foreign_)
      if (!translate(name, array)) unknown.push_back(name);
    if (!unknown.empty())
      fail(ErrorKind::kModel, "the tensor{} \"{}\" {} no equivalent in egc's networks",
           unknown.size() > 1 ? "s" : "", fmt::join(unknown, "\", \""),
           unknown.size() > 1 ? "have" : "has");
    add_zero_biases();
    for (const auto& [block, state] : convs_)
      for (const auto& [name, array] : nn::conv_state(config_.model, weighting_of(config_), state))
        out_["body.blocks." + block + ".conv." + name] = array;
    if (!tables_.empty()) {
      std::vector<NdArray> rows;
      for (const auto& [index, array] : tables_) rows.push_back(array);
      out_["encoder.weight"] = NdArray::concat(rows);
    }
    return std::move(out_);
  }

 private:
  // Two names for one place: neither may be lost silently.
  static void put(State& state, const std::string& name, const NdArray& array) {
    if (!state.emplace(name, array).second)
      fail(ErrorKind::kModel, "two tensors map to \"{}\"", name);
  }

  // False where the network has no place for it.
  bool translate(const std::string& name, const NdArray& array) {
    const auto parts = split(name);
    const std::string& first = parts[0];
    if (parts.back() == "avg_deg_log") check_mean_log_degree(array);
    if (parts.size() >= 3 && parts[parts.size() - 3] == "atom_embedding_list") {
      put_table(index_of(parts[parts.size() - 2]), array);
    } else if (const int table = ast_table(parts); table >= 0) {
      put_table(table, array);
    } else if (is_encoder(first)) {
      const bool linear = config_.encoder == Encoder::kLinear;
      put(out_, (linear ? "encoder.lin." : "encoder.") + parts.back(), array);
    } else if (first == "graph_layers" && parts.size() > 3) {
      // [dropout,] conv, norm: the first with a state is the conv.
      const bool conv = index_of(parts[2]) == *stages_[parts[1]].begin();
      if (conv)
        put(convs_[number(parts[1])], joined(parts, 3), array);
      else
        put(out_, "body.blocks." + number(parts[1]) + ".norm." + joined(parts, 3), array);
    } else if (first == "convs" && parts.size() > 2) {
      put(convs_[number(parts[1])], joined(parts, 2), array);
    } else if (is_norm(first) && parts.size() > 2) {
      put(out_, "body.blocks." + number(parts[1]) + ".norm." + joined(parts, 2), array);
    } else if (first == "mlp" && parts.size() == 3) {
      const int at = index_of(parts[1]);
      const bool norm = norms_.contains(at);
      const std::set<int>& list = norm ? norms_ : linears_;
      const auto index = std::distance(list.begin(), list.find(at));
      put(out_, fmt::format("head.mlp.{}.{}.{}", norm ? "norms" : "linears", index, parts[2]),
          array);
    } else if (first == "out") {
      put(out_, "head.lin." + parts.back(), array);
    } else if ((first == "graph_pred_linear_list" || first == "token_predictors") &&
               parts.size() == 3) {
      put(out_, "head.positions." + number(parts[1]) + "." + parts[2], array);
    } else {
      return false;
    }
    return true;
  }

  // Linears of a head may be made without a bias, all of them or those before a batch norm, where
  // it would do nothing: it is 0. A single one that lacks it is damaged.
  void add_zero_biases() {
    State biases;
    bool before_norm = false;  // whether such a Linear has a bias
    bool any = false;          // whether one has
    for (const auto& [weight, bias] : head_linears()) {
      any = any || out_.contains(bias);
      before_norm = before_norm || (is_before_norm(weight) && out_.contains(bias));
    }
    for (const auto& [weight, bias] : head_linears())
      if (!out_.contains(bias) && (!any || (!before_norm && is_before_norm(weight))))
        biases[bias] = zeros_for(out_.at(weight));
    out_.merge(biases);
  }

  // Names of weight and bias.
  std::vector<std::pair<std::string, std::string>> head_linears() const {
    constexpr std::string_view kWeight = ".weight";
    std::vector<std::pair<std::string, std::string>> out;
    for (const auto& [name, array] : out_)
      if (name.starts_with("head.") && name.ends_with(kWeight) && array.dim() == 2)
        out.emplace_back(name, name.substr(0, name.size() - kWeight.size()) + ".bias");
    return out;
  }
  bool is_before_norm(const std::string& weight) const {
    constexpr std::string_view kLinears = "head.mlp.linears.";
    return weight.starts_with(kLinears) &&
           out_.contains("head.mlp.norms." + weight.substr(kLinears.size()));
  }

  // Dropped with the layer's other constants, so it must be what the configuration says.
  void check_mean_log_degree(const NdArray& array) const {
    const double theirs = array.numel() == 1 ? array.item() : 0.0;
    const double ours = config_.mean_log_degree.value_or(1.0);
    if (!(std::abs(theirs - ours) <= 1e-4 * ours))
      fail(ErrorKind::kModel, "the state dict has mean_log_degree {}, but the configuration has {}",
           theirs, ours);
  }

  void put_table(int index, const NdArray& array) {
    if (!tables_.emplace(index, array).second)
      fail(ErrorKind::kModel, "two tensors map to embedding {}", index);
  }

  static int ast_table(const std::vector<std::string>& parts) {
    for (int k = 0; k < 3; ++k)
      if (parts.size() >= 2 && parts[parts.size() - 2] == kAstTables[k]) return k;
    return -1;
  }

  const ModelConfig& config_;
  const State& foreign_;
  std::map<std::string, std::set<int>> stages_;  // of graph_layers.<k>, those with a state
  std::set<int> norms_;                          // of mlp
  std::set<int> linears_;
  std::map<std::string, State> convs_;
  std::map<int, NdArray> tables_;
  State out_;
};

}  // namespace

nn::ForeignShape weighting_of(const ModelConfig& config) {
  const auto options = nn::egc_options(config.model, models::conv_spec(config, 0));
  return {options.heads, options.bases, options.aggregators.size()};
}

State without_wrappers(State state) {
  // A network that several devices trained, or a trainer's own, stands one level deeper.
  for (const std::string prefix : {"module.", "model."}) {
    const bool all =
        !state.empty() && std::all_of(state.begin(), state.end(), [&](const auto& item) {
          return item.first.starts_with(prefix) && item.first.size() > prefix.size();
        });
    if (!all) continue;
    State inner;
    for (const auto& [name, array] : state) inner[name.substr(prefix.size())] = array;
    state = std::move(inner);
  }
  // PyTorch Geometric's BatchNorm has torch's as its member: norms.0.module.weight.
  State out;
  for (const auto& [name, array] : state) {
    std::vector<std::string> parts = split(name);
    if (parts.size() == 4 && is_norm(parts[0]) && parts[2] == "module")
      parts.erase(parts.begin() + 2);
    out[joined(parts, 0)] = array;
  }
  return out;
}

State network_state(const ModelConfig& config, const State& foreign) {
  try {
    return Translator(config, foreign).run();
  } catch (const Error& e) {  // shapes that do not fit together
    fail(ErrorKind::kModel, "{}", e.what());
  }
}

}  // namespace egc::exchange
