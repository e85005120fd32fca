// Whole networks: the same bits for any number of threads, evaluation that folds, dropout,
// learning.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/optim/adam.h>

#include "egc/core/layer_options.h"
#include "egc/graph/topologies.h"
#include "egc/models/network.h"
#include "egc/nn/conv_table.h"
#include "tests/ops/tensors.h"

namespace egc {
namespace {

using models::Encoder;
using models::ModelConfig;
using models::ModelInput;
using models::Task;

struct Problem {
  ModelConfig config;
  ModelInput input;
};

// Molecule-like graphs, one batch.
void add_graphs(ModelInput& input, int64_t graphs) {
  input.graph = molecule_batch(graphs, 1);
  const int64_t nodes = input.graph.num_targets();
  for (int64_t g = 0; g <= graphs; ++g) input.first_node.push_back(nodes * g / graphs);
}

at::Tensor categories(int64_t nodes, const std::vector<int64_t>& counts) {
  std::vector<at::Tensor> columns;
  for (const int64_t n : counts) columns.push_back(at::randint(n, {nodes, 1}, at::kLong));
  return at::cat(columns, 1);
}

Problem make_problem(const std::string& model, Task task) {
  torch::manual_seed(5);
  Problem p;
  ModelConfig& c = p.config;
  c.model = model;
  c.task = task;
  c.hidden = 32;
  c.layers = 3;
  const LayerTraits& layer = layer_traits(model);
  if (layer.takes("heads")) c.heads = 4;
  if (layer.takes("bases")) c.bases = 2;
  if (layer.takes("towers")) c.towers = 2;
  c.dropout = 0.2;
  const bool has_layers = model != "ga-mlp";
  const bool has_head = is_graph_task(task) && task != Task::kGraphSequence;
  const bool hetero = task == Task::kNodeClassificationHetero;
  c.dropout_at = {.encoder = !hetero,
                  .conv_input = has_layers && !hetero,
                  .activation = true,
                  .head = has_layers && has_head};
  c.outputs = task == Task::kGraphRegression || task == Task::kGraphBinary ? 1 : 6;
  switch (task) {
    case Task::kGraphRegression:
      c.encoder = Encoder::kEmbedding;
      c.categories = {28};
      break;
    case Task::kGraphClassification:
      c.encoder = Encoder::kLinear;
      c.features = 5;
      break;
    case Task::kGraphBinary:
      c.encoder = Encoder::kAtom;
      c.categories = {119, 4, 12};
      break;
    case Task::kGraphSequence:
      c.encoder = Encoder::kAst;
      c.categories = {98, 50, 21};
      break;
    case Task::kNodeClassification:
      c.encoder = Encoder::kLinear;
      c.features = 16;
      break;
    case Task::kNodeClassificationHetero:
      c.encoder = Encoder::kNone;
      c.features = 16;
      if (layer.takes("heads")) c.heads = 4;
      c.layers = 2;
      c.schema = {{"paper", "author"}, {{"writes", 1, 0}, {"cites", 0, 0}, {"written", 0, 1}}};
      c.target_type = "paper";
      c.embedded_nodes = {0, 900};
      break;
  }
  if (task == Task::kNodeClassificationHetero) {
    p.input.hetero.num_nodes = {1500, 900};
    for (const auto& r : c.schema.relations) {
      const size_t n = r.source == r.target ? 5000 : 4000;
      const auto ids = [&](int64_t type) {
        return at::randint(p.input.hetero.num_nodes[type], {static_cast<int64_t>(n)}, at::kLong);
      };
      const at::Tensor t = ids(r.target);
      const at::Tensor s = ids(r.source);
      p.input.hetero.relations.push_back(relation_from_edges(
          r, p.input.hetero.num_nodes, {s.data_ptr<int64_t>(), n}, {t.data_ptr<int64_t>(), n}));
    }
    p.input.hetero_x = {at::randn({1500, 16}), at::Tensor()};
  } else if (task == Task::kNodeClassification) {
    p.input.graph = make_topology("arxiv-like", 0, 0.01);
    p.input.x = at::randn({p.input.graph.num_targets(), 16});
  } else {
    add_graphs(p.input, 96);
    const int64_t nodes = p.input.graph.num_targets();
    p.input.x = c.categories.empty() ? at::randn({nodes, 5}) : categories(nodes, c.categories);
  }
  return p;
}

std::vector<std::pair<std::string, Task>> cases() {
  std::vector<std::pair<std::string, Task>> all;
  for (const std::string_view name : nn::conv_names())
    all.emplace_back(name, Task::kNodeClassification);
  for (const char* model : {"egc-m", "gat", "pna", "ga-mlp"})
    for (const Task task : {Task::kGraphRegression, Task::kGraphClassification, Task::kGraphBinary,
                            Task::kGraphSequence})
      all.emplace_back(model, task);
  for (const char* model : {"rgcn", "regc"})
    all.emplace_back(model, Task::kNodeClassificationHetero);
  return all;
}

class NetworkTest : public ::testing::TestWithParam<std::pair<std::string, Task>> {};

TEST_P(NetworkTest, SameBitsForAnyNumberOfThreads) {
  const int before = at::get_num_threads();
  const Problem p = make_problem(GetParam().first, GetParam().second);
  const auto network = models::make_network(p.config);
  std::vector<at::Tensor> first;
  for (const int threads : {1, 2, 4, 8}) {
    at::set_num_threads(threads);
    torch::manual_seed(9);  // the dropout's
    network->train();
    network->zero_grad();
    const at::Tensor y = network->forward(p.input);
    (y * y).mean().backward();
    std::vector<at::Tensor> all = {y.detach()};
    // The last layer of a heterogeneous network computes the target type only: the others' root
    // weights have no gradient.
    for (const at::Tensor& t : network->parameters())
      if (t.grad().defined()) all.push_back(t.grad().clone());
    if (first.empty()) first = all;
    for (size_t k = 0; k < all.size(); ++k)
      ASSERT_TRUE(at::equal(all[k], first[k])) << threads << " threads, tensor " << k;
  }
  at::set_num_threads(before);
}

TEST_P(NetworkTest, EvaluationFoldsAndDropsNothing) {
  const Problem p = make_problem(GetParam().first, GetParam().second);
  const auto network = models::make_network(p.config);
  for (int k = 0; k < 3; ++k) network->forward(p.input);  // statistics that are not 0 and 1
  network->eval();
  const at::Tensor y = network->forward(p.input);  // operator by operator
  at::NoGradGuard no_grad;
  const at::Tensor folded = network->forward(p.input);
  EXPECT_LE(testing::relative_difference(folded, y), 1e-5);
  EXPECT_TRUE(at::equal(network->forward(p.input), folded));
}

TEST_P(NetworkTest, DropoutDrawsAnewInTraining) {
  const Problem p = make_problem(GetParam().first, GetParam().second);
  const auto network = models::make_network(p.config);
  EXPECT_FALSE(at::equal(network->forward(p.input), network->forward(p.input)));
}

TEST_P(NetworkTest, LearnsAFewLabelsByHeart) {
  Problem p = make_problem(GetParam().first, GetParam().second);
  p.config.dropout = 0;
  const auto network = models::make_network(p.config);
  torch::optim::Adam adam(network->parameters(), torch::optim::AdamOptions(0.01));
  const at::Tensor wanted = at::randn_like(network->forward(p.input));
  double begin = 0;
  double end = 0;
  for (int step = 0; step < 30; ++step) {
    adam.zero_grad();
    const at::Tensor loss = at::mse_loss(network->forward(p.input), wanted);
    loss.backward();
    adam.step();
    (step == 0 ? begin : end) = loss.item<double>();
  }
  EXPECT_LT(end, 0.97 * begin);
}

INSTANTIATE_TEST_SUITE_P(Networks, NetworkTest, ::testing::ValuesIn(cases()), [](const auto& info) {
  std::string name = fmt::format("{}_{}", info.param.first, info.index);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace egc
