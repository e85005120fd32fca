// Safetensors: what is written reads back, and no corrupt file is believed.
#include "egc/core/safetensors.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/core/expect_error.h"

namespace egc {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using Tensors = std::map<std::string, TensorView>;
using Metadata = std::map<std::string, std::string>;

constexpr DType kAllTypes[] = {DType::kF64, DType::kF32, DType::kF16, DType::kBF16, DType::kI64,
                               DType::kI32, DType::kI16, DType::kI8,  DType::kU8,   DType::kBool};

class Safetensors : public ::testing::Test {
 protected:
  Safetensors() {
    std::string name = ::testing::TempDir() + "/egc_safetensors_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    directory_ = name;
    path_ = directory_ / "model.safetensors";
  }
  ~Safetensors() override { fs::remove_all(directory_); }

  void write_raw(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<ssize_t>(bytes.size()));
  }

  std::string read_raw() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Names of all files in the directory: a temporary left behind shows here.
  std::vector<std::string> listing() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_))
      names.push_back(entry.path().filename().string());
    return names;
  }

  void expect_refused(const std::string& reason) const {
    expect_error(ErrorKind::kModel, {path_.string(), reason}, [&] { SafetensorsFile file(path_); });
  }

  fs::path directory_;
  fs::path path_;
};

std::string repeat(std::string_view text, size_t times) {
  std::string out;
  for (size_t k = 0; k < times; ++k) out += text;
  return out;
}

// `length` as the file says it, then whatever follows.
std::string with_length(uint64_t length, std::string_view rest) {
  std::string out(8, '\0');
  for (int k = 0; k < 8; ++k) out[k] = static_cast<char>(length >> 8 * k & 0xff);
  return out.append(rest);
}

std::string file_of(std::string_view header, size_t data_bytes = 0) {
  return with_length(header.size(), header) + std::string(data_bytes, '\x01');
}

std::string entry(std::string_view name, std::string_view dtype, std::string_view shape,
                  std::string_view offsets) {
  return fmt::format(R"("{}":{{"dtype":{},"shape":{},"data_offsets":{}}})", name, dtype, shape,
                     offsets);
}

// A file with the one tensor "a" and four bytes of data, wrong in whatever is given.
std::string one_tensor(std::string_view dtype, std::string_view shape, std::string_view offsets) {
  return file_of("{" + entry("a", dtype, shape, offsets) + "}", 4);
}

// F32 tensors "a" and "b", both of the given number of elements.
std::string two_tensors(std::string_view a_offsets, std::string_view b_offsets, size_t elements,
                        size_t data_bytes) {
  const std::string shape = fmt::format("[{}]", elements);
  return file_of("{" + entry("a", R"("F32")", shape, a_offsets) + "," +
                     entry("b", R"("F32")", shape, b_offsets) + "}",
                 data_bytes);
}

TEST_F(Safetensors, TheHandMadeFilesAreGoodWhenNothingIsWrong) {
  write_raw(one_tensor(R"("F32")", "[1]", "[0,4]"));
  EXPECT_EQ(SafetensorsFile(path_).at("a").shape, std::vector<int64_t>{1});
  write_raw(two_tensors("[4,8]", "[0,4]", 1, 8));
  EXPECT_EQ(SafetensorsFile(path_).tensors().size(), 2U);
  write_raw(file_of(R"({"__metadata__":{"a":"b"}}  )"));
  EXPECT_EQ(SafetensorsFile(path_).metadata(), (Metadata{{"a", "b"}}));
}

