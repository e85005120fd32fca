// What a step keeps of a batch: rows, labels, edges and bounds belong to the same nodes as before.
#include "egc/train/sampling.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "tests/tensor/tensors.h"

namespace egc::train {
namespace {

constexpr int64_t kGraphs = 5;
constexpr int64_t kNodesOfEach = 20;
constexpr int64_t kAllNodes = kGraphs * kNodesOfEach;

// Rings; the feature of a node is its number, its label that number and 1000. Features are floats
// or, with that number twice, categories.
BatchTensors rings(Task task, bool categories = false) {
  struct Content {
    std::vector<float> floats, values;
    std::vector<int32_t> categories;
    std::vector<int64_t> classes;
  };
  const auto content = std::make_shared<Content>();
  BatchTensors out;
  std::vector<int64_t> sources;
  std::vector<int64_t> targets;
  for (int64_t g = 0; g < kGraphs; ++g) {
    out.input.first_node.push_back(g * kNodesOfEach);
    for (int64_t i = 0; i < kNodesOfEach; ++i) {
      sources.push_back(g * kNodesOfEach + i);
      targets.push_back(g * kNodesOfEach + (i + 1) % kNodesOfEach);
    }
  }
  out.input.first_node.push_back(kAllNodes);
  out.input.graph = Csr::from_edges(kAllNodes, sources, targets);
  for (int64_t i = 0; i < kAllNodes; ++i) {
    content->floats.push_back(static_cast<float>(i));
    content->categories.insert(content->categories.end(), 2, static_cast<int32_t>(i));
    content->classes.push_back(i + 1000);
  }
  content->values.resize(kGraphs);
  std::iota(content->values.begin(), content->values.end(), 0.0F);
  if (categories)
    out.input.categories = {content->categories, 2, content};
  else
    out.input.x = Tensor::borrow(content->floats.data(), kAllNodes, 1, content);
  out.targets.owner = content;
  if (task == Task::kNodeClassification)
    out.targets.classes = content->classes;
  else
    out.targets.values = content->values;
  return out;
}

std::vector<int64_t> numbers_of(const BatchTensors& batch) {
  std::vector<int64_t> out;
  const models::Categories& c = batch.input.categories;
  for (int64_t i = 0; i < c.rows(); ++i) {
    out.push_back(c.values[static_cast<size_t>(2 * i)]);
    EXPECT_EQ(c.values[static_cast<size_t>(2 * i + 1)], out.back());
  }
  for (int64_t i = 0; i < batch.input.x.rows(); ++i)
    out.push_back(static_cast<int64_t>(batch.input.x.item(i, 0)));
  return out;
}

TEST(Sampling, NodesKeepTheirRowsLabelsEdgesAndGraphs) {
  for (const auto& [task, categories] :
       {std::pair(Task::kNodeClassification, false), std::pair(Task::kGraphRegression, false),
        std::pair(Task::kGraphRegression, true)}) {
    TrainConfig config;
    config.drop_nodes = 0.4;
    const BatchTensors whole = rings(task);
    const BatchTensors kept = sample(rings(task, categories), config, task, Rng(3));
    const std::vector<int64_t> number = numbers_of(kept);
    ASSERT_LT(number.size(), kAllNodes * 0.8);
    ASSERT_GT(number.size(), kAllNodes * 0.4);
    ASSERT_EQ(kept.input.graph.num_targets(), std::ssize(number));
    if (task == Task::kNodeClassification) {
      ASSERT_EQ(kept.targets.classes.size(), number.size());
      for (size_t i = 0; i < number.size(); ++i)
        EXPECT_EQ(kept.targets.classes[i], number[i] + 1000);
    } else {
      EXPECT_TRUE(std::equal(kept.targets.values.begin(), kept.targets.values.end(),
                             whole.targets.values.begin(), whole.targets.values.end()));
    }
    // An edge is there if both its ends are.
    const std::set<int64_t> there(number.begin(), number.end());
    for (size_t i = 0; i < number.size(); ++i) {
      const int64_t ring = number[i] / kNodesOfEach * kNodesOfEach;
      const int64_t before = ring + (number[i] - ring + kNodesOfEach - 1) % kNodesOfEach;
      std::vector<int64_t> sources;
      for (int64_t e = kept.input.graph.offsets()[i]; e < kept.input.graph.offsets()[i + 1]; ++e)
        sources.push_back(number[static_cast<size_t>(kept.input.graph.sources()[e])]);
      EXPECT_EQ(sources,
                there.contains(before) ? std::vector<int64_t>{before} : std::vector<int64_t>{})
          << number[i];
    }
    ASSERT_EQ(std::ssize(kept.input.first_node), kGraphs + 1);
    for (int64_t g = 0; g < kGraphs; ++g)
      for (int64_t i = kept.input.first_node[g]; i < kept.input.first_node[g + 1]; ++i)
        EXPECT_EQ(number[static_cast<size_t>(i)] / kNodesOfEach, g);
    EXPECT_EQ(kept.input.first_node.back(), std::ssize(number));
  }
}

TEST(Sampling, EdgesGoAndNodesStay) {
  TrainConfig config;
  config.drop_edges = 0.5;
  const BatchTensors kept =
      sample(rings(Task::kGraphRegression), config, Task::kGraphRegression, Rng(3));
  const BatchTensors whole = rings(Task::kGraphRegression);
  EXPECT_TRUE(testing::same_bits(kept.input.x, whole.input.x));
  EXPECT_EQ(kept.input.first_node, whole.input.first_node);
  EXPECT_GT(kept.input.graph.num_edges(), kAllNodes / 4);
  EXPECT_LT(kept.input.graph.num_edges(), kAllNodes * 3 / 4);
  for (int64_t i = 0; i < kAllNodes; ++i)
    for (int64_t e = kept.input.graph.offsets()[i]; e < kept.input.graph.offsets()[i + 1]; ++e)
      EXPECT_EQ(kept.input.graph.sources()[e], whole.input.graph.sources()[i]);  // rings: its one
}

}  // namespace
}  // namespace egc::train
