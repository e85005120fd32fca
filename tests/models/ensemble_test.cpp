// Several networks as one: means of values, or of probabilities.
#include "egc/models/ensemble.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/core/expect_error.h"
#include "tests/kernels/random_problem.h"
#include "tests/models/network_inputs.h"
#include "tests/tensor/tensors.h"

namespace egc::models {
namespace {

constexpr int64_t kClasses = 3;

ModelConfig config_of(Task task, int64_t hidden) {
  ModelConfig c;
  c.task = task;
  c.model = "gcn";
  c.hidden = hidden;
  c.layers = 1;
  c.features = 4;
  c.sequence_length = 2;
  c.outputs = task == Task::kGraphRegression || task == Task::kGraphBinary ? 1 : kClasses;
  return c;
}

ModelInput input_of() {
  ModelInput in;
  in.graph = testing::awkward_graph();
  in.x = testing::random_tensor(in.graph.num_targets(), 4, 1, DType::kF32);
  in.first_node = {0, 4, 9, in.graph.num_targets()};
  return in;
}

std::vector<std::shared_ptr<Network>> members_of(Task task, uint64_t count) {
  std::vector<std::shared_ptr<Network>> members;
  for (uint64_t k = 0; k < count; ++k)
    members.push_back(testing::new_network(config_of(task, 8 + 4 * k), k));
  return members;
}

// What a value of the output says, and what of the output says it.
double probability(Task task, const std::vector<double>& row, size_t k) {
  if (task == Task::kGraphRegression) return row[k];
  if (task == Task::kGraphBinary) return 1 / (1 + std::exp(-row[k]));
  double sum = 0;
  for (size_t c = 0; c < kClasses; ++c) sum += std::exp(row[k / kClasses * kClasses + c]);
  return std::exp(row[k]) / sum;
}
double output(Task task, double p) {
  if (task == Task::kGraphRegression) return p;
  return task == Task::kGraphBinary ? std::log(p / (1 - p)) : std::log(p);
}

TEST(Ensemble, IsTheMeanOfWhatItsNetworksSay) {
  const ModelInput in = input_of();
  for (const Task task : {Task::kGraphRegression, Task::kGraphBinary, Task::kGraphClassification,
                          Task::kGraphSequence, Task::kNodeClassification}) {
    const auto members = members_of(task, 3);
    Ensemble ensemble(members);
    const Tensor got = testing::infer(ensemble, in);
    std::vector<double> mean(static_cast<size_t>(got.size()), 0.0);
    for (const auto& member : members) {
      const std::vector<double> said = testing::values_of(testing::infer(*member, in));
      ASSERT_EQ(said.size(), mean.size());
      for (size_t k = 0; k < mean.size(); ++k) mean[k] += probability(task, said, k) / 3;
    }
    for (double& p : mean) p = output(task, p);
    EXPECT_TRUE(testing::close(got, testing::tensor_of(got.rows(), got.columns(), mean), 1e-6))
        << tasks().name_of(task);
  }
}

TEST(Ensemble, RefusesWhatDoesNotGoTogether) {
  auto members = members_of(Task::kGraphClassification, 2);
  Ensemble ensemble(members);
  testing::expect_error(ErrorKind::kUsage, {"inference"}, [&] {
    Tape tape = Tape::training(0);
    ensemble.forward(tape, input_of());
  });
  for (const Task task : {Task::kGraphRegression, Task::kNodeClassification}) {
    members[1] = members_of(task, 1)[0];
    testing::expect_error(ErrorKind::kModel, {"graph-classification with 3"},
                          [&] { Ensemble other(members); });
  }
  // Longer sequences have more outputs than there is room for.
  ModelConfig longer = config_of(Task::kGraphSequence, 8);
  longer.sequence_length += 1;
  members[0] = members_of(Task::kGraphSequence, 1)[0];
  members[1] = testing::new_network(longer, 0);
  testing::expect_error(ErrorKind::kModel, {"graph-sequence", "one number of outputs"},
                        [&] { Ensemble other(members); });
}

}  // namespace
}  // namespace egc::models
