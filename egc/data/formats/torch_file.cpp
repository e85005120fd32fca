#include "egc/data/formats/torch_file.h"

#include <cstring>
#include <limits>

#include "egc/core/named_table.h"
#include "egc/data/formats/archive.h"
#include "egc/data/formats/text_blocks.h"

namespace egc::data {
namespace {

using Kind = PyValue::Kind;

constexpr size_t kMaxBytes = size_t{8} << 30;
constexpr int kMaxNested = 4;  // a storage within a tensor within a pickle is two

struct StorageType {
  const char* global;
  DType type;
};
constexpr StorageType kStorages[] = {
    {"torch FloatStorage", DType::kF32}, {"torch DoubleStorage", DType::kF64},
    {"torch HalfStorage", DType::kF16},  {"torch BFloat16Storage", DType::kBF16},
    {"torch LongStorage", DType::kI64},  {"torch IntStorage", DType::kI32},
    {"torch ShortStorage", DType::kI16}, {"torch CharStorage", DType::kI8},
    {"torch ByteStorage", DType::kU8},   {"torch BoolStorage", DType::kBool}};

struct Storage {
  DType type = DType::kF32;
  std::string_view bytes;
};

std::string read_whole(const std::filesystem::path& path, ErrorKind kind) {
  try {
    return read_text(path, kMaxBytes);
  } catch (const Error& e) {
    throw Error(kind, e.what());
  }
}

}  // namespace

struct TorchFile::Impl {
  Impl(std::string content, std::string name, ErrorKind error, int nested)
      : bytes(std::move(content)), where(std::move(name)), kind(error), depth(nested) {
    if (depth > kMaxNested) bad("files are nested too deeply");
    if (bytes.starts_with("PK\x03\x04"))
      open_zip();
    else
      open_pickles();
  }

  [[noreturn]] void bad(const std::string& what) const { fail(kind, "{}: {}", where, what); }

  // archive/data.pkl beside archive/data/<key>.
  void open_zip() {
    // The directory of a zip file stands at its end, before a comment of 64 KB at most: without it
    // something is missing, also where the entries can be read one after the other.
    const size_t tail = std::min<size_t>(bytes.size(), (64 << 10) + 22);
    if (std::string_view(bytes).substr(bytes.size() - tail).find("PK\x05\x06") ==
        std::string_view::npos)
      bad("the zip file is truncated");
    std::string text;
    bool found = false;
    read_archive(
        bytes, where,
        [&](const std::string& name, std::string content) {
          const size_t folder = name.find('/');
          if (folder == std::string::npos) return;
          const std::string below = name.substr(folder + 1);
          if (below == "data.pkl") {
            text = std::move(content);
            found = true;
          } else if (below.starts_with("data/")) {
            storages[below.substr(5)] = std::move(content);
          }
        },
        // torch.save stores without compression.
        {.bytes = static_cast<int64_t>(kMaxBytes), .bytes_per_packed = 2}, kind);
    if (!found) bad("expected data.pkl in the zip file of torch.save");
    bytes = std::move(text);
    pickle = std::make_unique<Pickle>(bytes, where, kind);
  }

