// The models that come with the sources, which earlier versions of the program wrote: they load,
// come back to the bit, and have the scores that were measured when they were made.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "egc/data/raw/read_dataset.h"
#include "egc/inference/model.h"
#include "egc/models/model_file.h"
#include "egc/train/evaluate.h"
#include "egc/train/run_config.h"
#include "tests/tensor/arrays.h"

namespace egc {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

fs::path shipped(const std::string& name) {
  return fs::path(EGC_SOURCE_DIR "/pretrained") / (name + ".safetensors");
}

struct Shipped {
  const char* name;
  int64_t parameters;
};
constexpr Shipped kShipped[] = {{"zinc-egc-s", 102861},
                                {"zinc-egc-m", 100385},
                                {"molhiv-egc-s", 323509},
                                {"molhiv-egc-m", 317265},
                                {"pattern-egc-m", 102602}};

TEST(Pretrained, FilesOfEarlierVersionsComeBackToTheBit) {
  for (const Shipped& model : kShipped) {
    SCOPED_TRACE(model.name);
    const auto first = models::load_network(shipped(model.name));
    EXPECT_EQ(first.network->num_parameters(), model.parameters);
    EXPECT_EQ(first.network->dtype(), DType::kF32);
    // All tensors of the file are there, in the types that are computed with.
    const SafetensorsFile file(shipped(model.name));
    State stored;
    for (const auto& [name, view] : file.tensors()) {
      const NdArray array(view);
      stored[name] = array.dtype() == DType::kF16 ? array.to(DType::kF32) : array;
    }
    testing::expect_same_state(first.network->state(), stored);

    const fs::path copy =
        fs::path(::testing::TempDir()) / fmt::format("egc_{}_{}", getpid(), model.name);
    models::save_network(copy, *first.network, first.notes);
    const auto second = models::load_network(copy);
    fs::remove(copy);
    EXPECT_EQ(second.notes, first.notes);
    EXPECT_EQ(second.network->config(), first.network->config());
    testing::expect_same_state(second.network->state(), stored);
  }
}

// Where $EGC_DATA leads to their datasets.
void expect_scores(const std::string& folder, double tolerance,
                   std::initializer_list<const char*> names) {
  const char* root = std::getenv("EGC_DATA");
  if (root == nullptr || !fs::is_directory(fs::path(root) / folder / "raw"))
    GTEST_SKIP() << "$EGC_DATA has no " << folder << " with raw/";
  const data::Dataset dataset = data::read_dataset(fs::path(root) / folder, {.cache = false});
  for (const char* name : names) {
    inference::Model model = inference::Model::load(shipped(name));
    const Json measured = Json::parse(model.notes().at("metrics"));
    const train::TaskData data(model.prepare(dataset), train::training_of(model.notes()).split,
                               model.vocabulary());
    for (const auto& [part, key] :
         {std::pair{train::Part::kValid, "valid"}, {train::Part::kTest, "test"}})
      EXPECT_NEAR(train::predict_part(model.network(), data, part, 256).score(),
                  measured.at(key).get<double>(), tolerance)
          << name << " " << key;
  }
}

TEST(Pretrained, ScoresOnZinc) { expect_scores("zinc12k", 1e-6, {"zinc-egc-s", "zinc-egc-m"}); }

// They were measured before the weights were rounded to half precision.
TEST(Pretrained, ScoresOnMolhiv) {
  expect_scores("ogbg_molhiv", 6e-5, {"molhiv-egc-s", "molhiv-egc-m"});
}

}  // namespace
}  // namespace egc
