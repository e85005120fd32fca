// Whole networks: gradients by finite differences, the same bits for any number of threads,
// evaluation that folds, values before training, dropout, learning.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "egc/graph/node_encodings.h"
#include "egc/graph/topologies.h"
#include "egc/nn/conv_table.h"
#include "egc/train/adam.h"
#include "tests/core/thread_count.h"
#include "tests/kernels/random_problem.h"
#include "tests/models/network_inputs.h"
#include "tests/tensor/arrays.h"
#include "tests/tensor/gradcheck.h"

namespace egc {
namespace {

using models::Encoder;
using models::ModelConfig;
using models::ModelInput;
using testing::close;
using testing::infer;
using testing::new_network;
using testing::random_tensor;
using testing::same_bits;

struct Problem {
  ModelConfig config;
  ModelInput input;
};

ModelConfig config_of(const std::string& model, Task task, int64_t hidden, int64_t layers) {
  ModelConfig c;
  c.model = model;
  c.task = task;
  c.hidden = hidden;
  c.layers = layers;
  const nn::LayerDescriptor& layer = nn::layer_descriptor(model);
  if (layer.takes("heads")) c.heads = 4;
  if (layer.takes("bases")) c.bases = 2;
  if (layer.takes("towers")) c.towers = 2;
  if (model == "pna") c.mean_log_degree = 1.3;
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
      c.encode = {"rwse:2", "degree"};
      break;
    case Task::kGraphClassification:
      c.encoder = Encoder::kLinear;
      c.features = 5;
      c.encode = {"laplacian:4"};
      if (has_layers) c.readout = models::Readout::kMax;
      break;
    case Task::kGraphBinary:
      c.encoder = Encoder::kAtom;
      c.categories = {119, 4, 12};
      if (has_layers) c.readout = models::Readout::kSum;
      if (has_layers) c.head_norm = false;
      if (!layer.takes_edges) break;
      c.edge_features = true;
      c.edge_categories = {5, 3};
      c.edge_numbers = 1;
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
      c.layers = 2;
      c.schema = {{"paper", "author"}, {{"writes", 1, 0}, {"cites", 0, 0}, {"written", 0, 1}}};
      c.target_type = "paper";
      break;
  }
  return c;
}

// Authors have learned embeddings.
void make_hetero(Problem& p, int64_t papers, int64_t authors, int64_t edges, DType type) {
  p.config.embedded_nodes = {0, authors};
  p.input.hetero.num_nodes = {papers, authors};
  Rng rng(5);
  for (const auto& r : p.config.schema.relations) {
    const auto ids = [&](int64_t of) {
      std::vector<int64_t> out;
      const auto nodes = static_cast<uint32_t>(p.input.hetero.num_nodes[of]);
      for (int64_t e = 0; e < edges; ++e) out.push_back(rng.below(nodes));
      return out;
    };
    const std::vector<int64_t> target = ids(r.target);
    p.input.hetero.relations.push_back(
        relation_from_edges(r, p.input.hetero.num_nodes, ids(r.source), target));
  }
  p.input.hetero_x = {random_tensor(papers, p.config.features, 6, type), Tensor()};
}

void give_edges_features(Problem& p) {
  const Csr& g = p.input.graph;
  Rng rng(4);
  std::vector<int32_t> categories;
  std::vector<float> values;
  for (int64_t e = 0; e < g.num_edges(); ++e) {
    for (const int64_t count : p.config.edge_categories)
      categories.push_back(static_cast<int32_t>(rng.below(static_cast<uint32_t>(count))));
    for (int64_t k = 0; k < p.config.edge_numbers; ++k) values.push_back(rng.uniform() - 0.5F);
  }
  EdgeFeatures features = edge_types(categories, std::ssize(p.config.edge_categories));
  features.columns = p.config.edge_numbers;
  features.values = std::move(values);
  p.input.graph = Csr(g.num_targets(), {g.offsets().begin(), g.offsets().end()},
                      {g.sources().begin(), g.sources().end()}, {}, std::move(features));
}

// Of the graph's nodes.
void make_features(Problem& p, DType type) {
  const int64_t nodes = p.input.graph.num_targets();
  if (p.config.categories.empty())
    p.input.x = random_tensor(nodes, p.config.features, 6, type);
  else
    p.input.categories = testing::random_categories(nodes, p.config.categories, 6);
  const int64_t encodings = num_columns(parse_encodings(p.config.encode));
  if (p.config.edge_features) give_edges_features(p);
  if (encodings > 0) p.input.encodings = random_tensor(nodes, encodings, 8, type);
}

// A network, and what its blocks have beside what all have.
struct Case {
  std::string model;
  Task task;
  std::string blocks = "plain";
};

void change_blocks(ModelConfig& c, const std::string& blocks) {
  const bool all = blocks == "all";
  if (all || blocks == "feed_forward") c.feed_forward = 2;
  if (all || blocks == "virtual_node") c.virtual_node = true;
  if (all || blocks == "layer_norm") c.norm = models::Norm::kLayer;
}

Problem make_problem(const Case& of) {
  const auto& [model, task, blocks] = of;
  Problem p{config_of(model, task, 32, 3), {}};
  change_blocks(p.config, blocks);
  if (task == Task::kNodeClassificationHetero) {
    make_hetero(p, 1500, 900, 4500, DType::kF32);
    return p;
  }
  if (task == Task::kNodeClassification) {
    p.input.graph = make_topology("arxiv-like", 0, 0.01);
  } else {  // molecule-like graphs, one batch
    constexpr int64_t kGraphs = 96;
    p.input.graph = molecule_batch(kGraphs, 1);
    const int64_t nodes = p.input.graph.num_targets();
    for (int64_t g = 0; g <= kGraphs; ++g) p.input.first_node.push_back(nodes * g / kGraphs);
  }
  make_features(p, DType::kF32);
  return p;
}

// Of a few nodes, in float64: every parameter can be changed by itself.
Problem make_small_problem(const Case& of) {
  const auto& [model, task, blocks] = of;
  Problem p{config_of(model, task, 8, 2), {}};
  change_blocks(p.config, blocks);
  if (!p.config.categories.empty())
    for (int64_t& count : p.config.categories) count = std::min<int64_t>(count, 5);
  if (task == Task::kNodeClassificationHetero) {
    p.config.encoder = Encoder::kLinear;
    p.config.features = 4;
    p.config.layers = 3;
    make_hetero(p, 13, 7, 30, DType::kF64);
    return p;
  }
  if (p.config.features > 0) p.config.features = 3;
  p.input.graph = testing::awkward_graph();
  p.input.first_node = {0, 4, 9, p.input.graph.num_targets()};
  make_features(p, DType::kF64);
  return p;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::string_view name : nn::conv_names())
    all.push_back({std::string(name), Task::kNodeClassification});
  for (const char* model : {"egc-m", "gat", "pna", "ga-mlp"})
    for (const Task task : {Task::kGraphRegression, Task::kGraphClassification, Task::kGraphBinary,
                            Task::kGraphSequence})
      all.push_back({model, task});
  for (const char* model : {"rgcn", "regc"})
    all.push_back({model, Task::kNodeClassificationHetero});
  for (const char* blocks : {"feed_forward", "layer_norm"})
    all.push_back({"egc-m", Task::kNodeClassification, blocks});
  for (const char* blocks : {"feed_forward", "layer_norm", "virtual_node", "all"})
    all.push_back({"egc-m", Task::kGraphClassification, blocks});
  return all;
}

