#include "egc/core/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "egc/core/error.h"
#include "egc/core/json_parse.h"
#include "egc/core/named_table.h"

namespace egc {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little,
              "the format and this code are little endian");

constexpr uint64_t kMaxHeader = 100 << 20;  // as in the reference implementation

struct TypeInfo {
  DType type;
  size_t bytes;
  bool operator==(const TypeInfo&) const = default;
};

const NamedTable<TypeInfo>& types() {
  static const NamedTable<TypeInfo> table("tensor type", {{"F64", {DType::kF64, 8}},
                                                          {"F32", {DType::kF32, 4}},
                                                          {"F16", {DType::kF16, 2}},
                                                          {"BF16", {DType::kBF16, 2}},
                                                          {"I64", {DType::kI64, 8}},
                                                          {"I32", {DType::kI32, 4}},
                                                          {"I16", {DType::kI16, 2}},
                                                          {"I8", {DType::kI8, 1}},
                                                          {"U8", {DType::kU8, 1}},
                                                          {"BOOL", {DType::kBool, 1}}});
  return table;
}

template <class... Args>
void expect(bool ok, fmt::format_string<Args...> format, Args&&... args) {
  if (!ok) fail(ErrorKind::kModel, format, std::forward<Args>(args)...);
}

// The product of a shape times the size of an element; false when it overflows or makes no sense.
bool byte_count(const std::vector<int64_t>& shape, size_t element, uint64_t& bytes) {
  bytes = element;
  for (const int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes))
      return false;
  return true;
}

std::vector<int64_t> parse_shape(const std::string& where, const json& value) {
  expect(value.is_array(), "{}: shape must be a list", where);
  std::vector<int64_t> shape;
  for (const json& extent : value) {
    expect(extent.is_number_unsigned() &&
               extent.get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()},
           "{}: each extent of the shape must be an integer of at least 0, got a {}", where,
           extent.type_name());
    shape.push_back(extent.get<int64_t>());
  }
  return shape;
}

TensorView parse_tensor(const std::string& where, const json& entry,
                        std::span<const std::byte> data) {
  expect(entry.is_object() && entry.size() == 3 && entry.contains("dtype") &&
             entry.contains("shape") && entry.contains("data_offsets"),
         "{}: expected dtype, shape and data_offsets", where);
  expect(entry["dtype"].is_string(), "{}: dtype must be a string", where);
  TensorView view;
  TypeInfo info{};
  try {
    info = types().at(entry["dtype"].get<std::string>());
  } catch (const Error& e) {
    fail(ErrorKind::kModel, "{}: {}", where, e.what());
  }
  view.dtype = info.type;
  view.shape = parse_shape(where, entry["shape"]);
  const json& offsets = entry["data_offsets"];
  expect(offsets.is_array() && offsets.size() == 2 && offsets[0].is_number_unsigned() &&
             offsets[1].is_number_unsigned(),
         "{}: data_offsets must be two integers", where);
  const auto begin = offsets[0].get<uint64_t>();
  const auto end = offsets[1].get<uint64_t>();
  expect(begin <= end && end <= data.size(),
         "{}: data_offsets [{}, {}) must lie in the {} bytes of data", where, begin, end,
         data.size());
  uint64_t bytes = 0;
  expect(byte_count(view.shape, info.bytes, bytes) && bytes == end - begin,
         "{}: shape and dtype do not match the {} bytes between data_offsets", where, end - begin);
  view.data = data.subspan(begin, end - begin);
  return view;
}

// The data must be used up, without holes and without overlap.
void check_coverage(const std::string& path, const std::map<std::string, TensorView>& tensors,
                    std::span<const std::byte> data) {
  std::vector<std::span<const std::byte>> parts;
  for (const auto& [name, tensor] : tensors)
    if (!tensor.data.empty()) parts.push_back(tensor.data);
  std::sort(parts.begin(), parts.end(), [](auto a, auto b) { return a.data() < b.data(); });
  const std::byte* at = data.data();
  for (const auto part : parts) {
    expect(part.data() == at, "{}: tensors overlap or leave a gap at byte {} of the data", path,
           std::min(at, part.data()) - data.data());
    at += part.size();
  }
  expect(at == data.data() + data.size(), "{}: the last {} bytes belong to no tensor", path,
         data.data() + data.size() - at);
}

}  // namespace

size_t size_of(DType type) {
  switch (type) {  // no table: asked in every pass
    case DType::kF64:
    case DType::kI64:
      return 8;
    case DType::kF32:
    case DType::kI32:
      return 4;
    case DType::kF16:
    case DType::kBF16:
    case DType::kI16:
      return 2;
    case DType::kI8:
    case DType::kU8:
    case DType::kBool:
      return 1;
  }
  fail(ErrorKind::kUsage, "an unknown element type");
}

