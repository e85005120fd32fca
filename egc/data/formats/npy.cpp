#include "egc/data/formats/npy.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "egc/core/error.h"
#include "egc/core/mapped_file.h"

namespace egc::data {
namespace {

struct Header {
  char kind = 0;  // f, i, u, b
  int64_t item = 0;
  int64_t rows = 0;
  int64_t columns = 1;
  size_t data_begin = 0;
};

// The header is a Python dictionary of three known keys; this reads that much and nothing else.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  Header parse() {
    Header out;
    bool seen[3] = {};
    expect('{');
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr") {
        type(out);
        seen[0] = true;
      } else if (key == "fortran_order") {
        if (!word("False")) bad("expected row-major data (fortran_order False)");
        seen[1] = true;
      } else if (key == "shape") {
        shape(out);
        seen[2] = true;
      } else {
        bad("expected the keys descr, fortran_order and shape");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!seen[0] || !seen[1] || !seen[2]) bad("expected the keys descr, fortran_order and shape");
    return out;
  }

 private:
  [[noreturn]] void bad(const char* what) const {
    fail(ErrorKind::kData, "{}: the header of the npy file: {}", path_, what);
  }
  void blanks() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n')) text_.remove_prefix(1);
  }
  bool accept(char c) {
    blanks();
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) bad("is not a dictionary as NumPy writes it");
  }
  bool word(std::string_view w) {
    blanks();
    if (!text_.starts_with(w)) return false;
    text_.remove_prefix(w.size());
    return true;
  }
  std::string_view quoted() {
    blanks();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"'))
      bad("is not a dictionary as NumPy writes it");
    const size_t end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) bad("is not a dictionary as NumPy writes it");
    const std::string_view out = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return out;
  }
  void type(Header& out) {
    const std::string_view descr = quoted();
    constexpr std::string_view kKnown[] = {"<f2", "<f4", "<f8", "<i2", "<i4", "<i8",
                                           "|i1", "|u1", "|b1", "<u2", "<u4"};
    for (const std::string_view known : kKnown)
      if (descr == known) {
        out.kind = descr[1];
        out.item = descr[2] - '0';
        return;
      }
    fail(
        ErrorKind::kData,
        "{}: the header of the npy file: values must be little-endian float16, float32, float64 or "
        "integers, got {}",
        path_, descr.substr(0, 40));
  }
  void shape(Header& out) {
    expect('(');
    int64_t dims[2] = {1, 1};
    int count = 0;
    while (!accept(')')) {
      blanks();
      if (count == 2) bad("expected one or two dimensions");
      const auto [next, error] =
          std::from_chars(text_.data(), text_.data() + text_.size(), dims[count]);
      if (error != std::errc() || dims[count] < 0) bad("has no valid shape");
      text_.remove_prefix(static_cast<size_t>(next - text_.data()));
      ++count;
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    if (count == 0) bad("expected one or two dimensions");
    out.rows = dims[0];
    out.columns = dims[1];
  }

  std::string_view text_;
  const std::string& path_;
};

Header read_header(std::span<const std::byte> bytes, const std::string& path) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  check_data(bytes.size() >= 10 && std::string_view(text, 6) == kMagic,
             "{}: not an npy file (it does not begin with NumPy's magic string)", path);
  const auto version = static_cast<int>(bytes[6]);
  check_data(version >= 1 && version <= 3, "{}: unsupported npy version {}; supported: 1, 2, 3",
             path, version);
  size_t length = 0;
  const size_t before = version == 1 ? 10 : 12;
  check_data(bytes.size() >= before, "{}: the npy file ends inside its header", path);
  std::memcpy(&length, bytes.data() + 8, before - 8);
  check_data(length <= bytes.size() - before, "{}: the npy file ends inside its header", path);
  Header out = HeaderParser({text + before, length}, path).parse();
  out.data_begin = before + length;
  int64_t size = 0;
  check_data(!__builtin_mul_overflow(out.rows, out.columns, &size) &&
                 !__builtin_mul_overflow(size, out.item, &size) &&
                 size == static_cast<int64_t>(bytes.size() - out.data_begin),
             "{}: {} x {} values of {} bytes do not match the {} bytes of data", path, out.rows,
             out.columns, out.item, bytes.size() - out.data_begin);
  return out;
}

