// Batches as tensors, and networks that fit a dataset, for every generator.
#include "egc/inference/batch_tensors.h"

#include <gtest/gtest.h>

#include <cmath>

#include "egc/core/error.h"
#include "egc/data/generate/generators.h"
#include "egc/data/loader.h"
#include "egc/inference/dataset_fit.h"
#include "egc/train/loss.h"
#include "tests/tensor/tensors.h"

namespace egc::train {
namespace {

std::shared_ptr<models::Network> network_of(const models::ModelConfig& config) {
  auto network = models::make_network(config);
  Rng rng(0);
  network->reset_parameters(rng);
  return network;
}

Loss loss_of(const data::DatasetInfo& info, const Tensor& output, const Targets& targets) {
  return loss(info.task, output, targets, false,
              count_labels(info.task, targets, false, info.num_classes));
}

// The loss of a step, whose gradients are all numbers.
double take_step(models::Network& network, const data::DatasetInfo& info,
                 const inference::BatchTensors& batch) {
  Tape tape = Tape::training(1);
  const Tensor output = network.forward(tape, batch.input);
  const Loss found = loss_of(info, output, batch.targets);
  tape.backward(output, found.gradient);
  for (const auto& [name, p] : network.named_parameters())
    EXPECT_TRUE(!p->grad().defined() || testing::all_finite(p->grad())) << name;
  return found.value;
}

class Generated : public ::testing::TestWithParam<const char*> {};

TEST_P(Generated, GoesThroughANetworkThatFits) {
  const data::Dataset d = data::generate(GetParam(), {.seed = 3, .size = 0.005});
  const auto config = inference::config_for_dataset(d, "egc-s", 16);
  check_config(config);
  inference::check_fits(config, d);
  const auto network = network_of(config);
  const data::GraphStore store(d);
  std::vector<int64_t> ids = {0};
  if (d.num_graphs() > 1) ids.push_back(1);  // batch norm in the head needs two
  const inference::BatchTensors batch = inference::to_tensors(store.batch(ids));
  const double value = take_step(*network, d.info, batch);
  EXPECT_TRUE(std::isfinite(value) && value > 0) << value;
  int64_t with_gradient = 0;
  for (const nn::ParameterPtr& p : network->parameters()) with_gradient += p->grad().defined();
  EXPECT_EQ(with_gradient, std::ssize(network->parameters()));
}

INSTANTIATE_TEST_SUITE_P(All, Generated,
                         ::testing::Values("pattern", "cluster", "graph-props", "molecules",
                                           "arxiv-like", "zinc-batch", "code-batch"));

TEST(BatchTensors, OutliveTheBatch) {
  const data::Dataset d = data::generate("graph-props", {.seed = 1, .size = 0.01});
  const data::GraphStore store(d);
  const std::vector<int64_t> ids = {3, 1};
  inference::BatchTensors tensors;
  {
    data::GraphBatch batch = store.batch(ids);
    tensors = inference::to_tensors(std::move(batch));
  }
  const data::GraphBatch again = store.batch(ids);
  const Tensor& x = tensors.input.x;
  ASSERT_EQ(x.size(), std::ssize(again.floats));
  EXPECT_TRUE(std::equal(again.floats.begin(), again.floats.end(), x.data<float>()));
  EXPECT_FALSE(x.is_sole_owner());  // borrowed: nobody writes to it
  EXPECT_EQ(tensors.ids, ids);
  EXPECT_EQ(tensors.targets.columns, 3);
  ASSERT_EQ(tensors.targets.values.size(), 2U * 3);
  for (int64_t c = 0; c < 3; ++c) {
    EXPECT_EQ(tensors.targets.values[static_cast<size_t>(c)], d.labels.values.at(3, c));
    EXPECT_EQ(tensors.targets.values[static_cast<size_t>(3 + c)], d.labels.values.at(1, c));
  }
}

// A rank may have no graph of a batch, and a graph no nodes: the tensors are of the same types.
TEST_P(Generated, BatchesWithoutGraphsAreOfTheSameTypes) {
  const data::Dataset d = data::generate(GetParam(), {.seed = 3, .size = 0.005});
  const data::GraphStore store(d);
  const std::vector<int64_t> one = {0};
  const inference::BatchTensors some = inference::to_tensors(store.batch(one));
  const inference::BatchTensors none = inference::to_tensors(store.batch({}));
  EXPECT_EQ(none.input.categories.defined(), some.input.categories.defined());
  EXPECT_EQ(none.input.categories.columns, some.input.categories.columns);
  EXPECT_EQ(none.input.categories.rows(), 0);
  EXPECT_EQ(none.input.x.defined(), some.input.x.defined());
  EXPECT_EQ(none.input.x.rows(), 0);
  EXPECT_EQ(none.input.x.columns(), some.input.x.columns());
  EXPECT_NE(some.targets.values.empty(), some.targets.classes.empty());
  EXPECT_TRUE(none.targets.values.empty() && none.targets.classes.empty());
  EXPECT_EQ(none.targets.columns, some.targets.columns);
  for (const char* model : {"egc-m", "gcn", "gat", "pna", "mpnn-max", "sage", "gin"}) {
    const auto network = network_of(inference::config_for_dataset(d, model, 16));
    for (const bool training : {true, false}) {
      Tape tape = training ? Tape::training(1) : Tape::inference();
      const Tensor y = network->forward(tape, none.input);
      EXPECT_EQ(y.rows(), 0) << model;
      const Loss value = loss_of(d.info, y, none.targets);
      EXPECT_EQ(value.value, 0) << model;
      if (training) tape.backward(y, value.gradient);
    }
    for (const auto& [name, p] : network->named_parameters())
      if (p->grad().defined()) {
        EXPECT_TRUE(testing::close(
            p->grad(), Tensor::zeros(p->value.rows(), p->value.columns(), DType::kF32), 0))
            << model << " " << name;
      }
  }
}

// A single graph, and a single node, train: batch norm takes its running statistics then.
TEST(BatchTensors, OneRowTrains) {
  const data::Dataset d = data::generate("molecules", {.seed = 3, .size = 0.005});
  const data::GraphStore store(d);
  const std::vector<int64_t> one = {0};
  const auto network = network_of(inference::config_for_dataset(d, "egc-m", 16));
  EXPECT_TRUE(std::isfinite(take_step(*network, d.info, inference::to_tensors(store.batch(one)))));
}

TEST(DefaultConfig, OfATypedGraph) {
  const data::Dataset d = data::generate("academic", {.seed = 1, .size = 0.1});
  const auto config = inference::config_for_dataset(d, "regc", 16);
  check_config(config);
  inference::check_fits(config, d);
  EXPECT_EQ(config.target_type, "paper");
  EXPECT_EQ(config.schema.relations.size(), 5U);  // three, two of them with an inverse
  EXPECT_EQ(config.embedded_nodes, (std::vector<int64_t>{100, 50, 0}));
}

TEST(DefaultConfig, WhatDoesNotFitIsRefused) {
  const data::Dataset d = data::generate("molecules", {.seed = 1, .size = 0.01});
  const auto good = inference::config_for_dataset(d, "gcn", 16);
  const auto refused = [&](auto&& change, const char* part) {
    auto config = good;
    change(config);
    try {
      inference::check_fits(config, d);
      ADD_FAILURE() << part;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  };
  refused([](auto& c) { c.task = Task::kGraphBinary; }, "graph-binary");
  refused([](auto& c) { c.categories = {3}; }, "values below 3");
  refused([](auto& c) { c.categories = {6, 6}; }, "the network takes 2");
  refused([](auto& c) { c.features = 4; }, "float features");
  refused([](auto& c) { c.outputs = 2; }, "the network outputs 2");
  auto larger = good;
  larger.categories = {100};  // more than the data need
  EXPECT_NO_THROW(inference::check_fits(larger, d));
}

}  // namespace
}  // namespace egc::train
