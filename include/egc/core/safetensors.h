// The safetensors format: 8 bytes of header length (little endian), a JSON header, raw
// little-endian data. Files are mapped and not copied; the header is untrusted input and fully
// checked. Errors are ErrorKind::kModel.
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

// A tensor in memory that somebody else owns: contiguous, row-major.
struct TensorView {
  DType dtype = DType::kF32;        // element type
  std::vector<int64_t> shape;       // any number of dimensions
  std::span<const std::byte> data;  // the values

  int64_t numel() const;  // number of elements
};

// A safetensors file, mapped for reading. Its views are valid as long as it lives.
class SafetensorsFile {
 public:
  // Opens and checks a file. Throws kModel where it is damaged.
  explicit SafetensorsFile(const std::filesystem::path& path);

  // The header's `__metadata__`.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  // All tensors by name.
  const std::map<std::string, TensorView>& tensors() const { return tensors_; }
  // Whether there is such a tensor.
  bool has(const std::string& name) const { return tensors_.contains(name); }
  // A tensor by name; throws kModel with file and name if there is none.
  const TensorView& at(const std::string& name) const;

 private:
  std::string path_;
  std::unique_ptr<MappedFile> file_;  // what the views point into
  std::map<std::string, std::string> metadata_;
  std::map<std::string, TensorView> tensors_;
};

// Writes a file atomically (core/atomic_file.h).
void write_safetensors(const std::filesystem::path& path,
                       const std::map<std::string, TensorView>& tensors,
                       const std::map<std::string, std::string>& metadata = {},
                       Sync sync = Sync::kYes);

}  // namespace egc
