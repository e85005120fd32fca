#include "egc/bench/loader.h"
#include "egc/bench/measure.h"
#include "egc/core/error.h"
#include "egc/data/loader.h"
#include "egc/inference/batch_tensors.h"
#include "egc/inference/dataset_fit.h"

#include "egc/train/loss.h"

namespace egc::bench {

LoaderBenchResult measure_loader(const data::Dataset& dataset, const LoaderBenchOptions& o) {
  check(dataset.hetero.empty() && !dataset.splits_nodes(),
        "bench loader: {} is a single graph; batches need a dataset of many graphs",
        dataset.info.name);
  const data::GraphStore store(dataset);
  const auto network =
      models::make_network(inference::config_for_dataset(dataset, o.model, o.hidden));
  Rng rng(o.seed);
  network->reset_parameters(rng);
  const auto& all = dataset.split("").train;
  const auto count = std::min<int64_t>(all.size(), o.max_batches * o.batch);
  const auto ids = all.span().subspan(0, static_cast<size_t>(count));
  const auto step = [&](data::GraphBatch batch) {
    const auto tensors = inference::to_tensors(std::move(batch));
    network->clear_gradients();
    Tape tape = Tape::training(o.seed);
    const Tensor output = network->forward(tape, tensors.input);
    const auto counts = train::count_labels(dataset.info.task, tensors.targets, /*balanced=*/false,
                                            dataset.info.num_classes);
    tape.backward(output, train::loss(dataset.info.task, output, tensors.targets,
                                      /*balanced=*/false, counts)
                              .gradient);
  };
  const auto options = [&](int prefetch) {
    return data::LoaderOptions{o.batch, /*shuffle=*/true, o.seed, prefetch};
  };
  data::Loader ahead(store, ids, options(2));
  data::Loader between(store, ids, options(0));
  std::vector<data::GraphBatch> ready;
  between.begin(0);
  while (auto batch = between.next()) ready.push_back(*std::move(batch));

  const auto epoch = [&](data::Loader& loader, bool train) {
    loader.begin(0);
    while (auto batch = loader.next())
      if (train) step(*std::move(batch));
  };
  const std::vector<Contestant> contestants = {{"ready",
                                                [&] {
                                                  for (const auto& batch : ready) step(batch);
                                                }},
                                               {"ahead", [&] { epoch(ahead, true); }},
                                               {"between", [&] { epoch(between, true); }},
                                               {"alone", [&] { epoch(between, false); }}};
  const std::vector<Timing> times = measure(contestants, o.reps);
  LoaderBenchResult result;
  result.batches = between.num_batches();
  for (size_t k = 0; k < contestants.size(); ++k)
    result.rows.push_back(
        {contestants[k].name, times[k].median_ms, times[k].min_ms, times[k].reps});
  return result;
}

}  // namespace egc::bench
