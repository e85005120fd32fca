// egc bench loader: what making batches costs beside training.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "egc/app/find_dataset.h"
#include "egc/bench/loader.h"
#include "egc/core/parallel.h"

namespace egc::cli {

void add_bench_loader(CLI::App& bench, const CommonOptions& common) {
  struct Options : bench::LoaderBenchOptions {
    std::string dataset = "molecules";
  };
  auto o = std::make_shared<Options>();
  CLI::App* c = bench.add_subcommand("loader",
                                     "Measure training steps with batches prepared beforehand, "
                                     "prefetched, or built between steps");
  c->add_option("--dataset", o->dataset, "Dataset of many graphs")->capture_default_str();
  c->add_option("--model", o->model, "Model, as for egc train")->capture_default_str();
  c->add_option("--hidden", o->hidden, "Hidden width of the layers")
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  c->add_option("--batch", o->batch, "Batch size, in graphs")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  c->add_option("--batches", o->max_batches, "Max batches per epoch")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  c->add_option("--reps", o->reps, "Number of measured rounds")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  c->footer("Example:\n  egc bench loader --dataset molecules --model egc-m");
  c->callback([o, &common] {
    o->seed = common.seed;
    const data::Dataset d = app::load_dataset(o->dataset, common);
    const bench::LoaderBenchResult r = bench::measure_loader(d, *o);
    if (!common.json)
      fmt::print("{}, {} {}, {} batches of {}; {} threads\n", d.info.name, o->model, o->hidden,
                 r.batches, o->batch, num_threads());
    for (const bench::LoaderBenchRow& row : r.rows) {
      if (common.json)
        fmt::print("{}\n", nlohmann::ordered_json{{"bench", "loader"},
                                                  {"dataset", d.info.name},
                                                  {"model", o->model},
                                                  {"batches", row.batches},
                                                  {"count", r.batches},
                                                  {"ms_median", row.ms_median},
                                                  {"ms_min", row.ms_min},
                                                  {"reps", row.reps},
                                                  {"threads", num_threads()}}
                               .dump());
      else
        fmt::print("  {:<8} {:>9.1f} ms per epoch, {:>7.3f} ms per batch (x{:.3f} of ready)\n",
                   row.batches, row.ms_median, row.ms_median / static_cast<double>(r.batches),
                   row.ms_median / r.rows[0].ms_median);
    }
  });
}

}  // namespace egc::cli
