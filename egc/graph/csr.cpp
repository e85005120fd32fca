#include "egc/graph/csr.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>

#include "egc/core/error.h"
#include "egc/core/parallel.h"
#include "egc/graph/counting_sort.h"
#include "egc/graph/row_split.h"

namespace egc {
namespace {

constexpr int64_t kMaxNodes = std::numeric_limits<int32_t>::max();
// Ranges of rows, in edges and rows: about 0.1 ms of gathering in a large graph, fine enough to
// balance. A batch of molecules is smaller than one of these, and still worth sharing.
constexpr int64_t kWorkPerRange = 1 << 14;
constexpr int64_t kMinPerRange = 1 << 9;
constexpr int64_t kWantedRanges = 8;
constexpr int64_t kMaxRanges = 1024;

int64_t num_ranges(int64_t work) {
  const int64_t each = std::clamp(work / kWantedRanges, kMinPerRange, kWorkPerRange);
  return std::clamp<int64_t>(work / each, 1, kMaxRanges);
}

template <class T>
std::vector<T> inverse_sqrt(const std::vector<double>& degree) {
  std::vector<T> scale(degree.size());
  for (size_t i = 0; i < degree.size(); ++i)
    scale[i] = degree[i] > 0 ? static_cast<T>(1.0 / std::sqrt(degree[i])) : T{0};
  return scale;
}

// Both scales in both precisions; a graph rarely needs more than one of the four.
struct Scales {
  std::vector<float> target_f32, source_f32;
  std::vector<double> target_f64, source_f64;

  template <class T>
  const std::vector<T>& target() const {
    if constexpr (sizeof(T) == 4)
      return target_f32;
    else
      return target_f64;
  }
  template <class T>
  const std::vector<T>& source() const {
    if constexpr (sizeof(T) == 4)
      return source_f32;
    else
      return source_f64;
  }
};

// The key of every edge of a CSR, spelled out: the inverse of the compression.
std::vector<int32_t> row_of_edges(std::span<const int64_t> offsets) {
  std::vector<int32_t> rows(offsets.back());
  const auto ranges = split_rows(offsets, 64);
  parallel_tasks(static_cast<int64_t>(ranges.size()), [&](int64_t task) {
    for (int64_t i = ranges[task].begin; i < ranges[task].end; ++i)
      std::fill(rows.begin() + offsets[i], rows.begin() + offsets[i + 1], static_cast<int32_t>(i));
  });
  return rows;
}

struct EdgeIds {
  std::vector<int32_t> source;
  std::vector<int32_t> target;
};

// Narrows both ends of every edge; an error names the first edge with an id out of range.
EdgeIds checked_ids(std::span<const int64_t> source, int64_t num_sources,
                    std::span<const int64_t> target, int64_t num_targets) {
  const auto count = static_cast<int64_t>(source.size());
  EdgeIds ids{std::vector<int32_t>(count), std::vector<int32_t>(count)};
  const auto ranges = split_evenly(count, int64_t{1} << 16);
  std::atomic<int64_t> first_bad{count};
  parallel_tasks(static_cast<int64_t>(ranges.size()), [&](int64_t task) {
    for (int64_t k = ranges[task].begin; k < ranges[task].end; ++k) {
      if (source[k] < 0 || source[k] >= num_sources || target[k] < 0 || target[k] >= num_targets) {
        int64_t seen = first_bad;
        while (k < seen && !first_bad.compare_exchange_weak(seen, k)) {
        }
        return;
      }
      ids.source[k] = static_cast<int32_t>(source[k]);
      ids.target[k] = static_cast<int32_t>(target[k]);
    }
  });
  if (const int64_t k = first_bad; k < count) {
    const bool bad_source = source[k] < 0 || source[k] >= num_sources;
    fail(ErrorKind::kData, "graph: {} id of edge {} must be in [0, {}), got {}",
         bad_source ? "source" : "target", k, bad_source ? num_sources : num_targets,
         bad_source ? source[k] : target[k]);
  }
  return ids;
}

// Calls f(begin, end) for every run of edges between the same two nodes.
template <class F>
void for_each_run(const SortedByKey& rows, F&& f) {
  const auto ranges = split_rows(rows.offsets, 64);
  parallel_tasks(static_cast<int64_t>(ranges.size()), [&](int64_t task) {
    for (int64_t i = ranges[task].begin; i < ranges[task].end; ++i)
      for (int64_t begin = rows.offsets[i]; begin < rows.offsets[i + 1];) {
        int64_t end = begin + 1;
        while (end < rows.offsets[i + 1] && rows.values[end] == rows.values[begin]) ++end;
        f(begin, end);
        begin = end;
      }
  });
}

// Duplicate edges keep the order of the input after a stable sort; their weights must not.
void sort_weights_of_duplicates(SortedByKey& rows) {
  for_each_run(rows, [&](int64_t begin, int64_t end) {
    std::sort(rows.weights.begin() + begin, rows.weights.begin() + end);
  });
}

// The same by features, then weights. weights: of the input.
void sort_duplicates(SortedByKey& rows, std::span<const float> weights,
                     const EdgeFeatures& features) {
  for_each_run(rows, [&](int64_t begin, int64_t end) {
    if (end - begin == 1) return;
    std::stable_sort(rows.order.begin() + begin, rows.order.begin() + end,
                     [&](int64_t a, int64_t b) {
                       if (features.less(a, b)) return true;
                       if (weights.empty() || features.less(b, a)) return false;
                       return weights[a] < weights[b];
                     });
    for (int64_t e = begin; !weights.empty() && e < end; ++e)
      rows.weights[e] = weights[rows.order[e]];
  });
}

void check_finite(std::span<const float> weights) {
  for (size_t e = 0; e < weights.size(); ++e)
    check_data(std::isfinite(weights[e]), "graph: the weight of edge {} must be finite, got {}", e,
               weights[e]);
}

void check_sizes(int64_t num_targets, int64_t num_sources) {
  check_data(
      num_targets >= 0 && num_targets <= kMaxNodes && num_sources >= 0 && num_sources <= kMaxNodes,
      "graph: the number of nodes must be in [0, {}], got {} targets and {} sources", kMaxNodes,
      num_targets, num_sources);
}

}  // namespace

struct Csr::Data {
  int64_t num_targets;
  int64_t num_sources;
  bool rows_are_sources;
  std::vector<int64_t> offsets;
  std::vector<int32_t> sources;
  std::vector<float> weights;
  std::shared_ptr<const Halo> halo;
  EdgeFeatures features;
  bool has_loops = false;
  std::vector<RowRange> row_ranges;