constexpr double kGradientTolerance = 1e-6;

class NetworkTest : public ::testing::TestWithParam<Case> {};

// The tape's gradients of every parameter and of the features, with the batch's statistics and
// dropout, and with what inference computes.
TEST_P(NetworkTest, Gradcheck) {
  Problem p = make_small_problem(GetParam());
  const auto network = new_network(p.config, 3);
  network->to(DType::kF64);
  std::vector<testing::NamedTensor> inputs;
  for (const auto& [name, parameter] : network->named_parameters())
    inputs.push_back({name, parameter->value});
  Tensor& x = p.input.hetero_x.empty() ? p.input.x : p.input.hetero_x[0];
  if (x.defined()) inputs.push_back({"x", x = x.with_gradient()});
  const auto forward = [&](Tape& tape) { return network->forward(tape, p.input); };
  testing::expect_gradients(
      inputs, [] { return Tape::training(7); }, forward, kGradientTolerance);
  testing::expect_gradients(
      inputs, [] { return Tape::differentiation(); }, forward, kGradientTolerance);
}

TEST_P(NetworkTest, SameBitsForAnyNumberOfThreads) {
  const Problem p = make_problem(GetParam());
  const auto network = new_network(p.config);
  std::vector<Tensor> first;
  for (const int threads : {1, 2, 4, 8}) {
    const testing::ThreadCount use(threads);
    network->clear_gradients();
    Tape tape = Tape::training(9);
    const Tensor y = network->forward(tape, p.input);
    tape.backward(y, y.detached());
    std::vector<Tensor> all = {y, infer(*new_network(p.config), p.input)};
    // The last layer of a heterogeneous network computes the target type only: the others' root
    // weights have no gradient.
    for (const auto& parameter : network->parameters())
      if (parameter->grad().defined()) all.push_back(parameter->grad());
    EXPECT_GE(all.size(), 4U);
    if (first.empty()) first = all;
    ASSERT_EQ(all.size(), first.size());
    for (size_t k = 0; k < all.size(); ++k)
      ASSERT_TRUE(same_bits(all[k], first[k])) << threads << " threads, tensor " << k;
  }
}

