// Encodings of a dataset: those of its graphs as networks see them, wherever they come from.
#include "egc/data/encodings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "egc/core/error.h"
#include "egc/core/log.h"
#include "egc/core/rng.h"
#include "egc/data/generate/generators.h"
#include "egc/data/partition/dataset_part.h"
#include "egc/data/partition/graph_store.h"
#include "egc/data/raw/encoding_cache.h"
#include "egc/data/raw/read_dataset.h"
#include "egc/data/slice.h"
#include "tests/core/expect_error.h"
#include "tests/core/thread_count.h"
#include "tests/data/dataset_files.h"

namespace egc::data {
namespace {

namespace fs = std::filesystem;
using egc::testing::expect_error;
using testing::DatasetFiles;
using testing::to_vector;
using Names = std::vector<std::string>;

const Names kAll = {"laplacian:3", "degree", "rwse:5"};

// Graph by graph, without a cache.
std::vector<float> naive_encodings(const Dataset& d, const Names& names) {
  std::vector<float> out;
  for (int64_t k = 0; k < d.num_graphs(); ++k) {
    const Csr graph = training_graph(d, k, EdgeRules::of(d));
    std::vector<std::vector<double>> parts;
    const auto encodings = parse_encodings(names);
    for (const NodeEncoding& e : encodings) parts.push_back(encode_nodes(graph, e));
    for (int64_t i = 0; i < graph.num_targets(); ++i)
      for (size_t p = 0; p < parts.size(); ++p)
        for (int64_t c = 0; c < encodings[p].columns; ++c)
          out.push_back(static_cast<float>(parts[p][i * encodings[p].columns + c]));
  }
  return out;
}

// Graphs of 0 to 6 nodes.
Dataset small_graphs(int64_t graphs, uint64_t seed) {
  Rng rng(seed);
  Dataset d;
  d.info.name = "small";
  d.info.add_inverse_edge = true;
  std::vector<int64_t> first_node = {0};
  std::vector<int64_t> first_edge = {0};
  std::vector<int32_t> edges;
  for (int64_t k = 0; k < graphs; ++k) {
    const uint32_t nodes = rng.below(7);
    const uint32_t count = nodes == 0 ? 0 : rng.below(9);
    for (uint32_t e = 0; e < 2 * count; ++e)
      edges.push_back(static_cast<int32_t>(rng.below(nodes)));
    first_node.push_back(first_node.back() + nodes);
    first_edge.push_back(first_edge.back() + count);
  }
  d.labels.values = {std::vector<float>(static_cast<size_t>(graphs), 1.0F), 1};
  d.first_node = std::move(first_node);
  d.first_edge = std::move(first_edge);
  d.edges = {std::move(edges), 2};
  check_dataset(d, "small_graphs");
  return d;
}

TEST(Encodings, AreThoseOfTheGraphsThatNetworksSee) {
  const DatasetFiles citations;
  citations.make_citations();  // undirected, an edge twice
  const DatasetFiles code;
  code.make_code();  // with edges between tokens
  for (const Dataset& d :
       {small_graphs(150, 1), small_graphs(1, 2), generate("pattern", {.seed = 1, .size = 0.001}),
        read_dataset(citations.dir(), {.cache = false}),
        read_dataset(code.dir(), {.cache = false})}) {
    const Dataset encoded = with_encodings(d, kAll);
    EXPECT_EQ(encoded.encodings.columns, 9) << d.info.name;
    EXPECT_EQ(to_vector(encoded.encodings.values), naive_encodings(d, kAll)) << d.info.name;
    const Dataset one = with_encodings(d, {"rwse:5"});
    EXPECT_EQ(to_vector(one.encodings.values), naive_encodings(d, {"rwse:5"})) << d.info.name;
  }
}

TEST(Encodings, OfNothingIsTheDatasetItself) {
  EXPECT_EQ(with_encodings(small_graphs(3, 1), {}).encodings.columns, 0);
}

TEST(Encodings, SameBitsForAnyNumberOfThreads) {
  // Graphs side by side, and one with all threads.
  for (const Dataset& d : {generate("molecules", {.seed = 1, .size = 0.02}),
                           generate("arxiv-like", {.seed = 1, .size = 0.015})}) {
    const Names names = d.num_graphs() > 1 ? kAll : Names{"rwse:4", "degree"};
    std::vector<float> first;
    for (const int threads : {1, 2, 4}) {
      const egc::testing::ThreadCount count(threads);
      const auto now = to_vector(with_encodings(d, names).encodings.values);
      if (first.empty()) first = now;
      EXPECT_TRUE(now == first) << d.info.name << ", " << threads << " threads";
    }
  }
}

TEST(Encodings, TravelWithTheirNodes) {
  const Dataset d = with_encodings(small_graphs(40, 3), kAll);
  const auto rows = [&](int64_t graph) {
    return to_vector(d.encodings.values.span().subspan(
        static_cast<size_t>(9 * d.first_node[graph]),
        static_cast<size_t>(9 * (d.first_node[graph + 1] - d.first_node[graph]))));
  };
  // A slice, and a batch of it.
  const Dataset some = slice(d, 10, 20);
  const GraphStore store(some);
  const std::vector<int64_t> ids = {7, 0, 19, 7};
  const GraphBatch batch = store.batch(ids);
  EXPECT_EQ(batch.encoding_columns, 9);
  std::vector<float> want;
  for (const int64_t id : ids) {
    const auto of_graph = rows(10 + id);
    want.insert(want.end(), of_graph.begin(), of_graph.end());
  }
  EXPECT_EQ(batch.encodings, want);
  EXPECT_EQ(GraphStore(small_graphs(3, 1)).batch(std::vector<int64_t>{0}).encoding_columns, 0);
}

TEST(Encodings, OfAPartitionAreThoseOfTheWholeGraph) {
  const DatasetFiles files;
  files.make_citations();
  const Dataset whole = with_encodings(read_dataset(files.dir(), {.cache = false}), kAll);
  const WholeGraph graph(whole);
  const std::vector<int32_t> part_of = {1, 0, 1, 0, 1};
  for (int64_t part = 0; part < 2; ++part) {
    const DatasetPart cut = cut_dataset(whole, graph, whole.splits, part_of, 2, part);
    const auto& nodes = cut.share.nodes[0];
    ASSERT_EQ(cut.dataset.encodings.rows(), std::ssize(nodes));
    for (size_t k = 0; k < nodes.size(); ++k)
      EXPECT_EQ(to_vector(cut.dataset.encodings.row(static_cast<int64_t>(k))),
                to_vector(whole.encodings.row(nodes[k])));
    EXPECT_NO_THROW(check_can_encode(cut.dataset, kAll));
    // One that was cut without them does not get them any more.
    Dataset bare = cut.dataset;
    bare.encodings = {};
    expect_error(ErrorKind::kUsage, {"encode", "citations", "partitioned"},
                 [&] { with_encodings(bare, kAll); });
  }
}

TEST(Encodings, WhatCannotBeEncodedIsRefused) {
  expect_error(ErrorKind::kUsage, {"encode", "single node type", "academic"},
               [] { with_encodings(generate("academic", {.seed = 1, .size = 0.01}), {"degree"}); });
  const Dataset large = generate("arxiv-like", {.seed = 1, .size = 0.01});
  expect_error(ErrorKind::kUsage, {"encode takes laplacian", "1000 nodes", "graph 0", "rwse"}, [&] {
    with_encodings(large, {"rwse:2", "laplacian:4"});
  });
  EXPECT_NO_THROW(check_can_encode(large, {"rwse:2"}));
  expect_error(ErrorKind::kUsage, {"unknown encoding"}, [&] { with_encodings(large, {"walk:2"}); });
}

// Files beside the dataset.
class EncodingCache : public ::testing::Test {
 protected:
  void SetUp() override { files_.make_citations(); }

