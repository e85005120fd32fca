// The multi-task benchmark of the PNA paper (Corso et al., "Principal neighbourhood aggregation for
// graph nets", 2020): graphs of ten kinds with 15 to 24 nodes; of every node its distance from a
// source, its eccentricity and a Laplacian feature, of every graph whether it is connected, its
// diameter and its spectral radius. Every target is divided by its largest value in training.
//
// Our own choices where the paper is silent: every edge is dropped with probability 0.1 and up to
// as many are added by chance, so that the kinds blur; distances count within a component.
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <numeric>
#include <set>

#include "egc/core/parallel.h"
#include "egc/core/symmetric_spectrum.h"
#include "egc/data/build/dataset_builder.h"
#include "egc/data/generate/generators.h"
#include "egc/data/shuffle.h"
#include "egc/data/splits.h"

namespace egc::data {
namespace {

constexpr int kTargets = 3;  // of nodes, and of graphs

using EdgeSet = std::set<std::pair<int32_t, int32_t>>;

void join(EdgeSet& edges, int32_t a, int32_t b) {
  if (a != b) edges.insert({std::min(a, b), std::max(a, b)});
}

void random_pairs(EdgeSet& edges, int32_t n, double probability, Rng& rng) {
  for (int32_t a = 0; a < n; ++a)
    for (int32_t b = a + 1; b < n; ++b)
      if (rng.uniform() < probability) join(edges, a, b);
}

// Every new node joins `m` others, chosen by their degree.
void preferential(EdgeSet& edges, int32_t n, int m, Rng& rng) {
  std::vector<int32_t> ends = {0};
  for (int32_t v = 1; v < n; ++v) {
    std::vector<int32_t> chosen;
    for (int k = 0; k < std::min<int32_t>(m, v); ++k)
      chosen.push_back(ends[rng.below(static_cast<uint32_t>(ends.size()))]);
    for (const int32_t other : chosen) {
      join(edges, v, other);
      ends.insert(ends.end(), {v, other});
    }
  }
}

void grid(EdgeSet& edges, int32_t n) {
  const auto width = static_cast<int32_t>(std::lround(std::sqrt(n)));
  for (int32_t v = 0; v < n; ++v) {
    if ((v + 1) % width != 0 && v + 1 < n) join(edges, v, v + 1);
    if (v + width < n) join(edges, v, v + width);
  }
}

// Cliques, each joined to the next.
void caveman(EdgeSet& edges, int32_t n, Rng& rng) {
  const auto size = static_cast<int32_t>(3 + rng.below(4));
  for (int32_t v = 0; v < n; ++v) {
    for (int32_t u = v / size * size; u < v; ++u) join(edges, u, v);
    if (v % size == 0 && v > 0) join(edges, v - 1, v);
  }
}

void random_tree(EdgeSet& edges, int32_t n, Rng& rng) {
  for (int32_t v = 1; v < n; ++v)
    join(edges, static_cast<int32_t>(rng.below(static_cast<uint32_t>(v))), v);
}

void ladder(EdgeSet& edges, int32_t n) {
  for (int32_t v = 0; v + 2 < n; ++v) join(edges, v, v + 2);
  for (int32_t v = 0; v + 1 < n; v += 2) join(edges, v, v + 1);
}

// A line whose nodes carry leaves; with `depth` 2 also leaves of leaves (a lobster).
void caterpillar(EdgeSet& edges, int32_t n, int depth, Rng& rng) {
  const int32_t spine = n / 3;
  for (int32_t v = 1; v < spine; ++v) join(edges, v - 1, v);
  const int32_t near = depth == 1 ? n : spine + n / 3;
  for (int32_t v = spine; v < n; ++v)
    join(edges, v,
         v < near ? static_cast<int32_t>(rng.below(static_cast<uint32_t>(spine)))
                  : spine + static_cast<int32_t>(rng.below(static_cast<uint32_t>(near - spine))));
}

EdgeSet draw_kind(int32_t n, Rng& rng) {
  EdgeSet edges;
  const uint32_t percent = rng.below(100);  // the paper's shares
  if (percent < 20)
    random_pairs(edges, n, 0.1 + 0.4 * rng.uniform(), rng);
  else if (percent < 40)
    preferential(edges, n, static_cast<int>(1 + rng.below(4)), rng);
  else if (percent < 45)
    grid(edges, n);
  else if (percent < 50)
    caveman(edges, n, rng);
  else if (percent < 65)
    random_tree(edges, n, rng);
  else if (percent < 70)
    ladder(edges, n);
  else if (percent < 75)
    for (int32_t v = 1; v < n; ++v) join(edges, v - 1, v);
  else if (percent < 80)
    for (int32_t v = 1; v < n; ++v) join(edges, 0, v);
  else
    caterpillar(edges, n, percent < 90 ? 1 : 2, rng);
  return edges;
}

void toggle(EdgeSet& edges, int32_t n, Rng& rng) {
  int dropped = 0;
  for (auto it = edges.begin(); it != edges.end();) {
    const bool drop = rng.uniform() < 0.1F;
    dropped += drop ? 1 : 0;
    it = drop ? edges.erase(it) : std::next(it);
  }
  for (; dropped > 0; --dropped)
    join(edges, static_cast<int32_t>(rng.below(static_cast<uint32_t>(n))),
         static_cast<int32_t>(rng.below(static_cast<uint32_t>(n))));
}

using Neighbours = std::vector<std::vector<int32_t>>;

// Steps from `source`; -1 where it does not lead.
std::vector<int32_t> distances(const Neighbours& neighbours, int32_t source) {
  std::vector<int32_t> out(neighbours.size(), -1);
  std::deque<int32_t> queue = {source};
  out[source] = 0;
  while (!queue.empty()) {
    const int32_t v = queue.front();
    queue.pop_front();
    for (const int32_t u : neighbours[v])
      if (out[u] < 0) {
        out[u] = out[v] + 1;
        queue.push_back(u);
      }
  }
  return out;
}

float spectral_radius(const Neighbours& neighbours) {
  const auto n = std::ssize(neighbours);
  std::vector<double> a(static_cast<size_t>(n * n), 0.0);
  for (int64_t v = 0; v < n; ++v)
    for (const int32_t u : neighbours[v]) a[v * n + u] = 1;
  const std::vector<double> values = symmetric_spectrum(std::move(a), n).values;
  // Five digits: the last bits of an eigenvalue are the solver's own.
  return static_cast<float>(
      std::round(std::max(std::abs(values.front()), std::abs(values.back())) * 1e5) / 1e5);
}

GraphRecord draw_graph(uint64_t seed, int64_t k) {
  Rng rng(seed, static_cast<uint64_t>(k));
  const auto n = static_cast<int32_t>(15 + rng.below(10));
  EdgeSet edges = draw_kind(n, rng);
  toggle(edges, n, rng);
  std::vector<int32_t> permutation(static_cast<size_t>(n));
  std::iota(permutation.begin(), permutation.end(), 0);
  shuffle(permutation, rng);
  GraphRecord g;
  g.num_nodes = n;
  Neighbours neighbours(static_cast<size_t>(n));
  for (const auto& [a, b] : edges) {
    g.edges.insert(g.edges.end(), {permutation[a], permutation[b]});
    neighbours[permutation[a]].push_back(permutation[b]);
    neighbours[permutation[b]].push_back(permutation[a]);
  }
  const auto source = static_cast<int32_t>(rng.below(static_cast<uint32_t>(n)));
  std::vector<float> signal;
  for (int32_t v = 0; v < n; ++v) signal.push_back(rng.uniform());
  const std::vector<int32_t> from_source = distances(neighbours, source);
  int32_t diameter = 0;
  for (int32_t v = 0; v < n; ++v) {
    const std::vector<int32_t> from_v = distances(neighbours, v);
    const int32_t eccentricity = *std::max_element(from_v.begin(), from_v.end());
    diameter = std::max(diameter, eccentricity);
    float laplacian = static_cast<float>(neighbours[v].size()) * signal[v];
    for (const int32_t u : neighbours[v]) laplacian -= signal[u];
    g.node_floats.insert(g.node_floats.end(), {v == source ? 1.F : 0.F, signal[v]});
    g.node_targets.insert(g.node_targets.end(), {static_cast<float>(std::max(from_source[v], 0)),
                                                 static_cast<float>(eccentricity), laplacian});
  }
  const bool connected = std::count(from_source.begin(), from_source.end(), -1) == 0;
  g.values = {connected ? 1.F : 0.F, static_cast<float>(diameter), spectral_radius(neighbours)};
  return g;
}

// Divides every column by its largest absolute value among the first `train` graphs.
using Member = std::vector<float> GraphRecord::*;
void normalise(std::vector<GraphRecord>& graphs, int64_t train, Member member) {
  std::array<float, kTargets> largest = {};
  for (int64_t k = 0; k < train; ++k)
    for (size_t i = 0; i < (graphs[k].*member).size(); ++i)
      largest[i % kTargets] = std::max(largest[i % kTargets], std::abs((graphs[k].*member)[i]));
  for (GraphRecord& g : graphs)
    for (size_t i = 0; i < (g.*member).size(); ++i)
      if (largest[i % kTargets] > 0) (g.*member)[i] /= largest[i % kTargets];
}

}  // namespace

Dataset generate_graph_props(const GeneratorOptions& options) {
  const int64_t train = scaled_count(5120, options.size);
  const int64_t valid = scaled_count(640, options.size);
  const int64_t test = scaled_count(1280, options.size);
  std::vector<GraphRecord> graphs(static_cast<size_t>(train + valid + test));
  parallel_tasks(static_cast<int64_t>(graphs.size()),
                 [&](int64_t k) { graphs[k] = draw_graph(options.seed, k); });
  normalise(graphs, train, &GraphRecord::values);
  normalise(graphs, train, &GraphRecord::node_targets);
  DatasetBuilder builder({.node = 2, .label = kTargets, .node_target = kTargets});
  for (const GraphRecord& g : graphs) builder.add(g);
  Dataset d = builder.finish();
  d.splits = {ranges_split("generated", train, valid, test)};
  d.info.task = Task::kGraphRegression;
  d.info.metric = Metric::kMae;
  d.info.add_inverse_edge = true;
  return d;
}

}  // namespace egc::data
