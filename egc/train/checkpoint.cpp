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
  const SafetensorsFile file =
      models::open_tensor_file(path, kFormat, "checkpoint", {"model", "train", "seed", "progress"});
  const std::string where = path.string();
  const models::Metadata& metadata = file.metadata();
  for (const auto& [key, value] : identity(trainer.config()))
    if (metadata.at(key) != value)
      fail(ErrorKind::kModel, "{}: it belongs to another run: its {} is {}, expected {}", where,
           key, metadata.at(key), value);
  Trainer::State state;
  state.progress = parse_progress(metadata.at("progress"), where);
  for (const auto& [name, view] : file.tensors()) state.tensors[name] = nn::to_tensor(view);
  trainer.load(state, where);
}

}  // namespace egc::train
