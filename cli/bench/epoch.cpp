// egc bench epoch: an epoch of training, and where its time goes.
#include <fmt/format.h>
#include <sys/resource.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "egc/app/find_dataset.h"
#include "egc/bench/epoch.h"
#include "egc/core/parallel.h"
#include "egc/data/raw/cache.h"

namespace egc::cli {
namespace {

// The largest resident set of this process so far, in megabytes.
double peak_mb() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

}  // namespace

void add_bench_epoch(CLI::App& bench, const CommonOptions& common) {
  struct Options {
    app::TrainOptions options;
    int reps = 3;
  };
  auto o = std::make_shared<Options>();
  app::TrainOptions& f = o->options;
  f.dataset = "molecules";
  CLI::App* c = bench.add_subcommand("epoch", "Measure time and memory of a training epoch");
  c->add_option("--dataset", f.dataset, "Known or generated dataset, or a dataset directory")
      ->capture_default_str();
  c->add_option("--model", f.model, "Model, as for egc train");
  c->add_option("--config", f.config,
                "Configuration file; features that the dataset lacks are drawn at random, as are "
                "those of a generated topology");
  for (const auto& [flag, key, help] :
       {std::tuple{"--hidden", "hidden", "Hidden width of the layers"},
        {"--batch", "batch", "Batch size, in graphs"}})
    c->add_option_function<int64_t>(
        flag, [&f, k = key](int64_t value) { f.settings[k] = std::to_string(value); }, help);
  c->add_option("--reps", o->reps, "Epochs to measure; the median is shown")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  c->footer("Example:\n  egc bench epoch --dataset zinc --config configs/zinc/egc-m.json");
  c->callback([o, &common] {
    const data::Dataset d = app::load_dataset(o->options.dataset, common);
    const bench::EpochBenchRow r = bench::measure_epoch(d, o->options, o->reps);
    const std::string model = o->options.model.empty() ? o->options.config : o->options.model;
    if (common.json) {
      using Json = nlohmann::ordered_json;
      fmt::print("{}\n",
                 Json{{"bench", "epoch"},
                      {"dataset", d.info.name},
                      {"dataset_checksum", data::dataset_checksum(d)},
                      {"model", model},
                      {"train_s", r.train_s},
                      {"eval_s", r.eval_s},
                      {"parts", {{"kernels", r.kernels}, {"gemm", r.gemm}, {"other", r.other}}},
                      {"train_peak_mb", r.train_peak_mb},
                      {"peak_mb", peak_mb()},
                      {"batches", r.batches},
                      {"parameters", r.parameters},
                      {"reps", o->reps},
                      {"threads", num_threads()}}
                     .dump());
      return;
    }
    fmt::print("{} on {}, {} parameters, {} batches, {} threads\n", model, d.info.name,
               r.parameters, r.batches, num_threads());
    fmt::print("  training  {:8.3f} s ({:.2f} ms per batch)\n", r.train_s,
               1e3 * r.train_s / static_cast<double>(r.batches));
    for (const auto& [name, seconds] :
         {std::pair{"kernels", r.kernels}, std::pair{"gemm", r.gemm}, std::pair{"other", r.other}})
      fmt::print("    {:<8}{:8.3f} s ({:.0f} %)\n", name, seconds, 100 * seconds / r.train_s);
    fmt::print("  validation{:8.3f} s\n  peak memory {:.0f} MB, of which training {:.0f} MB\n",
               r.eval_s, peak_mb(), r.train_peak_mb);
  });
}

}  // namespace egc::cli
