#include "egc/train/sampling.h"

#include <algorithm>
#include <memory>

#include "egc/graph/subgraph.h"

namespace egc::train {
namespace {

bool labels_nodes(Task task) { return task == Task::kNodeClassification; }

// The chosen rows of [rows, columns] values.
template <class T>
std::shared_ptr<std::vector<T>> select_rows(const T* from, int64_t columns,
                                            const std::vector<int64_t>& rows) {
  auto out = std::make_shared<std::vector<T>>(rows.size() * static_cast<size_t>(columns));
  T* to = out->data();
  for (const int64_t row : rows) to = std::copy_n(from + row * columns, columns, to);
  return out;
}

void drop_nodes(BatchTensors& batch, double p, bool nodes_have_labels, Rng& rng) {
  models::ModelInput& in = batch.input;
  // One large graph comes without bounds.
  std::vector<int64_t> bounds = in.first_node;
  if (bounds.empty()) bounds = {0, in.graph.num_targets()};
  const std::vector<int64_t> kept = sample_nodes(bounds, p, rng);
  in.graph = induced_subgraph(in.graph, kept);
  if (in.categories.defined()) {
    const auto rows = select_rows(in.categories.values.data(), in.categories.columns, kept);
    in.categories = {*rows, in.categories.columns, rows};
  } else {
    const auto rows = select_rows(in.x.data<float>(), in.x.columns(), kept);
    in.x = Tensor::borrow(rows->data(), std::ssize(kept), in.x.columns(), rows);
  }
  if (in.encodings.defined()) {
    const auto rows = select_rows(in.encodings.data<float>(), in.encodings.columns(), kept);
    in.encodings = Tensor::borrow(rows->data(), std::ssize(kept), in.encodings.columns(), rows);
  }
  if (nodes_have_labels) {
    const auto rows = select_rows(batch.targets.classes.data(), 1, kept);
    batch.targets.classes = *rows;
    batch.targets.owner = rows;
  }
  for (int64_t& bound : in.first_node)
    bound = std::lower_bound(kept.begin(), kept.end(), bound) - kept.begin();
}

}  // namespace

BatchTensors sample(BatchTensors batch, const TrainConfig& config, Task task, Rng rng) {
  models::ModelInput& in = batch.input;
  if (config.drop_nodes > 0) drop_nodes(batch, config.drop_nodes, labels_nodes(task), rng);
  if (config.drop_edges > 0) {
    if (task == Task::kNodeClassificationHetero)
      for (Csr& relation : in.hetero.relations)
        relation = drop_edges(relation, config.drop_edges, rng);
    else
      in.graph = drop_edges(in.graph, config.drop_edges, rng);
  }
  return batch;
}

}  // namespace egc::train
