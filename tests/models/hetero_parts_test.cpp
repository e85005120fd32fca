// A network on the parts of a graph with several types of nodes: what it gives on the whole.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "egc/core/rng.h"
#include "egc/graph/partition.h"
#include "egc/models/network.h"
#include "tests/ops/thread_group.h"

namespace egc::models {
namespace {

// Papers with features, authors with learned embeddings, and fewer fields than there are parts.
const std::vector<int64_t> kNodes = {70, 40, 3};

ModelConfig config_of(const std::string& model) {
  ModelConfig c;
  c.task = Task::kNodeClassificationHetero;
  c.model = model;
  c.encoder = Encoder::kLinear;
  c.features = 6;
  c.hidden = 8;
  c.layers = 3;
  c.outputs = 4;
  c.schema = {{"paper", "author", "field"},
              {{"cites", 0, 0},
               {"writes", 1, 0},
               {"written", 0, 1},
               {"of", 0, 2},
               {"has", 2, 0},
               {"silent", 1, 2}}};  // without an edge
  c.target_type = "paper";
  c.embedded_nodes = {0, kNodes[1], kNodes[2]};
  if (model == "regc") {
    c.heads = 2;
    c.bases = 3;
    c.aggregators = AggregatorSet{Aggregator::kMean, Aggregator::kMax, Aggregator::kSymnorm};
  }
  return c;
}

HeteroGraph graph_of(const HeteroSchema& schema) {
  Rng rng(4);
  HeteroGraph out{kNodes, {}};
  for (const auto& r : schema.relations) {
    std::vector<int64_t> source, target;
    for (int e = 0; e < (r.name == "silent" ? 0 : 150); ++e) {
      source.push_back(rng.below(static_cast<uint32_t>(kNodes[r.source])));
      target.push_back(rng.below(static_cast<uint32_t>(kNodes[r.target])));
    }
    out.relations.push_back(relation_from_edges(r, kNodes, source, target));
  }
  return out;
}

class HeteroParts : public ::testing::TestWithParam<std::tuple<std::string, int>> {};

TEST_P(HeteroParts, AreTheWhole) {
  const auto& [model, parts] = GetParam();
  at::manual_seed(5);
  const ModelConfig config = config_of(model);
  const auto network = make_network(config);
  network->to(at::kDouble);
  ModelInput whole;
  whole.hetero = graph_of(config.schema);
  whole.hetero_x = {at::randn({kNodes[0], config.features}, at::kDouble), {}, {}};
  const at::Tensor upstream = at::randn({kNodes[0], config.outputs}, at::kDouble);
  const at::Tensor y = network->forward(whole);
  y.backward(upstream);

  for (const PartitionMethod method : {PartitionMethod::kMetis, PartitionMethod::kRanges}) {
    const std::vector<int32_t> part_of = partition(config.schema, whole.hetero, parts, method);
    std::vector<GraphPart> share;
    std::vector<std::shared_ptr<Network>> copies;
    for (int k = 0; k < parts; ++k) {
      share.push_back(cut_part(config.schema, whole.hetero, part_of, parts, k));
      copies.push_back(std::dynamic_pointer_cast<Network>(network->clone()));
      copies.back()->zero_grad();
    }
    std::vector<at::Tensor> of_part(static_cast<size_t>(parts));
    const auto rows = [&](const at::Tensor& t, int k) {
      return t.index_select(0, at::tensor(share[k].nodes[0], at::kLong));
    };
    ops::ThreadGroup group(parts);
    group.run([&](int k) {
      ModelInput input;
      input.hetero = share[k].graph;
      input.hetero_x = {rows(whole.hetero_x[0], k), {}, {}};
      for (const auto& nodes : share[k].nodes)
        input.hetero_ids.push_back(at::tensor(nodes, at::kLong));
      of_part[k] = copies[k]->forward(input);
      of_part[k].backward(rows(upstream, k));
    });
    for (int k = 0; k < parts; ++k)
      EXPECT_TRUE(at::allclose(of_part[k], rows(y, k), 1e-9, 1e-10)) << k;
    for (const auto& parameter : network->named_parameters()) {
      at::Tensor sum = at::zeros_like(parameter.value());
      for (const auto& copy : copies) {
        const at::Tensor grad = copy->named_parameters()[parameter.key()].grad();
        if (grad.defined()) sum += grad;
      }
      const at::Tensor grad = parameter.value().grad();
      EXPECT_TRUE(at::allclose(sum, grad.defined() ? grad : at::zeros_like(sum), 1e-8, 1e-9))
          << parameter.key();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, HeteroParts,
                         ::testing::Combine(::testing::Values("regc", "rgcn"),
                                            ::testing::Values(2, 3, 5)));

}  // namespace
}  // namespace egc::models
