#include "egc/exchange/infer_config.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "egc/core/error.h"

namespace egc::exchange {
namespace {

using models::Encoder;
using models::ModelConfig;

template <class... Args>
[[noreturn]] void unclear(fmt::format_string<Args...> format, Args&&... args) {
  fail(ErrorKind::kModel, format, std::forward<Args>(args)...);
}

// The number behind a prefix: 3 in "convs.3.bias" after "convs.".
std::optional<int64_t> number_after(const std::string& name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  int64_t number = 0;
  const char* begin = name.data() + prefix.size();
  const auto [end, error] = std::from_chars(begin, name.data() + name.size(), number);
  if (error != std::errc() || number < 0 || number >= 1 << 20) return std::nullopt;
  return number;
}

class Inference {
 public:
  Inference(const State& state, const ConfigHints& hints) : state_(state), hints_(hints) {}

  ModelConfig run() {
    find_layers();
    find_encoder();
    find_head();
    find_model();
    config_.norm = has_norm() ? models::Norm::kBatch : models::Norm::kNone;
    models::check_config(config_);
    return config_;
  }

 private:
  // The first tensor whose name ends so, or the end.
  State::const_iterator find_suffix(std::string_view suffix) const {
    return std::find_if(state_.begin(), state_.end(),
                        [&](const auto& item) { return item.first.ends_with(suffix); });
  }
  bool has_suffix(std::string_view suffix) const { return find_suffix(suffix) != state_.end(); }
  // Batch norm of the layers, not of the head.
  bool has_norm() const {
    return std::any_of(state_.begin(), state_.end(), [](const auto& item) {
      return item.first.ends_with(".running_mean") && !item.first.starts_with("mlp.");
    });
  }
  const NdArray& matrix(std::string_view suffix) const {
    const auto it = find_suffix(suffix);
    if (it == state_.end() || it->second.dim() != 2 || it->second.numel() == 0)
      unclear("the state dict has no matrix whose name ends in \"{}\"", suffix);
    return it->second;
  }

  void find_layers() {
    std::set<int64_t> layers;
    for (const auto& [name, array] : state_)
      for (const char* prefix : {"graph_layers.", "convs."})
        if (const auto k = number_after(name, prefix)) layers.insert(*k);
    // In graph_layers.<k>.<stage> a dropout, which has no state, may stand before the layer.
    config_.dropout_at.conv_input =
        std::none_of(
            state_.begin(), state_.end(),
            [](const auto& item) { return item.first.starts_with("graph_layers.0.0."); }) &&
        std::any_of(state_.begin(), state_.end(),
                    [](const auto& item) { return item.first.starts_with("graph_layers.0.1."); });
    if (layers.empty() && state_.lower_bound("body.blocks.") != state_.end() &&
        state_.lower_bound("body.blocks.")->first.starts_with("body.blocks."))
      unclear(
          "the state dict was written by egc export --to pyg, for layers in Python; only those of "
          "--to authors or --to model can be imported again");
    if (layers.empty())
      unclear(
          "the state dict has no layers: expected names that begin with graph_layers. or convs.");
    config_.layers = static_cast<int64_t>(layers.size());
  }

  void find_encoder() {
    std::map<int64_t, int64_t> tables;
    for (const auto& [name, array] : state_)
      if (const size_t at = name.find("atom_embedding_list."); at != std::string::npos)
        if (const auto k = number_after(name.substr(at), "atom_embedding_list.");
            k && array.dim() == 2)
          tables[*k] = array.size(0);
    if (!tables.empty()) {
      config_.encoder = Encoder::kAtom;
      for (const auto& [k, rows] : tables) config_.categories.push_back(rows);
      config_.hidden = matrix("atom_embedding_list.0.weight").size(1);
      return;
    }
    if (has_suffix("type_encoder.weight")) {
      config_.encoder = Encoder::kAst;
      for (const char* name :
           {"type_encoder.weight", "attribute_encoder.weight", "depth_encoder.weight"})
        config_.categories.push_back(matrix(name).size(0));
      config_.hidden = matrix("type_encoder.weight").size(1);
      return;
    }
    for (const char* name : {"embedding.", "embed.0.", "embed.", "encoder.", "node_emb."}) {
      const auto weight = state_.find(std::string(name) + "weight");
      if (weight == state_.end() || weight->second.dim() != 2) continue;
      const bool linear = state_.contains(std::string(name) + "bias");
      config_.encoder = linear ? Encoder::kLinear : Encoder::kEmbedding;
      config_.hidden = weight->second.size(linear ? 0 : 1);
      if (linear)
        config_.features = weight->second.size(1);
      else
        config_.categories = {weight->second.size(0)};
      return;
    }
    unclear("the state dict has no encoder: expected names that begin with embedding. or embed.");
  }

