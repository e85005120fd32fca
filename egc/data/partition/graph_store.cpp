#include "egc/data/partition/graph_store.h"

#include <algorithm>

#include "egc/core/error.h"
#include "egc/core/parallel.h"

namespace egc::data {
namespace {

constexpr int64_t kGraphsPerTask = 256;

template <class From, class To>
void copy_rows(const Matrix<From>& from, int64_t first, int64_t rows, std::vector<To>& to) {
  const auto part = from.values.span().subspan(static_cast<size_t>(first * from.columns),
                                               static_cast<size_t>(rows * from.columns));
  to.insert(to.end(), part.begin(), part.end());
}

// Those of the edges [begin, end) of `from`, which has the same types.
void append_features(const EdgeFeatures& from, int64_t begin, int64_t end, EdgeFeatures& to) {
  to.types = from.types;
  to.columns = from.columns;
  if (from.has_types())
    to.type.insert(to.type.end(), from.type.begin() + begin, from.type.begin() + end);
  if (from.has_values())
    to.values.insert(to.values.end(), from.values.begin() + begin * from.columns,
                     from.values.begin() + end * from.columns);
}

}  // namespace

GraphStore::GraphStore(Dataset dataset, const EdgeRules& rules, TargetVocabulary vocabulary)
    : dataset_(std::move(dataset)), vocabulary_(std::move(vocabulary)) {
  check(dataset_.hetero.empty(), "{}: heterogeneous graphs cannot be batched", dataset_.info.name);
  const int64_t graphs = dataset_.num_graphs();
  const int64_t tasks = (graphs + kGraphsPerTask - 1) / kGraphsPerTask;
  struct Rows {
    std::vector<int64_t> ends;  // within the task
    std::vector<int32_t> sources;
    EdgeFeatures features;
    std::vector<float> weights;
  };
  const EdgeFeatures stored = stored_edge_features(dataset_);
  std::vector<Rows> parts(static_cast<size_t>(tasks));
  parallel_tasks(tasks, [&](int64_t task) {
    Rows& out = parts[task];
    for (int64_t k = task * kGraphsPerTask; k < std::min(graphs, (task + 1) * kGraphsPerTask);
         ++k) {
      const Csr graph = training_graph(dataset_, k, rules, stored);
      const auto before = static_cast<int64_t>(out.sources.size());
      for (const int64_t end : graph.offsets().subspan(1)) out.ends.push_back(before + end);
      out.sources.insert(out.sources.end(), graph.sources().begin(), graph.sources().end());
      append_features(graph.edge_features(), 0, graph.num_edges(), out.features);
      out.weights.insert(out.weights.end(), graph.weights().begin(), graph.weights().end());
    }
  });
  offsets_.reserve(static_cast<size_t>(dataset_.num_nodes()) + 1);
  offsets_.push_back(0);
  size_t edges = 0;
  for (const Rows& part : parts) edges += part.sources.size();
  sources_.reserve(edges);
  weights_.reserve(dataset_.edge_weights.empty() ? 0 : edges);
  for (Rows& part : parts) {
    const auto before = static_cast<int64_t>(sources_.size());
    for (const int64_t end : part.ends) offsets_.push_back(before + end);
    sources_.insert(sources_.end(), part.sources.begin(), part.sources.end());
    append_features(part.features, 0, std::ssize(part.sources), edge_features_);
    weights_.insert(weights_.end(), part.weights.begin(), part.weights.end());
    part = {};  // not both copies at once
  }
}

GraphBatch GraphStore::batch(std::span<const int64_t> ids) const {
  GraphBatch out;
  out.ids.assign(ids.begin(), ids.end());
  int64_t nodes = 0;
  int64_t edges = 0;
  for (const int64_t k : ids) {
    check(k >= 0 && k < dataset_.num_graphs(), "{}: no graph {}; it has {} graphs",
          dataset_.info.name, k, dataset_.num_graphs());
    const int64_t begin = dataset_.first_node[k];
    const int64_t end = dataset_.first_node[k + 1];
    nodes += end - begin;
    edges += offsets_[end] - offsets_[begin];
    out.graphs.first_node.push_back(nodes);
  }
  std::vector<int64_t> offsets;
  std::vector<int32_t> sources;
  EdgeFeatures features;
  std::vector<float> weights;
  offsets.reserve(static_cast<size_t>(nodes) + 1);
  sources.reserve(static_cast<size_t>(edges));
  weights.reserve(static_cast<size_t>(weights_.empty() ? 0 : edges));
  offsets.push_back(0);
  const Features& x = dataset_.node_features;
  out.columns = std::max<int64_t>(1, x.columns());
  out.is_categorical = !x.categories.empty();
  out.floats.reserve(static_cast<size_t>(x.floats.empty() ? 0 : nodes * out.columns));
  out.categories.reserve(static_cast<size_t>(x.categories.empty() ? 0 : nodes * out.columns));
  out.encoding_columns = dataset_.encodings.columns;
  out.encodings.reserve(static_cast<size_t>(nodes * out.encoding_columns));
  for (size_t b = 0; b < ids.size(); ++b) {
    const int64_t begin = dataset_.first_node[ids[b]];
    const int64_t end = dataset_.first_node[ids[b] + 1];
    const auto shift = static_cast<int32_t>(out.graphs.first_node[b]);
    const int64_t edge_shift = static_cast<int64_t>(sources.size()) - offsets_[begin];
    for (int64_t i = begin + 1; i <= end; ++i) offsets.push_back(offsets_[i] + edge_shift);
    for (int64_t e = offsets_[begin]; e < offsets_[end]; ++e)
      sources.push_back(sources_[e] + shift);
    append_features(edge_features_, offsets_[begin], offsets_[end], features);
    if (!weights_.empty())
      weights.insert(weights.end(), weights_.begin() + offsets_[begin],
                     weights_.begin() + offsets_[end]);
    if (!x.floats.empty()) copy_rows(x.floats, begin, end - begin, out.floats);
    if (!x.categories.empty()) copy_rows(x.categories, begin, end - begin, out.categories);
    copy_rows(dataset_.encodings, begin, end - begin, out.encodings);
  }
  if (x.empty()) out.floats.assign(static_cast<size_t>(nodes), 1.F);
  out.graphs.graph =
      Csr(nodes, std::move(offsets), std::move(sources), std::move(weights), std::move(features));
  copy_labels(out);
  return out;
}

void GraphStore::copy_labels(GraphBatch& to) const {
  const Labels& labels = dataset_.labels;
  to.has_classes = !labels.classes.empty();
  if (dataset_.info.task == Task::kGraphSequence) {
    to.label_columns = vocabulary_.length();
    for (const int64_t k : to.ids) vocabulary_.encode(labels.tokens[k], to.classes);
    return;
  }
  to.label_columns = std::max<int64_t>(1, labels.values.columns);
  for (const int64_t k : to.ids) {
    const bool of_graphs = is_graph_task(dataset_.info.task);
    const int64_t begin = of_graphs ? k : dataset_.first_node[k];
    const int64_t end = of_graphs ? k + 1 : dataset_.first_node[k + 1];
    if (!labels.classes.empty())
      to.classes.insert(to.classes.end(), labels.classes.begin() + begin,
                        labels.classes.begin() + end);
    else
      copy_rows(labels.values, begin, end - begin, to.values);
  }
}

}  // namespace egc::data