TEST_F(Safetensors, EveryTypeAndShapeReadsBack) {
  std::vector<std::byte> data(8 * 24);
  for (size_t k = 0; k < data.size(); ++k) data[k] = static_cast<std::byte>(k * 7 + 1);
  const std::vector<std::vector<int64_t>> shapes = {{}, {5}, {2, 3, 4}, {0}, {3, 0, 2}, {1, 1}};
  Tensors written;
  for (const DType type : kAllTypes)
    for (const auto& shape : shapes) {
      TensorView tensor{type, shape, {}};
      tensor.data = std::span(data).first(tensor.numel() * size_of(type));
      written[fmt::format("{}.{}", name_of(type), fmt::join(shape, "x"))] = tensor;
    }
  write_safetensors(path_, written);

  const SafetensorsFile file(path_);
  ASSERT_EQ(file.tensors().size(), written.size());
  for (const auto& [name, want] : written) {
    const TensorView& got = file.at(name);
    EXPECT_EQ(got.dtype, want.dtype) << name;
    EXPECT_EQ(got.shape, want.shape) << name;
    EXPECT_TRUE(std::ranges::equal(got.data, want.data)) << name;
  }
  EXPECT_TRUE(file.metadata().empty());
  EXPECT_EQ(listing().size(), 1U);
}

TEST_F(Safetensors, MetadataAndOddNamesReadBack) {
  const Metadata metadata = {{"plain", "text"},
                             {"", ""},
                             {"quotes \" and \\", "line\nbreak\ttab"},
                             {"snowman", "\xE2\x98\x83"},
                             {"nul", std::string("a\0b", 3)}};
  const std::byte one{1};
  const TensorView scalar{DType::kU8, {}, {&one, 1}};
  write_safetensors(path_, {{"", scalar}, {"a \"b\"\n", scalar}}, metadata);
  const SafetensorsFile file(path_);
  EXPECT_EQ(file.metadata(), metadata);
  EXPECT_TRUE(file.has(""));
  EXPECT_TRUE(file.has("a \"b\"\n"));
  EXPECT_FALSE(file.has("a"));
}

TEST_F(Safetensors, NothingAtAllReadsBack) {
  write_safetensors(path_, {});
  const SafetensorsFile file(path_);
  EXPECT_TRUE(file.tensors().empty());
  EXPECT_TRUE(file.metadata().empty());
}

TEST_F(Safetensors, DataBeginsAtAMultipleOfEight) {
  for (const std::string name : {"a", "ab", "abc", "abcd", "abcde", "abcdef", "abcdefg"}) {
    write_safetensors(path_, {{name, {DType::kF32, {0}, {}}}});
    EXPECT_EQ(read_raw().size() % 8, 0U) << name;
  }
}

TEST_F(Safetensors, SizesOfTypes) {
  const size_t sizes[] = {8, 4, 2, 2, 8, 4, 2, 1, 1, 1};
  for (size_t k = 0; k < std::size(sizes); ++k) EXPECT_EQ(size_of(kAllTypes[k]), sizes[k]);
}

TEST_F(Safetensors, MissingTensorIsNamed) {
  write_safetensors(path_, {});
  const SafetensorsFile file(path_);
  expect_error(ErrorKind::kModel, {path_.string(), "\"layer.weight\""},
               [&] { file.at("layer.weight"); });
}

TEST_F(Safetensors, MissingFileIsTheSystemsFault) {
  expect_error(ErrorKind::kSystem, {path_.string(), "No such file"},
               [&] { SafetensorsFile file(path_); });
}

TEST_F(Safetensors, DirectoryIsTheSystemsFault) {
  expect_error(ErrorKind::kSystem, {directory_.string()},
               [&] { SafetensorsFile file(directory_); });
}

TEST_F(Safetensors, HeaderOverTheCapIsNotEvenParsed) {
  constexpr uint64_t kOverCap = (100 << 20) + 1;
  write_raw(with_length(kOverCap, ""));
  fs::resize_file(path_, 8 + kOverCap);  // sparse: the length fits the file
  expect_refused("header length");
}

TEST_F(Safetensors, DeeplyNestedShapeDoesNotExhaustTheStack) {
  write_raw(one_tensor(R"("F32")", repeat("[", 1'000'000) + repeat("]", 1'000'000), "[0,4]"));
  // In a process of its own, so that an overflow is a failure here and not the end of all tests.
  const auto read = [&] {
    try {
      SafetensorsFile file(path_);
    } catch (const Error&) {
      std::_Exit(0);
    }
    std::_Exit(1);
  };
  EXPECT_EXIT(read(), ::testing::ExitedWithCode(0), "");
}

struct Corrupt {
  const char* name;
  std::string bytes;
  const char* reason;  // part of the message: the file is refused for this and nothing else
};

