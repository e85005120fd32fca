// Parts of one large graph, as files: what was cut, or a sentence.
#include "egc/data/partition/dataset_part.h"

#include <gtest/gtest.h>

#include <fstream>

#include "egc/core/error.h"
#include "egc/core/rng.h"
#include "egc/core/text_file.h"
#include "egc/data/dataset_tensors.h"
#include "egc/data/raw/cache.h"
#include "egc/data/raw/read_dataset.h"
#include "tests/data/dataset_files.h"

namespace egc::data {
namespace {

void expect_same(const GraphPart& a, const GraphPart& b) {
  EXPECT_EQ(a.nodes, b.nodes);
  ASSERT_EQ(a.graph.relations.size(), b.graph.relations.size());
  for (size_t r = 0; r < a.graph.relations.size(); ++r) {
    const Csr& x = a.graph.relations[r];
    const Csr& y = b.graph.relations[r];
    EXPECT_TRUE(std::ranges::equal(x.offsets(), y.offsets()));
    EXPECT_TRUE(std::ranges::equal(x.sources(), y.sources()));
    EXPECT_EQ(x.num_sources(), y.num_sources());
    EXPECT_EQ(x.halo()->owned, y.halo()->owned);
    EXPECT_EQ(x.halo()->rows_are_sources, y.halo()->rows_are_sources);
    EXPECT_EQ(x.halo()->sent, y.halo()->sent);
    EXPECT_EQ(x.halo()->num_sent, y.halo()->num_sent);
    EXPECT_EQ(x.halo()->num_received, y.halo()->num_received);
    EXPECT_EQ(x.halo()->interior, y.halo()->interior);
    EXPECT_EQ(x.halo()->degree[0], y.halo()->degree[0]);
    EXPECT_EQ(x.halo()->degree[1], y.halo()->degree[1]);
  }
}

// Of one type of nodes, and of several.
class DatasetParts : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    GetParam() ? files_.make_authors() : files_.make_citations();
    whole_ = read_dataset(files_.dir(), {.cache = false});
    write_parts(dir_, whole_, kParts, PartitionMethod::kRanges);
  }
  static constexpr int64_t kParts = 2;
  const testing::DatasetFiles files_;
  const std::filesystem::path dir_ = files_.root() / "parts";
  Dataset whole_;
};

TEST_P(DatasetParts, AreReadAsTheyWereCut) {
  const WholeGraph graph(whole_);
  const std::vector<int32_t> part_of =
      partition(graph.schema, graph.graph, kParts, PartitionMethod::kRanges);
  int64_t nodes = 0;
  int64_t labelled[3] = {};
  for (int64_t k = 0; k < kParts; ++k) {
    const DatasetPart cut = cut_dataset(whole_, graph, whole_.splits, part_of, kParts, k);
    const DatasetPart read = read_part(dir_, k, kParts);
    EXPECT_EQ(testing::difference(read.dataset, cut.dataset), "");
    EXPECT_EQ(dataset_checksum(read.dataset), dataset_checksum(whole_));
    expect_same(read.share, cut.share);
    nodes += read.dataset.num_nodes();
    const Split& split = read.dataset.splits.at(0);
    labelled[0] += split.train.size();
    labelled[1] += split.valid.size();
    labelled[2] += split.test.size();
  }
  EXPECT_EQ(nodes, whole_.num_nodes());
  EXPECT_EQ(labelled[0], whole_.splits.at(0).train.size());
  EXPECT_EQ(labelled[1], whole_.splits.at(0).valid.size());
  EXPECT_EQ(labelled[2], whole_.splits.at(0).test.size());
}

TEST_P(DatasetParts, OfAnotherNumberAreRefused) {
  EXPECT_THROW(read_part(dir_, 0, 3), Error);
  EXPECT_THROW(read_part(dir_, 2, 3), Error);
  EXPECT_NO_THROW(read_part(dir_, 1, 0));
  EXPECT_THROW(write_parts(files_.root() / "none", whole_, 100000, PartitionMethod::kRanges),
               Error);
  EXPECT_FALSE(std::filesystem::exists(files_.root() / "none"));
}

TEST_P(DatasetParts, DamageIsNotBelieved) {
  const std::string good = read_text_file((dir_ / "part-1.safetensors").string(), ErrorKind::kData);
  const auto refused = [&](const std::string& bytes) {
    std::ofstream(dir_ / "part-1.safetensors", std::ios::binary) << bytes;
    try {
      read_part(dir_, 1, kParts);
      return false;
    } catch (const Error& e) {
      return e.kind() == ErrorKind::kData;
    }
  };
  ASSERT_FALSE(refused(good));
  for (size_t k = 0; k < good.size(); k += 7) {
    std::string bad = good;
    bad[k] = static_cast<char>(bad[k] ^ 0x55);
    EXPECT_TRUE(refused(bad)) << k;
  }
  for (size_t k = 0; k < good.size(); k += 61) EXPECT_TRUE(refused(good.substr(0, k))) << k;
}

