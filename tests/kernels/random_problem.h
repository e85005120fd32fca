// Small random problems for kernel tests: awkward graphs, values on a coarse grid so that ties
// occur and are ties in every precision.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "egc/core/error.h"
#include "egc/core/rng.h"
#include "egc/engine/slice_layout.h"
#include "egc/graph/csr.h"
#include "egc/kernels/reference.h"

namespace egc::testing {

// 14 nodes: 0 is isolated, 1 has no in-edges, 2 is a hub with an in-edge from everyone, 3 has
// duplicate edges, 4 and 5 have explicit loops (5 twice), 6 has only a loop; the rest is random.
inline Csr awkward_graph(bool weighted = false, uint64_t seed = 1,
                         const std::function<EdgeFeatures(int64_t edges)>& features = {}) {
  constexpr int64_t kNodes = 14;
  std::vector<int64_t> source;
  std::vector<int64_t> target;
  const auto add = [&](int64_t j, int64_t i) {
    source.push_back(j);
    target.push_back(i);
  };
  for (int64_t j = 1; j < kNodes; ++j) add(j, 2);
  for (int k = 0; k < 3; ++k) add(7, 3);
  add(8, 3);
  add(4, 4);
  add(9, 4);
  for (int k = 0; k < 2; ++k) add(5, 5);
  add(10, 5);
  add(6, 6);
  Rng rng(seed);
  for (int64_t i = 7; i < kNodes; ++i)
    for (uint32_t k = 0; k < 1 + i % 5; ++k) add(1 + rng.below(kNodes - 1), i);
  std::vector<float> weights;
  for (size_t e = 0; weighted && e < source.size(); ++e)
    weights.push_back(static_cast<float>(1 + rng.below(4)) * 0.5F);
  return Csr::from_edges(kNodes, source, target, weights,
                         features ? features(std::ssize(source)) : EdgeFeatures{});
}

// Random types of edges, numbers of edges on a coarse grid, or both.
inline EdgeFeatures random_edge_features(int64_t edges, int64_t types, int64_t numbers,
                                         uint64_t seed = 5) {
  Rng rng(seed);
  EdgeFeatures out;
  if (types > 0) {
    out.types = std::make_shared<const EdgeTypes>(EdgeTypes::of_one_feature(types));
    for (int64_t e = 0; e < edges; ++e)
      out.type.push_back(static_cast<int32_t>(rng.below(static_cast<uint32_t>(types))));
  }
  out.columns = numbers;
  for (int64_t k = 0; k < edges * numbers; ++k)
    out.values.push_back(static_cast<float>(rng.below(9)) / 4.F - 1.F);
  return out;
}

// So dense that rows are walked in blocks of sources: 5,000 sources are three blocks. Target 0 has
// no edge, 1 has edges from the last block only, 2 is a hub; duplicates are frequent.
inline Csr dense_graph(int64_t targets, uint64_t seed = 1) {
  constexpr uint32_t kSources = 5000;
  std::vector<int64_t> source;
  std::vector<int64_t> target;
  Rng rng(seed);
  const auto add = [&](int64_t j, int64_t i) {
    source.push_back(j);
    target.push_back(i);
  };
  for (int k = 0; k < 9; ++k) add(kSources - 1 - k, 1);
  for (int64_t j = 0; j < kSources; j += 10) add(j, 2);
  for (int64_t i = 3; i < targets; ++i)
    for (int k = 0; k < 30; ++k) add(k % 3 == 0 ? i : rng.below(kSources), i);
  return targets == kSources ? Csr::from_edges(targets, source, target)
                             : Csr::from_edges(targets, kSources, source, target);
}

// Multiples of 1/8 in [-2, 2): sums are exact in float and ties are frequent.
inline std::vector<double> grid_values(int64_t count, uint64_t seed) {
  Rng rng(seed, 7);
  std::vector<double> values(count);
  for (double& v : values) v = static_cast<double>(rng.below(32)) / 8.0 - 2.0;
  return values;
}

template <class T>
std::vector<T> cast(const std::vector<double>& v) {
  return std::vector<T>(v.begin(), v.end());
}

// Row-major [N, B*L] to the order of a layout, and back.
template <class T>
std::vector<T> to_layout(const std::vector<T>& x, int64_t rows, const SliceLayout& layout,
                         bool back = false) {
  std::vector<T> out(x.size());
  for (int64_t s = 0; s < layout.num_slices(); ++s)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t b = 0; b < layout.bases; ++b)
        for (int64_t l = 0; l < layout.width(s); ++l) {
          const int64_t sliced =
              layout.offset(s, rows) + i * layout.row_stride(s) + b * layout.width(s) + l;
          const int64_t plain = (i * layout.bases + b) * layout.head_width + layout.first(s) + l;
          (back ? out[plain] : out[sliced]) = back ? x[sliced] : x[plain];
        }
  return out;
}

// All 127 sets of aggregators.
inline AggregatorSet aggregator_set(unsigned mask) {
  std::vector<Aggregator> list;
  for (int a = 0; a < kNumAggregators; ++a)
    if ((mask >> a & 1) != 0) list.push_back(static_cast<Aggregator>(a));
  return AggregatorSet(list);
}

}  // namespace egc::testing