std::vector<Corrupt> corrupt_files() {
  const std::string good = entry("a", R"("F32")", "[1]", "[0,4]");
  const std::string deep = repeat("[", 100'000);
  return {
      // the length
      {"Empty", "", "at least 8 bytes"},
      {"SevenBytes", std::string(7, '\0'), "at least 8 bytes"},
      {"NoHeader", with_length(0, ""), "JSON"},
      {"LengthOfTwoTo63", with_length(uint64_t{1} << 63, "{}"), "header length"},
      {"LengthOfAllOnes", with_length(~uint64_t{0}, "{}"), "header length"},
      {"LengthWrapsWithTheEight", with_length(~uint64_t{0} - 5, "{}"), "header length"},
      {"LengthOneTooLong", with_length(3, "{}"), "header length"},
      {"LengthOneTooShort", with_length(1, "{}"), "JSON"},
      // the JSON
      {"NotJson", file_of("{tensors}"), "JSON"},
      {"Unterminated", file_of("{" + good), "JSON"},
      {"TrailingComma", file_of("{" + good + ",}", 4), "JSON"},
      {"TwoObjects", file_of("{}{}"), "JSON"},
      {"Comment", file_of("{/* */}"), "JSON"},
      {"DeepAndOpen", file_of(deep), "JSON"},
      {"DeepAndClosed", file_of(deep + repeat("]", 100'000)), "object"},
      {"DeepObjects", file_of(repeat("{\"a\":", 100'000)), "JSON"},
      {"DeepEntry", file_of("{\"a\":" + deep + repeat("]", 100'000) + "}"), "nested"},
      {"NotUtf8", file_of("{\"\xff\xfe\":{}}"), "JSON"},
      {"SurrogateAlone", file_of(R"({"\ud800":{}})"), "JSON"},
      {"PaddedWithNul", file_of(std::string("{}\0\0", 4)), "JSON"},
      {"NulThenMore", file_of(std::string("{}\0{\"a\":1}", 10)), "JSON"},
      {"NulInAName", file_of(std::string("{\"a\0\":{}}", 9)), "JSON"},
      {"Array", file_of("[]"), "object"},
      {"Null", file_of("null"), "object"},
      {"Number", file_of("1"), "object"},
      // The format wants the brace first; other readers refuse these.
      {"LeadingSpace", file_of(" {}"), "header"},
      {"ByteOrderMark", file_of("\xEF\xBB\xBF{}"), "header"},
      // repeated names
      {"TensorTwice", file_of("{" + good + "," + good + "}", 4), "duplicate key \"a\""},
      {"TensorTwiceByEscape",
       file_of("{" + good + "," + entry("\\u0061", R"("F32")", "[1]", "[0,4]") + "}", 4),
       "duplicate key \"a\""},
      {"KeyTwiceInAnEntry",
       file_of(R"({"a":{"dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4]}})", 4),
       "duplicate key \"shape\""},
      {"MetadataTwice", file_of(R"({"__metadata__":{},"__metadata__":{}})"), "duplicate key"},
      {"MetadataKeyTwice", file_of(R"({"__metadata__":{"k":"1","k":"2"}})"), "duplicate key \"k\""},
      // the metadata
      {"MetadataList", file_of(R"({"__metadata__":["k"]})"), "__metadata__"},
      {"MetadataNumber", file_of(R"({"__metadata__":{"k":1}})"), "\"k\" must be a string"},
      {"MetadataNull", file_of(R"({"__metadata__":{"k":null}})"), "\"k\" must be a string"},
      {"MetadataNested", file_of(R"({"__metadata__":{"k":{}}})"), "\"k\" must be a string"},
      // the keys of an entry
      {"EntryNotAnObject", file_of(R"({"a":[0,4]})", 4), "tensor \"a\""},
      {"NoDtype", file_of(R"({"a":{"shape":[1],"data_offsets":[0,4]}})", 4), "expected dtype"},
      {"NoShape", file_of(R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", 4), "expected dtype"},
      {"NoOffsets", file_of(R"({"a":{"dtype":"F32","shape":[1]}})", 4), "expected dtype"},
      {"ExtraKey", file_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}})", 4),
       "expected dtype"},
      {"WrongKey", file_of(R"({"a":{"dtype":"F32","shape":[1],"offsets":[0,4]}})", 4),
       "expected dtype"},
      // the type
      {"DtypeUnknown", one_tensor(R"("F31")", "[1]", "[0,4]"),
       "\"F31\"; did you mean \"F32\"? known: F64, F32"},
      {"DtypeLowerCase", one_tensor(R"("f32")", "[1]", "[0,4]"), "unknown tensor type"},
      {"DtypeNumber", one_tensor("32", "[1]", "[0,4]"), "dtype must be a string"},
      {"DtypeNull", one_tensor("null", "[1]", "[0,4]"), "dtype must be a string"},
      // the shape
      {"ShapeNumber", one_tensor(R"("F32")", "1", "[0,4]"), "shape must be a list"},
      {"ShapeObject", one_tensor(R"("F32")", R"({"x":1})", "[0,4]"), "shape must be a list"},
      {"ShapeNegative", one_tensor(R"("F32")", "[-1]", "[0,4]"), "extent"},
      {"ShapeNegativeTwice", one_tensor(R"("F32")", "[-1,-1]", "[0,4]"), "extent"},
      {"ShapeFractional", one_tensor(R"("F32")", "[1.0]", "[0,4]"), "extent"},
      {"ShapeString", one_tensor(R"("F32")", R"(["1"])", "[0,4]"), "extent"},
      {"ShapeBool", one_tensor(R"("F32")", "[true]", "[0,4]"), "extent"},
      {"ShapeOver63Bits", one_tensor(R"("F32")", "[9223372036854775808]", "[0,4]"), "extent"},
      {"ShapeOver64Bits", one_tensor(R"("F32")", "[18446744073709551617]", "[0,4]"), "extent"},
      // 2^64 elements and 2^62 + 1 floats: modulo 2^64 they would be 0 bytes and 4.
      {"ShapeProductWraps", one_tensor(R"("U8")", "[4294967296,4294967296]", "[0,0]"), "bytes"},
      {"ByteCountWraps", one_tensor(R"("F32")", "[4611686018427387905]", "[0,4]"), "bytes"},
      {"ShapeTooLarge", one_tensor(R"("F32")", "[2]", "[0,4]"), "bytes"},
      {"ShapeTooSmall", one_tensor(R"("F16")", "[1]", "[0,4]"), "bytes"},
      // the offsets of one tensor
      {"OffsetsReversed", one_tensor(R"("F32")", "[1]", "[4,0]"), "data_offsets"},
      {"OffsetsBeyondTheData", one_tensor(R"("F32")", "[2]", "[0,8]"), "data_offsets"},
      {"OffsetsHuge", one_tensor(R"("U8")", "[1]", "[18446744073709551614,18446744073709551615]"),
       "data_offsets"},
      {"OffsetsNegative", one_tensor(R"("F32")", "[1]", "[-4,0]"), "data_offsets"},
      {"OffsetsFractional", one_tensor(R"("F32")", "[1]", "[0.0,4.0]"), "data_offsets"},
      {"OffsetsOne", one_tensor(R"("F32")", "[1]", "[4]"), "data_offsets"},
      {"OffsetsThree", one_tensor(R"("F32")", "[1]", "[0,4,4]"), "data_offsets"},
      {"OffsetsNull", one_tensor(R"("F32")", "[1]", "null"), "data_offsets"},
      // all tensors together
      {"Overlap", two_tensors("[0,8]", "[4,12]", 2, 12), "overlap"},
      {"SameBytesTwice", two_tensors("[0,4]", "[0,4]", 1, 4), "overlap"},
      {"Hole", two_tensors("[0,4]", "[8,12]", 1, 12), "gap"},
      {"HoleAtTheBegin", two_tensors("[4,8]", "[8,12]", 1, 12), "gap"},
      {"TrailingBytes", two_tensors("[0,4]", "[4,8]", 1, 9), "last 1 bytes"},
      {"DataWithoutTensors", file_of("{}", 3), "last 3 bytes"},
  };
}

class CorruptFile : public Safetensors, public ::testing::WithParamInterface<Corrupt> {};

TEST_P(CorruptFile, IsRefused) {
  write_raw(GetParam().bytes);
  expect_refused(GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(Safetensors, CorruptFile, ::testing::ValuesIn(corrupt_files()),
                         [](const auto& info) { return std::string(info.param.name); });

void PrintTo(const Corrupt& corrupt, std::ostream* out) { *out << corrupt.name; }

TEST_F(Safetensors, EveryTruncationIsRefused) {
  write_raw(two_tensors("[0,4]", "[4,8]", 1, 8));
  const std::string whole = read_raw();
  for (size_t size = 0; size < whole.size(); ++size) {
    write_raw(whole.substr(0, size));
    expect_refused("");
  }
}

TEST_F(Safetensors, WriteRefusesBytesThatDoNotFitTheShape) {
  const std::vector<std::byte> data(8);
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{}, {1}, {3}, {-2}, {int64_t{1} << 62, 8}})
    expect_error(ErrorKind::kUsage, {"\"a\""}, [&] {
      write_safetensors(path_, {{"a", {DType::kF32, shape, data}}});
    });
  EXPECT_TRUE(listing().empty());
}

TEST_F(Safetensors, WriteRefusesNegativeExtentsBesideZero) {
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{0, -1}, {-1, 0}})
    EXPECT_THROW(write_safetensors(path_, {{"a", {DType::kU8, shape, {}}}}), Error);
  EXPECT_TRUE(listing().empty());
}

TEST_F(Safetensors, WriteRefusesTheReservedName) {
  EXPECT_THROW(write_safetensors(path_, {{"__metadata__", {DType::kF32, {0}, {}}}}), Error);
  EXPECT_TRUE(listing().empty());
}

TEST_F(Safetensors, WriteRefusesTextThatIsNotUtf8) {
  EXPECT_THROW(write_safetensors(path_, {}, {{"key", "\xff"}}), Error);
  EXPECT_THROW(write_safetensors(path_, {{"\xff", {DType::kF32, {0}, {}}}}), Error);
  EXPECT_TRUE(listing().empty());
}

TEST_F(Safetensors, WriteReplacesAFile) {
  write_raw("something else");
  write_safetensors(path_, {}, {{"new", "yes"}});
  EXPECT_EQ(SafetensorsFile(path_).metadata(), (Metadata{{"new", "yes"}}));
  EXPECT_EQ(listing().size(), 1U);
}

TEST_F(Safetensors, WriteWithoutADirectoryIsTheSystemsFault) {
  const fs::path path = directory_ / "missing" / "model.safetensors";
  expect_error(ErrorKind::kSystem, {path.string()}, [&] { write_safetensors(path, {}); });
  EXPECT_TRUE(listing().empty());
}

TEST_F(Safetensors, WriteToAnUnwritableDirectoryIsTheSystemsFault) {
  const fs::path path = "/proc/egc_model.safetensors";  // not even root may create files there
  expect_error(ErrorKind::kSystem, {path.string()}, [&] { write_safetensors(path, {}); });
}

TEST_F(Safetensors, WriteOverADirectoryLeavesNoTemporary) {
  fs::create_directories(path_ / "inside");
  expect_error(ErrorKind::kSystem, {path_.string()}, [&] { write_safetensors(path_, {}); });
  EXPECT_EQ(listing(), std::vector<std::string>{path_.filename().string()});
}

// Files of this process may not grow beyond some bytes: a full disk for tests.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(Safetensors, FullDiskKeepsTheOldFileAndLeavesNoTemporary) {
  write_safetensors(path_, {}, {{"version", "old"}});
  const std::vector<std::byte> data(1 << 16);
  const Tensors large = {{"a", {DType::kU8, {1 << 16}, data}}};
  {
    const FileSizeLimit limit(1 << 12);
    expect_error(ErrorKind::kSystem, {path_.string()}, [&] { write_safetensors(path_, large); });
  }
  EXPECT_EQ(SafetensorsFile(path_).metadata(), (Metadata{{"version", "old"}}));
  EXPECT_EQ(listing().size(), 1U);
}

}  // namespace
}  // namespace egc
