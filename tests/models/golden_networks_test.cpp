// The paper's whole networks against the authors' release: evaluation, and the losses of twelve
// Adam steps.
//
// Evaluation is compared in float32, as the files were made. Twelve steps of Adam are chaotic: a
// ReLU or a max near its kink, and Adam makes a full step of a gradient that was nearly nothing.
// From parameters changed by 1e-7, losses part by up to 1e-2. So the steps are made from the file's
// parameters in float64 and float32 and, where those runs took another branch, from parameters that
// float32 can hardly tell from the file's: one run must follow the file to 1e-4 all the way.
//
// Where std is among the aggregators the files cannot be followed for more than two steps: the
// other implementation takes the variance as E[x^2] - E[x]^2 in float32 under a square root next to
// 0, which leaves noise of 1e-4 in its own gradients.
#include <gtest/gtest.h>
#include <torch/optim/adam.h>

#include <nlohmann/json.hpp>

#include "egc/exchange/foreign_state.h"
#include "egc/kernels/target.h"
#include "egc/models/network.h"
#include "egc/nn/pna_conv.h"
#include "egc/train/run_config.h"
#include "tests/nn/golden_files.h"

namespace egc {
namespace {

using models::ModelConfig;
using models::ModelInput;
using models::Task;
using testing::golden_files;
using testing::golden_files_are_ours;
using testing::golden_name;

// The shipped configuration, with what the file changes about it.
ModelConfig config_of(const std::map<std::string, std::string>& meta) {
  std::string model = meta.at("model");
  std::string activation;
  for (const char* name : {"softmax", "sigmoid"})
    if (const auto at = model.find(std::string("-") + name); at != std::string::npos) {
      activation = name;
      model.resize(at);
    }
  ModelConfig c = train::read_model_config(std::string(EGC_SOURCE_DIR) + "/configs/" +
                                           meta.at("task") + "/" + model + ".json");
  c.dropout = 0;
  if (!activation.empty()) c.activation = nn::parse_weight_activation(activation);
  if (meta.contains("aggregators"))
    c.aggregators = parse_aggregators(nlohmann::json::parse(meta.at("aggregators")));
  if (meta.contains("degree_histogram") && c.model == "pna")
    c.mean_log_degree = nn::mean_log_degree(nlohmann::json::parse(meta.at("degree_histogram")));
  return c;
}

struct GoldenBatch {
  ModelInput input;
  at::Tensor y;
};

std::vector<GoldenBatch> batches_of(const SafetensorsFile& file) {
  std::vector<GoldenBatch> batches;
  for (int k = 0; file.has("batch" + std::to_string(k) + ".x"); ++k) {
    const auto get = [&](const std::string& name) {
      return nn::to_tensor(file.at("batch" + std::to_string(k) + "." + name));
    };
    GoldenBatch b;
    b.input.x = get("x");
    b.y = get("y");
    b.input.graph = testing::graph_of(get("edge_index"), b.input.x.size(0));
    if (file.has("batch" + std::to_string(k) + ".graph")) {
      const at::Tensor graph = get("graph");
      b.input.first_node.assign(b.y.size(0) + 1, 0);
      for (int64_t i = 0; i < graph.size(0); ++i)
        ++b.input.first_node[graph[i].item<int64_t>() + 1];
      for (int64_t g = 0; g < b.y.size(0); ++g) b.input.first_node[g + 1] += b.input.first_node[g];
    }
    batches.push_back(std::move(b));
  }
  return batches;
}

at::Tensor loss_of(Task task, const at::Tensor& out, const at::Tensor& y) {
  if (task == Task::kGraphRegression) return at::l1_loss(out.view(-1), y);
  if (task == Task::kGraphClassification) return at::cross_entropy_loss(out, y);
  return at::nll_loss(out, y);
}

struct Golden {
  explicit Golden(const std::string& path)
      : file(path), config(config_of(file.metadata())), batches(batches_of(file)) {}

