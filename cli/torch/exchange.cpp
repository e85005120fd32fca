#include "cli/torch/module.h"
#include "egc/core/error.h"
#include "egc/core/log.h"
#include "egc/exchange/authors_state.h"
#include "egc/exchange/checkpoint.h"
#include "egc/exchange/foreign_state.h"
#include "egc/exchange/infer_config.h"
#include "egc/exchange/onnx_network.h"
#include "egc/models/keep_generator.h"
#include "egc/models/model_file.h"
#include "egc/models/tensor_file.h"
#include "egc/nn/state.h"
#include "egc/train/default_config.h"
#include "egc/train/predictor.h"

namespace egc::cli {
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
  if (o.activation) out.activation = nn::parse_weight_activation(*o.activation);
  return out;
}

// What predictions need to know of the data.
models::Notes notes_of(const exchange::Checkpoint& checkpoint, const data::Dataset* dataset) {
  models::Notes out;
  train::TrainConfig training;
  training.lr = checkpoint.lr.value_or(training.lr);
  training.wd = checkpoint.wd.value_or(training.wd);
  training.batch = checkpoint.batch.value_or(training.batch);
  out["train"] = train::to_json(training);
  if (dataset != nullptr) out["dataset"] = data::to_json(dataset->info);
  return out;
}

}  // namespace

void export_model(const ExportOptions& o) {
  const auto loaded = models::load_network(train::model_path(o.model));
  const nn::State own = nn::state_of(*loaded.network);
  switch (o.form) {
    case ExportForm::kModel:
      models::save_network(o.out, *loaded.network, loaded.notes,
                           o.half ? models::Storage::kHalf : models::Storage::kFull);
      return;
    case ExportForm::kPyg:
      return models::write_tensor_file(o.out, kPython, own, {});
    case ExportForm::kAuthors:
      return models::write_tensor_file(o.out, kPython,
                                       exchange::authors_state(loaded.network->config(), own), {});
    case ExportForm::kOnnx:
      return exchange::write_onnx(o.out, *loaded.network);
  }
}

ModelFacts import_model(const ImportOptions& o, const data::Dataset* dataset) {
  const exchange::Checkpoint checkpoint = exchange::read_checkpoint(o.checkpoint);
  const exchange::ConfigHints hints = hints_of(o);
  const auto given =
      o.config.empty() ? std::nullopt : std::optional(train::read_model_config(o.config));
  if (given && dataset != nullptr) train::check_fits(*given, *dataset);
  const models::KeepGenerator keep;
  std::shared_ptr<models::Network> network;
  try {
    const auto config = given ? *given : exchange::infer_config(checkpoint.state, hints);
    if (dataset != nullptr) train::check_fits(config, *dataset);
    network = models::make_network(config);
    nn::load_state(*network, exchange::network_state(config, checkpoint.state), "its state");
  } catch (const Error& e) {  // whatever it is, the checkpoint is what does not fit
    fail(ErrorKind::kModel, "{}: {}", o.checkpoint, e.what());
  }
  if (dataset == nullptr)
    log_warning("without --dataset the model cannot be asked for predictions by this program");
  models::save_network(o.out, *network, notes_of(checkpoint, dataset));
  return model_facts(o.out);
}

}  // namespace egc::cli