void train_statistics(models::Network& network, const ModelInput& input) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    Tape tape = Tape::training(seed);
    network.forward(tape, input);
  }
}

TEST_P(NetworkTest, EvaluationFoldsAndDropsNothing) {
  const Problem p = make_problem(GetParam());
  const auto network = new_network(p.config);
  train_statistics(*network, p.input);  // that are not 0 and 1
  const State before = network->state();
  Tape tape = Tape::differentiation();  // operator by operator
  const Tensor y = network->forward(tape, p.input);
  const Tensor folded = infer(*network, p.input);
  EXPECT_TRUE(close(folded, y, 1e-5));
  EXPECT_TRUE(same_bits(infer(*network, p.input), folded));
  testing::expect_same_state(network->state(), before);
}

TEST_P(NetworkTest, DropoutDrawsAnewForEverySeed) {
  const Problem p = make_problem(GetParam());
  const auto network = new_network(p.config);
  const auto run = [&](uint64_t seed) {
    Tape tape = Tape::training(seed);
    return network->forward(tape, p.input);
  };
  const Tensor first = run(1);
  EXPECT_FALSE(same_bits(run(2), first));
  EXPECT_TRUE(same_bits(run(1), first));
}

TEST_P(NetworkTest, TheSeedDecidesAllValuesBeforeTraining) {
  const Problem p = make_problem(GetParam());
  const State want = new_network(p.config, 4)->state();
  const auto network = new_network(p.config, 4);
  train_statistics(*network, p.input);
  testing::fill_values(*network, std::numeric_limits<double>::quiet_NaN());
  Rng rng(4);
  network->reset_parameters(rng);
  testing::expect_same_state(network->state(), want);
  for (const auto& [name, array] : want)
    for (const double v : testing::values_of(array.to_tensor(DType::kF64)))
      ASSERT_LT(std::abs(v), 10) << name;
  Rng other(5);
  network->reset_parameters(other);
  for (const auto& [name, array] : network->state())
    EXPECT_TRUE(array.dim() < 2 || !array.equals(want.at(name))) << name;
}

TEST_P(NetworkTest, LearnsAFewLabelsByHeart) {
  Problem p = make_problem(GetParam());
  p.config.dropout = 0;
  const auto network = new_network(p.config);
  train::Adam adam(network->parameters(), {});
  Tensor wanted;
  double begin = 0;
  double end = 0;
  for (int step = 0; step < 30; ++step) {
    Tape tape = Tape::training(0);
    const Tensor y = network->forward(tape, p.input);
    if (!wanted.defined()) wanted = random_tensor(y.rows(), y.columns(), 8, DType::kF32);
    const Tensor gradient = Tensor::empty(y.rows(), y.columns(), DType::kF32);
    double loss = 0;  // the mean squared error
    for (int64_t k = 0; k < y.size(); ++k) {
      const float off = y.data<float>()[k] - wanted.data<float>()[k];
      loss += off * off / static_cast<double>(y.size());
      gradient.data<float>()[k] = 2 * off / static_cast<float>(y.size());
    }
    tape.backward(y, gradient);
    adam.step(0.01);
    (step == 0 ? begin : end) = loss;
  }
  EXPECT_LT(end, 0.97 * begin);
}

INSTANTIATE_TEST_SUITE_P(Networks, NetworkTest, ::testing::ValuesIn(cases()), [](const auto& info) {
  std::string name = fmt::format("{}_{}", info.param.model, info.index);
  if (info.param.blocks != "plain") name += "_" + info.param.blocks;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace egc
