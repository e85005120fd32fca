// Networks that read encodings of nodes: in training, evaluation and prediction.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "egc/data/encodings.h"
#include "egc/data/generate/generators.h"
#include "egc/data/slice.h"
#include "egc/inference/batch_stream.h"
#include "egc/inference/dataset_fit.h"
#include "egc/inference/model.h"
#include "egc/train/encoding_signs.h"
#include "egc/train/sampling.h"
#include "egc/train/trainer.h"
#include "tests/core/expect_error.h"
#include "tests/core/thread_count.h"
#include "tests/tensor/tensors.h"

namespace egc {
namespace {

using testing::expect_error;
using train::Part;
using train::RunConfig;
using train::TaskData;
using train::Trainer;
using Names = std::vector<std::string>;

const Names kEncode = {"degree", "laplacian:3", "rwse:6"};

data::Dataset molecules() { return data::generate("molecules", {.seed = 1, .size = 0.015}); }

RunConfig config_for(const data::Dataset& d, const Names& encode = kEncode) {
  RunConfig c;
  c.model = inference::config_for_dataset(d, "egc-s", 16);
  c.model.layers = 2;
  c.model.encode = encode;
  c.train.batch = 16;
  c.train.epochs = 3;
  c.seed = 5;
  return c;
}

std::string bits(const Trainer& t) {
  std::string out;
  for (const auto& [name, array] : t.state().tensors) {
    const auto bytes = array.view().data;
    out.append(name).append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return out;
}

std::string train_all(const TaskData& data, const RunConfig& config) {
  Trainer t(data, config);
  while (!t.finished()) t.run_epoch({});
  return bits(t);
}

TEST(TrainedEncodings, MissingOnesAreNamedOnce) {
  const auto d = molecules();
  const TaskData data(d, "");
  Trainer t(data, config_for(d));
  expect_error(ErrorKind::kUsage,
               {"degree, laplacian:3, rwse:6", "10 columns", "got none", "with_encodings"},
               [&] { t.run_epoch({}); });
  const TaskData fewer(data::with_encodings(d, {"degree"}), "");
  Trainer u(fewer, config_for(d, {"rwse:6"}));
  expect_error(ErrorKind::kUsage, {"rwse:6", "6 columns", ", 1]"}, [&] { u.run_epoch({}); });
}

TEST(TrainedEncodings, MakeADifference) {
  const auto d = molecules();
  RunConfig config = config_for(d);
  const TaskData data(data::with_encodings(d, kEncode), "");
  Trainer t(data, config);
  const State state = t.network().state();
  for (const char* name : {"encoding.norm.weight", "encoding.norm.running_var",
                           "encoding.lin.weight", "encoding.lin.bias"})
    EXPECT_TRUE(state.contains(name)) << name;
  EXPECT_EQ(state.at("encoding.lin.weight").shape(), (std::vector<int64_t>{16, 10}));
  const double before = state.at("encoding.lin.weight").to_tensor(DType::kF64).item(0, 0);
  t.run_epoch({});
  EXPECT_NE(t.network().state().at("encoding.lin.weight").to_tensor(DType::kF64).item(0, 0),
            before);
}

TEST(TrainedEncodings, SameBitsForAnyNumberOfThreads) {
  const auto d = molecules();
  const TaskData data(data::with_encodings(d, kEncode), "");
  std::string first;
  for (const int threads : {1, 2, 4}) {
    const testing::ThreadCount count(threads);
    const std::string now = train_all(data, config_for(d));
    if (first.empty()) first = now;
    EXPECT_TRUE(now == first) << threads;
  }
}

TEST(TrainedEncodings, StoppedAfterAnyBatchItGoesOnToTheBit) {
  const auto d = molecules();
  const TaskData data(data::with_encodings(d, kEncode), "");
  const RunConfig config = config_for(d);
  const std::string through = train_all(data, config);
  const int64_t batches =
      data.shuffled(Part::kTrain, config.train.batch, config.seed)->num_batches();
  for (int64_t stop = 1; stop <= 2 * batches; stop += 2) {
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

// Every column of every graph of a batch as its sign against the dataset's: 1, -1, or 0 where it is
// neither.
std::map<std::pair<int64_t, int64_t>, int> signs_of(const data::Dataset& d,
                                                    const inference::BatchTensors& batch) {
  std::map<std::pair<int64_t, int64_t>, int> out;
  const Tensor& p = batch.input.encodings;
  for (size_t g = 0; g < batch.ids.size(); ++g)
    for (int64_t c = 0; c < p.columns(); ++c) {
      bool kept = true;
      bool turned = true;
      for (int64_t i = batch.input.first_node[g]; i < batch.input.first_node[g + 1]; ++i) {
        const float before =
            d.encodings.at(d.first_node[batch.ids[g]] + i - batch.input.first_node[g], c);
        const float after = p.data<float>()[i * p.columns() + c];
        kept = kept && after == before;
        turned = turned && after == -before;
      }
      out[{batch.ids[g], c}] = kept ? 1 : turned ? -1 : 0;
    }
  return out;
}

TEST(EncodingSigns, AreOfTheEigenvectorsByGraphAndEpoch) {
  const auto d = data::with_encodings(molecules(), kEncode);
  const data::GraphStore store(d);
  const auto drawn = [&](const std::vector<int64_t>& ids, uint64_t seed, int64_t epoch) {
    auto batch = inference::to_tensors(store.batch(ids));
    train::draw_signs(batch, kEncode, seed, epoch);
    return signs_of(d, batch);
  };
  std::vector<int64_t> ids(60);
  for (size_t k = 0; k < ids.size(); ++k) ids[k] = static_cast<int64_t>(3 * k);
  const auto first = drawn(ids, 1, 1);
  int turned = 0;
  for (const auto& [place, sign] : first) {
    EXPECT_NE(sign, 0) << place.first << ", " << place.second;
    const bool eigenvector = place.second >= 1 && place.second < 4;
    if (!eigenvector) {
      EXPECT_EQ(sign, 1) << place.second;
    }
    turned += sign < 0 ? 1 : 0;
  }
  EXPECT_GT(turned, 60);
  EXPECT_LT(turned, 120);
  EXPECT_EQ(drawn(ids, 1, 1), first);
  EXPECT_NE(drawn(ids, 1, 2), first);
  EXPECT_NE(drawn(ids, 2, 1), first);
  // In whatever batch a graph is.
  for (const auto& [place, sign] : drawn({30, 3}, 1, 1)) EXPECT_EQ(sign, first.at(place));
}

TEST(EncodingSigns, OfOneGraphAreDrawnAnewFromTheSameNumbers) {
  auto d = data::generate("arxiv-like", {.seed = 1, .size = 0.005});
  d = data::with_encodings(d, {"laplacian:8"});
  const TaskData data(d, "");
  RunConfig config = config_for(d, {"laplacian:8"});
  config.model.encoder = models::Encoder::kLinear;
  Trainer t(data, config);
  t.run_epoch({});
  t.run_epoch({});
  // The kept batch is what it was.
  const auto whole = data.in_order(Part::kTrain, 1);
  whole->begin(0, 0);
  const auto batch = whole->next();
  ASSERT_TRUE(batch.has_value());
  EXPECT_TRUE(std::equal(d.encodings.values.begin(), d.encodings.values.end(),
                         batch->input.encodings.data<float>()));
  auto turned = *batch;
  train::draw_signs(turned, {"laplacian:8"}, 1, 3);
  EXPECT_FALSE(testing::same_bits(turned.input.encodings, batch->input.encodings));
}

TEST(EncodingSampling, RowsStayWithTheirNodes) {
  const auto plain = molecules();
  const auto d = data::with_encodings(plain, {"rwse:6"});
  const data::GraphStore store(d);
  const std::vector<int64_t> ids = {4, 9, 2};
  train::TrainConfig config;
  config.drop_nodes = 0.4;
  const auto whole = inference::to_tensors(store.batch(ids));
  // The nodes that are kept, by features that are their numbers.
  std::vector<float> numbers(static_cast<size_t>(whole.input.encodings.rows()));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  auto numbered = whole;
  numbered.input.categories = {};
  numbered.input.x = Tensor::borrow(numbers.data(), std::ssize(numbers), 1, nullptr);
  const auto kept = train::sample(numbered, config, d.info.task, Rng(3));
  ASSERT_LT(kept.input.x.rows(), whole.input.encodings.rows());
  ASSERT_EQ(kept.input.encodings.rows(), kept.input.x.rows());
  for (int64_t i = 0; i < kept.input.x.rows(); ++i)
    for (int64_t c = 0; c < 6; ++c)
      EXPECT_EQ(kept.input.encodings.item(i, c),
                whole.input.encodings.item(static_cast<int64_t>(kept.input.x.item(i, 0)), c));
}

// A model file, as a run writes it.
std::string saved_model(const std::string& directory, const TaskData& data, Trainer& trainer) {
  const std::string path = directory + "/model.safetensors";
  models::save_network(path, trainer.network(), {{"dataset", to_json(data.dataset().info)}});
  return path;
}

TEST(EncodingPredictions, AreThoseOfTheEvaluation) {
  std::string directory = ::testing::TempDir() + "/egc_encodings_XXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  const auto d = molecules();
  const TaskData data(data::with_encodings(d, kEncode), "");
  Trainer trainer(data, config_for(d));
  trainer.run_epoch({});
  auto model = inference::Model::load(saved_model(directory, data, trainer));
  // From the graphs alone, whole and in slices.
  const auto whole = model.predict(d, 7);
  std::vector<float> sliced;
  for (int64_t k = 0; k < d.num_graphs(); k += 50) {
    const auto some =
        model.predict(data::slice(d, k, std::min<int64_t>(50, d.num_graphs() - k)), 64);
    sliced.insert(sliced.end(), some.values.begin(), some.values.end());
  }
  ASSERT_EQ(whole.values.size(), sliced.size());
  for (size_t k = 0; k < sliced.size(); ++k) EXPECT_NEAR(whole.values[k], sliced[k], 1e-5);
  // The evaluation's outputs, of the test set.
  const TaskData again(model.prepare(d), "", model.vocabulary());
  const auto stream = again.in_order(Part::kTest, 1000);
  stream->begin(0, 0);
  const auto batch = stream->next();
  Tape tape = Tape::inference();
  const Tensor output = trainer.network().forward(tape, batch->input);
  for (size_t k = 0; k < batch->ids.size(); ++k)
    EXPECT_NEAR(output.item(static_cast<int64_t>(k), 0),
                whole.values[static_cast<size_t>(batch->ids[k])], 1e-5);
  std::filesystem::remove_all(directory);
}

TEST(EncodingPredictions, EnsemblesReadOneListOfEncodings) {
  std::string directory = ::testing::TempDir() + "/egc_encodings_XXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  const auto d = molecules();
  std::vector<std::filesystem::path> paths;
  for (const Names& names : {Names{"rwse:6"}, Names{"rwse:5"}, Names{"rwse:6"}}) {
    const TaskData data(data::with_encodings(d, names), "");
    Trainer trainer(data, config_for(d, names));
    const std::string sub = directory + "/" + std::to_string(paths.size());
    std::filesystem::create_directory(sub);
    paths.emplace_back(saved_model(sub, data, trainer));
  }
  expect_error(ErrorKind::kModel, {"encodings", "rwse:6", "rwse:5", "ensemble"}, [&] {
    inference::Model::load_ensemble({paths[0], paths[1]});
  });
  EXPECT_EQ(inference::Model::load_ensemble({paths[0], paths[2]}).predict(d).rows, d.num_graphs());
  std::filesystem::remove_all(directory);
}

TEST(EncodingPredictions, GraphsThatAreTooLargeAreAnErrorOfTheData) {
  std::string directory = ::testing::TempDir() + "/egc_encodings_XXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  const auto d = data::generate("arxiv-like", {.seed = 1, .size = 0.005});
  const TaskData data(data::with_encodings(d, {"laplacian:2"}), "");
  RunConfig config = config_for(d, {"laplacian:2"});
  config.model.encoder = models::Encoder::kLinear;
  Trainer trainer(data, config);
  auto model = inference::Model::load(saved_model(directory, data, trainer));
  const auto large = data::generate("arxiv-like", {.seed = 1, .size = 0.01});
  expect_error(ErrorKind::kData, {"laplacian", "1000 nodes", "rwse"},
               [&] { model.predict(large); });
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace egc
