#include <algorithm>
#include <chrono>
#include <optional>

#include "egc/bench/epoch.h"
#include "egc/bench/measure.h"
#include "egc/core/rng.h"
#include "egc/core/work_clock.h"
#include "egc/data/encodings.h"
#include "egc/graph/topologies.h"
#include "egc/inference/dataset_fit.h"
#include "egc/train/trainer.h"

namespace egc::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point a, Clock::time_point b) {
  return std::chrono::duration<double>(b - a).count();
}

// A topology alone can be timed too: its features are drawn as wide as the configuration has them.
// So are those of a generated one, whose classes are a network's whatever their number.
data::Dataset with_features(const data::Dataset& given, const app::TrainOptions& options) {
  const auto topologies = topology_names();
  const bool generated =
      std::find(topologies.begin(), topologies.end(), given.info.name) != topologies.end();
  if (options.config.empty() || !given.hetero.empty() ||
      !(given.node_features.empty() || generated))
    return given;
  const models::ModelConfig model = train::read_run_config(options.config).model;
  const int64_t columns = model.features;
  if (columns < 2) return given;
  data::Dataset out = given;
  if (generated) out.info.num_classes = std::max(out.info.num_classes, model.outputs);
  std::vector<float> values(static_cast<size_t>(given.num_nodes() * columns));
  Rng rng(0);
  for (float& v : values) v = rng.uniform() - 0.5F;
  out.node_features.floats = {std::move(values), columns};
  out.info.node_features = data::FeatureKind::kFloat;
  return out;
}

// One epoch; its training ends with the last step, the rest is validation.
EpochBenchRow measure_one(train::Trainer& trainer) {
  const auto begin = Clock::now();
  auto end_of_training = begin;
  const double kernels = seconds_of(Work::kKernels);
  const double gemm = seconds_of(Work::kGemm);
  EpochBenchRow row;
  trainer.run_epoch([&](const train::Trainer::Step& step) {
    if (step.batch < step.batches) return true;
    end_of_training = Clock::now();
    row.kernels = seconds_of(Work::kKernels) - kernels;
    row.gemm = seconds_of(Work::kGemm) - gemm;
    row.batches = step.batches;
    return true;
  });
  row.train_s = seconds_between(begin, end_of_training);
  row.eval_s = seconds_between(end_of_training, Clock::now());
  row.other = row.train_s - row.kernels - row.gemm;
  return row;
}

}  // namespace

EpochBenchRow measure_epoch(const data::Dataset& given, const app::TrainOptions& options,
                            int reps) {
  const data::Dataset dataset = with_features(given, options);
  train::RunConfig config = app::resolve_config(dataset, options);
  config.train.epochs = reps + 1;
  config.train.patience = 0;
  const train::TaskData data(
      data::with_encodings(inference::seen_by(config.model, dataset), config.model.encode),
      config.train.split, config.model.outputs - data::TargetVocabulary::kSpecialWords,
      config.model.sequence_length);
  std::optional<train::Trainer> training;
  const double peak_mb = peak_extra_mb([&] {
    training.emplace(data, config);
    measure_one(*training);  // caches, buffers and pages fill
  });
  train::Trainer& trainer = *training;
  std::vector<EpochBenchRow> rows;
  for (int k = 0; k < reps; ++k) rows.push_back(measure_one(trainer));
  const auto median_by = [&rows](double EpochBenchRow::*figure) {
    const auto middle = rows.begin() + std::ssize(rows) / 2;
    std::nth_element(rows.begin(), middle, rows.end(),
                     [&](const auto& a, const auto& b) { return a.*figure < b.*figure; });
    return *middle;
  };
  EpochBenchRow out = median_by(&EpochBenchRow::train_s);  // its parts belong to it
  out.eval_s = median_by(&EpochBenchRow::eval_s).eval_s;
  out.parameters = trainer.network().num_parameters();
  out.train_peak_mb = peak_mb;
  return out;
}

}  // namespace egc::bench
