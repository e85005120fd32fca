#include "egc/models/model_file.h"

#include <ATen/ATen.h>

#include "egc/core/error.h"
#include "egc/models/keep_generator.h"
#include "egc/models/tensor_file.h"
#include "egc/nn/parameter.h"
#include "egc/nn/state.h"

namespace egc::models {
namespace {

constexpr const char* kFormat = "egc-model-1";

std::shared_ptr<Network> build(const SafetensorsFile& file) {
  int64_t values = 0;
  bool is_double = false;
  for (const auto& [name, view] : file.tensors()) {
    values += view.numel();
    is_double = is_double || view.dtype == DType::kF64;
  }
  const nn::ParameterBudget budget(values);
  const ModelConfig config =
      parse_model_config(file.metadata().at("config"), "config", NotTaken::kDrop);
  const KeepGenerator keep;
  const auto network = make_network(config);
  if (is_double) network->to(at::kDouble);
  return network;
}

void halve_matrices(nn::State& state) {
  for (auto& [name, tensor] : state) {
    if (tensor.dim() < 2) continue;
    const at::Tensor half = tensor.to(at::kHalf);
    check(at::isfinite(half).all().item<bool>(),
          "\"{}\" has values beyond 65504, which half precision cannot hold", name);
    tensor = half;
  }
}

}  // namespace

void save_network(const std::filesystem::path& path, const Network& network, const Notes& notes,
                  Storage storage) {
  for (const char* own : {"format", "config", "checksum"})
    check(!notes.contains(own), "save_network: \"{}\" is no free name for a note", own);
  Metadata metadata = notes;
  metadata["config"] = to_json(network.config());
  nn::State state = nn::state_of(network);
  if (storage == Storage::kHalf) halve_matrices(state);
  write_tensor_file(path, kFormat, state, metadata);
}

LoadedNetwork load_network(const std::filesystem::path& path) {
  const SafetensorsFile file = open_tensor_file(path, kFormat, "model", {"config"});
  const std::string where = path.string();
  LoadedNetwork loaded;
  try {
    loaded.network = build(file);
  } catch (const Error& e) {
    fail(ErrorKind::kModel, "{}: {}", where, e.what());
  }
  nn::State state;
  for (const auto& [name, view] : file.tensors()) state[name] = nn::to_tensor(view);
  nn::load_state(*loaded.network, state, where);
  loaded.network->eval();
  loaded.notes = file.metadata();
  for (const char* own : {"format", "config", "checksum"}) loaded.notes.erase(own);
  return loaded;
}

}  // namespace egc::models
