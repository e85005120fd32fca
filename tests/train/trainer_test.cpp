// The loop: it learns, it repeats itself to the bit, it can stop anywhere and go on.
#include "egc/train/trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "egc/core/error.h"
#include "egc/data/generate/generators.h"
#include "egc/inference/dataset_fit.h"
#include "egc/nn/egc_conv.h"
#include "egc/train/aggregator_penalty.h"
#include "egc/train/evaluate.h"
#include "tests/core/expect_error.h"
#include "tests/core/thread_count.h"
#include "tests/tensor/gradcheck.h"
#include "tests/tensor/tensors.h"

namespace egc {
namespace {

using testing::expect_error;
using testing::ThreadCount;
using train::Part;
using train::RunConfig;
using train::TaskData;
using train::Trainer;

data::Dataset molecules() { return data::generate("molecules", {.seed = 1, .size = 0.02}); }

RunConfig config_for(const data::Dataset& d, const std::string& model = "egc-m") {
  RunConfig c;
  c.model = inference::config_for_dataset(d, model, 16);
  c.model.layers = 2;
  c.model.dropout = 0.2;
  c.model.dropout_at.activation = !is_graph_task(d.info.task) || d.hetero.empty();
  c.train.batch = 16;
  c.train.epochs = 3;
  c.seed = 5;
  return c;
}

std::string bits(const Trainer& t) {
  std::string out = to_json([&] {
    auto p = t.progress();
    for (auto& record : p.history) record.seconds = 0;
    p.seconds = 0;
    return p;
  }());
  for (const auto& [name, array] : t.state().tensors) {
    const auto bytes = array.view().data;
    out += name;
    out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return out;
}

std::string train_all(const TaskData& data, const RunConfig& config) {
  Trainer t(data, config);
  while (!t.finished()) t.run_epoch({});
  return bits(t);
}

// A vocabulary with fewer words than the network has outputs: whatever it says, words that it does
// not know are never right.
TEST(Predictions, UnknownWordsMatchNoOutput) {
  const data::Dataset d = data::generate("functions", {.seed = 1, .size = 0.002});
  constexpr int64_t kWords = 2;
  constexpr int64_t kLength = 3;
  constexpr int64_t kOutputs = 2000;
  const TaskData data(d, "", kWords, kLength);
  ASSERT_EQ(data.vocabulary().words().size(), static_cast<size_t>(kWords));
  const auto stream = data.in_order(Part::kTrain, 1000);
  stream->begin(0, 0);
  const auto batch = stream->next();
  ASSERT_TRUE(batch);
  const auto graphs = static_cast<int64_t>(batch->ids.size());
  double best = 0;
  for (int64_t said = kWords; said < kOutputs; ++said) {
    if (said == data.vocabulary().end()) continue;
    const Tensor output = Tensor::zeros(graphs, kLength * kOutputs, DType::kF32);
    for (int64_t k = said; k < output.size(); k += kOutputs) output.data<float>()[k] = 1;
    train::Predictions predictions(data);
    predictions.add(output, *batch);
    best = std::max(best, predictions.score());
    if (said == 40) said = kOutputs - 2;  // and the last
  }
  EXPECT_EQ(best, 0);
}

TEST(Trainer, LearnsMolecules) {
  const auto d = molecules();
  const TaskData data(d, "");
  RunConfig config = config_for(d);
  config.model.dropout = 0;
  config.train.epochs = 8;
  Trainer t(data, config);
  while (!t.finished()) t.run_epoch({});
  const auto& h = t.progress().history;
  EXPECT_LT(h.back().train_loss, 0.8 * h.front().train_loss);
  // The best network is the one whose validation was reported.
  const auto again = predict_part(t.best(), data, Part::kValid, 7);
  EXPECT_NEAR(again.score(), h[static_cast<size_t>(t.progress().best_epoch) - 1].valid, 1e-6);
}

TEST(Trainer, SameSeedSameBitsForAnyNumberOfThreads) {
  for (const char* name : {"molecules", "pattern", "academic"}) {
    const auto d = data::generate(name, {.seed = 1, .size = 0.01});
    const TaskData data(d, "");
    RunConfig config = config_for(d, d.hetero.empty() ? "egc-m" : "regc");
    config.train.epochs = 2;
    const auto with_threads = [&](int threads) {
      const ThreadCount count(threads);
      return train_all(data, config);
    };
    const std::string one = with_threads(1);
    for (const int threads : {1, 2, 4})
      EXPECT_TRUE(with_threads(threads) == one) << name << ", threads " << threads;
    config.seed = 6;
    EXPECT_FALSE(train_all(data, config) == one) << name;
  }
}

TEST(Trainer, StoppedAfterAnyBatchItGoesOnToTheBit) {
  const auto d = molecules();
  const TaskData data(d, "");
  RunConfig config = config_for(d);
  for (const bool by_step : {false, true}) {
    if (by_step) {
      config.train.optimizer = train::Optimizer::kAdamW;
      config.train.wd = 0.1;
      config.train.schedule = train::Schedule::kCosine;
      config.train.warmup_epochs = 1;
    }
    const std::string through = train_all(data, config);
    const auto batches = static_cast<int64_t>(
        data.shuffled(Part::kTrain, config.train.batch, config.seed)->num_batches());
    for (int64_t stop = 1; stop <= 3 * batches; ++stop) {
      Trainer first(data, config);
      int64_t steps = 0;
      while (!first.finished() &&
             first.run_epoch([&](const Trainer::Step&) { return ++steps != stop; })) {
      }
      Trainer second(data, config);
      second.load(first.state(), "state");
      while (!second.finished()) second.run_epoch({});
      ASSERT_TRUE(bits(second) == through) << "stopped after batch " << stop;
    }
  }
}

TEST(Trainer, OptimizerAndScheduleAreThoseOfTheConfiguration) {
  const auto d = molecules();
  const TaskData data(d, "");
  RunConfig config = config_for(d);
  config.train.wd = 0.1;
  const std::string adam = train_all(data, config);
  config.train.optimizer = train::Optimizer::kAdamW;
  EXPECT_NE(train_all(data, config), adam);
  config.train.schedule = train::Schedule::kCosine;
  config.train.warmup_epochs = 1;
  config.train.epochs = 4;
  Trainer t(data, config);
  while (!t.finished()) t.run_epoch({});
  // An epoch's rate is that of its last step.
  const auto batches =
      static_cast<double>(data.shuffled(Part::kTrain, config.train.batch, 0)->num_batches());
  const auto& h = t.progress().history;
  ASSERT_EQ(h.size(), 4U);
  EXPECT_DOUBLE_EQ(h[0].lr, config.train.lr);
  for (int epoch = 1; epoch < 4; ++epoch) {
    const double done = (epoch * batches - 1) / (3 * batches);
    EXPECT_NEAR(h[epoch].lr, config.train.lr * (1 + std::cos(M_PI * done)) / 2, 1e-12) << epoch;
  }
}

TEST(Trainer, DroppedEdgesAndNodesDependOnTheStepAlone) {
  for (const char* name : {"molecules", "pattern", "academic"}) {
    const auto d = data::generate(name, {.seed = 1, .size = 0.01});
    const TaskData data(d, "");
    RunConfig config = config_for(d, d.hetero.empty() ? "egc-s" : "regc");
    config.train.epochs = 2;
    const std::string whole = train_all(data, config);
    config.train.drop_edges = 0.3;
    const std::string fewer_edges = train_all(data, config);
    EXPECT_NE(fewer_edges, whole) << name;
    EXPECT_EQ(train_all(data, config), fewer_edges) << name;
    config.train.drop_nodes = 0.2;
    if (!d.hetero.empty()) {
      expect_error(ErrorKind::kUsage, {"single node type"}, [&] { train_all(data, config); });
      continue;
    }
    const std::string fewer_nodes = train_all(data, config);
    EXPECT_NE(fewer_nodes, fewer_edges) << name;
    EXPECT_EQ(train_all(data, config), fewer_nodes) << name;
    // Stopped within an epoch, another trainer goes on with the same draws.
    Trainer first(data, config);
    first.run_epoch([](const Trainer::Step& step) { return step.batch < 2; });
    Trainer second(data, config);
    second.load(first.state(), "test");
    while (!second.finished()) second.run_epoch({});
    EXPECT_EQ(bits(second), fewer_nodes) << name;
  }
}

TEST(Trainer, ThePenaltyOfAggregatorsIsThatOfTheirNorms) {
  const auto d = molecules();
  const auto config = config_for(d);
  const auto network = models::make_network(config.model);
  Rng rng(1);
  network->reset_parameters(rng);
  const std::vector<nn::EgcConv*> convs = network->modules<nn::EgcConv>();
  ASSERT_EQ(convs.size(), 2U);
  // Weights [H * A * B, F] and biases [H * A * B], in double, with the aggregator of each number.
  std::vector<nn::ParameterPtr> parameters;
  std::vector<Tensor> values;
  std::vector<std::vector<size_t>> aggregators;
  for (const nn::EgcConv* conv : convs)
    for (const nn::ParameterPtr& p : {conv->comb_weight, conv->comb_bias}) {
      const int64_t terms = conv->options.heads * 3 * conv->options.bases;
      ASSERT_EQ(p->value.size() % terms, 0);
      auto& of = aggregators.emplace_back();
      for (int64_t k = 0; k < p->value.size(); ++k)
        of.push_back(static_cast<size_t>(k / (p->value.size() / terms) / conv->options.bases % 3));
      parameters.push_back(p);
      p->value.copy_from(testing::random_tensor(p->value.rows(), p->value.columns(), of.size()));
      values.push_back(p->value.to(DType::kF64));
    }
  const auto penalty = [&] {
    double squares[3] = {};
    for (size_t p = 0; p < values.size(); ++p)
      for (size_t k = 0; k < aggregators[p].size(); ++k) {
        const double v = values[p].data<double>()[k];
        squares[aggregators[p][k]] += v * v;
      }
    return 0.7 * (std::sqrt(squares[0]) + std::sqrt(squares[1]) + std::sqrt(squares[2]));
  };
  // Added to what is there, and to nothing where there is nothing.
  for (const nn::ParameterPtr& p : parameters)
    p->value.gradient()->add(Tensor::full(p->value.rows(), p->value.columns(), DType::kF32, 1));
  parameters.back()->value.gradient()->take();
  train::add_aggregator_penalty(*network, 0.7);
  EXPECT_FALSE(parameters.back()->grad().defined());
  for (size_t p = 0; p + 1 < values.size(); ++p) {
    const Tensor numeric = testing::numeric_gradient(values[p], penalty, 1e-5);
    for (int64_t k = 0; k < numeric.size(); ++k) numeric.data<double>()[k] += 1;
    EXPECT_TRUE(testing::close(parameters[p]->grad(), numeric, 2e-7)) << p;
  }
  RunConfig gcn = config_for(d, "gcn");
  gcn.train.aggregator_sparsity = 0.1;
  const TaskData data(d, "");
  expect_error(ErrorKind::kUsage, {"EGC", "gcn"}, [&] { train_all(data, gcn); });
}

TEST(Trainer, ALossThatIsNoNumberNamesEpochAndBatch) {
  const auto d = molecules();
  const TaskData data(d, "");
  RunConfig config = config_for(d);
  config.train.lr = 1e30;
  Trainer t(data, config);
  expect_error(ErrorKind::kVerification, {"epoch 1", "batch 2 of", "learning rate"},
               [&] { t.run_epoch({}); });
}

TEST(Trainer, WatchesTheLossOrTheMetricOfTheDataset) {
  const auto d = molecules();
  const TaskData data(d, "");
  RunConfig config = config_for(d);
  config.train.monitor = "rocauc";
  expect_error(ErrorKind::kUsage, {"\"loss\" or \"mae\"", "rocauc"},
               [&] { Trainer t(data, config); });
  config.train.monitor = "loss";
  Trainer t(data, config);
  t.run_epoch({});
  EXPECT_EQ(t.progress().best, t.progress().history[0].valid_loss);
}

TEST(Trainer, PnaGetsTheDegreesOfTheTrainingGraphs) {
  const auto d = molecules();
  const TaskData data(d, "");
  RunConfig config = config_for(d, "pna");
  const Trainer t(data, config);
  EXPECT_NEAR(t.config().model.mean_log_degree.value(), data.mean_log_degree(), 1e-12);
  EXPECT_GT(data.mean_log_degree(), std::log(2.0));
  EXPECT_LT(data.mean_log_degree(), std::log(5.0));
}

TEST(Trainer, AStateOfAnotherNetworkIsRefused) {
  const auto d = molecules();
  const TaskData data(d, "");
  RunConfig config = config_for(d);
  const Trainer a(data, config);
  config.model.hidden = 32;
  Trainer b(data, config);
  expect_error(ErrorKind::kModel, {"state"}, [&] { b.load(a.state(), "state"); });
  auto state = a.state();
  state.tensors["other.x"] = state.tensors.begin()->second;
  Trainer c(data, a.config());
  expect_error(ErrorKind::kModel, {"other.x"}, [&] { c.load(state, "state"); });
}

}  // namespace
}  // namespace egc
