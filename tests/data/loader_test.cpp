// Batches ahead of training: nothing is lost, doubled or reordered, whenever one stops.
#include "egc/data/loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

#include "egc/core/producer.h"
#include "egc/core/rng.h"
#include "egc/data/raw/read_dataset.h"
#include "tests/core/expect_error.h"
#include "tests/core/thread_count.h"
#include "tests/data/dataset_files.h"

namespace egc::data {
namespace {

using testing::DatasetFiles;
using testing::expect_error;
using testing::ThreadCount;
using testing::to_vector;
using Ids = std::vector<int64_t>;
using Words = std::vector<std::string>;

// The numbers from 0 to n - 1; `broken` throws instead.
std::function<std::optional<int>()> count_to(int n, int broken = -1) {
  return [=, k = 0]() mutable -> std::optional<int> {
    if (k == broken) throw std::runtime_error("broken");
    return k < n ? std::optional(k++) : std::nullopt;
  };
}

TEST(Producer, KeepsTheOrder) {
  for (const size_t ahead : {1, 2, 7, 1000}) {
    Producer<int> producer(count_to(500), ahead);
    for (int k = 0; k < 500; ++k) ASSERT_EQ(producer.next(), k) << ahead;
    EXPECT_EQ(producer.next(), std::nullopt);
    EXPECT_EQ(producer.next(), std::nullopt);
  }
}

TEST(Producer, OfNothing) {
  Producer<int> producer(count_to(0), 3);
  EXPECT_EQ(producer.next(), std::nullopt);
}

TEST(Producer, ThrowsAfterWhatWasMadeBefore) {
  for (const int broken : {0, 1, 5})
    for (const size_t ahead : {1, 2, 100}) {
      Producer<int> producer(count_to(10, broken), ahead);
      for (int k = 0; k < broken; ++k) ASSERT_EQ(producer.next(), k);
      EXPECT_THROW(producer.next(), std::runtime_error);
      EXPECT_THROW(producer.next(), std::runtime_error);  // not the end, as if all were well
    }
}

TEST(Producer, MayBeLeftAtAnyTime) {
  for (int taken = 0; taken < 5; ++taken)
    for (int round = 0; round < 50; ++round) {
      Producer<int> producer(count_to(1'000'000), 2);
      for (int k = 0; k < taken; ++k) ASSERT_EQ(producer.next(), k);
    }
  Producer<int> broken(count_to(10, 0), 2);  // an error nobody asked for
}

TEST(Producer, IsNotFurtherAheadThanAllowed) {
  std::atomic<int> made{0};
  constexpr int kAhead = 3;
  Producer<int> producer([&]() -> std::optional<int> { return made++; }, kAhead);
  for (int taken = 1; taken < 100; ++taken) {
    producer.next();
    ASSERT_LE(made, taken + kAhead + 1);  // one more is in the making
  }
}

TEST(Producer, SeesOneThread) {
  const ThreadCount threads(4);
  Producer<int> producer(
      [n = 0]() mutable -> std::optional<int> {
        return n++ == 0 ? std::optional(num_threads()) : std::nullopt;
      },
      1);
  EXPECT_EQ(producer.next(), 1);
  EXPECT_EQ(num_threads(), 4);
}

TEST(Producer, MovesWhatCannotBeCopied) {
  Producer<std::unique_ptr<int>> producer(
      [n = 0]() mutable -> std::optional<std::unique_ptr<int>> {
        if (n == 3) return std::nullopt;
        return std::make_unique<int>(n++);
      },
      2);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(**producer.next(), k);
  EXPECT_FALSE(producer.next().has_value());
}

// Graphs of random sizes, some without nodes or edges; feature and label tell where they are from.
Dataset random_dataset(int64_t graphs, uint64_t seed, Task task = Task::kGraphRegression) {
  Rng rng(seed);
  Dataset d;
  d.info.name = "random";
  d.info.task = task;
  std::vector<int64_t> first_node = {0};
  std::vector<int64_t> first_edge = {0};
  std::vector<int32_t> edges;
  for (int64_t k = 0; k < graphs; ++k) {
    const uint32_t nodes = rng.below(7);
    const uint32_t count = nodes == 0 ? 0 : rng.below(12);
    for (uint32_t e = 0; e < 2 * count; ++e)
      edges.push_back(static_cast<int32_t>(rng.below(nodes)));
    first_node.push_back(first_node.back() + nodes);
    first_edge.push_back(first_edge.back() + count);
  }
  std::vector<float> features;
  for (int64_t i = 0; i < first_node.back(); ++i)
    features.insert(features.end(), {static_cast<float>(i), static_cast<float>(-i)});
  if (task == Task::kNodeClassification) {
    std::vector<int32_t> classes;
    for (int64_t i = 0; i < first_node.back(); ++i)
      classes.push_back(static_cast<int32_t>(i % 5) - 1);
    d.info.num_classes = 4;
    d.labels.classes = std::move(classes);
  } else {
    std::vector<float> values;
    for (int64_t k = 0; k < graphs; ++k)
      values.insert(values.end(),
                    {static_cast<float>(k), k % 3 == 0 ? std::nanf("") : static_cast<float>(-k)});
    d.info.num_targets = 2;
    d.labels.values = {Array<float>(std::move(values)), 2};
  }
  d.first_node = std::move(first_node);
  d.first_edge = std::move(first_edge);
  d.edges = {Array<int32_t>(std::move(edges)), 2};
  d.node_features.floats = {Array<float>(std::move(features)), 2};
  check_dataset(d, "random_dataset");
  return d;
}

// Bit by bit, so that NaN equals NaN.
bool same_floats(const std::vector<float>& a, const std::vector<float>& b) {
  const auto bits = [](float v) { return std::bit_cast<uint32_t>(v); };
  return std::ranges::equal(a, b, {}, bits, bits);
}

bool same(const GraphBatch& a, const GraphBatch& b) {
  return a.ids == b.ids && a.graphs.first_node == b.graphs.first_node &&
         std::ranges::equal(a.graphs.graph.offsets(), b.graphs.graph.offsets()) &&
         std::ranges::equal(a.graphs.graph.sources(), b.graphs.graph.sources()) &&
         same_floats(a.floats, b.floats) && a.categories == b.categories &&
         a.columns == b.columns && same_floats(a.values, b.values) && a.classes == b.classes &&
         a.label_columns == b.label_columns;
}

// The batch as its definition says.
GraphBatch naive_batch(const Dataset& d, const EdgeRules& rules, const Ids& ids) {
  GraphBatch out;
  out.ids = ids;
  std::vector<Csr> graphs;
  out.columns = d.node_features.columns();
  const bool of_graphs = is_graph_task(d.info.task);
  out.label_columns = std::max<int64_t>(1, d.labels.values.columns);
  for (const int64_t k : ids) {
    graphs.push_back(training_graph(d, k, rules));
    for (int64_t i = d.first_node[k]; i < d.first_node[k + 1]; ++i) {
      for (int64_t j = 0; j < out.columns; ++j)
        if (d.node_features.floats.empty())
          out.categories.push_back(d.node_features.categories.at(i, j));
        else
          out.floats.push_back(d.node_features.floats.at(i, j));
      if (!of_graphs) out.classes.push_back(d.labels.classes[i]);
    }
    if (of_graphs)
      for (const float v : d.labels.values.row(k)) out.values.push_back(v);
  }
  out.graphs = make_batch(graphs);
  return out;
}

TEST(GraphStore, BatchesAreThoseOfMakeBatch) {
  const EdgeRules rules[] = {{}, {.undirected = true}, {.inverse = true}, {.drop_loops = true}};
  // More graphs than a task of the parallel construction has.
  for (const Task task : {Task::kGraphRegression, Task::kNodeClassification}) {
    const Dataset d = random_dataset(600, 31, task);
    for (const EdgeRules& r : rules)
      for (const int threads : {1, 3}) {
        const ThreadCount scope(threads);
        const GraphStore store(d, r);
        Rng rng(32);
        for (const int64_t size : {0, 1, 2, 50, 700}) {
          Ids ids;  // in any order, some twice
          for (int64_t b = 0; b < size; ++b) ids.push_back(rng.below(600));
          EXPECT_TRUE(same(store.batch(ids), naive_batch(d, r, ids))) << size;
        }
      }
  }
}

TEST(GraphStore, CategoriesAndLabelsOfAFile) {
  const DatasetFiles files;
  files.make_molecules();
  const Dataset d = read_dataset(files.dir(), {.cache = false});
  const GraphBatch batch = GraphStore(d).batch(Ids{2, 0});
  EXPECT_EQ(batch.categories, (std::vector<int32_t>{2, 0, 0, 1, 1, 1, 2, 1, 0, 1, 1, 0, 2, 1}));
  EXPECT_TRUE(batch.floats.empty());
  EXPECT_EQ(batch.columns, 2);
  EXPECT_EQ(batch.values, (std::vector<float>{3, 0.5}));
  EXPECT_EQ(batch.label_columns, 1);
  EXPECT_EQ(batch.graphs.first_node, (Ids{0, 4, 7}));
}

TEST(GraphStore, EncodesTokens) {
  const DatasetFiles files;
  files.make_code();
  const Dataset d = read_dataset(files.dir(), {.cache = false});
  const TargetVocabulary vocabulary(d.labels.tokens, d.splits[0].train, 5000, 3);
  const GraphStore store(d, EdgeRules::of(d), vocabulary);
  const GraphBatch batch = store.batch(Ids{1, 0});  // "set" is not in train
  EXPECT_EQ(batch.label_columns, 3);
  EXPECT_EQ(batch.classes, (Ids{2, 3, 3, 0, 1, 3}));
  EXPECT_EQ(batch.graphs.graph.num_edges(), 8);
}

TEST(GraphStore, RefusesWhatIsNotThere) {
  const GraphStore store(random_dataset(10, 33));
  for (const int64_t bad : {int64_t{-1}, int64_t{10}, std::numeric_limits<int64_t>::max()})
    expect_error(ErrorKind::kUsage, {"random", std::to_string(bad)}, [&] {
      store.batch(Ids{0, bad});
    });
  const DatasetFiles files;
  files.make_authors();
  const Dataset typed = read_dataset(files.dir(), {.cache = false});
  expect_error(ErrorKind::kUsage, {"authors"}, [&] { GraphStore{typed}; });
}

std::vector<GraphBatch> rest_of(Loader& loader) {
  std::vector<GraphBatch> out;
  while (auto batch = loader.next()) out.push_back(*std::move(batch));
  return out;
}

Ids ids_of(const std::vector<GraphBatch>& batches) {
  Ids out;
  for (const GraphBatch& b : batches) out.insert(out.end(), b.ids.begin(), b.ids.end());
  return out;
}

class LoaderTest : public ::testing::Test {
 protected:
  Ids epoch(const LoaderOptions& options, int64_t number) const {
    Loader loader(store_, ids_, options);
    loader.begin(number);
    return ids_of(rest_of(loader));
  }

