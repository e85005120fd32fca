#include "egc/exchange/checkpoint.h"

#include "egc/core/error.h"
#include "egc/data/formats/torch_file.h"

namespace egc::exchange {
namespace {

using data::PyValue;
using data::TorchFile;
using Kind = PyValue::Kind;

// The dictionary of tensors: the root, or what one of the usual names leads to.
const PyValue& state_dictionary(const PyValue& root, const std::string& where) {
  if (!root.is(Kind::kDict))
    fail(ErrorKind::kModel,
         "{}: expected a state dict, or a dictionary that contains one; pickled modules are not "
         "supported: save module.state_dict() instead",
         where);
  for (const char* key : {"model", "state_dict", "model_state_dict"})
    if (const PyValue* inner = root.find(key); inner != nullptr && inner->is(Kind::kDict))
      return *inner;
  return root;
}

// Tensors and parameters; a parameter is a tensor with a call around it.
const PyValue* tensor_in(const PyValue& value) {
  if (TorchFile::is_tensor(value)) return &value;
  if (value.is_call("torch._utils _rebuild_parameter") && !value.items[1]->items.empty() &&
      TorchFile::is_tensor(*value.items[1]->items[0]))
    return value.items[1]->items[0];
  return nullptr;
}

std::optional<double> number(const PyValue* settings, const char* key) {
  const PyValue* value = settings == nullptr ? nullptr : settings->find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is(Kind::kFloat)) return value->real;
  if (value->is(Kind::kInt)) return static_cast<double>(value->number);
  return std::nullopt;
}

Checkpoint read_torch(const std::filesystem::path& path) {
  const TorchFile file(path, ErrorKind::kModel);
  const std::string where = path.string();
  const PyValue& dictionary = state_dictionary(file.root(), where);
  Checkpoint out;
  for (size_t k = 0; k + 1 < dictionary.items.size(); k += 2) {
    const PyValue& key = *dictionary.items[k];
    const PyValue* tensor = tensor_in(*dictionary.items[k + 1]);
    if (!key.is(Kind::kText) || tensor == nullptr)
      fail(ErrorKind::kModel, "{}: expected a tensor for every name, but \"{}\" has none", where,
           key.is(Kind::kText) ? key.text : "a key that is not a string");
    out.state[std::string(key.text)] = NdArray(file.tensor(*tensor));
  }
  const PyValue* settings = file.root().find("hparams");
  out.lr = number(settings, "lr");
  out.wd = number(settings, "wd");
  if (const auto batch = number(settings, "batch_size"); batch && *batch >= 1 && *batch <= 1 << 20)
    out.batch = static_cast<int64_t>(*batch);
  return out;
}

}  // namespace

Checkpoint read_checkpoint(const std::filesystem::path& path) {
  Checkpoint out;
  if (path.extension() == ".safetensors") {
    const SafetensorsFile file(path);
    for (const auto& [name, view] : file.tensors()) out.state[name] = NdArray(view);
  } else {
    out = read_torch(path);
  }
  if (out.state.empty()) fail(ErrorKind::kModel, "{}: contains no tensors", path.string());
  return out;
}

}  // namespace egc::exchange
