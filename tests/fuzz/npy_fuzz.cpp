// NumPy's arrays; the input is the file.
#include "egc/data/formats/npy.h"

#include "tests/fuzz/fuzz_input.h"

namespace {

template <class T>
void check_npy(const std::filesystem::path& path) {
  egc::fuzz::throws_only({egc::ErrorKind::kData}, [&] {
    const auto array = egc::data::read_npy<T>(path);
    egc::fuzz::expect(array.rows() * array.columns == array.values.size(),
                      "{} values in {} columns", array.values.size(), array.columns);
    egc::fuzz::touch(array.values);
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const egc::fuzz::MemoryFile file;
  const auto& path = file.write(egc::fuzz::Input(data, size).rest());
  check_npy<float>(path);
  check_npy<int32_t>(path);
  egc::fuzz::throws_only({egc::ErrorKind::kData}, [&] { egc::data::npy_has_floats(path); });
  return 0;
}