  // A plain pickle; or torch's older form: a magic number, a version, the system, the object, the
  // keys of the storages, and their contents.
  void open_pickles() {
    pickle = std::make_unique<Pickle>(bytes, where, kind);
    const PyValue& first = pickle->root();
    constexpr std::string_view kMagic("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10);
    if (!(first.is(Kind::kBytes) && first.text == kMagic)) return;
    const std::string_view all = bytes;
    size_t at = pickle->used();
    const auto next = [&] {
      auto p = std::make_unique<Pickle>(all.substr(at), where, kind);
      at += p->used();
      return p;
    };
    next();  // version
    next();  // system
    pickle = next();
    const auto keys = next();
    if (!keys->root().is(Kind::kList)) bad("expected the keys of the storages");
    for (const PyValue* key : keys->root().items) {
      if (!key->is(Kind::kText) || all.size() - at < 8) bad("the storages end too early");
      uint64_t count = 0;
      std::memcpy(&count, all.data() + at, 8);
      at += 8;
      // The size of an element is known where the storage is used: note the rest, and step over.
      const size_t element = element_size(std::string(key->text));
      if (element == 0 || count > (all.size() - at) / element) bad("the storages end too early");
      older[std::string(key->text)] = all.substr(at, count * element);
      at += count * element;
    }
  }

  // Looks through the object for the storage with that key.
  size_t element_size(const std::string& key) const {
    const auto it = types().find(key);
    return it == types().end() ? 0 : size_of(it->second);
  }

  // Types of all storages that the object mentions.
  const std::map<std::string, DType>& types() const {
    if (!types_known) {
      types_known = true;
      // Every value of a pickle is reachable from its root; the walk is bounded by marking.
      std::vector<const PyValue*> open = {&pickle->root()};
      std::map<const PyValue*, bool> seen;
      while (!open.empty()) {
        const PyValue* v = open.back();
        open.pop_back();
        if (!seen.emplace(v, true).second) continue;
        if (v->is(Kind::kPersistent)) {
          std::string key;
          DType type{};
          if (parse_id(*v, key, type)) type_of[key] = type;
        }
        for (const PyValue* item : v->items) open.push_back(item);
      }
    }
    return type_of;
  }

  // ('storage', torch.FloatStorage, key, location, size)
  static bool parse_id(const PyValue& v, std::string& key, DType& type) {
    if (v.items.size() != 1 || !v.items[0]->is(Kind::kTuple)) return false;
    const auto& id = v.items[0]->items;
    if (id.size() < 5 || !id[0]->is(Kind::kText) || id[0]->text != "storage" ||
        !id[1]->is(Kind::kGlobal) || !id[2]->is(Kind::kText))
      return false;
    for (const StorageType& s : kStorages)
      if (id[1]->text == s.global) {
        key = std::string(id[2]->text);
        type = s.type;
        return true;
      }
    return false;
  }

  Storage storage(const PyValue& v) const {
    if (v.is(Kind::kPersistent)) {
      Storage out;
      std::string key;
      if (!parse_id(v, key, out.type)) bad("a tensor with an unknown storage type");
      if (const auto it = storages.find(key); it != storages.end()) {
        out.bytes = it->second;
        return out;
      }
      if (const auto it = older.find(key); it != older.end()) {
        out.bytes = it->second;
        return out;
      }
      bad(fmt::format("the storage \"{}\" is missing", key));
    }
    if (v.is_call("torch.storage _load_from_bytes") && v.items[1]->items.size() == 1) {
      const Impl& inner = nested(*v.items[1]->items[0]);
      return inner.storage(inner.pickle->root());
    }
    bad("a tensor with an unknown storage type");
  }

  // Protocols before 3 have no bytes: they are written as text, a character for each byte.
  std::string latin1(std::string_view text) const {
    std::string out;
    for (size_t k = 0; k < text.size(); ++k) {
      const auto c = static_cast<unsigned char>(text[k]);
      if (c < 0x80) {
        out.push_back(text[k]);
      } else if ((c == 0xC2 || c == 0xC3) && k + 1 < text.size()) {
        out.push_back(static_cast<char>((c & 3) << 6 | (text[++k] & 0x3F)));
      } else {
        bad("expected the bytes of a storage");
      }
    }
    return out;
  }

  // torch.save's bytes inside this pickle, opened once.
  const Impl& nested(const PyValue& v) const {
    auto& slot = inner[&v];
    if (!slot) {
      if (v.is(Kind::kBytes) || v.is(Kind::kText))
        slot = std::make_unique<Impl>(std::string(v.text), where, kind, depth + 1);
      else if (v.is_call("_codecs encode") && !v.items[1]->items.empty() &&
               v.items[1]->items[0]->is(Kind::kText))
        slot = std::make_unique<Impl>(latin1(v.items[1]->items[0]->text), where, kind, depth + 1);
      else
        bad("expected the bytes of a storage");
    }
    return *slot;
  }

  std::string bytes;
  std::string where;
  ErrorKind kind;
  int depth;
  std::unique_ptr<Pickle> pickle;
  std::map<std::string, std::string> storages;
  std::map<std::string, std::string_view> older;
  mutable std::map<std::string, DType> type_of;
  mutable bool types_known = false;
  mutable std::map<const PyValue*, std::unique_ptr<Impl>> inner;
};

TorchFile::TorchFile(const std::filesystem::path& path, ErrorKind kind)
    : TorchFile(read_whole(path, kind), path.string(), kind) {}

TorchFile::TorchFile(std::string bytes, std::string where, ErrorKind kind)
    : impl_(std::make_unique<Impl>(std::move(bytes), std::move(where), kind, 0)) {}

TorchFile::~TorchFile() = default;
TorchFile::TorchFile(TorchFile&&) noexcept = default;

const PyValue& TorchFile::root() const { return impl_->pickle->root(); }

bool TorchFile::is_tensor(const PyValue& v) {
  return v.is_call("torch._utils _rebuild_tensor_v2") || v.is_call("torch._utils _rebuild_tensor");
}

TensorView TorchFile::tensor(const PyValue& v) const {
  if (!is_tensor(v)) impl_->bad("expected a tensor");
  const auto& arguments = v.items[1]->items;  // storage, offset, size, stride, ...
  if (arguments.size() < 4 || !arguments[1]->is(Kind::kInt) || !arguments[2]->is(Kind::kTuple) ||
      !arguments[3]->is(Kind::kTuple) || arguments[2]->items.size() != arguments[3]->items.size())
    impl_->bad("a tensor without offset, sizes and strides");
  const Storage storage = impl_->storage(*arguments[0]);
  TensorView out;
  out.dtype = storage.type;
  int64_t count = 1;
  for (const PyValue* extent : arguments[2]->items) {
    if (!extent->is(Kind::kInt) || extent->number < 0 ||
        __builtin_mul_overflow(count, extent->number, &count))
      impl_->bad("a tensor with an invalid shape");
    out.shape.push_back(extent->number);
  }
  int64_t expected = 1;
  for (size_t k = out.shape.size(); k-- > 0 && count > 0;) {
    if (!arguments[3]->items[k]->is(Kind::kInt) ||
        (out.shape[k] != 1 && arguments[3]->items[k]->number != expected))
      impl_->bad("a tensor that is not contiguous");
    expected *= out.shape[k];
  }
  const auto element = static_cast<int64_t>(size_of(storage.type));
  const auto available = static_cast<int64_t>(storage.bytes.size()) / element;
  const int64_t offset = arguments[1]->number;
  if (offset < 0 || offset > available || count > available - offset)
    impl_->bad("a tensor larger than its storage");
  out.data = std::as_bytes(
      std::span(storage.bytes)
          .subspan(static_cast<size_t>(offset * element), static_cast<size_t>(count * element)));
  return out;
}

template <class T>
std::vector<T> TorchFile::values(const PyValue& v, std::vector<int64_t>& shape) const {
  const TensorView t = tensor(v);
  shape = t.shape;
  std::vector<T> out(static_cast<size_t>(t.numel()));
  const auto convert = [&]<class From>(From) {
    for (size_t k = 0; k < out.size(); ++k) {
      From value;
      std::memcpy(&value, t.data.data() + k * sizeof(From), sizeof(From));
      if constexpr (std::is_integral_v<T> && std::is_integral_v<From>)
        if (!std::in_range<T>(value)) impl_->bad("a tensor's value is too large");
      out[k] = static_cast<T>(value);
    }
  };
  if constexpr (std::is_integral_v<T>)
    if (t.dtype == DType::kF32 || t.dtype == DType::kF64) impl_->bad("expected an integer tensor");
  switch (t.dtype) {
    case DType::kF32:
      convert(float{});
      break;
    case DType::kF64:
      convert(double{});
      break;
    case DType::kI64:
      convert(int64_t{});
      break;
    case DType::kI32:
      convert(int32_t{});
      break;
    case DType::kI16:
      convert(int16_t{});
      break;
    case DType::kI8:
      convert(int8_t{});
      break;
    case DType::kU8:
    case DType::kBool:
      convert(uint8_t{});
      break;
    default:
      impl_->bad(fmt::format("tensors of type {} are not supported", name_of(t.dtype)));
  }
  return out;
}

template std::vector<float> TorchFile::values(const PyValue&, std::vector<int64_t>&) const;
template std::vector<int32_t> TorchFile::values(const PyValue&, std::vector<int64_t>&) const;
template std::vector<int64_t> TorchFile::values(const PyValue&, std::vector<int64_t>&) const;

}  // namespace egc::data
