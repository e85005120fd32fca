// The safetensors format: 8 bytes header length (little endian), a JSON header, raw little-endian
// data. Reading maps the file and copies nothing; everything in the header is checked before any of
// it is believed. Errors are ErrorKind::kModel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "egc/core/atomic_file.h"
#include "egc/core/dtype.h"
#include "egc/core/mapped_file.h"

namespace egc {

struct TensorView {
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;

  int64_t numel() const;
};

class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  const std::map<std::string, TensorView>& tensors() const { return tensors_; }
  bool has(const std::string& name) const { return tensors_.contains(name); }
  // Throws with the name of the file and the tensor where it is not there.
  const TensorView& at(const std::string& name) const;

 private:
  std::string path_;
  std::unique_ptr<MappedFile> file_;  // what the views point into
  std::map<std::string, std::string> metadata_;
  std::map<std::string, TensorView> tensors_;
};

// Never a half-written file (atomic_file.h).
void write_safetensors(const std::filesystem::path& path,
                       const std::map<std::string, TensorView>& tensors,
                       const std::map<std::string, std::string>& metadata = {},
                       Sync sync = Sync::kYes);

}  // namespace egc
