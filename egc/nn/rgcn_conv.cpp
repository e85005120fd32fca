#include "egc/nn/rgcn_conv.h"

#include "egc/nn/group.h"
#include "egc/ops/fused_aggregate.h"
#include "egc/ops/linear.h"

namespace egc::nn {

RgcnConvImpl::RgcnConvImpl(int64_t in_channels, int64_t out_channels, HeteroSchema schema)
    : RelationalConv("RgcnConv", std::move(schema), in_channels),
      in_(in_channels),
      out_(out_channels) {
  reset();
}

void RgcnConvImpl::reset() {
  rel_lins.clear();
  root_lins.clear();
  const auto relations = register_module("rel_lins", std::make_shared<Group>());
  for (const auto& r : schema_.relations)
    rel_lins.push_back(relations->register_module(r.name, Linear(in_, out_, /*has_bias=*/false)));
  const auto roots = register_module("root_lins", std::make_shared<Group>());
  for (const std::string& type : schema_.node_types)
    root_lins.push_back(roots->register_module(type, Linear(in_, out_)));
}

void RgcnConvImpl::reset_parameters() {
  for (auto* list : {&rel_lins, &root_lins})
    for (Linear& l : *list) l->reset_parameters();
}

std::vector<at::Tensor> RgcnConvImpl::forward_types(const std::vector<at::Tensor>& x,
                                                    const HeteroGraph& graph, int64_t only) {
  std::vector<at::Tensor> out(x.size());
  for (size_t t = 0; t < x.size(); ++t) {
    if (!wanted(static_cast<int64_t>(t), only)) continue;
    // One product over the node itself and the means of all relations that end here.
    std::vector<at::Tensor> inputs = {x[t]};
    std::vector<at::Tensor> weights = {root_lins[t]->weight};
    for (size_t r = 0; r < schema_.relations.size(); ++r) {
      if (schema_.relations[r].target != static_cast<int64_t>(t)) continue;
      inputs.push_back(ops::aggregate(graph.relations[r], {Aggregator::kMean}, SelfLoops::kNone,
                                      x[schema_.relations[r].source]));
      weights.push_back(rel_lins[r]->weight);
    }
    std::vector<ops::LinearTerm> terms;
    for (size_t k = 0; k < inputs.size(); ++k)
      terms.push_back({static_cast<int>(k), 0, static_cast<int>(k), 0});
    out[t] = ops::linear_sum(inputs, weights, terms, root_lins[t]->bias, out_);
  }
  return out;
}

}  // namespace egc::nn
