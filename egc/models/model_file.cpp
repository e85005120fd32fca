#include "egc/models/model_file.h"

#include <ATen/ATen.h>
#include <zlib.h>

#include "egc/core/error.h"
#include "egc/core/safetensors.h"
#include "egc/models/keep_generator.h"
#include "egc/nn/parameter.h"
#include "egc/nn/state.h"

namespace egc::models {
namespace {

constexpr const char* kFormat = "egc-model-1";

// Of names, types, shapes and bytes of all tensors, and of all metadata but the checksum itself.
std::string checksum(const std::map<std::string, TensorView>& tensors,
                     const std::map<std::string, std::string>& metadata) {
  uLong crc = crc32_z(0, nullptr, 0);
  const auto add = [&crc](const void* data, size_t bytes) {
    // The length too, so that bytes cannot move from one item to the next.
    const uint64_t length = bytes;
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(&length), sizeof(length));
    if (bytes > 0) crc = crc32_z(crc, static_cast<const Bytef*>(data), bytes);
  };
  for (const auto& [name, view] : tensors) {
    add(name.data(), name.size());
    add(name_of(view.dtype).data(), name_of(view.dtype).size());
    add(view.shape.data(), view.shape.size() * sizeof(int64_t));
    add(view.data.data(), view.data.size());
  }
  for (const auto& [key, value] : metadata) {
    if (key == "checksum") continue;
    add(key.data(), key.size());
    add(value.data(), value.size());
  }
  return fmt::format("crc32:{:08x}", crc);
}

DType file_type(const at::Tensor& t, const std::string& name) {
  switch (t.scalar_type()) {
    case at::kFloat:
      return DType::kF32;
    case at::kDouble:
      return DType::kF64;
    case at::kLong:
      return DType::kI64;
    default:
      fail(ErrorKind::kUsage, "save_network: \"{}\" must be float32, float64 or int64, got {}",
           name, c10::toString(t.scalar_type()));
  }
}

template <class... Args>
void expect(bool ok, fmt::format_string<Args...> format, Args&&... args) {
  if (!ok) fail(ErrorKind::kModel, format, std::forward<Args>(args)...);
}

std::shared_ptr<Network> build(const SafetensorsFile& file) {
  int64_t values = 0;
  bool is_double = false;
  for (const auto& [name, view] : file.tensors()) {
    values += view.numel();
    is_double = is_double || view.dtype == DType::kF64;
  }
  const nn::ParameterBudget budget(values);
  const ModelConfig config = parse_model_config(file.metadata().at("config"), "config");
  const KeepGenerator keep;
  const auto network = make_network(config);
  if (is_double) network->to(at::kDouble);
  return network;
}

}  // namespace

void save_network(const std::filesystem::path& path, const Network& network, const Notes& notes) {
  const nn::State state = nn::state_of(network);
  std::map<std::string, at::Tensor> kept;  // what the views point into
  std::map<std::string, TensorView> views;
  for (const auto& [name, tensor] : state) {
    const at::Tensor& t = kept[name] = tensor.cpu().contiguous();
    views[name] = {file_type(t, name),
                   t.sizes().vec(),
                   {static_cast<const std::byte*>(t.data_ptr()), t.nbytes()}};
  }
  std::map<std::string, std::string> metadata = notes;
  for (const char* own : {"format", "config", "checksum"})
    check(!notes.contains(own), "save_network: \"{}\" is no free name for a note", own);
  metadata["format"] = kFormat;
  metadata["config"] = to_json(network.config());
  metadata["checksum"] = checksum(views, metadata);
  write_safetensors(path, views, metadata);
}

LoadedNetwork load_network(const std::filesystem::path& path) {
  const SafetensorsFile file(path);
  const auto& metadata = file.metadata();
  const std::string where = path.string();
  for (const char* key : {"format", "config", "checksum"})
    expect(metadata.contains(key), "{}: no model of this program: the metadata has no \"{}\"",
           where, key);
  expect(metadata.at("format") == kFormat, "{}: expected the format {}, got {}", where, kFormat,
         metadata.at("format"));
  const std::string sum = checksum(file.tensors(), metadata);
  expect(metadata.at("checksum") == sum, "{}: the file is damaged: its checksum is {}, expected {}",
         where, sum, metadata.at("checksum"));
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
  loaded.notes = metadata;
  for (const char* own : {"format", "config", "checksum"}) loaded.notes.erase(own);
  return loaded;
}

}  // namespace egc::models
