// Pickles, and tensors within. The first digit: 0, a pickle; 1, a file of torch.save from memory;
// 2, from disk (which may be gzip); 3, data.pkl and storages, put into a zip file as torch.save
// does. Every value that can be reached is looked at, every tensor is asked for.
#include "egc/data/formats/pickle.h"

#include <vector>

#include "egc/data/formats/torch_file.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/zip.h"

namespace {

using egc::ErrorKind;
using egc::data::PyValue;
using egc::data::TorchFile;

constexpr size_t kMaxValues = 2000;  // values may refer to each other in circles

template <class F>
void walk(const PyValue& root, F&& f) {
  std::vector<const PyValue*> open = {&root};
  for (size_t k = 0; k < kMaxValues && !open.empty(); ++k) {
    const PyValue* value = open.back();
    open.pop_back();
    f(*value);
    open.insert(open.end(), value->items.begin(), value->items.end());
  }
}

void look_at(const PyValue& value) {
  egc::fuzz::touch(value.text);
  value.find("x");
  value.is_call("torch._utils _rebuild_tensor_v2");
}

void ask_for_tensor(const TorchFile& file, const PyValue& value, ErrorKind kind) {
  egc::fuzz::throws_only({kind}, [&] {
    const auto tensor = file.tensor(value);
    egc::fuzz::expect(
        static_cast<size_t>(tensor.numel()) * egc::size_of(tensor.dtype) == tensor.data.size(),
        "a tensor of {} bytes", tensor.data.size());
    egc::fuzz::touch(tensor.data);
  });
  std::vector<int64_t> shape;
  egc::fuzz::throws_only({kind}, [&] { file.values<float>(value, shape); });
  egc::fuzz::throws_only({kind}, [&] { file.values<int32_t>(value, shape); });
  egc::fuzz::throws_only({kind}, [&] { file.values<int64_t>(value, shape); });
}

void check_torch_file(const TorchFile& file, ErrorKind kind) {
  size_t tensors = 0;
  walk(file.root(), [&](const PyValue& value) {
    look_at(value);
    constexpr size_t kMaxTensors = 100;
    if (TorchFile::is_tensor(value) && ++tensors <= kMaxTensors) ask_for_tensor(file, value, kind);
  });
}

// data.pkl, and the storages 0, 1, ... between separators.
std::string zip_of(std::string_view rest) {
  constexpr std::string_view kSeparator = "~~~";
  egc::fuzz::Zip zip;
  for (int k = -1;; ++k) {
    const size_t end = rest.find(kSeparator);
    zip.add(k < 0 ? "archive/data.pkl" : "archive/data/" + std::to_string(k), rest.substr(0, end));
    if (end == std::string_view::npos) return zip.finish();
    rest.remove_prefix(end + kSeparator.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const egc::fuzz::MemoryFile disk;
  egc::fuzz::Input input(data, size);
  const size_t mode = input.choose(4);
  constexpr ErrorKind kKind = ErrorKind::kModel;
  egc::fuzz::throws_only({kKind}, [&] {
    if (mode == 0) {
      const egc::data::Pickle pickle(input.rest(), "x", kKind);
      egc::fuzz::expect(pickle.used() <= input.rest().size(), "used {} bytes", pickle.used());
      walk(pickle.root(), look_at);
    } else if (mode == 1) {
      check_torch_file(TorchFile(input.text(), "x", kKind), kKind);
    } else if (mode == 2) {
      check_torch_file(TorchFile(disk.write(input.rest()), kKind), kKind);
    } else {
      check_torch_file(TorchFile(zip_of(input.rest()), "x", kKind), kKind);
    }
  });
  return 0;
}
