#include "egc/models/model_file.h"

#include <algorithm>
#include <cmath>

#include "egc/core/error.h"
#include "egc/models/tensor_file.h"

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
      parse_model_config(file.metadata().at("config"), "config", UnsupportedOptions::kDrop);
  const auto network = make_network(config);
  if (is_double) network->to(DType::kF64);
  return network;
}

void halve_matrices(State& state) {
  for (auto& [name, array] : state) {
    if (array.dim() < 2) continue;
    array = array.to(DType::kF16);
    const auto back = array.to(DType::kF32);
    const auto values = back.values<float>();
    check(std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); }),
          "tensor \"{}\" has values beyond 65504, which half precision cannot represent", name);
  }
}

}  // namespace

void save_network(const std::filesystem::path& path, const Network& network, const Notes& notes,
                  Storage storage) {
  for (const char* own : {"format", "config", "checksum"})
    check(!notes.contains(own), "save_network: \"{}\" is a reserved name", own);
  Metadata metadata = notes;
  metadata["config"] = to_json(network.config());
  State state = network.state();
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
    if (e.kind() == ErrorKind::kSystem) throw;  // no memory: not the file's fault
    fail(ErrorKind::kModel, "{}: {}", where, e.what());
  }
  loaded.network->load_state(read_tensors(file), where);
  loaded.notes = file.metadata();
  for (const char* own : {"format", "config", "checksum"}) loaded.notes.erase(own);
  return loaded;
}

}  // namespace egc::models
