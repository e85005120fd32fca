#include "egc/data/encodings.h"

#include <algorithm>
#include <chrono>

#include "egc/core/error.h"
#include "egc/core/log.h"
#include "egc/core/parallel.h"
#include "egc/data/raw/encoding_cache.h"

namespace egc::data {
namespace {

using Clock = std::chrono::steady_clock;

// Says every few seconds how far it is.
OnProgress logged_progress(const std::string& what) {
  static constexpr auto kEvery = std::chrono::seconds(5);
  return [what, next = Clock::now() + kEvery](int64_t done, int64_t total) mutable {
    const auto now = Clock::now();
    if (now < next || done == total) return;
    next = now + kEvery;
    log_info("{}: {} of {} nodes ({:.0f} %)", what, done, total,
             100.0 * static_cast<double>(done) / static_cast<double>(total));
  };
}

// Small graphs are computed side by side, large ones one after the other with all threads.
Matrix<float> compute_encoding(const Dataset& d, const EdgeRules& rules,
                               const NodeEncoding& encoding) {
  constexpr int64_t kLarge = 2000;  // nodes
  constexpr int64_t kEach = 32;     // graphs of a task
  const int64_t columns = encoding.columns;
  std::vector<float> out(static_cast<size_t>(d.num_nodes() * columns));
  ProgressCounter counter(logged_progress(fmt::format("{} of {}", spell(encoding), d.info.name)),
                          d.num_nodes());
  const auto encode = [&](int64_t k, const OnProgress& on_progress) {
    const Csr graph = training_graph(d, k, rules);
    const std::vector<double> values = encode_nodes(graph, encoding, on_progress);
    std::transform(values.begin(), values.end(), out.begin() + d.first_node[k] * columns,
                   [](double v) { return static_cast<float>(v); });
  };
  const auto nodes_of = [&](int64_t k) { return d.first_node[k + 1] - d.first_node[k]; };
  const int64_t graphs = d.num_graphs();
  parallel_tasks((graphs + kEach - 1) / kEach, [&](int64_t task) {
    int64_t done = 0;
    for (int64_t k = task * kEach; k < std::min(graphs, (task + 1) * kEach); ++k) {
      if (nodes_of(k) > kLarge) continue;
      encode(k, {});
      done += nodes_of(k);
    }
    counter.add(done);
  });
  for (int64_t k = 0; k < graphs; ++k)
    if (nodes_of(k) > kLarge)
      encode(k, [&, before = int64_t{0}](int64_t done, int64_t) mutable {
        counter.add(done - before);
        before = done;
      });
  return {std::move(out), columns};
}

Matrix<float> side_by_side(const std::vector<Matrix<float>>& parts, int64_t nodes) {
  if (parts.size() == 1) return parts[0];
  int64_t columns = 0;
  for (const Matrix<float>& part : parts) columns += part.columns;
  std::vector<float> out;
  out.reserve(static_cast<size_t>(nodes * columns));
  for (int64_t i = 0; i < nodes; ++i)
    for (const Matrix<float>& part : parts) {
      const auto row = part.row(i);
      out.insert(out.end(), row.begin(), row.end());
    }
  return {std::move(out), columns};
}

}  // namespace

void check_can_encode(const Dataset& d, const std::vector<std::string>& names) {
  const std::vector<NodeEncoding> encodings = parse_encodings(names);
  if (encodings.empty()) return;
  check(d.hetero.empty(), "encode needs graphs with a single node type, but {} has several",
        d.info.name);
  check(
      d.checksum_of_dataset.empty() || d.encodings.columns == num_columns(encodings),
      "encode needs the whole graph, but {} is partitioned: train on the dataset itself, of which "
      "every rank takes its partition",
      d.info.name);
  if (!d.checksum_of_dataset.empty()) return;
  const bool laplacian = std::any_of(encodings.begin(), encodings.end(), [](const auto& e) {
    return e.kind == EncodingKind::kLaplacian;
  });
  for (int64_t k = 0; laplacian && k < d.num_graphs(); ++k)
    check(d.first_node[k + 1] - d.first_node[k] <= kMaxLaplacianNodes,
          "encode takes laplacian for graphs of at most {} nodes, but graph {} of {} has {}; rwse "
          "has no such limit",
          kMaxLaplacianNodes, k, d.info.name, d.first_node[k + 1] - d.first_node[k]);
}

Dataset with_encodings(const Dataset& d, const std::vector<std::string>& names) {
  const std::vector<NodeEncoding> encodings = parse_encodings(names);
  check_can_encode(d, names);
  if (encodings.empty() || !d.checksum_of_dataset.empty()) return d;
  const EdgeRules rules = EdgeRules::of(d);
  const auto start = Clock::now();
  // Degrees are counted sooner than read.
  const auto is_cached = [&](const NodeEncoding& e) {
    return !d.directory.empty() && e.kind != EncodingKind::kDegree;
  };
  std::string key;
  if (std::any_of(encodings.begin(), encodings.end(), is_cached)) key = encoding_key(d, rules);
  std::vector<Matrix<float>> parts;
  for (const NodeEncoding& encoding : encodings) {
    auto cached = is_cached(encoding) ? load_encoding(d, encoding, key) : std::nullopt;
    if (!cached) {
      cached = compute_encoding(d, rules, encoding);
      if (is_cached(encoding)) store_encoding(d, encoding, key, *cached);
    }
    parts.push_back(*std::move(cached));
  }
  Dataset out = d;
  out.encodings = side_by_side(parts, d.num_nodes());
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (constexpr double kWorthALine = 1; seconds > kWorthALine)
    log_info("computed {} of {} nodes in {:.1f} s", fmt::join(names, ","), d.num_nodes(), seconds);
  return out;
}

}  // namespace egc::data