  void find_head() {
    std::set<int64_t> linears;  // of mlp
    std::set<int64_t> positions;
    for (const auto& [name, array] : state_) {
      if (const auto k = number_after(name, "mlp."); k && array.dim() == 2) linears.insert(*k);
      for (const char* prefix : {"token_predictors.", "graph_pred_linear_list."})
        if (const auto k = number_after(name, prefix)) {
          positions.insert(*k);
          if (array.dim() == 2) config_.outputs = array.size(0);
        }
    }
    if (!positions.empty()) {
      config_.task = Task::kGraphSequence;
      config_.sequence_length = static_cast<int64_t>(positions.size());
    } else if (!linears.empty()) {
      config_.outputs = matrix(fmt::format("mlp.{}.weight", *linears.rbegin())).size(0);
      config_.task = config_.outputs > 1                 ? Task::kGraphClassification
                     : config_.encoder == Encoder::kAtom ? Task::kGraphBinary
                                                         : Task::kGraphRegression;
    } else if (state_.contains("out.weight")) {
      config_.outputs = matrix("out.weight").size(0);
      config_.task = Task::kNodeClassification;
    } else {
      unclear(
          "the state dict has no head: expected names that begin with mlp., out. or "
          "token_predictors.");
    }
    config_.task = hints_.task.value_or(config_.task);
  }

  void find_model() {
    struct Sign {
      const char* suffix;
      const char* model;
    };
    // What a layer is known by; the first that is there.
    constexpr Sign kSigns[] = {{".comb_weights.weight", "egc"},
                               {".comb_lin.weight", "egc"},
                               {".message_layer.0.weight", "mpnn"},
                               {".att_src", "gat"},
                               {".att", "gatv2"},
                               {".pre_nns.0.0.weight", "pna"},
                               {".eps", "gin"},
                               {".lin_l.weight", "sage"},
                               {".lin.weight", "gcn"}};
    config_.model.clear();
    for (const Sign& sign : kSigns)
      if (has_suffix(sign.suffix)) {
        config_.model = sign.model;
        break;
      }
    if (config_.model.empty()) unclear("the state dict has no known layer");
    if (config_.model == "egc") return find_weighting();
    if (config_.model == "mpnn") {
      if (!hints_.model) unclear("mpnn-sum and mpnn-max have the same shapes: give --model");
      config_.model = *hints_.model;
    }
    if (config_.model == "pna")
      unclear(
          "PNA's mean degree cannot be inferred from the shapes: give --config with its "
          "mean_log_degree");
    if (hints_.model && *hints_.model != config_.model)
      unclear("the state dict is that of {}, not of {}", config_.model, *hints_.model);
    if (config_.model == "gat" || config_.model == "gatv2")
      config_.heads = matrix_heads(config_.model == "gat" ? ".att_src" : ".att");
  }

  // Attention vectors are [1, H, L]; those of the last layer have one head.
  int64_t matrix_heads(std::string_view suffix) const {
    int64_t most = 1;
    for (const auto& [name, array] : state_)
      if (name.ends_with(suffix) && array.dim() == 3) most = std::max(most, array.size(1));
    return most;
  }

  // H from the width of a basis, then A from the number of weights.
  void find_weighting() {
    const bool authors = has_authors_weights(state_);
    const int64_t weights = matrix(authors ? ".comb_weights.weight" : ".comb_lin.weight").size(0);
    int64_t heads = 0;
    int64_t bases = 0;
    if (authors) {
      heads = config_.hidden / matrix(".bases_weight.0").size(1);
      std::string name = find_suffix(".bases_weight.0")->first;
      name.pop_back();
      while (state_.contains(name + std::to_string(bases))) ++bases;
    } else {
      if (!hints_.heads)
        unclear("the number of heads cannot be inferred from the shapes: give --heads");
      heads = *hints_.heads;
      bases = matrix(".bases_lin.weight").size(0) * heads / config_.hidden;
    }
    if (heads < 1 || bases < 1 || weights % (heads * bases) != 0)
      unclear("{} combination weights do not match {} heads and {} bases", weights, heads, bases);
    const int64_t count = weights / (heads * bases);
    // With one aggregator the authors have symnorm.
    if (!hints_.aggregators && (count > 1 || !authors))
      unclear(
          "the layers have {}, which cannot be inferred from the shapes: give --aggregators in "
          "their order",
          count == 1 ? "one aggregator" : fmt::format("{} aggregators", count));
    config_.aggregators = hints_.aggregators.value_or(AggregatorSet{Aggregator::kSymnorm});
    if (config_.aggregators->size() != count)
      unclear("the layers have {} aggregators, but --aggregators has {}", count,
              config_.aggregators->size());
    config_.model = count == 1 ? "egc-s" : "egc-m";
    config_.heads = heads;
    config_.bases = bases;
    config_.self_loops =
        hints_.self_loops.value_or(authors ? SelfLoops::kSymnorm : SelfLoops::kAll);
    config_.activation = hints_.activation.value_or(nn::WeightActivation::kIdentity);
  }

  const State& state_;
  const ConfigHints& hints_;
  ModelConfig config_;
};

}  // namespace

bool has_authors_weights(const State& state) {
  return std::any_of(state.begin(), state.end(),
                     [](const auto& item) { return item.first.ends_with(".comb_weights.weight"); });
}

ModelConfig infer_config(const State& foreign, const ConfigHints& hints) {
  return Inference(foreign, hints).run();
}

}  // namespace egc::exchange
