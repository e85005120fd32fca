#include "egc/nn/towers.h"

#include <algorithm>
#include <cmath>

#include "egc/core/error.h"
#include "egc/ops/aggregate.h"
#include "egc/ops/assemble.h"
#include "egc/ops/linear.h"
#include "egc/ops/row_parts.h"

namespace egc::nn {
namespace {

constexpr int64_t kAggregators = 4;
constexpr int64_t kScalers = 3;

// Checked: both widths divide by the number of towers.
Towers make_towers(const char* layer, int64_t in_channels, int64_t out_channels, int64_t count) {
  check(count >= 1 && in_channels % count == 0 && out_channels % count == 0,
        "{}: in_channels and out_channels must be divisible by the number of towers, got {}, {} "
        "and {}",
        layer, in_channels, out_channels, count);
  return {count, in_channels / count, out_channels / count};
}

// The biases of several Linears next to each other, in places `stride` columns apart.
Tensor biases_of(Tape& tape, const std::vector<LinearPtr>& linears, int64_t stride) {
  std::vector<ops::AssemblyBlock> blocks;
  for (const LinearPtr& l : linears) {
    const Tensor& bias = l->bias->value;
    blocks.push_back({bias, 0, 0, 1, bias.columns(), 0, std::ssize(blocks) * stride});
  }
  return ops::assemble(tape, 1, std::ssize(linears) * stride, blocks);
}

std::vector<Tensor> weights_of(const std::vector<LinearPtr>& linears) {
  std::vector<Tensor> out;
  for (const LinearPtr& l : linears) out.push_back(l->weight->value);
  return out;
}

struct MessageParts {
  Tensor of_target;  // [N, T*out], the bias included
  Tensor of_source;  // [N, T*out]
};

// x: [N, T*in].   messages: per tower a Linear of [x_i || x_j], weight [out, 2*in].
MessageParts message_parts(Tape& tape, const Towers& towers, const std::vector<LinearPtr>& messages,
                           const Tensor& x) {
  std::vector<ops::LinearTerm> target;
  for (int64_t t = 0; t < towers.count; ++t)
    target.push_back({.in_column = t * towers.in,
                      .weight = static_cast<int>(t),
                      .out_column = t * towers.out,
                      .columns = towers.in});
  std::vector<ops::LinearTerm> source = target;
  for (ops::LinearTerm& term : source) term.weight_column = towers.in;
  const std::vector<Tensor> weights = weights_of(messages);
  const int64_t columns = towers.count * towers.out;
  return {
      ops::linear_sum(tape, {x}, weights, target, biases_of(tape, messages, towers.out), columns),
      ops::linear_sum(tape, {x}, weights, source, {}, columns)};
}

// f(in-edges) of every node, [N, columns]; f writes a row. Graphs with edge weights are refused.
template <class F>
Tensor of_degrees(const Csr& graph, DType type, int64_t columns, F&& f) {
  check(graph.weights().empty(),
        "messages from both ends of an edge do not support edge weights, but the graph has them");
  const auto offsets = graph.offsets();
  const Tensor out = Tensor::empty(graph.num_targets(), columns, type);
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < out.rows(); ++i)
      f(static_cast<double>(offsets[i + 1] - offsets[i]), out.data<T>() + i * columns);
  });
  return out;
}

// 1 where there is a neighbour.
Tensor has_neighbours(const Csr& graph, DType type) {
  return of_degrees(graph, type, 1, [](double degree, auto* to) { *to = degree > 0 ? 1 : 0; });
}

std::vector<LinearPtr> make_linears(int64_t count, int64_t in, int64_t out) {
  std::vector<LinearPtr> all;
  for (int64_t t = 0; t < count; ++t) all.push_back(std::make_shared<Linear>(in, out));
  return all;
}

}  // namespace

double mean_log_degree(const std::vector<int64_t>& histogram) {
  double nodes = 0;
  double sum = 0;
  for (size_t d = 0; d < histogram.size(); ++d) {
    nodes += static_cast<double>(histogram[d]);
    sum += static_cast<double>(histogram[d]) * std::log(static_cast<double>(d) + 1);
  }
  check(nodes > 0 && sum > 0, "mean_log_degree: the histogram has no edges");
  return sum / nodes;
}

MpnnConv::MpnnConv(int64_t in_channels, int64_t out_channels, Aggregator aggregator, int64_t towers,
                   const EdgeSchema& edge_schema)
    : in_(in_channels), out_(out_channels), aggregator_(aggregator) {
  check(aggregator == Aggregator::kAdd || aggregator == Aggregator::kMax,
        "MpnnConv: the aggregator must be add or max, got {}", egc::name_of(aggregator));
  towers_ = make_towers("MpnnConv", in_, out_, towers);
  message_layer = make_linears(towers, 2 * towers_.in, towers_.out);
  update_layer = make_linears(towers, towers_.out + towers_.in, towers_.out);
  for (int64_t t = 0; t < towers; ++t)
    add_module("message_layer." + std::to_string(t), message_layer[t]);
  for (int64_t t = 0; t < towers; ++t)
    add_module("update_layer." + std::to_string(t), update_layer[t]);
  lin = add_module("lin", std::make_shared<Linear>(out_, out_));
  edges = make_edge_encoder(edge_schema, out_, /*has_loops=*/false);
  if (edges) add_module("edges", edges);
}

