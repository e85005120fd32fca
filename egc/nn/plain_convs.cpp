#include "egc/nn/plain_convs.h"

#include "egc/ops/aggregate.h"
#include "egc/ops/linear.h"
#include "egc/ops/row_parts.h"

namespace egc::nn {

GcnConv::GcnConv(int64_t in_channels, int64_t out_channels, const EdgeSchema& edge_schema)
    : in_(in_channels) {
  bias = add_parameter("bias", {out_channels});
  lin = add_module("lin", std::make_shared<Linear>(in_channels, out_channels, /*has_bias=*/false));
  edges = make_edge_encoder(edge_schema, out_channels, /*has_loops=*/true);
  if (edges) add_module("edges", edges);
}

void GcnConv::reset_parameters(Rng& rng) {
  glorot_uniform(lin->weight->value, rng);
  bias->value.fill(0);
  if (edges) edges->reset_parameters(rng);
}

Tensor GcnConv::forward(Tape& tape, const Tensor& x, const Csr& graph,
                        const ops::EpilogueTensors& epilogue) {
  check_conv_input("GcnConv", x, graph, in_);
  return ops::aggregate(tape, graph, {Aggregator::kSymnorm}, SelfLoops::kSymnorm,
                        lin->forward(tape, x), bias->value, epilogue,
                        edge_term(edges, tape, graph, /*relu=*/true));
}

GinConv::GinConv(int64_t in_channels, int64_t out_channels, const EdgeSchema& edge_schema)
    : in_(in_channels) {
  eps = add_parameter("eps", {1});
  nn = add_module("nn", std::make_shared<Linear>(in_channels, out_channels));
  edges = make_edge_encoder(edge_schema, in_channels, /*has_loops=*/false);
  if (edges) add_module("edges", edges);
}

void GinConv::reset_parameters(Rng& rng) {
  nn->reset_parameters(rng);
  eps->value.fill(0);
  if (edges) edges->reset_parameters(rng);
}

Tensor GinConv::forward(Tape& tape, const Tensor& x, const Csr& graph,
                        const ops::EpilogueTensors& epilogue) {
  check_conv_input("GinConv", x, graph, in_);
  const Tensor sum = ops::aggregate(tape, graph, {Aggregator::kAdd}, SelfLoops::kNone, x, {}, {},
                                    edge_term(edges, tape, graph, /*relu=*/true));
  return nn->forward(tape, ops::scaled_add(tape, sum, x, eps->value), epilogue);
}

SageConv::SageConv(int64_t in_channels, int64_t out_channels, Aggregator aggregator)
    : in_(in_channels), out_(out_channels), aggregator_(aggregator) {
  check(aggregator == Aggregator::kMean || aggregator == Aggregator::kMax,
        "SageConv: the aggregator must be mean or max, got {}", egc::name_of(aggregator));
  lin_l = add_module("lin_l", std::make_shared<Linear>(in_channels, out_channels));
  lin_r =
      add_module("lin_r", std::make_shared<Linear>(in_channels, out_channels, /*has_bias=*/false));
}

Tensor SageConv::forward(Tape& tape, const Tensor& x, const Csr& graph,
                         const ops::EpilogueTensors& epilogue) {
  check_conv_input("SageConv", x, graph, in_);
  const Tensor neighbours = ops::aggregate(tape, graph, {aggregator_}, SelfLoops::kNone, x);
  return ops::linear_sum(tape, {neighbours, x}, {lin_l->weight->value, lin_r->weight->value},
                         {{0, 0, 0, 0}, {1, 0, 1, 0}}, lin_l->bias_value(), out_, epilogue);
}

MlpConv::MlpConv(int64_t in_channels, int64_t out_channels) : in_(in_channels) {
  lin = add_module("lin", std::make_shared<Linear>(in_channels, out_channels));
}

Tensor MlpConv::forward(Tape& tape, const Tensor& x, const Csr& graph,
                        const ops::EpilogueTensors& epilogue) {
  check_conv_input("MlpConv", x, graph, in_);
  return lin->forward(tape, x, epilogue);
}

}  // namespace egc::nn