  // Filled on first use. The transpose is a graph of its own, or absent where it equals this one.
  std::once_flag transposed_once;
  std::optional<Csr> transposed;
  std::once_flag source_blocks_once;
  SourceBlocks source_blocks;
  std::once_flag scales_once[2];
  Scales scales[2];
  // The numbers of edges in the precision that they were not given in.
  std::once_flag values_once;
  std::vector<float> values_f32;
  std::vector<double> values_f64;

  void check_and_derive();
  std::vector<double> target_degree(bool add_loops) const;
  std::vector<double> source_degree(bool add_loops) const;
  const Scales& scales_for(bool add_loops);
};

void Csr::Data::check_and_derive() {
  check_sizes(num_targets, num_sources);
  check_data(static_cast<int64_t>(offsets.size()) == num_targets + 1 && offsets[0] == 0 &&
                 offsets.back() == static_cast<int64_t>(sources.size()),
             "graph: {} targets need {} offsets from 0 to the number of edges {}, got {} offsets",
             num_targets, num_targets + 1, sources.size(), offsets.size());
  check_data(weights.empty() || weights.size() == sources.size(),
             "graph: {} edges need as many weights or none, got {}", sources.size(),
             weights.size());
  check_finite(weights);
  check_edge_features(features, std::ssize(sources));
  for (int64_t i = 0; i < num_targets; ++i)
    check_data(offsets[i] <= offsets[i + 1] && offsets[i + 1] <= offsets.back(),
               "graph: offsets must not decrease, but row {} ends at {} and begins at {}", i,
               offsets[i + 1], offsets[i]);
  row_ranges = split_rows(offsets, num_ranges(offsets.back() + num_targets));
  std::atomic<bool> loops{false};
  parallel_tasks(static_cast<int64_t>(row_ranges.size()), [&](int64_t task) {
    bool found = false;
    for (int64_t i = row_ranges[task].begin; i < row_ranges[task].end; ++i) {
      for (int64_t e = offsets[i]; e < offsets[i + 1]; ++e) {
        check_data(sources[e] >= 0 && sources[e] < num_sources,
                   "graph: source id of edge {} must be in [0, {}), got {}", e, num_sources,
                   sources[e]);
        found |= sources[e] == i;
      }
    }
    if (found) loops = true;
  });
  has_loops = rows_are_sources && loops;
}

std::vector<double> Csr::Data::target_degree(bool add_loops) const {
  std::vector<double> degree(num_targets, add_loops ? 1.0 : 0.0);
  parallel_tasks(static_cast<int64_t>(row_ranges.size()), [&](int64_t task) {
    for (int64_t i = row_ranges[task].begin; i < row_ranges[task].end; ++i)
      for (int64_t e = offsets[i]; e < offsets[i + 1]; ++e)
        if (!(add_loops && sources[e] == i)) degree[i] += weights.empty() ? 1.0 : weights[e];
  });
  return degree;
}

std::vector<double> Csr::Data::source_degree(bool add_loops) const {
  if (halo) return halo->degree[add_loops];
  if (rows_are_sources) return target_degree(add_loops);
  std::vector<double> degree(num_sources, 0.0);
  for (size_t e = 0; e < sources.size(); ++e)
    degree[sources[e]] += weights.empty() ? 1.0 : weights[e];
  return degree;
}

const Scales& Csr::Data::scales_for(bool add_loops) {
  check(rows_are_sources || !add_loops,
        "graph: self-loops need targets that are the sources, got {} targets and {} other "
        "sources",
        num_targets, num_sources);
  std::call_once(scales_once[add_loops], [&] {
    const std::vector<double> target = target_degree(add_loops);
    Scales& s = scales[add_loops];
    s.target_f32 = inverse_sqrt<float>(target);
    s.target_f64 = inverse_sqrt<double>(target);
    const std::vector<double> source =
        rows_are_sources && !halo ? target : source_degree(add_loops);
    s.source_f32 = inverse_sqrt<float>(source);
    s.source_f64 = inverse_sqrt<double>(source);
  });
  return scales[add_loops];
}

Csr::Csr(int64_t num_nodes, std::vector<int64_t> offsets, std::vector<int32_t> sources,
         std::vector<float> weights, EdgeFeatures features)
    : Csr(num_nodes, num_nodes, true, std::move(offsets), std::move(sources), std::move(weights),
          nullptr, std::move(features)) {}

Csr::Csr(int64_t num_targets, int64_t num_sources, std::vector<int64_t> offsets,
         std::vector<int32_t> sources, std::vector<float> weights,
         const std::shared_ptr<const Halo>& halo, EdgeFeatures features)
    : Csr(num_targets, num_sources, halo && halo->rows_are_sources, std::move(offsets),
          std::move(sources), std::move(weights), halo, std::move(features)) {}

Csr::Csr(int64_t num_targets, int64_t num_sources, bool rows_are_sources,
         std::vector<int64_t> offsets, std::vector<int32_t> sources, std::vector<float> weights,
         std::shared_ptr<const Halo> halo, EdgeFeatures features)
    : data_(std::make_shared<Data>()) {
  data_->num_targets = num_targets;
  data_->num_sources = num_sources;
  data_->rows_are_sources = rows_are_sources;
  data_->offsets = std::move(offsets);
  data_->sources = std::move(sources);
  data_->weights = std::move(weights);
  data_->halo = std::move(halo);
  data_->features = std::move(features);
  data_->check_and_derive();
}

Csr Csr::from_edges(int64_t num_nodes, std::span<const int64_t> source,
                    std::span<const int64_t> target, std::span<const float> weights,
                    const EdgeFeatures& features) {
  return from_edges(num_nodes, num_nodes, true, source, target, weights, features);
}

Csr Csr::from_edges(int64_t num_targets, int64_t num_sources, std::span<const int64_t> source,
                    std::span<const int64_t> target, std::span<const float> weights,
                    const EdgeFeatures& features) {
  return from_edges(num_targets, num_sources, false, source, target, weights, features);
}

Csr Csr::from_edges(int64_t num_targets, int64_t num_sources, bool rows_are_sources,
                    std::span<const int64_t> source, std::span<const int64_t> target,
                    std::span<const float> weights, const EdgeFeatures& features) {
  check_sizes(num_targets, num_sources);
  check_data(source.size() == target.size(),
             "graph: an edge list needs as many sources as targets, got {} and {}", source.size(),
             target.size());
  check_data(weights.empty() || weights.size() == source.size(),
             "graph: {} edges need as many weights or none, got {}", source.size(), weights.size());
  check_finite(weights);  // before they are sorted
  check_edge_features(features, std::ssize(source));
  const bool with_order = !features.empty();
  // Sorting by source, then stably by target, leaves every row sorted by source.
  const EdgeIds ids = checked_ids(source, num_sources, target, num_targets);
  const SortedByKey by_source =
      counting_sort(num_sources, ids.source, ids.target, weights, with_order);
  SortedByKey by_target =
      counting_sort(num_targets, by_source.values, row_of_edges(by_source.offsets),
                    by_source.weights, with_order);
  EdgeFeatures sorted;
  if (with_order) {
    for (int64_t& e : by_target.order) e = by_source.order[e];
    sort_duplicates(by_target, weights, features);
    sorted = features.selected(by_target.order);
  } else if (!weights.empty()) {
    sort_weights_of_duplicates(by_target);
  }
  return Csr(num_targets, num_sources, rows_are_sources, std::move(by_target.offsets),
             std::move(by_target.values), std::move(by_target.weights), nullptr, std::move(sorted));
}

int64_t Csr::num_targets() const { return data_->num_targets; }
int64_t Csr::num_sources() const { return data_->num_sources; }
int64_t Csr::num_edges() const { return static_cast<int64_t>(data_->sources.size()); }
std::span<const int64_t> Csr::offsets() const { return data_->offsets; }
std::span<const int32_t> Csr::sources() const { return data_->sources; }
std::span<const float> Csr::weights() const { return data_->weights; }
const Halo* Csr::halo() const { return data_->halo.get(); }
bool Csr::rows_are_sources() const { return data_->rows_are_sources; }
std::vector<double> Csr::source_degrees(bool add_loops) const {
  return data_->source_degree(add_loops);
}
const EdgeFeatures& Csr::edge_features() const { return data_->features; }
bool Csr::has_loops() const { return data_->has_loops; }
const std::vector<RowRange>& Csr::row_ranges() const { return data_->row_ranges; }

CsrView Csr::view() const {
  return {data_->num_targets, data_->num_sources, data_->offsets.data(), data_->sources.data(),
          data_->weights.empty() ? nullptr : data_->weights.data()};
}

const Csr& Csr::transposed() const {
  std::call_once(data_->transposed_once, [&] {
    const EdgeFeatures& features = data_->features;
    SortedByKey t = counting_sort(num_sources(), data_->sources, row_of_edges(data_->offsets),
                                  data_->weights, /*with_order=*/!features.empty());
    EdgeFeatures of_t;
    if (!features.empty()) of_t = features.selected(t.order);
    if (is_square() && t.offsets == data_->offsets && t.values == data_->sources &&
        t.weights == data_->weights && of_t == features)
      return;
    data_->transposed = Csr(num_sources(), num_targets(), is_square(), std::move(t.offsets),
                            std::move(t.values), std::move(t.weights), nullptr, std::move(of_t));
  });
  return data_->transposed ? *data_->transposed : *this;
}

const SourceBlocks& Csr::source_blocks() const {
  std::call_once(data_->source_blocks_once, [&] { data_->source_blocks = cut_by_source(view()); });
  return data_->source_blocks;
}

template <>
std::span<const float> Csr::edge_values<float>() const {
  const EdgeFeatures& f = data_->features;
  if (f.exact.empty()) return f.values;
  std::call_once(data_->values_once,
                 [&] { data_->values_f32.assign(f.exact.begin(), f.exact.end()); });
  return data_->values_f32;
}
template <>
std::span<const double> Csr::edge_values<double>() const {
  const EdgeFeatures& f = data_->features;
  if (!f.exact.empty()) return f.exact;
  std::call_once(data_->values_once,
                 [&] { data_->values_f64.assign(f.values.begin(), f.values.end()); });
  return data_->values_f64;
}

template <class T>
const std::vector<T>& Csr::target_scale(bool add_loops) const {
  return data_->scales_for(add_loops).target<T>();
}
template <class T>
const std::vector<T>& Csr::source_scale(bool add_loops) const {
  return data_->scales_for(add_loops).source<T>();
}
template const std::vector<float>& Csr::target_scale<float>(bool) const;
template const std::vector<double>& Csr::target_scale<double>(bool) const;
template const std::vector<float>& Csr::source_scale<float>(bool) const;
template const std::vector<double>& Csr::source_scale<double>(bool) const;

}  // namespace egc
