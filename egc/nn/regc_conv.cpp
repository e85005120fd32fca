#include "egc/nn/regc_conv.h"

#include <torch/nn/init.h>

#include <numeric>

#include "egc/nn/group.h"
#include "egc/ops/fused_aggregate.h"

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

RegcConvImpl::RegcConvImpl(RegcConvOptions opts)
    : RelationalConv("RegcConv", opts.schema, opts.in_channels), options(std::move(opts)) {
  reset();
}

void RegcConvImpl::reset() {
  const RegcConvOptions& o = options;
  for (const int64_t n : {o.in_channels, o.out_channels, o.heads, o.bases})
    check(n >= 1 && n <= kMostChannels,
          "RegcConv: in_channels, out_channels, heads and bases must be from 1 to {}, got {}",
          kMostChannels, n);
  check(o.out_channels % o.heads == 0,
        "RegcConv: out_channels must be divisible by heads, got {} and {}", o.out_channels,
        o.heads);
  rel_combs.clear();
  root_combs.clear();
  const int64_t columns = o.bases * (o.out_channels / o.heads);
  bases_lin = register_module("bases_lin", Linear(o.in_channels, columns, /*has_bias=*/false));
  const auto relations = register_module("rel_combs", std::make_shared<Group>());
  for (const auto& r : schema_.relations)
    rel_combs.push_back(relations->register_module(
        r.name, Linear(o.in_channels, o.heads * o.aggregators.size() * o.bases)));
  const auto roots = register_module("root_combs", std::make_shared<Group>());
  for (const std::string& type : schema_.node_types)
    root_combs.push_back(roots->register_module(type, Linear(o.in_channels, o.heads * o.bases)));
  reset_parameters();
}

void RegcConvImpl::reset_parameters() {
  at::NoGradGuard no_grad;
  torch::nn::init::xavier_uniform_(bases_lin->weight);
  for (auto* list : {&rel_combs, &root_combs})
    for (Linear& l : *list) l->reset_parameters();
}

std::vector<at::Tensor> RegcConvImpl::forward_types(const std::vector<at::Tensor>& x,
                                                    const HeteroGraph& graph, int64_t only) {
  const RegcConvOptions& o = options;
  const int64_t width = o.out_channels / o.heads;
  const SliceLayout layout = SliceLayout::row_major(o.bases, width);
  const kernels::FusedShape root{{Aggregator::kAdd}, SelfLoops::kNone, o.heads, o.bases, width};
  const kernels::FusedShape related{o.aggregators, SelfLoops::kNone, o.heads, o.bases, width};

  std::vector<at::Tensor> bases(x.size());
  const auto bases_of = [&](int64_t type) {
    if (!bases[type].defined()) bases[type] = bases_lin->forward(x[type]);
    return bases[type];
  };
  std::vector<at::Tensor> out(x.size());
  for (size_t t = 0; t < x.size(); ++t) {
    if (!wanted(static_cast<int64_t>(t), only)) continue;
    out[t] = ops::fused_aggregate(identity_graph(graph.num_nodes[t]), root, layout,
                                  bases_of(static_cast<int64_t>(t)), root_combs[t]->forward(x[t]),
                                  c10::nullopt);
    for (size_t r = 0; r < schema_.relations.size(); ++r)
      if (schema_.relations[r].target == static_cast<int64_t>(t))
        out[t] = out[t] + ops::fused_aggregate(graph.relations[r], related, layout,
                                               bases_of(schema_.relations[r].source),
                                               rel_combs[r]->forward(x[t]), c10::nullopt);
  }
  return out;
}

}  // namespace egc::nn
