#include "egc/models/homogeneous_network.h"

#include "egc/core/error.h"
#include "egc/graph/batch.h"
#include "egc/ops/fused_aggregate.h"
#include "egc/ops/norm_act.h"

namespace egc::models {
namespace {

// A reduction over the nodes of each graph is an aggregation over the readout's graph.
at::Tensor read_out(Readout readout, const at::Tensor& x, const std::vector<int64_t>& first_node) {
  const Csr pool = pool_graph(first_node);
  const Aggregator aggregator = readout == Readout::kMean  ? Aggregator::kMean
                                : readout == Readout::kSum ? Aggregator::kAdd
                                                           : Aggregator::kMax;
  return ops::aggregate(pool, {aggregator}, SelfLoops::kNone, x);
}

}  // namespace

HomogeneousNetwork::HomogeneousNetwork(const ModelConfig& c)
    : Network(c), encoder_(make_encoder(c)), body_(make_body(c)) {
  if (encoder_) register_module("encoder", encoder_);
  register_module("body", body_);
  head_ = register_module("head", make_head(c, body_->out_width()));
}

at::Tensor HomogeneousNetwork::forward(const ModelInput& in) {
  const ModelConfig& c = config();
  check(in.x.defined() && in.x.dim() == 2 && in.x.size(0) == in.graph.num_targets(),
        "network: features must be a matrix with one row for each of the {} nodes",
        in.graph.num_targets());
  at::Tensor x = encoder_ ? encoder_->forward(in.x) : in.x;
  if (c.dropout_at.encoder) x = ops::dropout(x, c.dropout, is_training());
  x = body_->forward(x, in.graph);
  if (c.task != Task::kNodeClassification) {
    check(!in.first_node.empty() && in.first_node.back() == x.size(0),
          "network: first_node must end with the number of nodes, {}", x.size(0));
    x = read_out(c.readout, x, in.first_node);
  }
  return head_->forward(x);
}

}  // namespace egc::models
