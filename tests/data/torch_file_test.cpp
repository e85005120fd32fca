// Files of PyTorch, read without it: values, types and views are those that
// fixtures/make_fixtures.py put in, and nothing else is believed.
#include "egc/data/formats/torch_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>

#include "egc/data/build/convert_published.h"
#include "egc/data/raw/read_dataset.h"
#include "egc/data/raw/write_dataset.h"
#include "tests/core/expect_error.h"
#include "tests/data/dataset_files.h"

namespace egc::data {
namespace {

namespace fs = std::filesystem;
using testing::DatasetFiles;
using testing::expect_error;
using testing::to_vector;
using Kind = PyValue::Kind;
using Shape = std::vector<int64_t>;

fs::path fixture(const std::string& name) {
  return fs::path(EGC_SOURCE_DIR) / "tests/data/fixtures" / name;
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

TorchFile open(const std::string& name) { return TorchFile(fixture(name)); }

const PyValue& at(const PyValue& dict, const char* key) {
  const PyValue* value = dict.find(key);
  if (value == nullptr) throw std::runtime_error(std::string("no ") + key);
  return *value;
}

template <class T>
std::vector<T> read(const TorchFile& file, const char* key, const Shape& want) {
  Shape shape;
  auto out = file.values<T>(at(file.root(), key), shape);
  EXPECT_EQ(shape, want) << key;
  return out;
}

// torch.save's form, its older form, and tensors in an ordinary pickle.
class TensorFile : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, TensorFile,
                         ::testing::Values("tensors_zip.pt", "tensors_older.pt", "tensors.pickle"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name)
                             if (c == '.') c = '_';
                           return name;
                         });

TEST_P(TensorFile, EveryTypeIsRead) {
  const TorchFile file = open(GetParam());
  const PyValue& types = at(file.root(), "types");
  const std::pair<const char*, DType> names[] = {
      {"float64", DType::kF64},   {"float32", DType::kF32}, {"float16", DType::kF16},
      {"bfloat16", DType::kBF16}, {"int64", DType::kI64},   {"int32", DType::kI32},
      {"int16", DType::kI16},     {"int8", DType::kI8},     {"uint8", DType::kU8},
      {"bool", DType::kBool}};
  for (const auto& [name, type] : names) {
    const PyValue& value = at(types, name);
    ASSERT_TRUE(TorchFile::is_tensor(value)) << name;
    const TensorView t = file.tensor(value);
    EXPECT_EQ(t.dtype, type) << name;
    EXPECT_EQ(t.shape, Shape{3}) << name;
    EXPECT_EQ(t.data.size(), 3 * size_of(type)) << name;
    const bool half = type == DType::kF16 || type == DType::kBF16;
    const bool real = half || type == DType::kF32 || type == DType::kF64;
    Shape shape;
    const auto as_floats = [&] { return file.values<float>(value, shape); };
    const auto as_ints = [&] { return file.values<int32_t>(value, shape); };
    const auto as_longs = [&] { return file.values<int64_t>(value, shape); };
    const int two = type == DType::kBool ? 1 : 2;
    if (half)
      expect_error(ErrorKind::kData, {"not supported"}, as_floats);
    else
      EXPECT_EQ(as_floats(), (std::vector<float>{0, 1, static_cast<float>(two)})) << name;
    if (real) {
      expect_error(ErrorKind::kData, {}, as_ints);
      expect_error(ErrorKind::kData, {}, as_longs);
    } else {
      EXPECT_EQ(as_ints(), (std::vector<int32_t>{0, 1, two})) << name;
      EXPECT_EQ(as_longs(), (Shape{0, 1, two})) << name;
    }
  }
}

TEST_P(TensorFile, ViewsOfASharedStorageAreTheirPart) {
  const TorchFile file = open(GetParam());
  std::vector<float> all(12);
  std::iota(all.begin(), all.end(), 0.F);
  EXPECT_EQ(read<float>(file, "whole", {12}), all);
  EXPECT_EQ(read<float>(file, "tail", {4}), (std::vector<float>{8, 9, 10, 11}));
  EXPECT_EQ(read<float>(file, "middle", {2, 3}), (std::vector<float>{2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(read<float>(file, "one_row_transposed", {4, 1}), (std::vector<float>{0, 1, 2, 3}));
  EXPECT_EQ(read<float>(file, "scalar", {}), std::vector<float>{7.5});
  EXPECT_EQ(read<float>(file, "empty", {0, 3}), std::vector<float>{});
}

TEST_P(TensorFile, OtherStridesAreRefused) {
  const TorchFile file = open(GetParam());
  for (const char* key : {"transposed", "every_other", "expanded"})
    expect_error(ErrorKind::kData, {GetParam(), "not contiguous"},
                 [&] { file.tensor(at(file.root(), key)); });
}

TEST_P(TensorFile, WhatIsNoTensorOrDoesNotFitIsRefused) {
  const TorchFile file = open(GetParam());
  Shape shape;
  EXPECT_FALSE(TorchFile::is_tensor(at(file.root(), "types")));
  expect_error(ErrorKind::kData, {"expected a tensor"}, [&] { file.tensor(file.root()); });
  expect_error(ErrorKind::kData, {"expected a tensor"},
               [&] { file.tensor(at(file.root(), "parameter")); });
  expect_error(ErrorKind::kData, {"too large"},
               [&] { file.values<int32_t>(at(file.root(), "large"), shape); });
  EXPECT_EQ(file.values<int64_t>(at(file.root(), "large"), shape), Shape{int64_t{1} << 40});
}

TEST_P(TensorFile, ReadsFromMemoryAndMoves) {
  TorchFile first(bytes_of(fixture(GetParam())), "memory", ErrorKind::kModel);
  const TorchFile file = std::move(first);
  EXPECT_EQ(read<float>(file, "tail", {4})[3], 11);
  expect_error(ErrorKind::kModel, {"memory"}, [&] { file.tensor(file.root()); });
}

// Reads all that can be read: whatever a damaged file says, the answer is a value or kData.
int read_all(const std::string& bytes) {
  int refused = 0;
  const auto guarded = [&](const auto& f) {
    try {
      f();
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kData) << e.what();
      ++refused;
    }
  };
  guarded([&] {
    const TorchFile file(bytes, "damaged", ErrorKind::kData);
    std::vector<const PyValue*> open = {&file.root()};
    for (size_t k = 0; k < open.size() && k < 1000; ++k) {
      Shape shape;
      if (TorchFile::is_tensor(*open[k])) guarded([&] { file.values<float>(*open[k], shape); });
      for (const PyValue* item : open[k]->items) open.push_back(item);
    }
  });
  return refused;
}

TEST_P(TensorFile, EveryTruncationIsRefused) {
  const std::string whole = bytes_of(fixture(GetParam()));
  const int usual = read_all(whole);  // strides and types that are not supported
  // A zip that lacks only its directory, at the end, still has everything.
  const size_t needed = std::min(whole.find("PK\1\2"), whole.size());
  for (size_t size = 0; size < needed; ++size)
    EXPECT_NE(read_all(whole.substr(0, size)), usual) << size << " of " << whole.size();
}

TEST_P(TensorFile, NoChangedByteDoesHarm) {
  const std::string whole = bytes_of(fixture(GetParam()));
  int refused = 0;
  for (size_t k = 0; k < whole.size(); ++k)
    for (const int flip : {1, 128, 255}) {
      std::string bytes = whole;
      bytes[k] = static_cast<char>(bytes[k] ^ flip);
      refused += read_all(bytes);
    }
  EXPECT_GT(refused, 1000);
}

TEST(TorchFile, MissingFileAndOtherFilesAreRefused) {
  EXPECT_THROW(TorchFile("/nonexistent.pt"), Error);
  for (const std::string& bytes :
       {std::string(), std::string("text"), std::string(100, '\0'), std::string("PK\3\4rest")})
    expect_error(ErrorKind::kModel, {"x.pt"}, [&] { TorchFile(bytes, "x.pt", ErrorKind::kModel); });
}

// A pickle by hand of one tensor with a storage of the older form inside, wrong in what is given.
std::string tensor_pickle(const std::string& offset, const std::string& size,
                          const std::string& stride,
                          const std::string& global = "torch._utils\n_rebuild_tensor_v2\n") {
  const std::string storage =
      std::string("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15) + "I1001\n." +
      "}." + "(Vstorage\nctorch\nFloatStorage\nVk\nVcpu\nI4\nNtQ." + "(Vk\nl." +
      std::string("\4\0\0\0\0\0\0\0", 8) + std::string(16, '\0');
  return "c" + global + "(ctorch.storage\n_load_from_bytes\n(B" +
         std::string(1, static_cast<char>(storage.size())) + std::string(3, '\0') + storage + "tR" +
         offset + "(" + size + "t(" + stride + "tI00\nNtR.";
}

TEST(TorchFile, HandMadeTensors) {
  Shape shape;
  const auto values = [&](const std::string& bytes) {
    const TorchFile file(bytes, "x.pt", ErrorKind::kData);
    return file.values<float>(file.root(), shape).size();
  };
  EXPECT_EQ(values(tensor_pickle("I0\n", "I4\n", "I1\n")), 4U);
  EXPECT_EQ(values(tensor_pickle("I2\n", "I1\nI2\n", "I7\nI1\n")), 2U);
  EXPECT_EQ(values(tensor_pickle("I0\n", "I4\n", "I1\n", "torch._utils\n_rebuild_tensor\n")), 4U);
  const std::pair<std::string, const char*> wrong[] = {
      {tensor_pickle("I1\n", "I4\n", "I1\n"), "larger than its storage"},
      {tensor_pickle("I-1\n", "I4\n", "I1\n"), "larger than its storage"},
      {tensor_pickle("I5\n", "I0\n", "I1\n"), "larger than its storage"},
      {tensor_pickle("I9223372036854775807\n", "I4\n", "I1\n"), "larger than its storage"},
      {tensor_pickle("I0\n", "I9223372036854775807\n", "I1\n"), "larger than its storage"},
      {tensor_pickle("I0\n", "I4294967296\nI4294967296\n", "I4294967296\nI1\n"), "shape"},
      {tensor_pickle("I0\n", "I-4\n", "I1\n"), "shape"},
      {tensor_pickle("I0\n", "V4\n", "I1\n"), "shape"},
      {tensor_pickle("I0\n", "I2\nI2\n", "I1\n"), "offset, sizes and strides"},
      {tensor_pickle("V0\n", "I4\n", "I1\n"), "offset, sizes and strides"},
      {tensor_pickle("I0\n", "I2\n", "I2\n"), "not contiguous"},
      {tensor_pickle("I0\n", "I4\n", "I-1\n"), "not contiguous"},
      {tensor_pickle("I0\n", "I4\n", "N"), "not contiguous"},
      {tensor_pickle("I0\n", "I4\n", "I1\n", "os\nsystem\n"), "expected a tensor"},
      {"ctorch._utils\n_rebuild_tensor_v2\n(tR.", "offset, sizes and strides"},
      {"ctorch._utils\n_rebuild_tensor_v2\n(NI0\n(t(ttR.", "unknown storage type"},
      {"ctorch._utils\n_rebuild_tensor_v2\n(Vk\nQI0\n(t(ttR.", "unknown storage type"},
      {"ctorch._utils\n_rebuild_tensor_v2\n((Vstorage\nctorch\nOddStorage\nVk\nVcpu\nI4\ntQI0\n(t("
       "ttR.",
       "unknown storage type"},
      {"ctorch._utils\n_rebuild_tensor_v2\n((Vstorage\nctorch\nFloatStorage\nVk\nVcpu\nI4\ntQI0\n("
       "t(ttR.",
       "\"k\" is missing"},
      {"ctorch._utils\n_rebuild_tensor_v2\n(ctorch.storage\n_load_from_bytes\n(I1\ntRI0\n(t(ttR.",
       "bytes of a storage"},
  };
  for (const auto& [bytes, reason] : wrong)
    expect_error(ErrorKind::kData, {"x.pt", reason}, [&] { values(bytes); });
}

// _load_from_bytes of _load_from_bytes of ...
TEST(TorchFile, FilesWithinFilesEnd) {
  std::string bytes = "N.";
  for (int k = 0; k < 20; ++k) {
    std::string length(4, '\0');
    const auto size = static_cast<uint32_t>(bytes.size());
    std::memcpy(length.data(), &size, 4);
    bytes = "ctorch.storage\n_load_from_bytes\n(B" + length + bytes + "tR.";
  }
  bytes.pop_back();
  bytes = "ctorch._utils\n_rebuild_tensor_v2\n(" + bytes + "I0\n(t(ttR.";
  const TorchFile file(bytes, "x.pt", ErrorKind::kData);
  expect_error(ErrorKind::kData, {"nested too deeply"}, [&] { file.tensor(file.root()); });
}

// Graph k of the fixtures: 3 + k nodes in a ring.
void expect_superpixels(const Dataset& d) {
  ASSERT_EQ(d.num_graphs(), 7);
  EXPECT_EQ(d.info.name, "cifar10");
  EXPECT_EQ(d.info.num_classes, 10);
  for (int64_t k = 0; k < 7; ++k) {
    const Sample s = d.sample(k);
    ASSERT_EQ(s.num_nodes, 3 + k);
    ASSERT_EQ(s.num_edges(), 3 + k);
    EXPECT_EQ(d.labels.classes[k], k);
    for (int64_t i = 0; i < s.num_nodes; ++i) {
      EXPECT_EQ(s.edges[2 * i], i);
      EXPECT_EQ(s.edges[2 * i + 1], (i + 1) % s.num_nodes);
      const auto x = d.node_features.floats.row(s.first_node + i);
      for (int64_t c = 0; c < 3; ++c) EXPECT_EQ(x[c], static_cast<float>(3 * i + c) / 64);
      for (int64_t c = 0; c < 2; ++c) EXPECT_EQ(x[3 + c], static_cast<float>(2 * i + c) / 32);
    }
  }
  EXPECT_EQ(to_vector(d.splits.at(0).train), (Shape{0, 1, 2, 3}));
  EXPECT_EQ(to_vector(d.splits[0].valid), (Shape{4}));
  EXPECT_EQ(to_vector(d.splits[0].test), (Shape{5, 6}));
}

TEST(ConvertPublished, SuperpixelsOfBothForms) {
  for (const char* name : {"superpixels_zip.pt", "superpixels_older.pt"})
    expect_superpixels(convert_pyg_superpixels(fixture(name)));
}

TEST(ConvertPublished, WrongSuperpixelsAreRefused) {
  const DatasetFiles files;
  const std::pair<const char*, const char*> wrong[] = {
      {"(l.", "three sets"},     {"(NNNl.", "list of graphs"},
      {"((l(l(ll.", ""},         {"((Nl(Nl(Nll.", "\"x\""},
      {"((}l(}l(}ll.", "\"x\""}, {"((}Vx\nI1\nsl(}l(}ll.", "expected a tensor"},
      {"I1\n.", "three sets"},
  };
  for (const auto& [bytes, reason] : wrong) {
    files.write("CIFAR10_v2.pt", bytes);
    expect_error(ErrorKind::kData, {"CIFAR10_v2.pt", reason},
                 [&] { convert_pyg_superpixels(files.path("CIFAR10_v2.pt")); });
  }
  EXPECT_THROW(convert_pyg_superpixels(fixture("tensors_zip.pt")), Error);
  EXPECT_THROW(convert_pyg_superpixels(files.path("none")), Error);
}

class ZincPickles : public ::testing::TestWithParam<int> {
 protected:
  ZincPickles() {
    const std::string bytes =
        bytes_of(fixture("molecules_protocol" + std::to_string(GetParam()) + ".pickle"));
    for (const char* part : {"train", "val", "test"})
      files_.write(std::string(part) + ".pickle", bytes);
    files_.write("train.index", "2,0");
    files_.write("val.index", "1\n");
    files_.write("test.index", "0,1,2\n");
  }
  DatasetFiles files_;
};
INSTANTIATE_TEST_SUITE_P(Protocol, ZincPickles, ::testing::Values(2, 3, 4));

TEST_P(ZincPickles, MoleculesAreRead) {
  const Dataset d = convert_zinc(files_.dir());
  ASSERT_EQ(d.num_graphs(), 6);
  const int64_t molecule[] = {2, 0, 1, 0, 1, 2};
  for (int64_t k = 0; k < 6; ++k) {
    const Sample s = d.sample(k);
    ASSERT_EQ(s.num_nodes, 2 + molecule[k]);
    ASSERT_EQ(s.num_edges(), 2 * (s.num_nodes - 1));
    EXPECT_EQ(d.labels.values.at(k, 0), static_cast<float>(molecule[k]) - 0.5F);
    for (int64_t i = 0; i < s.num_nodes; ++i)
      EXPECT_EQ(d.node_features.categories.at(s.first_node + i, 0), i);
    for (int64_t e = 0; e < s.num_edges(); ++e) {  // a chain, row by row
      const int32_t a = s.edges[2 * e];
      const int32_t b = s.edges[2 * e + 1];
      EXPECT_EQ(std::abs(a - b), 1);
      EXPECT_EQ(d.edge_features.categories.at(s.first_edge + e, 0), 1 + std::min(a, b) % 3);
    }
  }
  EXPECT_EQ(d.splits.at(0).train.size(), 2);
  EXPECT_EQ(d.splits[0].valid.size(), 1);
  EXPECT_EQ(d.splits[0].test.size(), 3);
  const auto written = files_.root() / "written";
  write_dataset(d, written);
  EXPECT_EQ(testing::difference(read_dataset(written, {.cache = false}), d), "")
      << "bonds are kept";
}

TEST_P(ZincPickles, WrongIndexesAreRefused) {
  for (const char* index : {"3\n", "-1\n", "0,x\n", "0\n1\n", "", "99999999999999999999\n"}) {
    files_.write("val.index", index);
    expect_error(ErrorKind::kData, {"val"}, [&] { convert_zinc(files_.dir()); });
  }
  files_.write("val.index", "2,0\n");
  files_.remove("test.index");
  EXPECT_THROW(convert_zinc(files_.dir()), Error);
}

}  // namespace
}  // namespace egc::data
