// A run in its directory: what is left when training goes wrong.
#include "egc/train/run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "egc/core/error.h"
#include "egc/data/generate/generators.h"
#include "egc/inference/dataset_fit.h"
#include "egc/train/checkpoint.h"
#include "tests/core/expect_error.h"
#include "tests/tensor/tensors.h"

namespace egc {
namespace {

using testing::expect_error;

// Spoils the network after an epoch.
class Spoiler : public train::RunObserver {
 public:
  explicit Spoiler(int64_t after) : after_(after) {}
  void on_start(train::Trainer& trainer) override { trainer_ = &trainer; }
  void on_epoch(const train::EpochRecord& record, bool /*best*/) override {
    if (record.epoch == after_) trainer_->network().parameters()[0]->value.fill(std::nan(""));
  }

 private:
  int64_t after_;
  train::Trainer* trainer_ = nullptr;
};

TEST(Run, ALossThatIsNoNumberKeepsTheLastGoodCheckpoint) {
  std::string path = ::testing::TempDir() + "/egc_run_XXXXXX";
  ASSERT_NE(mkdtemp(path.data()), nullptr);
  const auto dataset = data::generate("molecules", {.seed = 1, .size = 0.02});
  const train::TaskData data(dataset, "");
  train::RunConfig config;
  config.model = inference::config_for_dataset(dataset, "gcn", 16);
  config.train.epochs = 4;
  {
    const auto dir = train::RunDirectory::create(path);
    Spoiler spoiler(2);
    expect_error(ErrorKind::kVerification, {"epoch 3, batch 1"},
                 [&] { train::run_training(&dir, data, config, {}, spoiler); });
    train::Trainer trainer(data, config);
    train::load_checkpoint(dir.checkpoint(), trainer);
    EXPECT_EQ(trainer.progress().epochs_done(), 2);
    for (const nn::ParameterPtr& p : trainer.network().parameters())
      EXPECT_TRUE(testing::all_finite(p->value));
    // And from there it goes on to the end.
    train::RunObserver quiet;
    EXPECT_EQ(train::run_training(&dir, data, config, {}, quiet).epochs, 4);
  }
  std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace egc
