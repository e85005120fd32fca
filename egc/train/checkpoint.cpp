#include "egc/train/checkpoint.h"

#include "egc/core/error.h"
#include "egc/models/tensor_file.h"

namespace egc::train {
namespace {

constexpr const char* kFormat = "egc-checkpoint-1";

// What must be the same for a run to go on.
models::Metadata identity(const RunConfig& config) {
  return {{"model", models::to_json(config.model)},
          {"train", to_json(config.train)},
          {"seed", std::to_string(config.seed)}};
}

// Settings that a version before this one did not have are those that it went by.
models::Metadata with_new_settings(models::Metadata metadata, const std::string& where) {
  try {
    std::string& model = metadata.at("model");
    std::string& train = metadata.at("train");
    model = models::to_json(
        models::parse_model_config(model, where + ": model", models::UnsupportedOptions::kDrop));
    train = to_json(parse_train_config(train, where + ": train"));
  } catch (const Error& e) {
    fail(ErrorKind::kModel, "{}", e.what());
  }
  return metadata;
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const Trainer& trainer) {
  const Trainer::State state = trainer.state();
  models::Metadata metadata = identity(trainer.config());
  metadata["progress"] = to_json(state.progress);
  models::write_tensor_file(path, kFormat, state.tensors, metadata);
}

void load_checkpoint(const std::filesystem::path& path, Trainer& trainer) {
  const SafetensorsFile file =
      models::open_tensor_file(path, kFormat, "checkpoint", {"model", "train", "seed", "progress"});
  const std::string where = path.string();
  const models::Metadata metadata = with_new_settings(file.metadata(), where);
  for (const auto& [key, value] : identity(trainer.config()))
    if (metadata.at(key) != value)
      fail(ErrorKind::kModel, "{}: belongs to another run: its {} is {}, expected {}", where, key,
           metadata.at(key), value);
  Trainer::State state;
  state.progress = parse_progress(metadata.at("progress"), where);
  state.tensors = models::read_tensors(file);
  trainer.load(state, where);
}

}  // namespace egc::train
