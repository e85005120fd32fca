#include "egc/c_api/graph.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "egc/c_api/call.h"
#include "egc/c_api/edge_features.h"
#include "egc/ops/edge_term.h"

namespace egc::c_api {
namespace {

template <class T>
std::span<const T> values(const T* pointer, int64_t count, const char* what) {
  check(pointer != nullptr || count == 0, "egc_graph: {} is NULL", what);
  return {pointer, static_cast<size_t>(count)};
}

void check_sizes(int64_t num_targets, int64_t num_sources) {
  check(num_targets >= 0, "egc_graph: the number of nodes must not be negative, got {}",
        num_targets);
  check(num_sources >= 0 || num_sources == EGC_SAME_NODES,
        "egc_graph: the number of sources must not be negative, got {}", num_sources);
}

// Checked here: a source beyond 32 bits must not wrap around to a valid one.
std::vector<int32_t> narrow(std::span<const int64_t> sources, int64_t num_sources) {
  std::vector<int32_t> out(sources.size());
  for (size_t k = 0; k < sources.size(); ++k) {
    check_data(sources[k] >= 0 && sources[k] < num_sources,
               "egc_graph: source {} of edge {} is not in [0, {})", sources[k], k, num_sources);
    out[k] = static_cast<int32_t>(sources[k]);
  }
  return out;
}

struct EdgeList {
  int64_t num_targets;
  int64_t num_sources;
  int64_t num_edges;
  const int64_t* source;
  const int64_t* target;
  const float* weights;
};

egc_graph* from_edges(const EdgeList& e, const egc_edge_features* features = nullptr) {
  check_sizes(e.num_targets, e.num_sources);
  check(e.num_edges >= 0, "egc_graph: the number of edges must not be negative, got {}",
        e.num_edges);
  const auto source = values(e.source, e.num_edges, "source");
  const auto target = values(e.target, e.num_edges, "target");
  const auto weights =
      e.weights == nullptr ? std::span<const float>{} : values(e.weights, e.num_edges, "weights");
  const EdgeFeatures f =
      features == nullptr ? EdgeFeatures() : edge_features_of(*features, e.num_edges);
  auto out = std::make_unique<egc_graph>();
  out->csr = e.num_sources == EGC_SAME_NODES
                 ? Csr::from_edges(e.num_targets, source, target, weights, f)
                 : Csr::from_edges(e.num_targets, e.num_sources, source, target, weights, f);
  out->edge_numbers = f.columns;
  if (f.has_types()) {
    const auto counts = category_counts(*features);
    out->num_edge_categories = std::accumulate(counts.begin(), counts.end(), int64_t{0});
    out->rows_of_types = ops::rows_of_types(*f.types, counts);
  }
  return out.release();
}

}  // namespace
}  // namespace egc::c_api

using egc::Csr;
using egc::c_api::call;
using egc::c_api::given;

egc_status egc_graph_from_edges(int64_t num_targets, int64_t num_sources, int64_t num_edges,
                                const int64_t* source, const int64_t* target, const float* weights,
                                egc_graph** graph) {
  return call([&] {
    auto& out = given(graph, "egc_graph_from_edges", "graph");
    out = nullptr;
    out = egc::c_api::from_edges({num_targets, num_sources, num_edges, source, target, weights});
  });
}

egc_status egc_graph_from_edges_with_features(int64_t num_targets, int64_t num_sources,
                                              int64_t num_edges, const int64_t* source,
                                              const int64_t* target, const float* weights,
                                              const egc_edge_features* features,
                                              egc_graph** graph) {
  return call([&] {
    auto& out = given(graph, "egc_graph_from_edges_with_features", "graph");
    out = nullptr;
    out =
        egc::c_api::from_edges({num_targets, num_sources, num_edges, source, target, weights},
                               &given(features, "egc_graph_from_edges_with_features", "features"));
  });
}

egc_status egc_graph_from_csr(int64_t num_targets, int64_t num_sources, const int64_t* offsets,
                              const int64_t* sources, const float* weights, egc_graph** graph) {
  return call([&] {
    using egc::c_api::values;
    auto& out = given(graph, "egc_graph_from_csr", "graph");
    out = nullptr;
    egc::c_api::check_sizes(num_targets, num_sources);
    const auto rows = values(offsets, num_targets + 1, "offsets");
    egc::check_data(rows[0] == 0 && std::is_sorted(rows.begin(), rows.end()),
                    "egc_graph: offsets must rise from 0");
    const bool same = num_sources == EGC_SAME_NODES;
    const int64_t edges = rows.back();
    auto ids =
        egc::c_api::narrow(values(sources, edges, "sources"), same ? num_targets : num_sources);
    std::vector<float> w;
    if (weights != nullptr) w.assign(weights, weights + edges);
    std::vector<int64_t> begins(rows.begin(), rows.end());
    out = new egc_graph{
        same ? Csr(num_targets, std::move(begins), std::move(ids), std::move(w))
             : Csr(num_targets, num_sources, std::move(begins), std::move(ids), std::move(w))};
  });
}

void egc_graph_free(egc_graph* graph) { delete graph; }
int64_t egc_graph_num_targets(const egc_graph* graph) { return graph->csr.num_targets(); }
int64_t egc_graph_num_sources(const egc_graph* graph) { return graph->csr.num_sources(); }
int64_t egc_graph_num_edges(const egc_graph* graph) { return graph->csr.num_edges(); }
int egc_graph_is_square(const egc_graph* graph) { return graph->csr.is_square() ? 1 : 0; }

void egc_graph_csr(const egc_graph* graph, const int64_t** offsets, const int32_t** sources,
                   const float** weights) {
  *offsets = graph->csr.offsets().data();
  *sources = graph->csr.sources().data();
  *weights = graph->csr.weights().empty() ? nullptr : graph->csr.weights().data();
}