  std::shared_ptr<models::Network> network(at::ScalarType type) const {
    const auto made = models::make_network(config);
    nn::load_state(*made, exchange::network_state(config, testing::tensors_under(file, "state0.")),
                   "golden");
    made->to(type);
    return made;
  }

  GoldenBatch batch(size_t step, at::ScalarType type) const {
    GoldenBatch b = batches[step % batches.size()];
    if (b.input.x.is_floating_point()) b.input.x = b.input.x.to(type);
    if (b.y.is_floating_point()) b.y = b.y.to(type);
    return b;
  }

  at::Tensor loss(models::Network& net, size_t step, at::ScalarType type) const {
    const GoldenBatch b = batch(step, type);
    return loss_of(config.task, net.forward(b.input), b.y);
  }

  // How many steps from state0, with its parameters changed by `change`, follow the losses to 1e-4.
  int64_t steps_that_agree(at::ScalarType type, double change) const {
    const at::Tensor expected = nn::to_tensor(file.at("out.losses"));
    const auto net = network(type);
    if (change > 0) {
      at::NoGradGuard no_grad;
      for (at::Tensor p : net->parameters()) p.mul_(1 + change * at::randn_like(p));
    }
    const auto& meta = file.metadata();
    torch::optim::Adam adam(
        net->parameters(),
        torch::optim::AdamOptions(std::stod(meta.at("lr"))).weight_decay(std::stod(meta.at("wd"))));
    for (int64_t step = 0; step < expected.size(0); ++step) {
      adam.zero_grad();
      const at::Tensor l = loss(*net, static_cast<size_t>(step), type);
      const double want = expected[step].item<double>();
      if (std::abs(l.item<double>() - want) > 1e-4 * std::abs(want)) return step;
      l.backward();
      adam.step();
    }
    return expected.size(0);
  }

  SafetensorsFile file;
  ModelConfig config;
  std::vector<GoldenBatch> batches;
};

class GoldenNetworkTest : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenNetworkTest, Evaluation) {
  const Golden golden(GetParam());
  ASSERT_FALSE(golden.batches.empty());
  const auto network = golden.network(at::kFloat);
  EXPECT_EQ(std::to_string(network->num_parameters()), golden.file.metadata().at("parameters"));
  const at::Tensor expected = nn::to_tensor(golden.file.at("out.eval0"));
  network->eval();
  for (const std::string& target : kernels::available_targets()) {
    kernels::force_target(target);
    const at::Tensor plain = network->forward(golden.batches[0].input);
    EXPECT_LE(testing::relative_difference(plain, expected), 1e-5) << target;
    at::NoGradGuard no_grad;  // with everything folded into the layers
    const at::Tensor folded = network->forward(golden.batches[0].input);
    EXPECT_LE(testing::relative_difference(folded, expected), 1e-5) << target;
  }
  kernels::force_target("");
}

TEST_P(GoldenNetworkTest, LossesOfTwelveSteps) {
  const Golden golden(GetParam());
  const auto& aggregators = golden.config.aggregators;
  const bool noisy = aggregators && aggregators->has(Aggregator::kStd);
  const int64_t wanted = noisy ? 2 : 12;
  at::manual_seed(0);
  int64_t best = 0;
  for (int attempt = 0; attempt < 400 && best < wanted; ++attempt) {
    const auto type = attempt % 2 == 0 ? at::kDouble : at::kFloat;
    const double change = attempt < 2 ? 0.0 : attempt % 4 < 2 ? 3e-7 : 1e-6;
    best = std::max(best, golden.steps_that_agree(type, change));
  }
  EXPECT_GE(best, wanted);
}

INSTANTIATE_TEST_SUITE_P(Networks, GoldenNetworkTest,
                         ::testing::ValuesIn(golden_files({"zinc_", "cifar10_", "arxiv_"})),
                         [](const auto& info) { return golden_name(info.param); });

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GoldenNetworkTest);

TEST(GoldenFiles, NetworksAreThere) {
  if (!golden_files_are_ours()) return;
  EXPECT_GE(golden_files({"zinc_", "cifar10_", "arxiv_"}).size(), 7U);
}

}  // namespace
}  // namespace egc
