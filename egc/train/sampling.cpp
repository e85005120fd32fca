#include "egc/train/sampling.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "egc/graph/subgraph.h"

namespace egc::train {
namespace {

bool labels_nodes(Task task) { return task == Task::kNodeClassification; }

void drop_nodes(BatchTensors& batch, double p, bool nodes_have_labels, Rng& rng) {
  models::ModelInput& in = batch.input;
  // One large graph comes without bounds.
  std::vector<int64_t> bounds = in.first_node;
  if (bounds.empty()) bounds = {0, in.graph.num_targets()};
  const std::vector<int64_t> kept = sample_nodes(bounds, p, rng);
  in.graph = induced_subgraph(in.graph, kept);
  const at::Tensor index =
      at::from_blob(const_cast<int64_t*>(kept.data()), {std::ssize(kept)}, at::kLong);
  in.x = in.x.index_select(0, index);
  if (nodes_have_labels) batch.target = batch.target.index_select(0, index);
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
