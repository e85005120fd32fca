#include "egc/graph/topologies.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "egc/core/named_table.h"
#include "egc/core/parallel.h"
#include "egc/core/rng.h"
#include "egc/graph/row_split.h"

namespace egc {
namespace {

struct EdgeList {
  std::vector<int64_t> source;
  std::vector<int64_t> target;

  void add_both_ways(int64_t a, int64_t b) {
    source.insert(source.end(), {a, b});
    target.insert(target.end(), {b, a});
  }
};

// Draws ranks in [0, n) with weight (rank + 10)^-exponent through the inverse of its integral. The
// offset keeps the largest hub at a few percent of the edges, as in citation graphs.
class PowerLaw {
 public:
  PowerLaw(int64_t n, double exponent)
      : n_(n),
        power_(1.0 - exponent),
        low_(std::pow(kOffset, power_)),
        high_(std::pow(static_cast<double>(n) + kOffset, power_)) {}

  int64_t rank(float u) const {
    const double x = std::pow(low_ + (high_ - low_) * u, 1.0 / power_) - kOffset;
    return std::clamp<int64_t>(static_cast<int64_t>(x), 0, n_ - 1);
  }

 private:
  static constexpr double kOffset = 10.0;
  int64_t n_;
  double power_;
  double low_;
  double high_;
};

int64_t scaled(int64_t full, double scale) {
  return std::max<int64_t>(1, std::llround(static_cast<double>(full) * scale));
}

using Maker = std::function<Csr(uint64_t seed, double scale)>;

const NamedTable<Maker>& makers() {
  static const NamedTable<Maker> table(
      "topology",
      {{"arxiv-like",
        [](uint64_t seed, double s) {
          return power_law_graph(scaled(169'343, s), scaled(2'315'598, s), 0.6, seed);
        }},
       {"zinc-batch",
        [](uint64_t seed, double s) { return molecule_batch(scaled(10'000, s), seed); }},
       {"code-batch", [](uint64_t seed, double s) { return tree_batch(scaled(10'000, s), seed); }},
       {"reddit-like",
        [](uint64_t seed, double s) {
          return power_law_graph(scaled(58'000, s), scaled(28'000'000, s), 0.4, seed);
        }},
       {"zinc-minibatch",
        [](uint64_t seed, double s) { return molecule_batch(scaled(64, s), seed); }},
       {"zinc-single", [](uint64_t seed, double) { return molecule_batch(1, seed); }}});
  return table;
}

}  // namespace

Csr power_law_graph(int64_t nodes, int64_t directed_edges, double exponent, uint64_t seed) {
  check(nodes >= 0 && directed_edges >= 0 && exponent >= 0 && exponent < 1,
        "power_law_graph: nodes and edges must not be negative and the exponent must be in [0, 1), "
        "got {}, {} and {}",
        nodes, directed_edges, exponent);
  const int64_t pairs = nodes < 2 ? 0 : directed_edges / 2;  // no loops
  std::vector<int64_t> id(nodes);
  std::iota(id.begin(), id.end(), 0);
  Rng shuffle(seed, 1);
  for (int64_t i = nodes - 1; i > 0; --i)
    std::swap(id[i], id[shuffle.below(static_cast<uint32_t>(i + 1))]);

  std::vector<int64_t> source(2 * pairs);
  std::vector<int64_t> target(2 * pairs);
  const PowerLaw law(nodes, exponent);
  const auto ranges = split_evenly(pairs, int64_t{1} << 16);
  parallel_tasks(static_cast<int64_t>(ranges.size()), [&](int64_t task) {
    Rng rng(seed, 2);
    rng.seek(static_cast<uint64_t>(ranges[task].begin) * 2);  // two words an edge
    for (int64_t k = ranges[task].begin; k < ranges[task].end; ++k) {
      const int64_t a = id[law.rank(rng.uniform())];
      int64_t b = id[rng.below(static_cast<uint32_t>(nodes))];
      if (a == b) b = (b + 1) % nodes;
      source[2 * k] = target[2 * k + 1] = a;
      target[2 * k] = source[2 * k + 1] = b;
    }
  });
  return Csr::from_edges(nodes, source, target);
}

Csr molecule_batch(int64_t graphs, uint64_t seed) {
  Rng rng(seed, 3);
  EdgeList edges;
  int64_t base = 0;
  for (int64_t g = 0; g < graphs; ++g) {
    const int64_t n = 15 + rng.below(17);  // 23.0 atoms on average; ZINC has 23.2
    for (int64_t i = 1; i < n; ++i) {
      const bool branch = i > 2 && rng.below(5) == 0;
      edges.add_both_ways(base + i, base + i - (branch ? 2 : 1));
    }
    // 2.75 rings on average give ZINC's 49.8 directed edges.
    const int64_t rings = 2 + (rng.below(4) != 0);
    for (int64_t r = 0; r < rings; ++r) {
      const int64_t start = rng.below(static_cast<uint32_t>(n - 5));
      edges.add_both_ways(base + start, base + start + 5);
    }
    base += n;
  }
  return Csr::from_edges(base, edges.source, edges.target);
}

Csr tree_batch(int64_t graphs, uint64_t seed) {
  Rng rng(seed, 4);
  EdgeList edges;
  int64_t base = 0;
  for (int64_t g = 0; g < graphs; ++g) {
    const int64_t n = 50 + rng.below(151);
    // Depth-first numbering: a parent is mostly a few numbers back, as in syntax trees.
    for (int64_t i = 1; i < n; ++i)
      edges.add_both_ways(base + i,
                          base + i - 1 - rng.below(static_cast<uint32_t>(std::min<int64_t>(i, 4))));
    base += n;
  }
  return Csr::from_edges(base, edges.source, edges.target);
}

Csr make_topology(const std::string& name, uint64_t seed, double scale) {
  check(scale > 0 && scale <= 1, "topology: scale must be in (0, 1], got {}", scale);
  return makers().at(name)(seed, scale);
}

std::vector<std::string> topology_names() {
  std::vector<std::string> names;
  for (const auto name : makers().names()) names.emplace_back(name);
  return names;
}

}  // namespace egc
