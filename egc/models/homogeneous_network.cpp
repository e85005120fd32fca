#include "egc/models/homogeneous_network.h"

#include "egc/core/error.h"
#include "egc/graph/batch.h"
#include "egc/ops/aggregate.h"
#include "egc/ops/norm_act.h"
#include "egc/ops/row_parts.h"

namespace egc::models {
namespace {

// A reduction over the nodes of each graph is an aggregation over the readout's graph.
Tensor read_out(Tape& tape, Readout readout, const Tensor& x,
                const std::vector<int64_t>& first_node) {
  const Aggregator aggregator = readout == Readout::kMean  ? Aggregator::kMean
                                : readout == Readout::kSum ? Aggregator::kAdd
                                                           : Aggregator::kMax;
  return ops::aggregate(tape, pool_graph(first_node), {aggregator}, SelfLoops::kNone, x);
}

}  // namespace

HomogeneousNetwork::HomogeneousNetwork(const ModelConfig& c)
    : Network(c), encoder_(make_encoder(c)), body_(make_body(c)) {
  if (encoder_) add_module("encoder", encoder_);
  if (!c.encode.empty())
    encoding_ = add_module("encoding", std::make_shared<EncodingModule>(c.encode, c.hidden));
  add_module("body", body_);
  head_ = add_module("head", make_head(c, body_->out_width()));
}

Tensor HomogeneousNetwork::forward(Tape& tape, const ModelInput& in) {
  const ModelConfig& c = config();
  const int64_t nodes = in.graph.num_targets();
  const int64_t rows = in.x.defined() ? in.x.rows() : in.categories.rows();
  check((in.x.defined() || in.categories.defined()) && rows == nodes,
        "network: features must be a matrix with one row for each of the {} nodes, got {} rows",
        nodes, rows);
  Tensor x = encoder_ ? encoder_->forward(tape, in) : in.x;
  if (encoding_) x = ops::add(tape, {x, encoding_->forward(tape, in)});
  if (c.dropout_at.encoder) x = ops::dropout(tape, x, c.dropout);
  const bool of_graphs = c.task != Task::kNodeClassification;
  check(!of_graphs || (!in.first_node.empty() && in.first_node.back() == nodes),
        "network: first_node must end with the number of nodes, {}", nodes);
  x = body_->forward(tape, x, {in.graph, in.first_node});
  if (of_graphs) x = read_out(tape, c.readout, x, in.first_node);
  return head_->forward(tape, x);
}

}  // namespace egc::models
