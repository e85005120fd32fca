#include "egc/models/tensor_file.h"

#include "egc/core/crc32.h"
#include "egc/core/error.h"

namespace egc::models {
namespace {

// Of names, types, shapes and bytes of all tensors, and of all metadata but the checksum itself.
std::string checksum(const std::map<std::string, TensorView>& tensors, const Metadata& metadata) {
  uint32_t crc = 0;
  const auto add = [&crc](const void* data, size_t bytes) {
    // The length too, so that bytes cannot move from one item to the next.
    const uint64_t length = bytes;
    crc = crc32(crc, &length, sizeof length);
    crc = crc32(crc, data, bytes);
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

}  // namespace

void write_tensor_file(const std::filesystem::path& path, const std::string& format,
                       const State& tensors, Metadata metadata) {
  for (const char* own : {"format", "checksum"})
    check(!metadata.contains(own), "tensor file: \"{}\" is a reserved metadata name", own);
  std::map<std::string, TensorView> views;
  for (const auto& [name, array] : tensors) views[name] = array.view();
  metadata["format"] = format;
  metadata["checksum"] = checksum(views, metadata);
  write_safetensors(path, views, metadata);
}

SafetensorsFile open_tensor_file(const std::filesystem::path& path, const std::string& format,
                                 const char* what, const std::vector<std::string>& keys) {
  SafetensorsFile file(path);
  const Metadata& metadata = file.metadata();
  const auto expect = [&](bool ok, const std::string& sentence) {
    if (!ok) fail(ErrorKind::kModel, "{}: {}", path.string(), sentence);
  };
  const auto expect_key = [&](const std::string& key) {
    expect(metadata.contains(key),
           fmt::format("not a {} written by egc: the metadata has no \"{}\"", what, key));
  };
  expect_key("format");
  expect_key("checksum");
  expect(metadata.at("format") == format,
         fmt::format("expected the format {}, got {}", format, metadata.at("format")));
  for (const std::string& key : keys) expect_key(key);
  const std::string sum = checksum(file.tensors(), metadata);
  expect(metadata.at("checksum") == sum,
         fmt::format("the file is corrupt: its checksum is {}, expected {}", sum,
                     metadata.at("checksum")));
  return file;
}

State read_tensors(const SafetensorsFile& file) {
  State state;
  for (const auto& [name, view] : file.tensors()) state[name] = NdArray(view);
  return state;
}

}  // namespace egc::models
