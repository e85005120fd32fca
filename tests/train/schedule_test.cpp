// The cosine schedule: numbers of its definition, steps with AdamW, what goes with it and what does
// not.
#include "egc/train/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "egc/core/error.h"
#include "egc/train/adam.h"
#include "tests/core/expect_error.h"
#include "tests/tensor/tensors.h"

namespace egc {
namespace {

using testing::expect_error;
using train::check_config;
using train::learning_rate;
using train::Optimizer;
using train::parse_train_config;
using train::Progress;
using train::Schedule;
using train::TrainConfig;

TrainConfig cosine(int64_t epochs, int64_t warmup) {
  TrainConfig c;
  c.lr = 0.3;
  c.epochs = epochs;
  c.schedule = Schedule::kCosine;
  c.warmup_epochs = warmup;
  return c;
}

// Of all steps, as a run takes them.
std::vector<double> rates_of(const TrainConfig& config, int64_t batches) {
  std::vector<double> out;
  Progress progress;
  progress.lr = config.lr;
  for (int64_t epoch = 1; epoch <= config.epochs; ++epoch) {
    for (int64_t batch = 0; batch < batches; ++batch)
      out.push_back(learning_rate(config, progress, batch, batches));
    train::EpochRecord record;
    record.epoch = epoch;
    finish_epoch(progress, config, record, 1, false);  // never better: a plateau
  }
  return out;
}

TEST(Schedule, CosineIsItsDefinition) {
  // Quarters of half a cosine: 1, (1 + sqrt(1/2)) / 2, 1/2, (1 - sqrt(1/2)) / 2.
  const double high = 0.3 * 0.8535533905932737;
  const double low = 0.3 * 0.1464466094067262;
  const auto expect = [](const std::vector<double>& got, const std::vector<double>& want) {
    ASSERT_EQ(got.size(), want.size());
    for (size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], want[k], 1e-15) << k;
  };
  expect(rates_of(cosine(2, 0), 2), {0.3, high, 0.15, low});
  expect(rates_of(cosine(4, 0), 1), {0.3, high, 0.15, low});
  // Four steps of warm-up, then the same.
  expect(rates_of(cosine(4, 2), 2), {0.075, 0.15, 0.225, 0.3, 0.3, high, 0.15, low});
}

TEST(Schedule, PlateauDoesNotDependOnTheStep) {
  TrainConfig c;
  c.lr = 0.25;
  Progress p;
  p.lr = 0.125;
  EXPECT_EQ(learning_rate(c, p, 3, 7), 0.125);
}

// Two parameters and a made-up gradient, step by step after the papers: the definitions of AdamW
// and of the schedule, in double, from no code of the library.
TEST(Schedule, AdamWWithCosineStepsAsDefined) {
  constexpr double kLr = 0.02, kDecay = 0.1, kBeta1 = 0.9, kBeta2 = 0.999, kEps = 1e-8;
  constexpr int kEpochs = 5, kWarmup = 2, kBatches = 4;
  const auto gradient = [](double p, int step, int k) { return p * (k + 1) + std::sin(step + k); };
  std::vector<double> p = {1.5, -0.7}, m(2), v(2);
  const auto value = Tensor::empty(1, 2, DType::kF32).with_gradient();
  for (int k = 0; k < 2; ++k) value.data<float>()[k] = static_cast<float>(p[k]);
  const auto parameter = std::make_shared<nn::Parameter>(nn::Parameter{{2}, value});
  train::Adam adam({parameter}, {.wd = kDecay, .decoupled = true});
  TrainConfig config = cosine(kEpochs, kWarmup);
  config.lr = kLr;
  const std::vector<double> rates = rates_of(config, kBatches);
  for (int step = 0; step < kEpochs * kBatches; ++step) {
    const Tensor g = Tensor::empty(1, 2, DType::kF32);
    for (int k = 0; k < 2; ++k)
      g.data<float>()[k] = static_cast<float>(gradient(value.data<float>()[k], step, k));
    value.gradient()->add(g);
    adam.step(rates[step]);
    constexpr int kRise = kWarmup * kBatches;
    const double lr =
        step < kRise
            ? kLr * (step + 1) / kRise
            : kLr / 2 * (1 + std::cos(M_PI * (step - kRise) / (kEpochs * kBatches - kRise)));
    for (int k = 0; k < 2; ++k) {
      const double d = gradient(p[k], step, k);
      p[k] -= lr * kDecay * p[k];
      m[k] = kBeta1 * m[k] + (1 - kBeta1) * d;
      v[k] = kBeta2 * v[k] + (1 - kBeta2) * d * d;
      const double m_hat = m[k] / (1 - std::pow(kBeta1, step + 1));
      const double v_hat = v[k] / (1 - std::pow(kBeta2, step + 1));
      p[k] -= lr * m_hat / (std::sqrt(v_hat) + kEps);
    }
  }
  for (int k = 0; k < 2; ++k) EXPECT_NEAR(value.data<float>()[k], p[k], 2e-6) << k;
}

TEST(Schedule, CosineStopsEarlyOnlyWhenAsked) {
  const auto parse = [](const char* text) { return parse_train_config(text, "here"); };
  EXPECT_EQ(parse(R"({})").patience, 20);
  EXPECT_EQ(parse(R"({"schedule":"cosine"})").patience, 0);
  EXPECT_EQ(parse(R"({"schedule":"cosine","patience":7})").patience, 7);
  EXPECT_EQ(parse(R"({"schedule":"cosine","early_stop":7})").patience, 7);
  TrainConfig c;  // as the defaults by task have it
  c.patience = 100;
  c.lr_patience = 25;
  train::override_fields(c, R"({"schedule":"cosine","warmup_epochs":3})");
  EXPECT_EQ(c.patience, 0);
  EXPECT_NO_THROW(check_config(c));
  c.patience = 9;  // of a file; choosing its schedule again changes nothing
  train::override_fields(c, R"({"schedule":"cosine"})");
  EXPECT_EQ(c.patience, 9);
  train::override_fields(c, R"({"patience":4})");
  EXPECT_EQ(c.patience, 4);
}

TEST(Schedule, FieldsComeBack) {
  TrainConfig c = cosine(50, 5);
  c.optimizer = Optimizer::kAdamW;
  c.patience = 0;
  EXPECT_EQ(parse_train_config(to_json(c), "here"), c);
  c.patience = 13;
  EXPECT_EQ(parse_train_config(to_json(c), "here"), c);
  EXPECT_EQ(parse_train_config(to_json(TrainConfig()), "here"), TrainConfig());
}

TEST(Schedule, ContradictionsAreRefused) {
  const auto refused = [](const char* text, std::initializer_list<std::string> parts) {
    SCOPED_TRACE(text);
    expect_error(ErrorKind::kUsage, parts, [&] { parse_train_config(text, "here"); });
  };
  refused(R"({"warmup_epochs":3})", {"here", "warmup_epochs needs the schedule \"cosine\""});
  refused(R"({"schedule":"cosine","warmup_epochs":-1})", {"warmup_epochs must be from 0 to 199"});
  refused(R"({"schedule":"cosine","epochs":5,"warmup_epochs":5})", {"from 0 to 4", "got 5"});
  refused(R"({"schedule":"cosine","lr_patience":5})", {"lr_patience has no effect", "plateau"});
  refused(R"({"schedule":"cosine","lr_factor":0.1})", {"lr_factor has no effect"});
  refused(R"({"schedule":"cosine","min_lr":0.001})", {"min_lr has no effect"});
  refused(R"({"schedule":"step"})", {"unknown schedule \"step\"", "known: plateau, cosine"});
  refused(R"({"optimizer":"sgd"})", {"unknown optimizer \"sgd\"", "known: adam, adamw"});
  refused(R"({"optimizer":1})", {"\"optimizer\" must be a string"});
}

}  // namespace
}  // namespace egc