// Whoever can write a file can write its checksum: what is read must make sense by itself.
TEST_P(DatasetParts, LiesWithAGoodChecksumAreFound) {
  const std::filesystem::path path = dir_ / "part-1.safetensors";
  std::map<std::string, std::vector<std::byte>> bytes;
  std::map<std::string, TensorView> tensors;
  std::map<std::string, std::string> metadata;
  {
    const SafetensorsFile file(path);
    metadata = file.metadata();
    tensors = file.tensors();
    for (auto& [name, tensor] : tensors) {
      bytes[name].assign(tensor.data.begin(), tensor.data.end());
      tensor.data = bytes[name];
    }
  }
  const auto read_with = [&](std::map<std::string, std::string> lies) {
    lies.insert(metadata.begin(), metadata.end());
    lies["checksum"] = checksum(tensors, lies["structure"] + lies["place"] + lies["whole"]);
    write_safetensors(path, tensors, lies, Sync::kNo);
    return read_part(dir_, 1, kParts);
  };
  ASSERT_NO_THROW(read_with({}));

  int refused = 0;
  Rng rng(9);
  const auto expect_sense = [&](const std::map<std::string, std::string>& lies) {
    try {
      const DatasetPart part = read_with(lies);
      for (const Csr& relation : part.share.graph.relations) {
        const Halo& h = *relation.halo();
        for (const int64_t row : h.sent) EXPECT_TRUE(row >= 0 && row < h.owned);
      }
      int64_t nodes = 0;
      for (size_t t = 0; t < part.share.nodes.size(); ++t) {
        nodes += part.share.graph.num_nodes[t];
        for (const int64_t id : part.share.nodes[t])
          EXPECT_TRUE(id >= 0 && (!GetParam() || id < whole_.hetero.num_nodes[t]));
      }
      EXPECT_EQ(nodes, part.dataset.num_nodes());
      EXPECT_EQ(part.dataset.num_items(), part.dataset.labels.classes.size());
      for (const int32_t c : part.dataset.labels.classes)
        EXPECT_TRUE(c >= -1 && c < part.dataset.info.num_classes);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kData) << e.what();
      ++refused;
    }
  };
  for (int k = 0; k < 400; ++k) {
    auto it = bytes.begin();
    std::advance(it, rng.below(static_cast<uint32_t>(bytes.size())));
    if (it->second.empty()) continue;
    std::byte& changed = it->second[rng.below(static_cast<uint32_t>(it->second.size()))];
    const std::byte before = changed;
    changed = static_cast<std::byte>(rng.below(256));
    expect_sense({});
    changed = before;
  }
  EXPECT_GT(refused, 50);
  refused = 0;
  const auto replaced = [](std::string text, const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
  };
  int lies = 0;
  const std::string task = GetParam() ? "node-classification-hetero" : "node-classification";
  const std::string other = GetParam() ? "node-classification" : "node-classification-hetero";
  for (const std::string& lie :
       {other, std::string("graph-regression"), std::string("graph-sequence")}) {
    expect_sense({{"structure", replaced(metadata["structure"], task, lie)}});
    ++lies;
  }
  for (const std::string lie :
       {"{}", "[]", "{\"part\": 1, \"parts\": 2}",
        "{\"part\": 1, \"parts\": 2, \"cut\": \"\", \"interior\": []}",
        "{\"part\": 1, \"parts\": 2, \"cut\": \"\", \"interior\": 0}",
        "{\"part\": 1, \"parts\": 2, \"cut\": \"\", \"interior\": [-1,-1,-1]}",
        "{\"part\": 1, \"parts\": 2, \"cut\": \"\", \"interior\": [-1]}",
        "{\"part\": 1, \"parts\": 2, \"cut\": \"\", \"interior\": [99999]}",
        "{\"part\": 1, \"parts\": 2, \"cut\": \"\", \"interior\": [0,99999,0]}"}) {
    expect_sense({{"place", lie}});
    ++lies;
  }
  if (GetParam())
    for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
             {"\"of_whole\":[2,3]", "\"of_whole\":[1,1]"},
             {"\"of_whole\":[2,3]", "\"of_whole\":[3]"},
             {"\"of_whole\":[2,3]", "\"of_whole\":[-2,3]"},
             {"\"of_whole\":[2,3]", "\"of_whole\":[2,1000000000000]"},
             {"\"target\":1,\"types\"", "\"target\":7,\"types\""},
             {"\"target\":1,\"types\"", "\"target\":-1,\"types\""},
             {"\"source\":1", "\"source\":5"},
             {"[\"author\",\"paper\"]", "[\"paper\"]"}}) {
      expect_sense({{"structure", replaced(metadata["structure"], from, to)}});
      ++lies;
    }
  EXPECT_EQ(refused, lies);
}

INSTANTIATE_TEST_SUITE_P(AccumulatorSet, DatasetParts, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Typed" : "OneType"; });

TEST(DatasetPart, OfManyGraphsThereIsNone) {
  const testing::DatasetFiles molecules;
  molecules.make_molecules();
  const Dataset many = read_dataset(molecules.dir(), {.cache = false});
  EXPECT_FALSE(can_be_cut(many));
  EXPECT_THROW(write_parts(molecules.root() / "none", many, 2, PartitionMethod::kMetis), Error);
}

}  // namespace
}  // namespace egc::data
