#include "egc/nn/relational_conv.h"

#include <numeric>

#include "egc/ops/aggregate.h"
#include "egc/ops/egc.h"
#include "egc/ops/linear.h"
#include "egc/ops/norm_act.h"
#include "egc/ops/row_parts.h"

namespace egc::nn {
namespace {

// Every node its own only neighbour: makes the root's term an aggregation like the others.
Csr identity_graph(int64_t nodes) {
  std::vector<int64_t> offsets(static_cast<size_t>(nodes) + 1);
  std::iota(offsets.begin(), offsets.end(), int64_t{0});
  std::vector<int32_t> sources(static_cast<size_t>(nodes));
  std::iota(sources.begin(), sources.end(), 0);
  return {nodes, std::move(offsets), std::move(sources)};
}

}  // namespace

std::vector<Tensor> RelationalConv::forward_hetero(Tape& tape, const std::vector<Tensor>& x,
                                                   const HeteroGraph& graph, int64_t only) {
  check_hetero_graph(schema_, graph);
  check(x.size() == schema_.node_types.size(), "{}: expected x of {} node types, got {}", layer_,
        schema_.node_types.size(), x.size());
  for (size_t t = 0; t < x.size(); ++t)
    check(x[t].defined() && x[t].rows() == graph.num_nodes[t] && x[t].columns() == in_channels_,
          "{}: x of \"{}\" must be [{}, {}], got {}", layer_, schema_.node_types[t],
          graph.num_nodes[t], in_channels_, describe(x[t]));
  check(only >= kAllTypes && only < static_cast<int64_t>(x.size()), "{}: no node type {}", layer_,
        only);
  return forward_types(tape, x, graph, only);
}

Tensor RelationalConv::forward(Tape& tape, const Tensor& x, const Csr& graph,
                               const ops::EpilogueTensors& epilogue) {
  check_conv_input(layer_, x, graph, in_channels_);
  return ops::apply_epilogue(forward_hetero(tape, {x}, HeteroGraph::homogeneous(graph))[0],
                             epilogue);
}

RgcnConv::RgcnConv(int64_t in_channels, int64_t out_channels, HeteroSchema schema)
    : RelationalConv("RgcnConv", std::move(schema), in_channels), out_(out_channels) {
  for (const auto& r : schema_.relations)
    rel_lins.push_back(
        add_module("rel_lins." + r.name,
                   std::make_shared<Linear>(in_channels, out_channels, /*has_bias=*/false)));
  for (const std::string& type : schema_.node_types)
    root_lins.push_back(
        add_module("root_lins." + type, std::make_shared<Linear>(in_channels, out_channels)));
}

std::vector<Tensor> RgcnConv::forward_types(Tape& tape, const std::vector<Tensor>& x,
                                            const HeteroGraph& graph, int64_t only) {
  std::vector<Tensor> out(x.size());
  for (size_t t = 0; t < x.size(); ++t) {
    if (!wanted(static_cast<int64_t>(t), only)) continue;
    // One product over the node itself and the means of all relations that end here.
    std::vector<Tensor> inputs = {x[t]};
    std::vector<Tensor> weights = {root_lins[t]->weight->value};
    for (size_t r = 0; r < schema_.relations.size(); ++r) {
      if (schema_.relations[r].target != static_cast<int64_t>(t)) continue;
      inputs.push_back(ops::aggregate(tape, graph.relations[r], {Aggregator::kMean},
                                      SelfLoops::kNone, x[schema_.relations[r].source]));
      weights.push_back(rel_lins[r]->weight->value);
    }
    std::vector<ops::LinearTerm> terms;
    for (size_t k = 0; k < inputs.size(); ++k)
      terms.push_back({static_cast<int>(k), 0, static_cast<int>(k), 0});
    out[t] = ops::linear_sum(tape, inputs, weights, terms, root_lins[t]->bias_value(), out_);
  }
  return out;
}

RegcConv::RegcConv(RegcConvOptions opts)
    : RelationalConv("RegcConv", opts.schema, opts.in_channels), options(std::move(opts)) {
  const RegcConvOptions& o = options;
  for (const int64_t n : {o.in_channels, o.out_channels, o.heads, o.bases})
    check(n >= 1 && n <= kMaxChannels,
          "RegcConv: in_channels, out_channels, heads and bases must be from 1 to {}, got {}",
          kMaxChannels, n);
  check(o.out_channels % o.heads == 0,
        "RegcConv: out_channels must be divisible by heads, got {} and {}", o.out_channels,
        o.heads);
  const int64_t columns = o.bases * (o.out_channels / o.heads);
  bases_lin =
      add_module("bases_lin", std::make_shared<Linear>(o.in_channels, columns, /*has_bias=*/false));
  for (const auto& r : schema_.relations)
    rel_combs.push_back(add_module(
        "rel_combs." + r.name,
        std::make_shared<Linear>(o.in_channels, o.heads * o.aggregators.size() * o.bases)));
  for (const std::string& type : schema_.node_types)
    root_combs.push_back(add_module("root_combs." + type,
                                    std::make_shared<Linear>(o.in_channels, o.heads * o.bases)));
}

void RegcConv::reset_parameters(Rng& rng) {
  glorot_uniform(bases_lin->weight->value, rng);
  for (auto* list : {&rel_combs, &root_combs})
    for (const LinearPtr& l : *list) l->reset_parameters(rng);
}

std::vector<Tensor> RegcConv::forward_types(Tape& tape, const std::vector<Tensor>& x,
                                            const HeteroGraph& graph, int64_t only) {
  const RegcConvOptions& o = options;
  const ops::EgcShape root{{Aggregator::kAdd}, SelfLoops::kNone, o.heads, o.bases};
  const ops::EgcShape related{o.aggregators, SelfLoops::kNone, o.heads, o.bases};

  std::vector<Tensor> bases(x.size());
  const auto bases_of = [&](int64_t type) {
    if (!bases[type].defined()) bases[type] = bases_lin->forward(tape, x[type]);
    return bases[type];
  };
  std::vector<Tensor> out(x.size());
  for (size_t t = 0; t < x.size(); ++t) {
    const auto type = static_cast<int64_t>(t);
    if (!wanted(type, only)) continue;
    std::vector<Tensor> terms = {ops::egc_aggregate(tape, root, bases_of(type),
                                                    root_combs[t]->forward(tape, x[t]), {},
                                                    identity_graph(graph.num_nodes[t]))};
    for (size_t r = 0; r < schema_.relations.size(); ++r)
      if (schema_.relations[r].target == type)
        terms.push_back(ops::egc_aggregate(tape, related, bases_of(schema_.relations[r].source),
                                           rel_combs[r]->forward(tape, x[t]), {},
                                           graph.relations[r]));
    out[t] = ops::add(tape, terms);
  }
  return out;
}

}  // namespace egc::nn