// What cannot be opened is bad data here.
std::shared_ptr<const MappedFile> map_file(const std::filesystem::path& path) {
  try {
    return std::make_shared<const MappedFile>(path);
  } catch (const Error& e) {
    throw Error(ErrorKind::kData, e.what());
  }
}

float half_to_float(uint16_t h) {
  const int exponent = (h >> 10) & 31;
  const int mantissa = h & 1023;
  float value = 0;
  if (exponent == 31)
    value = mantissa == 0 ? std::numeric_limits<float>::infinity()
                          : std::numeric_limits<float>::quiet_NaN();
  else if (exponent == 0)
    value = std::ldexp(static_cast<float>(mantissa), -24);
  else
    value = std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  return (h & 0x8000) != 0 ? -value : value;
}

// Calls f(k, value) for every value, in the file's own type.
template <class F>
void for_each_value(const Header& h, const std::byte* data, F&& f) {
  const auto as = [&]<class V>(V) {
    for (int64_t k = 0; k < h.rows * h.columns; ++k) {
      V value;
      std::memcpy(&value, data + static_cast<size_t>(k) * sizeof(V), sizeof(V));
      f(k, value);
    }
  };
  switch (h.kind) {
    case 'f':
      return h.item == 4 ? as(float{}) : as(double{});
    case 'u':
      return h.item == 1 ? as(uint8_t{}) : h.item == 2 ? as(uint16_t{}) : as(uint32_t{});
    case 'b':
      return as(uint8_t{});
    default:
      return h.item == 1   ? as(int8_t{})
             : h.item == 2 ? as(int16_t{})
             : h.item == 4 ? as(int32_t{})
                           : as(int64_t{});
  }
}

template <class T>
std::vector<T> convert(const Header& h, const std::byte* data, const std::string& path) {
  std::vector<T> out(static_cast<size_t>(h.rows * h.columns));
  if constexpr (std::is_same_v<T, float>) {
    if (h.kind == 'f' && h.item == 2) {
      for (size_t k = 0; k < out.size(); ++k) {
        uint16_t half = 0;
        std::memcpy(&half, data + 2 * k, 2);
        out[k] = half_to_float(half);
      }
      return out;
    }
    for_each_value(h, data, [&](int64_t k, auto value) { out[k] = static_cast<float>(value); });
  } else {
    check_data(h.kind != 'f', "{}: expected integers, the npy file has floats", path);
    for_each_value(h, data, [&](int64_t k, auto value) {
      out[k] = static_cast<T>(value);
      check_data(static_cast<decltype(value)>(out[k]) == value && (out[k] < 0) == (value < 0),
                 "{}: value {} of the npy file must fit 32 bits, got {}", path, k, value);
    });
  }
  return out;
}

}  // namespace

template <class T>
Matrix<T> read_npy(const std::filesystem::path& path) {
  const auto file = map_file(path);
  const Header h = read_header(file->bytes(), path.string());
  const std::byte* data = file->bytes().data() + h.data_begin;
  const bool same = h.item == sizeof(T) && h.kind == (std::is_floating_point_v<T> ? 'f' : 'i') &&
                    reinterpret_cast<uintptr_t>(data) % alignof(T) == 0;
  if (same)
    return {
        Array<T>(file, {reinterpret_cast<const T*>(data), static_cast<size_t>(h.rows * h.columns)}),
        h.columns};
  return {Array<T>(convert<T>(h, data, path.string())), h.columns};
}

template Matrix<float> read_npy(const std::filesystem::path&);
template Matrix<int32_t> read_npy(const std::filesystem::path&);

bool npy_has_floats(const std::filesystem::path& path) {
  return read_header(map_file(path)->bytes(), path.string()).kind == 'f';
}

}  // namespace egc::data
