// Tensors in files of Python's PyTorch, without PyTorch: torch.save's zip files and their older
// form, and tensors inside ordinary pickles. Read through pickle.h, so nothing is executed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "egc/core/safetensors.h"
#include "egc/data/formats/pickle.h"

namespace egc::data {

class TorchFile {
 public:
  // A file of torch.save or of pickle.dump. Throws `kind`.
  explicit TorchFile(const std::filesystem::path& path, ErrorKind kind = ErrorKind::kData);
  // The same from memory, for instance torch.save's bytes within a pickle.
  TorchFile(std::string bytes, std::string where, ErrorKind kind);
  ~TorchFile();
  TorchFile(TorchFile&&) noexcept;

  const PyValue& root() const;

  // Whether the value is a tensor's recipe.
  static bool is_tensor(const PyValue& value);
  // A tensor; strides must be those of a contiguous one. The data belong to this file.
  TensorView tensor(const PyValue& value) const;
  // Its values as another type: T is float, int32_t or int64_t.
  template <class T>
  std::vector<T> values(const PyValue& value, std::vector<int64_t>& shape) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace egc::data
