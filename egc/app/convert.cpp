#include "egc/app/convert.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "egc/core/error.h"
#include "egc/core/log.h"
#include "egc/exchange/checkpoint.h"
#include "egc/exchange/infer_config.h"
#include "egc/exchange/onnx_network.h"
#include "egc/exchange/states.h"
#include "egc/inference/dataset_fit.h"
#include "egc/inference/model.h"
#include "egc/models/model_file.h"
#include "egc/models/tensor_file.h"
#include "egc/train/run_config.h"

namespace egc::app {
namespace {

// What safetensors of Python's torch say of themselves.
constexpr const char* kPython = "pt";

exchange::ConfigHints hints_of(const ImportOptions& o) {
  exchange::ConfigHints out;
  if (o.task) out.task = tasks().at(*o.task);
  if (!o.model.empty()) out.model = o.model;
  out.heads = o.heads;
  if (!o.aggregators.empty()) out.aggregators = parse_aggregators(o.aggregators);
  if (o.self_loops) out.self_loops = parse_self_loops(*o.self_loops);
  if (o.activation) out.activation = parse_weight_activation(*o.activation);
  return out;
}

// The settings of training that a checkpoint tells of, where they make sense.
train::TrainConfig training_of(const exchange::Checkpoint& checkpoint) {
  train::TrainConfig out;
  out.lr = checkpoint.lr.value_or(out.lr);
  out.wd = checkpoint.wd.value_or(out.wd);
  out.batch = checkpoint.batch.value_or(out.batch);
  try {
    check(std::isfinite(out.lr) && std::isfinite(out.wd), "lr and wd must be finite");
    train::check_config(out);
  } catch (const Error& e) {
    log_warning("ignoring the checkpoint's training settings: {}", e.what());
    return {};
  }
  return out;
}

// What predictions need to know of the data.
models::Notes notes_of(const exchange::Checkpoint& checkpoint, const models::ModelConfig& config,
                       const data::Dataset* dataset) {
  models::Notes out;
  out["train"] = train::to_json(training_of(checkpoint));
  if (dataset == nullptr) return out;
  data::DatasetInfo info = dataset->info;
  if (!inference::uses_edge_features(config)) info.edge_columns.clear();
  out["dataset"] = data::to_json(info);
  return out;
}

void refuse_same_file(const std::filesystem::path& in, const std::filesystem::path& out) {
  std::error_code ignored;
  check(!std::filesystem::equivalent(in, out, ignored), "--out is the same file as the input, {}",
        out.string());
}

// A state alone does not tell what the layers do; its metadata does, for people.
models::Metadata about(const models::ModelConfig& config) {
  return {{"egc", models::to_json(config)}};
}

bool has_loops_of_symnorm_only(const models::ModelConfig& c) {
  return c.model.starts_with("egc") && c.self_loops == SelfLoops::kSymnorm && c.aggregators &&
         c.aggregators->size() > 1;
}

// Other programs give the network features as the dataset has them: what standardises them goes
// into the first Linear.
void fold_scaling(const models::LoadedNetwork& loaded, State& state) {
  const auto it = loaded.notes.find("dataset");
  if (it == loaded.notes.end()) return;
  const data::DatasetInfo info = data::parse_info(it->second, "the model's dataset").info;
  check(info.edge_scaling.empty(),
        "the model standardizes features of edges, which is not exported; train with --standardize "
        "none to export it");
  const auto& scaling = info.scaling;
  if (scaling.empty() || scaling[0].mean.empty()) return;
  const models::ModelConfig& config = loaded.network->config();
  check(config.encoder == models::Encoder::kLinear && scaling.size() == 1 &&
            state.contains("encoder.lin.weight"),
        "the model standardizes its features and has no linear encoder to fold this into; train "
        "with --standardize none or --encoder linear to export it");
  const auto& [mean, deviation] = scaling[0];
  Tensor weight = state.at("encoder.lin.weight").to_tensor(DType::kF64);
  Tensor bias = state.at("encoder.lin.bias").to_tensor(DType::kF64);
  check_data(weight.columns() == std::ssize(mean),
             "the model standardizes {} columns, but its encoder has {}", mean.size(),
             weight.columns());
  for (int64_t o = 0; o < weight.rows(); ++o)
    for (int64_t k = 0; k < weight.columns(); ++k) {
      double& w = weight.data<double>()[o * weight.columns() + k];
      w /= deviation[static_cast<size_t>(k)];
      bias.data<double>()[o] -= w * mean[static_cast<size_t>(k)];
    }
  state["encoder.lin.weight"] = NdArray({weight.rows(), weight.columns()}, weight.to(DType::kF32));
  state["encoder.lin.bias"] = NdArray({bias.columns()}, bias.to(DType::kF32));
}

// ONNX's graph takes edges alone, and would compute something else without their weights.
void refuse_weights(const models::Notes& notes) {
  const auto it = notes.find("dataset");
  if (it == notes.end()) return;
  check(data::parse_info(it->second, "the model's dataset").info.edge_weight.empty(),
        "the model was trained with edge weights, which exports to ONNX do not support");
}

// Says what the other side's layers cannot do.
void warn_of_differences(const models::ModelConfig& c, ExportForm form) {
  if (form == ExportForm::kPyg && !exchange::has_pyg_layer(c))
    log_warning(
        "PyTorch Geometric has no equivalent of the layers of this {} network: their parameters "
        "keep egc's names",
        c.model);
  if (!c.model.starts_with("egc")) return;
  if (form == ExportForm::kPyg && has_loops_of_symnorm_only(c))
    log_warning(
        "the layers have self-loops for symnorm only, which PyTorch Geometric's EGConv does not "
        "support; load the state into egc.EGConv with self_loops=\"symnorm\"");
  if (form == ExportForm::kPyg && c.edge_features)
    log_warning(
        "the layers use features of edges, which PyTorch Geometric's EGConv does not take; load "
        "the state into egc.torch.EGConv with the arguments of the metadata \"pyg\"");
  const SelfLoops loops = c.self_loops.value_or(SelfLoops::kAll);
  if (form == ExportForm::kAuthors && loops != SelfLoops::kSymnorm)
    log_warning(
        "the layers have self-loops \"{}\", but the authors' layers support \"symnorm\" only",
        name_of(loops));
  if (c.activation.value_or(WeightActivation::kIdentity) != WeightActivation::kIdentity)
    log_warning(
        "the combination weights have the activation {}, which a state dict does not record",
        name_of(*c.activation));
}

// Whose layers they are is told by the names of the weights.
void check_origin(const ImportOptions& o, const State& state,
                  const std::optional<models::ModelConfig>& given) {
  const bool pyg = std::any_of(state.begin(), state.end(), [](const auto& item) {
    return item.first.ends_with(".comb_lin.weight");
  });
  if (o.from_authors ? pyg : exchange::has_authors_weights(state))
    fail(ErrorKind::kModel, "{}: the layers are {}, not {}; use --from {}", o.checkpoint,
         pyg ? "PyTorch Geometric's" : "the authors'", pyg ? "the authors'" : "PyTorch Geometric's",
         pyg ? "pyg" : "authors");
  check(o.from_authors || !given || !has_loops_of_symnorm_only(*given),
        "{}: PyTorch Geometric's layers do not support self_loops \"symnorm\"; use \"all\" or "
        "\"none\"",
        o.config);
}

}  // namespace

void export_model(const ExportOptions& o) {
  refuse_same_file(inference::model_path(o.model), o.out);
  const auto loaded = models::load_network(inference::model_path(o.model));
  State own = loaded.network->state();
  const models::ModelConfig& config = loaded.network->config();
  warn_of_differences(config, o.form);
  if (o.form == ExportForm::kModel) {
    models::save_network(o.out, *loaded.network, loaded.notes,
                         o.half ? models::Storage::kHalf : models::Storage::kFull);
    return;
  }
  fold_scaling(loaded, own);
  switch (o.form) {
    case ExportForm::kModel:
      return;
    case ExportForm::kPyg: {
      models::Metadata metadata = {{"egc", exchange::pyg_config(config)}};
      if (const std::string layers = exchange::pyg_layers(config); !layers.empty())
        metadata["pyg"] = layers;
      return models::write_tensor_file(o.out, kPython, exchange::pyg_state(config, own), metadata);
    }
    case ExportForm::kAuthors:
      return models::write_tensor_file(o.out, kPython, exchange::authors_state(config, own),
                                       about(config));
    case ExportForm::kOnnx:
      refuse_weights(loaded.notes);
      loaded.network->load_state(own, "the network");
      return exchange::write_onnx(o.out, *loaded.network);
  }
}

ModelFacts import_model(const ImportOptions& o, const data::Dataset* dataset) {
  refuse_same_file(o.checkpoint, o.out);
  exchange::Checkpoint checkpoint = exchange::read_checkpoint(o.checkpoint);
  checkpoint.state = exchange::without_wrappers(std::move(checkpoint.state));
  const exchange::ConfigHints hints = hints_of(o);
  const auto given =
      o.config.empty() ? std::nullopt : std::optional(train::read_model_config(o.config));
  check_origin(o, checkpoint.state, given);
  if (given && dataset != nullptr) inference::check_fits(*given, *dataset);
  std::shared_ptr<models::Network> network;
  try {
    const auto config = given ? *given : exchange::infer_config(checkpoint.state, hints);
    if (dataset != nullptr) inference::check_fits(config, *dataset);
    network = models::make_network(config);
    network->load_state(exchange::network_state(config, checkpoint.state), "state dict");
  } catch (const Error& e) {  // whatever it is, the checkpoint is what does not fit
    fail(ErrorKind::kModel, "{}: {}", o.checkpoint, e.what());
  }
  models::save_network(o.out, *network, notes_of(checkpoint, network->config(), dataset));
  if (dataset == nullptr) log_warning("without --dataset, egc predict cannot use the model");
  return model_facts(o.out);
}

}  // namespace egc::app
