// Learning rate, best epoch, early stopping; and that checkpoints keep them exactly.
#include "egc/train/progress.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "egc/core/error.h"
#include "tests/core/expect_error.h"

namespace egc {
namespace {

using testing::expect_error;
using train::EpochRecord;
using train::finish_epoch;
using train::Progress;
using train::TrainConfig;

// Epochs with these watched values; the learning rate after each.
std::vector<double> rates(const TrainConfig& config, const std::vector<double>& watched,
                          bool higher, Progress& p) {
  p.lr = config.lr;
  std::vector<double> out;
  for (const double value : watched) {
    EpochRecord record;
    record.epoch = p.epochs_done() + 1;
    finish_epoch(p, config, record, value, higher);
    out.push_back(p.lr);
  }
  return out;
}

TEST(Progress, TheLearningRateFallsAfterMoreThanPatienceEpochs) {
  TrainConfig config;
  config.lr = 1;
  config.lr_patience = 2;
  config.lr_factor = 0.5;
  config.min_lr = 0.2;
  Progress p;
  // As PyTorch's ReduceLROnPlateau: bad epochs 2, 3, 4; on the third it falls.
  EXPECT_EQ(rates(config, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, false, p),
            (std::vector<double>{1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.2}));
}

TEST(Progress, SmallGainsAreNoneForTheLearningRateButCountAsBest) {
  TrainConfig config;
  config.lr = 1;
  config.lr_patience = 0;
  Progress p;
  EXPECT_EQ(rates(config, {1, 0.99995}, false, p), (std::vector<double>{1, 0.5}));
  EXPECT_EQ(p.best_epoch, 2);
  Progress q;
  EXPECT_EQ(rates(config, {1, 1.00005, 1.2}, true, q), (std::vector<double>{1, 0.5, 0.5}));
  EXPECT_EQ(q.best_epoch, 3);
}

TEST(Progress, TheFirstOfEquallyGoodEpochsIsTheBest) {
  Progress p;
  rates({}, {0.3, 0.5, 0.5, 0.4}, true, p);
  EXPECT_EQ(p.best_epoch, 2);
  EXPECT_EQ(p.best, 0.5);
}

TEST(Progress, StopsEarly) {
  TrainConfig config;
  config.patience = 3;
  config.epochs = 100;
  Progress p;
  rates(config, {5, 4, 4, 4, 4}, false, p);  // three without improvement
  EXPECT_FALSE(is_finished(p, config));
  rates(config, {4}, false, p);
  EXPECT_TRUE(is_finished(p, config));
  config.patience = 0;
  Progress never;
  rates(config, std::vector<double>(99, 1), false, never);
  EXPECT_FALSE(is_finished(never, config));
}

TEST(Progress, JsonKeepsEveryBit) {
  Progress p;
  p.batches = 17;
  p.loss_sum = 0.1 + 0.2;
  p.loss_items = 1e16;
  p.lr = 1.0 / 3;
  p.plateau_best = -0.0;
  p.best_epoch = 1;
  p.best = 5e-324;
  p.history.push_back({1, 1.0 / 7, 2.0 / 7, std::numeric_limits<double>::quiet_NaN(), 1e-300, 0.1});
  const Progress q = train::parse_progress(to_json(p), "here");
  EXPECT_EQ(to_json(q), to_json(p));
  EXPECT_EQ(q.loss_sum, p.loss_sum);
  EXPECT_EQ(q.lr, p.lr);
  EXPECT_EQ(q.best, p.best);
  ASSERT_EQ(q.history.size(), 1U);
  EXPECT_EQ(q.history[0].train_loss, p.history[0].train_loss);
  EXPECT_TRUE(std::isnan(q.history[0].valid));
}

TEST(Progress, NonsenseIsRefused) {
  for (const char* text : {"", "[]", "{}", R"({"batches":"x"})"})
    expect_error(ErrorKind::kModel, {"here"}, [&] { train::parse_progress(text, "here"); });
  Progress fine;
  fine.lr = 1;
  fine.best_epoch = 1;
  fine.history.resize(1);
  fine.history[0].epoch = 1;
  EXPECT_EQ(train::parse_progress(to_json(fine), "here").best_epoch, 1);
  const auto refused = [&](auto change) {
    Progress p = fine;
    change(p);
    expect_error(ErrorKind::kModel, {"inconsistent"},
                 [&] { train::parse_progress(to_json(p), "here"); });
  };
  refused([](Progress& p) { p.best_epoch = 4; });
  refused([](Progress& p) { p.best_epoch = 0; });
  refused([](Progress& p) { p.lr = -1; });
  refused([](Progress& p) { p.lr = std::numeric_limits<double>::quiet_NaN(); });
  refused([](Progress& p) { p.batches = -1; });
  refused([](Progress& p) { p.history[0].epoch = 7; });
  refused([](Progress& p) { p.loss_sum = std::numeric_limits<double>::infinity(); });
  std::string text = to_json(fine);
  text.replace(text.find("\"batches\":0"), 11, "\"batches\":1e300");
  expect_error(ErrorKind::kModel, {"here"}, [&] { train::parse_progress(text, "here"); });
}

TEST(Progress, ALongHistoryIsRead) {
  Progress p;
  p.lr = 1;
  p.best_epoch = 1;
  for (int64_t k = 1; k <= 20000; ++k) p.history.push_back({k, 1, 1, 1, 1, 1});
  EXPECT_EQ(train::parse_progress(to_json(p), "here").epochs_done(), 20000);
}

}  // namespace
}  // namespace egc
