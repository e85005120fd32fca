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

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const Trainer& trainer) {
  const Trainer::State state = trainer.state();
  models::Metadata metadata = identity(trainer.config());
  metadata["progress"] = to_json(state.progress);
  models::write_tensor_file(path, kFormat, state.tensors, metadata);
}

void load_checkpoint(const std::filesystem::path& path, Trainer& trainer) {
  const SafetensorsFile file = models::open_tensor_file(path, kFormat, "checkpoint");
  const std::string where = path.string();
  const models::Metadata& metadata = file.metadata();
  for (const auto& [key, value] : identity(trainer.config())) {
    const auto it = metadata.find(key);
    if (it == metadata.end() || it->second != value)
      fail(ErrorKind::kModel, "{}: it belongs to another run: its {} is {}, expected {}", where,
           key, it == metadata.end() ? "not there" : it->second, value);
  }
  if (!metadata.contains("progress"))
    fail(ErrorKind::kModel, "{}: no checkpoint: the metadata has no \"progress\"", where);
  Trainer::State state;
  state.progress = parse_progress(metadata.at("progress"), where);
  for (const auto& [name, view] : file.tensors()) state.tensors[name] = nn::to_tensor(view);
  trainer.load(state, where);
}

}  // namespace egc::train