  static constexpr const char* kFile = ".egc-cache.rwse-5.safetensors";
  const NodeEncoding walk_ = parse_encodings({"rwse:5"})[0];

  Dataset read() const { return read_dataset(files_.dir()); }
  std::optional<Matrix<float>> load(const Dataset& d) const {
    return load_encoding(d, walk_, encoding_key(d, EdgeRules::of(d)));
  }
  // Other numbers in the place of the right ones: who reads them has read the file.
  void store_other(const Dataset& d) const {
    store_encoding(d, walk_, encoding_key(d, EdgeRules::of(d)),
                   {std::vector<float>(static_cast<size_t>(5 * d.num_nodes()), 7.0F), 5});
  }

  const DatasetFiles files_;
};

TEST_F(EncodingCache, IsWrittenOnceAndRead) {
  const Dataset d = read();
  const auto want = to_vector(with_encodings(d, {"rwse:5"}).encodings.values);
  EXPECT_EQ(want, naive_encodings(d, {"rwse:5"}));
  ASSERT_TRUE(fs::exists(files_.path(kFile)));
  ASSERT_TRUE(load(d).has_value());
  EXPECT_EQ(to_vector(load(d)->values), want);
  store_other(d);
  EXPECT_EQ(to_vector(with_encodings(read(), {"rwse:5"}).encodings.values),
            std::vector<float>(25, 7.0F));
  // It is the walk's alone, of this number of steps.
  EXPECT_EQ(to_vector(with_encodings(d, {"rwse:4"}).encodings.values),
            naive_encodings(d, {"rwse:4"}));
  EXPECT_EQ(with_encodings(d, {"degree", "rwse:5"}).encodings.at(0, 1), 7.0F);
  EXPECT_FALSE(fs::exists(files_.path(".egc-cache.degree-1.safetensors")));
}

TEST_F(EncodingCache, IsNotWrittenWithoutADirectory) {
  with_encodings(read_dataset(files_.dir(), {.cache = false}), kAll);
  with_encodings(slice(read(), 0, 1), kAll);
  EXPECT_FALSE(fs::exists(files_.path(kFile)));
}

TEST_F(EncodingCache, IsStaleWhenEdgesOrRulesChange) {
  const Dataset d = read();
  store_other(d);
  const auto is_stale = [&](const Dataset& changed) {
    EXPECT_FALSE(load(changed).has_value());
    EXPECT_EQ(to_vector(with_encodings(changed, {"rwse:5"}).encodings.values),
              naive_encodings(changed, {"rwse:5"}));
    store_other(d);
  };
  Dataset directed = d;
  directed.info.undirected = false;
  is_stale(directed);
  Dataset inverse = directed;
  inverse.info.add_inverse_edge = true;
  is_stale(inverse);
  store_other(directed);  // the same rules
  Dataset weighted = directed;
  std::vector<float> weights(static_cast<size_t>(d.num_edges()), 1.0F);
  weights[0] = 3.0F;
  weighted.edge_weights = std::move(weights);
  is_stale(weighted);
  Dataset other = d;
  auto edges = to_vector(d.edges.values);
  edges[0] = 3;
  other.edges.values = edges;
  is_stale(other);
  // The features are not asked.
  Dataset features = d;
  features.node_features.floats.values =
      std::vector<float>(static_cast<size_t>(d.node_features.floats.values.size()));
  EXPECT_TRUE(load(features).has_value());
}

TEST_F(EncodingCache, DamageIsRepairedWithAWarning) {
  const Dataset d = read();
  const auto want = to_vector(with_encodings(d, {"rwse:5"}).encodings.values);
  const std::string whole = files_.read(kFile);
  std::vector<std::string> warnings;
  set_log_sink([&](LogLevel level, std::string_view text) {
    if (level == LogLevel::kWarning) warnings.emplace_back(text);
  });
  int believed = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    files_.poke(kFile, at, static_cast<char>(whole[at] ^ 1));
    const auto values = load(d);
    believed += values && to_vector(values->values) != want ? 1 : 0;
    files_.poke(kFile, at, whole[at]);
  }
  EXPECT_EQ(believed, 0);
  for (size_t size = 0; size < whole.size(); size += 7) {
    files_.write(kFile, whole.substr(0, size));
    EXPECT_FALSE(load(d).has_value()) << size;
  }
  warnings.clear();
  std::string damaged = whole;
  damaged.back() ^= 1;
  files_.write(kFile, damaged);
  EXPECT_EQ(to_vector(with_encodings(d, {"rwse:5"}).encodings.values), want);
  set_log_sink({});
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find(kFile), std::string::npos) << warnings[0];
  EXPECT_EQ(files_.read(kFile), whole);
}

TEST_F(EncodingCache, GoesToTheUserWhereItsPlaceIsTaken) {
  const std::string user = (files_.root() / "user").string();
  setenv("XDG_CACHE_HOME", user.c_str(), 1);
  files_.write(std::string(kFile) + "/a file", "");  // a directory: nothing is renamed onto it
  const Dataset d = read();
  const auto want = to_vector(with_encodings(d, {"rwse:5"}).encodings.values);
  const auto cached = load(d);
  fs::remove_all(user);
  unsetenv("XDG_CACHE_HOME");
  ASSERT_TRUE(cached.has_value());
  EXPECT_EQ(to_vector(cached->values), want);
}

TEST_F(EncodingCache, OfOtherSizesIsNotBelieved) {
  const Dataset d = read();
  store_encoding(d, walk_, encoding_key(d, EdgeRules::of(d)), {std::vector<float>(15), 3});
  EXPECT_FALSE(load(d).has_value());
}

}  // namespace
}  // namespace egc::data
