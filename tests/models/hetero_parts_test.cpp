// A network on the parts of a graph with several types of nodes: what it gives on the whole.
#include <gtest/gtest.h>

#include "egc/core/rng.h"
#include "egc/graph/partition.h"
#include "tests/models/network_inputs.h"
#include "tests/ops/thread_group.h"
#include "tests/tensor/tensors.h"

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

Tensor rows_of(const Tensor& t, const std::vector<int64_t>& rows) {
  const Tensor out = Tensor::empty(std::ssize(rows), t.columns(), DType::kF64);
  for (size_t k = 0; k < rows.size(); ++k)
    std::copy_n(t.data<double>() + rows[k] * t.columns(), t.columns(),
                out.data<double>() + static_cast<int64_t>(k) * t.columns());
  return out;
}

TEST_P(HeteroParts, AreTheWhole) {
  const auto& [model, parts] = GetParam();
  const ModelConfig config = config_of(model);
  const auto network = testing::new_network(config, 5);
  network->to(DType::kF64);
  ModelInput whole;
  whole.hetero = graph_of(config.schema);
  whole.hetero_x = {testing::random_tensor(kNodes[0], config.features, 5), {}, {}};
  const Tensor upstream = testing::random_tensor(kNodes[0], config.outputs, 6);
  Tape tape = Tape::training(0);
  const Tensor y = network->forward(tape, whole);
  tape.backward(y, upstream);

  for (const PartitionMethod method : {PartitionMethod::kMetis, PartitionMethod::kRanges}) {
    const std::vector<int32_t> part_of = partition(config.schema, whole.hetero, parts, method);
    std::vector<GraphPart> share;
    std::vector<std::shared_ptr<Network>> copies;
    for (int k = 0; k < parts; ++k) {
      share.push_back(cut_part(config.schema, whole.hetero, part_of, parts, k));
      copies.push_back(copy_network(*network));
    }
    std::vector<Tensor> of_part(static_cast<size_t>(parts));
    std::vector<Tensor> inferred(static_cast<size_t>(parts));
    ops::ThreadGroup group(parts);
    group.run([&](int k) {
      ModelInput input;
      input.hetero = share[k].graph;
      input.hetero_x = {rows_of(whole.hetero_x[0], share[k].nodes[0]), {}, {}};
      input.hetero_ids = share[k].nodes;
      Tape part = Tape::training(0);
      of_part[k] = copies[k]->forward(part, input);
      part.backward(of_part[k], rows_of(upstream, share[k].nodes[0]));
      inferred[k] = testing::infer(*copies[k], input);
    });
    for (int k = 0; k < parts; ++k) {
      const Tensor want = rows_of(y, share[k].nodes[0]);
      EXPECT_TRUE(testing::close(of_part[k], want, 1e-10)) << k;
      EXPECT_TRUE(testing::close(inferred[k], want, 1e-10)) << k;
    }
    const auto wanted = network->named_parameters();
    for (size_t p = 0; p < wanted.size(); ++p) {
      const auto& [name, parameter] = wanted[p];
      const auto sum =
          Tensor::zeros(parameter->value.rows(), parameter->value.columns(), DType::kF64);
      for (const auto& copy : copies) {
        const Tensor& grad = copy->parameters()[p]->grad();
        for (int64_t i = 0; grad.defined() && i < grad.size(); ++i)
          sum.data<double>()[i] += grad.data<double>()[i];
      }
      // The last layer computes the target type only: the others' root weights have no gradient.
      const Tensor& grad = parameter->grad();
      const Tensor none = Tensor::zeros(sum.rows(), sum.columns(), DType::kF64);
      EXPECT_TRUE(testing::close(sum, grad.defined() ? grad : none, 1e-9)) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, HeteroParts,
                         ::testing::Combine(::testing::Values("regc", "rgcn"),
                                            ::testing::Values(2, 3, 5)));

}  // namespace
}  // namespace egc::models