  const GraphStore store_{random_dataset(100, 41)};
  const Ids ids_ = [] {
    Ids out;
    for (int64_t k = 3; k < 100; k += 2) out.push_back(k);
    return out;
  }();  // 49 of them
};

TEST_F(LoaderTest, EveryIdOnceInBatchesOfTheSize) {
  for (const int64_t size : {1, 7, 10, 48, 49, 50, 1000}) {
    Loader loader(store_, ids_, {.batch_size = size, .seed = 1});
    EXPECT_EQ(loader.num_batches(), (49 + size - 1) / size);
    loader.begin(0);
    const auto batches = rest_of(loader);
    ASSERT_EQ(static_cast<int64_t>(batches.size()), loader.num_batches()) << size;
    for (size_t k = 0; k + 1 < batches.size(); ++k)
      EXPECT_EQ(static_cast<int64_t>(batches[k].ids.size()), size);
    Ids seen = ids_of(batches);
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, ids_) << size;
    EXPECT_FALSE(loader.next().has_value());
  }
}

TEST_F(LoaderTest, BatchesAreTheStores) {
  Loader loader(store_, ids_, {.batch_size = 8, .seed = 2});
  loader.begin(3);
  const Ids order = epoch_order(ids_, 2, 3);
  for (int64_t k = 0; k < loader.num_batches(); ++k) {
    const auto begin = order.begin() + 8 * k;
    const Ids want(begin, std::min(begin + 8, order.end()));
    const auto batch = loader.next();
    ASSERT_TRUE(batch.has_value());
    EXPECT_TRUE(same(*batch, store_.batch(want))) << k;
  }
}

TEST_F(LoaderTest, SeedAndEpochDecideTheOrder) {
  const LoaderOptions options{.batch_size = 8, .seed = 5};
  LoaderOptions other = options;
  other.seed = 6;
  EXPECT_EQ(epoch(options, 0), epoch(options, 0));
  EXPECT_NE(epoch(options, 0), epoch(options, 1));
  EXPECT_NE(epoch(options, 0), epoch(other, 0));
  EXPECT_NE(epoch(options, 0), ids_);
  other.shuffle = false;
  EXPECT_EQ(epoch(other, 0), ids_);
  EXPECT_EQ(epoch(other, 1), ids_);
  // Not the epochs before make it so, nor the size of a batch.
  Loader loader(store_, ids_, options);
  loader.begin(0);
  rest_of(loader);
  loader.begin(1);
  EXPECT_EQ(ids_of(rest_of(loader)), epoch(options, 1));
  LoaderOptions large = options;
  large.batch_size = 20;
  EXPECT_EQ(epoch(large, 1), epoch(options, 1));
  std::set<Ids> orders;
  for (int64_t k = 0; k < 50; ++k) orders.insert(epoch_order(ids_, 5, k));
  EXPECT_EQ(orders.size(), 50U);
}

TEST_F(LoaderTest, ResumesAtAnyBatch) {
  for (const int prefetch : {0, 2}) {
    Loader loader(store_, ids_, {.batch_size = 8, .seed = 7, .prefetch = prefetch});
    loader.begin(4);
    const auto whole = rest_of(loader);
    for (int64_t first = 0; first <= loader.num_batches(); ++first) {
      loader.begin(4, first);
      const auto rest = rest_of(loader);
      ASSERT_EQ(rest.size(), whole.size() - static_cast<size_t>(first));
      for (size_t k = 0; k < rest.size(); ++k)
        EXPECT_TRUE(same(rest[k], whole[static_cast<size_t>(first) + k])) << first;
    }
    for (const int64_t bad : {int64_t{-1}, loader.num_batches() + 1})
      expect_error(ErrorKind::kUsage, {"first batch", std::to_string(bad)},
                   [&] { loader.begin(0, bad); });
  }
}

TEST_F(LoaderTest, PrefetchChangesNothing) {
  Loader plain(store_, ids_, {.batch_size = 4, .seed = 8, .prefetch = 0});
  plain.begin(2);
  const auto want = rest_of(plain);
  for (const int prefetch : {1, 3, 100}) {
    Loader loader(store_, ids_, {.batch_size = 4, .seed = 8, .prefetch = prefetch});
    loader.begin(2);
    const auto got = rest_of(loader);
    ASSERT_EQ(got.size(), want.size());
    for (size_t k = 0; k < got.size(); ++k) EXPECT_TRUE(same(got[k], want[k])) << k;
  }
}

TEST_F(LoaderTest, MayBeLeftOrBegunAnewInTheMiddle) {
  for (int taken = 0; taken < 5; ++taken) {
    Loader loader(store_, ids_, {.batch_size = 3, .seed = 9, .prefetch = 2});
    loader.begin(0);
    for (int k = 0; k < taken; ++k) EXPECT_TRUE(loader.next().has_value());
    loader.begin(1);
    EXPECT_EQ(ids_of(rest_of(loader)), epoch({.batch_size = 3, .seed = 9}, 1));
    loader.begin(2);
    for (int k = 0; k < taken; ++k) EXPECT_TRUE(loader.next().has_value());
  }
}

TEST_F(LoaderTest, OfNothing) {
  Loader loader(store_, {}, {});
  EXPECT_EQ(loader.num_batches(), 0);
  loader.begin(0);
  EXPECT_FALSE(loader.next().has_value());
}

TEST_F(LoaderTest, BeforeItsBeginHasNothing) {
  Loader loader(store_, ids_, {.batch_size = 8});
  try {
    const auto batch = loader.next();
    EXPECT_FALSE(batch.has_value()) << "a batch of " << batch->ids.size() << " graphs";
  } catch (const Error& e) {
    EXPECT_EQ(static_cast<int>(e.kind()), static_cast<int>(ErrorKind::kUsage)) << e.what();
  }
}

TEST_F(LoaderTest, RefusesBadSizesAndIds) {
  for (const int64_t bad : {0, -1})
    expect_error(ErrorKind::kUsage, {"batch size", std::to_string(bad)},
                 [&] { Loader(store_, ids_, {.batch_size = bad}); });
  Loader loader(store_, Ids{0, 1, 100}, {.batch_size = 1, .shuffle = false});
  loader.begin(0);
  EXPECT_TRUE(loader.next().has_value());
  EXPECT_TRUE(loader.next().has_value());
  expect_error(ErrorKind::kUsage, {"100"}, [&] { loader.next(); });  // from the thread
}

// words

TextLines text_lines(const Words& lines) {
  std::vector<int64_t> first = {0};
  std::vector<char> bytes;
  for (const std::string& line : lines) {
    bytes.insert(bytes.end(), line.begin(), line.end());
    first.push_back(static_cast<int64_t>(bytes.size()));
  }
  return {Array<int64_t>(std::move(first)), Array<char>(std::move(bytes))};
}

Ids encode(const TargetVocabulary& v, std::string_view line) {
  Ids out = {-7};  // appended to
  v.encode(line, out);
  EXPECT_EQ(out[0], -7);
  out.erase(out.begin());
  return out;
}

TEST(TargetVocabulary, CommonestFirstAndTiesAsSeen) {
  const TextLines lines = text_lines({"get name", "test", "set name", "get  set ", "only here"});
  const TargetVocabulary v(lines, Ids{0, 2, 3}, 5000, 4);
  EXPECT_EQ(v.words(), (Words{"get", "name", "set"}));  // all twice
  EXPECT_EQ(v.size(), 5);
  EXPECT_EQ(v.unknown(), 3);
  EXPECT_EQ(v.end(), 4);
  EXPECT_EQ(TargetVocabulary(lines, Ids{2, 0, 3}).words(), (Words{"set", "name", "get"}));
  EXPECT_EQ(TargetVocabulary(lines, Ids{0, 2}).words(), (Words{"name", "get", "set"}));
  EXPECT_EQ(TargetVocabulary(lines, Ids{0, 2}, 2).words(), (Words{"name", "get"}));
  EXPECT_EQ(TargetVocabulary(lines, {}).size(), 2);
}

TEST(TargetVocabulary, EncodesCutAndPadded) {
  const TargetVocabulary v(text_lines({"a a a b b c"}), Ids{0}, 2, 3);
  EXPECT_EQ(encode(v, "a"), (Ids{0, 3, 3}));
  EXPECT_EQ(encode(v, "b c a b"), (Ids{1, 2, 0}));  // c did not fit into two words
  EXPECT_EQ(encode(v, ""), (Ids{3, 3, 3}));
  EXPECT_EQ(encode(v, "  b   a "), (Ids{1, 0, 3}));
}

TEST(TargetVocabulary, DecodesUpToTheEnd) {
  const TargetVocabulary v(text_lines({"a a b"}), Ids{0});
  EXPECT_EQ(v.decode(Ids{1, 0, v.end(), 1}), (Words{"b", "a"}));
  EXPECT_EQ(v.decode(Ids{v.unknown(), 0}).back(), "a");
  EXPECT_EQ(v.decode(Ids{v.unknown(), 0}).size(), 2U);
  EXPECT_NE(v.decode(Ids{v.unknown()})[0], "a");
  EXPECT_TRUE(v.decode(Ids{v.end()}).empty());
  EXPECT_EQ(v.decode(encode(v, "b a b")), (Words{"b", "a", "b"}));
  EXPECT_EQ(v.decode(Ids{-5, 99}).size(), 2U);  // a network may say anything
}

}  // namespace
}  // namespace egc::data