Tensor MpnnConv::forward(Tape& tape, const Tensor& x, const Csr& graph,
                         const ops::EpilogueTensors& epilogue) {
  check_conv_input("MpnnConv", x, graph, in_);
  const MessageParts parts = message_parts(tape, towers_, message_layer, x);
  // The target's part comes once per message into a sum, once into a greatest, and not at all
  // where there is no message.
  const Tensor times = aggregator_ == Aggregator::kMax
                           ? has_neighbours(graph, x.dtype())
                           : of_degrees(graph, x.dtype(), 1, [](double degree, auto* to) {
                               *to = static_cast<std::decay_t<decltype(*to)>>(degree);
                             });
  const Tensor aggregate = ops::add_scaled_rows(
      tape,
      ops::aggregate(tape, graph, {aggregator_}, SelfLoops::kNone, parts.of_source, {}, {},
                     edge_term(edges, tape, graph, /*relu=*/false)),
      parts.of_target, times);
  std::vector<ops::LinearTerm> terms;
  for (int64_t t = 0; t < towers_.count; ++t) {
    ops::LinearTerm of_aggregate{.in_column = t * towers_.out,
                                 .weight = static_cast<int>(t),
                                 .out_column = t * towers_.out,
                                 .columns = towers_.out};
    terms.push_back(of_aggregate);
    terms.push_back({.input = 1,
                     .in_column = t * towers_.in,
                     .weight = static_cast<int>(t),
                     .out_column = t * towers_.out,
                     .weight_column = towers_.out,
                     .columns = towers_.in});
  }
  const Tensor updated = ops::linear_sum(tape, {aggregate, x}, weights_of(update_layer), terms,
                                         biases_of(tape, update_layer, towers_.out), out_);
  return lin->forward(tape, updated, epilogue);
}

PnaConv::PnaConv(int64_t in_channels, int64_t out_channels, double mean_log_degree, int64_t towers,
                 const EdgeSchema& edge_schema)
    : in_(in_channels), out_(out_channels), mean_log_degree_(mean_log_degree) {
  check(mean_log_degree > 0, "PnaConv: mean_log_degree must be positive, got {}", mean_log_degree);
  towers_ = make_towers("PnaConv", in_, out_, towers);
  // As in the original, messages keep the width of a tower's input.
  pre_nns = make_linears(towers, 2 * towers_.in, towers_.in);
  post_nns = make_linears(towers, (1 + kAggregators * kScalers) * towers_.in, towers_.out);
  for (int64_t t = 0; t < towers; ++t)
    add_module("pre_nns." + std::to_string(t) + ".0", pre_nns[t]);
  for (int64_t t = 0; t < towers; ++t)
    add_module("post_nns." + std::to_string(t) + ".0", post_nns[t]);
  lin = add_module("lin", std::make_shared<Linear>(out_, out_));
  edges = make_edge_encoder(edge_schema, in_, /*has_loops=*/false);
  if (edges) add_module("edges", edges);
}

// One product for all scalers, columns [t, s, out]: the scalers are applied to the results, which
// are a quarter of the size of the scaled aggregates. x and the bias come in unscaled.
Tensor PnaConv::scaled_updates(Tape& tape, const Tensor& x, const Tensor& aggregates) const {
  const int64_t in = towers_.in;
  const int64_t out = towers_.out;
  // Rows (t, s, out); columns: of x, then of each aggregate. The block of x has no scaled rows.
  std::vector<ops::AssemblyBlock> blocks;
  std::vector<ops::LinearTerm> terms;
  for (int64_t t = 0; t < towers_.count; ++t) {
    const Tensor& weight = post_nns[t]->weight->value;
    const int64_t first = t * kScalers * out;
    blocks.push_back({weight, 0, 0, out, in, first, 0});
    for (int64_t s = 0; s < kScalers; ++s)
      blocks.push_back(
          {weight, 0, (1 + s * kAggregators) * in, out, kAggregators * in, first + s * out, in});
    for (int64_t a = -1; a < kAggregators; ++a)
      terms.push_back({.input = a < 0 ? 0 : 1,
                       .in_column = (a < 0 ? 0 : a * in_) + t * in,
                       .out_column = first,
                       .weight_row = first,
                       .rows = kScalers * out,
                       .weight_column = (1 + a) * in,
                       .columns = in});
  }
  const Tensor weights =
      ops::assemble(tape, towers_.count * kScalers * out, (1 + kAggregators) * in, blocks);
  return ops::linear_sum(tape, {x, aggregates}, {weights}, terms,
                         biases_of(tape, post_nns, kScalers * out), kScalers * out_);
}

Tensor PnaConv::forward(Tape& tape, const Tensor& x, const Csr& graph,
                        const ops::EpilogueTensors& epilogue) {
  check_conv_input("PnaConv", x, graph, in_);
  const MessageParts parts =
      message_parts(tape, {towers_.count, towers_.in, towers_.in}, pre_nns, x);
  const AggregatorSet four = {Aggregator::kMean, Aggregator::kMin, Aggregator::kMax,
                              Aggregator::kVar};
  const Tensor aggregates = ops::shift_aggregates(
      tape,
      ops::aggregate(tape, graph, four, SelfLoops::kNone, parts.of_source, {}, {},
                     edge_term(edges, tape, graph, /*relu=*/false)),
      parts.of_target, has_neighbours(graph, x.dtype()), kMinVariance);  // [N, 4 * in]
  const Tensor scaled = scaled_updates(tape, x, aggregates);
  const Tensor scalers = of_degrees(graph, x.dtype(), kScalers, [&](double degree, auto* to) {
    using T = std::decay_t<decltype(*to)>;
    to[0] = 1;
    to[1] = static_cast<T>(std::log(degree + 1) / mean_log_degree_);
    to[2] = static_cast<T>(mean_log_degree_ / std::log(std::max(degree, 1.0) + 1));
  });
  const Tensor updated = ops::sum_scaled_parts(tape, scaled, scalers, towers_.count);
  return lin->forward(tape, updated, epilogue);
}

}  // namespace egc::nn