std::string_view name_of(DType type) { return types().name_of({type, size_of(type)}); }

std::string_view spelled_name_of(DType type) {
  switch (type) {
    case DType::kF64:
      return "float64";
    case DType::kF32:
      return "float32";
    case DType::kF16:
      return "float16";
    case DType::kBF16:
      return "bfloat16";
    case DType::kI64:
      return "int64";
    case DType::kI32:
      return "int32";
    case DType::kI16:
      return "int16";
    case DType::kI8:
      return "int8";
    case DType::kU8:
      return "uint8";
    case DType::kBool:
      return "bool";
  }
  return "unknown";
}

int64_t TensorView::numel() const {
  int64_t n = 1;
  for (const int64_t extent : shape) n *= extent;
  return n;
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : path_(path.string()), file_(std::make_unique<MappedFile>(path)) {
  const auto bytes = file_->bytes();
  expect(bytes.size() >= 8, "{}: not a safetensors file: expected at least 8 bytes, found {}",
         path_, bytes.size());
  uint64_t header = 0;
  std::memcpy(&header, bytes.data(), 8);
  expect(header <= kMaxHeader && header <= bytes.size() - 8,
         "{}: not a safetensors file, or truncated: header length {} exceeds the limit of {} or "
         "the file's {} bytes",
         path_, header, kMaxHeader, bytes.size());
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + 8;
  // The format wants the brace first. The JSON library would take a NUL byte for the end.
  expect(header > 0 && text[0] == '{' && std::memchr(text, 0, header) == nullptr,
         "{}: the header must be a JSON object without NUL bytes", path_);
  const json root = parse_json<json>({text, header}, path_ + ": header", ErrorKind::kModel);
  expect(root.is_object(), "{}: the header must be a JSON object", path_);
  const auto data = bytes.subspan(8 + header);
  for (const auto& [name, entry] : root.items()) {
    if (name == "__metadata__") {
      expect(entry.is_object(), "{}: __metadata__ must be an object", path_);
      for (const auto& [key, value] : entry.items()) {
        expect(value.is_string(), "{}: __metadata__ \"{}\" must be a string", path_, key);
        metadata_[key] = value.get<std::string>();
      }
      continue;
    }
    tensors_[name] = parse_tensor(fmt::format("{}: tensor \"{}\"", path_, name), entry, data);
  }
  check_coverage(path_, tensors_, data);
}

const TensorView& SafetensorsFile::at(const std::string& name) const {
  const auto it = tensors_.find(name);
  expect(it != tensors_.end(), "{}: tensor \"{}\" not found", path_, name);
  return it->second;
}

void write_safetensors(const std::filesystem::path& path,
                       const std::map<std::string, TensorView>& tensors,
                       const std::map<std::string, std::string>& metadata, Sync sync) {
  json root = json::object();
  if (!metadata.empty()) root["__metadata__"] = metadata;
  uint64_t at = 0;
  for (const auto& [name, tensor] : tensors) {
    uint64_t bytes = 0;
    check(byte_count(tensor.shape, size_of(tensor.dtype), bytes) && bytes == tensor.data.size(),
          "write_safetensors: tensor \"{}\" has {} bytes, which do not match its shape and type",
          name, tensor.data.size());
    check(name != "__metadata__", "write_safetensors: the name \"{}\" is reserved", name);
    root[name] = {{"dtype", name_of(tensor.dtype)},
                  {"shape", tensor.shape},
                  {"data_offsets", {at, at + bytes}}};
    at += bytes;
  }
  std::string header;
  try {
    header = root.dump();
  } catch (const json::exception&) {
    fail(ErrorKind::kUsage, "write_safetensors: names and metadata must be UTF-8");
  }
  header.resize((header.size() + 7) / 8 * 8, ' ');  // data begins at a multiple of eight
  check(header.size() <= kMaxHeader, "{}: the header of {} bytes must be at most {}", path.string(),
        header.size(), kMaxHeader);
  const uint64_t length = header.size();

  AtomicFile file(path);
  // Most tensors are small: they go out together.
  constexpr size_t kTogether = 1 << 20;
  std::string pending(reinterpret_cast<const char*>(&length), 8);
  pending += header;
  const auto flush = [&] {
    file.write(pending.data(), pending.size());
    pending.clear();
  };
  for (const auto& [name, tensor] : tensors) {
    if (pending.size() + tensor.data.size() > kTogether) flush();
    if (tensor.data.size() > kTogether)
      file.write(tensor.data.data(), tensor.data.size());
    else
      pending.append(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
  }
  flush();
  file.commit(sync);
}

}  // namespace egc
