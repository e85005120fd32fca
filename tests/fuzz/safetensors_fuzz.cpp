// Safetensors; the input is the file. What was read must be the same after writing and reading.
#include "egc/core/safetensors.h"

#include <algorithm>

#include "tests/fuzz/fuzz_input.h"

namespace {

void check_same(const egc::SafetensorsFile& a, const egc::SafetensorsFile& b) {
  egc::fuzz::expect(a.metadata() == b.metadata(), "other metadata after writing");
  egc::fuzz::expect(a.tensors().size() == b.tensors().size(), "lost a tensor in writing");
  for (const auto& [name, tensor] : a.tensors()) {
    const egc::TensorView& other = b.at(name);
    egc::fuzz::expect(tensor.dtype == other.dtype && tensor.shape == other.shape &&
                          std::ranges::equal(tensor.data, other.data),
                      "the tensor \"{}\" is another after writing", name);
    egc::fuzz::expect(
        static_cast<size_t>(tensor.numel()) * egc::size_of(tensor.dtype) == tensor.data.size(),
        "the tensor \"{}\" has {} bytes", name, tensor.data.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const egc::fuzz::MemoryFile file;
  static const egc::fuzz::ScratchDirectory scratch;
  egc::fuzz::throws_only({egc::ErrorKind::kModel}, [&] {
    const egc::SafetensorsFile read(file.write(egc::fuzz::Input(data, size).rest()));
    const auto copy = scratch.path() / "copy";
    egc::write_safetensors(copy, read.tensors(), read.metadata(), egc::Sync::kNo);
    check_same(read, egc::SafetensorsFile(copy));
  });
  return 0;
}
