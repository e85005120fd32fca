// Batches as tensors, and networks that fit a dataset, for every generator.
#include "egc/train/batch_tensors.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "egc/core/error.h"
#include "egc/data/generators.h"
#include "egc/data/loader.h"
#include "egc/train/default_config.h"
#include "egc/train/loss.h"

namespace egc::train {
namespace {

class Generated : public ::testing::TestWithParam<const char*> {};

TEST_P(Generated, GoesThroughANetworkThatFits) {
  at::manual_seed(0);
  const data::Dataset d = data::generate(GetParam(), {.seed = 3, .size = 0.005});
  const auto config = default_config(d, "egc-s", 16);
  check_config(config);
  check_fits(config, d);
  const auto network = models::make_network(config);
  const data::GraphStore store(d);
  std::vector<int64_t> ids = {0};
  if (d.num_graphs() > 1) ids.push_back(1);  // batch norm in the head needs two
  const BatchTensors batch = to_tensors(store.batch(ids), d.info.task);
  const at::Tensor value = loss(d.info.task, network->forward(batch.input), batch.target);
  value.backward();
  EXPECT_TRUE(std::isfinite(value.item<double>()));
}

INSTANTIATE_TEST_SUITE_P(All, Generated,
                         ::testing::Values("pattern", "cluster", "graph-props", "molecules",
                                           "arxiv-like", "zinc-batch", "code-batch"));

TEST(BatchTensors, OutliveTheBatch) {
  const data::Dataset d = data::generate("graph-props", {.seed = 1, .size = 0.01});
  const data::GraphStore store(d);
  const std::vector<int64_t> ids = {3, 1};
  BatchTensors tensors;
  {
    data::GraphBatch batch = store.batch(ids);
    tensors = to_tensors(std::move(batch), d.info.task);
  }
  const data::GraphBatch again = store.batch(ids);
  ASSERT_EQ(tensors.input.x.numel(), static_cast<int64_t>(again.floats.size()));
  EXPECT_TRUE(
      std::equal(again.floats.begin(), again.floats.end(), tensors.input.x.data_ptr<float>()));
  EXPECT_EQ(tensors.target.sizes(), at::IntArrayRef({2, 3}));
  EXPECT_EQ(tensors.target[1][0].item<float>(), d.labels.values.at(1, 0));
}

// A rank may have no graph of a batch, and a graph no nodes: the tensors are of the same types.
TEST_P(Generated, BatchesWithoutGraphsAreOfTheSameTypes) {
  at::manual_seed(0);
  const data::Dataset d = data::generate(GetParam(), {.seed = 3, .size = 0.005});
  const data::GraphStore store(d);
  const std::vector<int64_t> one = {0};
  const BatchTensors some = to_tensors(store.batch(one), d.info.task);
  const BatchTensors none = to_tensors(store.batch({}), d.info.task);
  EXPECT_EQ(none.input.x.scalar_type(), some.input.x.scalar_type());
  EXPECT_EQ(none.input.x.sizes(), at::IntArrayRef({0, some.input.x.size(1)}));
  EXPECT_EQ(none.target.scalar_type(), some.target.scalar_type());
  EXPECT_EQ(none.target.size(0), 0);
  EXPECT_EQ(none.target.dim(), some.target.dim());
  for (const char* model : {"egc-m", "gcn", "gat", "pna", "mpnn-max", "sage", "gin"}) {
    const auto network = models::make_network(default_config(d, model, 16));
    for (const bool training : {true, false}) {
      network->train(training);
      const at::Tensor y = network->forward(none.input);
      EXPECT_EQ(y.size(0), 0) << model;
      const at::Tensor value = loss(d.info.task, y, none.target);
      EXPECT_EQ(value.item<double>(), 0) << model;
      if (training) value.backward();
    }
  }
}

// A single graph, and a single node, train: batch norm takes its running statistics then.
TEST(BatchTensors, OneRowTrains) {
  at::manual_seed(0);
  data::Dataset d = data::generate("molecules", {.seed = 3, .size = 0.005});
  const data::GraphStore store(d);
  const std::vector<int64_t> one = {0};
  const auto network = models::make_network(default_config(d, "egc-m", 16));
  const BatchTensors batch = to_tensors(store.batch(one), d.info.task);
  network->train();
  const at::Tensor value = loss(d.info.task, network->forward(batch.input), batch.target);
  value.backward();
  for (const auto& p : network->named_parameters())
    EXPECT_TRUE(!p.value().grad().defined() || at::isfinite(p.value().grad()).all().item<bool>())
        << p.key();
}

TEST(DefaultConfig, OfATypedGraph) {
  const data::Dataset d = data::generate("academic", {.seed = 1, .size = 0.1});
  const auto config = default_config(d, "regc", 16);
  check_config(config);
  check_fits(config, d);
  EXPECT_EQ(config.target_type, "paper");
  EXPECT_EQ(config.schema.relations.size(), 5U);  // three, two of them with an inverse
  EXPECT_EQ(config.embedded_nodes, (std::vector<int64_t>{100, 50, 0}));
}

TEST(DefaultConfig, WhatDoesNotFitIsRefused) {
  const data::Dataset d = data::generate("molecules", {.seed = 1, .size = 0.01});
  const auto good = default_config(d, "gcn", 16);
  const auto refused = [&](auto&& change, const char* part) {
    auto config = good;
    change(config);
    try {
      check_fits(config, d);
      ADD_FAILURE() << part;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  };
  refused([](auto& c) { c.task = Task::kGraphBinary; }, "graph-binary");
  refused([](auto& c) { c.categories = {3}; }, "values below 3");
  refused([](auto& c) { c.categories = {6, 6}; }, "the network takes 2");
  refused([](auto& c) { c.features = 4; }, "float features");
  refused([](auto& c) { c.outputs = 2; }, "the network gives 2");
  auto larger = good;
  larger.categories = {100};  // more than the data need
  EXPECT_NO_THROW(check_fits(larger, d));
}

}  // namespace
}  // namespace egc::train
