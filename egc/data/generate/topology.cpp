// A topology of `egc bench` as a dataset on nodes: random features; the class of a node is the
// largest of a few columns of its neighbours' mean, so one layer can learn it and an MLP cannot.
#include <algorithm>

#include "egc/core/rng.h"
#include "egc/data/generate/generators.h"
#include "egc/data/splits.h"
#include "egc/graph/topologies.h"

namespace egc::data {

Dataset generate_topology(const std::string& name, const GeneratorOptions& options) {
  constexpr int64_t kFeatures = 16;
  constexpr int64_t kClasses = 8;
  const Csr graph = make_topology(name, options.seed, options.size);
  const int64_t n = graph.num_targets();
  std::vector<float> x(static_cast<size_t>(n * kFeatures));
  Rng rng(options.seed, /*stream=*/0xFEA7);
  for (float& value : x) value = 2 * rng.uniform() - 1;

  std::vector<int32_t> edges;
  edges.reserve(static_cast<size_t>(graph.num_edges()));
  std::vector<int32_t> label(static_cast<size_t>(n), 0);
  for (int64_t i = 0; i < n; ++i) {
    float sum[kClasses] = {};
    for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e) {
      const int32_t j = graph.sources()[e];
      if (j <= i) edges.insert(edges.end(), {j, static_cast<int32_t>(i)});  // undirected: once
      for (int64_t c = 0; c < kClasses; ++c) sum[c] += x[j * kFeatures + c];
    }
    label[i] = static_cast<int32_t>(std::max_element(sum, sum + kClasses) - sum);
  }
  Dataset d;
  d.first_node = std::vector<int64_t>{0, n};
  d.first_edge = std::vector<int64_t>{0, static_cast<int64_t>(edges.size()) / 2};
  d.edges = {std::move(edges), 2};
  d.node_features.floats = {std::move(x), kFeatures};
  d.labels.classes = std::move(label);
  d.splits = {random_split(n, {0.6, 0.2, 0.2}, options.seed)};
  d.info.task = Task::kNodeClassification;
  d.info.metric = Metric::kAccuracy;
  d.info.num_classes = kClasses;
  d.info.node_features = FeatureKind::kFloat;
  d.info.add_inverse_edge = true;
  return d;
}

}  // namespace egc::data
