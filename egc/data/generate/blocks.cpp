// PATTERN and CLUSTER: node classification on stochastic block models (Dwivedi et al.,
// "Benchmarking graph neural networks").
#include <algorithm>
#include <functional>
#include <numeric>

#include "egc/core/parallel.h"
#include "egc/data/build/dataset_builder.h"
#include "egc/data/generate/generators.h"
#include "egc/data/shuffle.h"
#include "egc/data/splits.h"

namespace egc::data {
namespace {

constexpr uint32_t kSmallest = 5;  // sizes of communities and patterns are drawn from 5..34
constexpr uint32_t kSizes = 30;
constexpr uint64_t kPatternStream = uint64_t{1} << 32;

struct Sizes {
  int64_t train;
  int64_t valid;
  int64_t test;
  int64_t all() const { return train + valid + test; }
};

// Every graph draws from a stream of its own, so they can be made in any order.
Dataset make_graphs(const Sizes& sizes, const std::function<GraphRecord(int64_t)>& make) {
  std::vector<GraphRecord> graphs(static_cast<size_t>(sizes.all()));
  parallel_tasks(sizes.all(), [&](int64_t k) { graphs[k] = make(k); });
  DatasetBuilder builder({.node = 1});
  for (GraphRecord& g : graphs) {
    builder.add(g);
    g = {};
  }
  Dataset d = builder.finish();
  d.splits = {ranges_split("generated", sizes.train, sizes.valid, sizes.test)};
  d.info.task = Task::kNodeClassification;
  d.info.metric = Metric::kWeightedAccuracy;
  d.info.add_inverse_edge = true;  // every edge is stored once
  return d;
}

// Communities of nodes, one after the other.
std::vector<int32_t> draw_communities(int count, Rng& rng) {
  std::vector<int32_t> community;
  for (int c = 0; c < count; ++c)
    community.insert(community.end(), kSmallest + rng.below(kSizes), c);
  return community;
}

// Joins nodes a < b with probability p(a, b), and numbers nodes anew by chance.
template <class Probability>
void join_and_shuffle(GraphRecord& g, Rng& rng, Probability&& p) {
  std::vector<int32_t> permutation(static_cast<size_t>(g.num_nodes));
  std::iota(permutation.begin(), permutation.end(), 0);
  shuffle(permutation, rng);
  for (int32_t a = 0; a < g.num_nodes; ++a)
    for (int32_t b = a + 1; b < g.num_nodes; ++b)
      if (p(a, b)) g.edges.insert(g.edges.end(), {permutation[a], permutation[b]});
  std::vector<int32_t> signal(g.node_categories.size());
  std::vector<int32_t> label(g.classes.size());
  for (int32_t a = 0; a < g.num_nodes; ++a) {
    signal[permutation[a]] = g.node_categories[a];
    label[permutation[a]] = g.classes[a];
  }
  g.node_categories = std::move(signal);
  g.classes = std::move(label);
}

struct Pattern {
  std::vector<int32_t> signal;
  std::vector<bool> joined;  // [n, n], above the diagonal
};

Pattern draw_pattern(uint64_t seed, int64_t number) {
  Rng rng(seed, kPatternStream + static_cast<uint64_t>(number));
  const uint32_t n = kSmallest + rng.below(kSizes);
  Pattern out;
  for (uint32_t i = 0; i < n; ++i) out.signal.push_back(static_cast<int32_t>(rng.below(3)));
  for (uint32_t i = 0; i < n * n; ++i) out.joined.push_back(rng.uniform() < 0.5F);
  return out;
}

GraphRecord pattern_graph(const Pattern& pattern, uint64_t seed, int64_t k) {
  Rng rng(seed, static_cast<uint64_t>(k));
  const std::vector<int32_t> community = draw_communities(5, rng);
  const auto outside = static_cast<int32_t>(community.size());
  const auto inside = static_cast<int32_t>(pattern.signal.size());
  GraphRecord g;
  g.num_nodes = outside + inside;
  for (int32_t i = 0; i < outside; ++i)
    g.node_categories.push_back(static_cast<int32_t>(rng.below(3)));
  g.node_categories.insert(g.node_categories.end(), pattern.signal.begin(), pattern.signal.end());
  g.classes.assign(static_cast<size_t>(outside), 0);
  g.classes.insert(g.classes.end(), static_cast<size_t>(inside), 1);
  join_and_shuffle(g, rng, [&](int32_t a, int32_t b) -> bool {
    if (a >= outside) return pattern.joined[(a - outside) * inside + (b - outside)];
    if (b >= outside) return rng.uniform() < 0.5F;
    return rng.uniform() < (community[a] == community[b] ? 0.5F : 0.35F);
  });
  return g;
}

GraphRecord cluster_graph(uint64_t seed, int64_t k) {
  constexpr int kCommunities = 6;
  Rng rng(seed, static_cast<uint64_t>(k));
  GraphRecord g;
  g.classes = draw_communities(kCommunities, rng);
  g.num_nodes = static_cast<int64_t>(g.classes.size());
  g.node_categories.assign(g.classes.size(), 0);
  for (int c = 0; c < kCommunities; ++c) {  // one node of each carries its number
    const auto begin = std::lower_bound(g.classes.begin(), g.classes.end(), c);
    const auto size = std::upper_bound(begin, g.classes.end(), c) - begin;
    g.node_categories[begin - g.classes.begin() + rng.below(static_cast<uint32_t>(size))] = c + 1;
  }
  const std::vector<int32_t> community = g.classes;
  join_and_shuffle(g, rng, [&](int32_t a, int32_t b) {
    return rng.uniform() < (community[a] == community[b] ? 0.55F : 0.25F);
  });
  return g;
}

}  // namespace

Dataset generate_pattern(const GeneratorOptions& options) {
  const Sizes sizes{scaled_count(10000, options.size), scaled_count(2000, options.size),
                    scaled_count(2000, options.size)};
  constexpr int64_t kPatterns = 100;
  std::vector<Pattern> patterns;
  for (int64_t p = 0; p < kPatterns; ++p) patterns.push_back(draw_pattern(options.seed, p));
  Dataset d = make_graphs(
      sizes, [&](int64_t k) { return pattern_graph(patterns[k % kPatterns], options.seed, k); });
  d.info.num_classes = 2;
  d.info.categories = {3};
  return d;
}

Dataset generate_cluster(const GeneratorOptions& options) {
  const Sizes sizes{scaled_count(10000, options.size), scaled_count(1000, options.size),
                    scaled_count(1000, options.size)};
  Dataset d = make_graphs(sizes, [&](int64_t k) { return cluster_graph(options.seed, k); });
  d.info.num_classes = 6;
  d.info.categories = {7};
  return d;
}

}  // namespace egc::data
