// egc bench fusion: the paper's aggregator-fusion table (H = B = 1, three aggregators), measured
// here.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/common.h"
#include "egc/app/paper_tables.h"
#include "egc/bench/fusion.h"
#include "egc/core/parallel.h"
#include "egc/kernels/target.h"

namespace egc::cli {
namespace {

// In the order of the paper's table, then what is ours alone.
constexpr std::pair<const char*, const char*> kLabels[] = {
    {"matmul", "weight matmul"},
    {"spmm", "CSR SpMM"},
    {"naive", "naive: one pass per aggregator"},
    {"reordered", "one pass, aggregates stored"},
    {"fused", "one pass, weighted result only"},
    {"row_walk", "SpMM over plain row-major rows"},
    {"copy", "copy of the features"},
};

const char* label_of(const std::string& method) {
  return std::find_if(std::begin(kLabels), std::end(kLabels),
                      [&](const auto& label) { return method == label.first; })
      ->second;
}

void print_table(const std::string& topology, const bench::FusionResult& r) {
  const app::PaperFigures figures("fusion");
  double spmm_ms = 0;
  for (const auto& [name, t] : r.methods)
    if (name == "spmm") spmm_ms = t.median_ms;
  fmt::print("{}: {} nodes, {} edges, {} features\n", topology, r.nodes, r.edges, r.features);
  fmt::print("  {:<32} {:>10} {:>10} {:>10} {:>8} {:>12} {:>8}\n", "", "median ms", "min", "p90",
             "/ SpMM", "paper ms", "/ SpMM");
  for (const auto& [name, t] : r.methods) {
    std::string paper;
    if (const auto ms = figures.of(topology, name, "ms_median"))
      paper = fmt::format("{:>12.0f} {:>8.2f}", *ms,
                          *ms / figures.of(topology, "spmm", "ms_median").value());
    if (name == "copy")
      paper = fmt::format("  {:.1f} GB/s", 2.0 * static_cast<double>(r.nodes * r.features) *
                                               sizeof(float) / t.median_ms * 1e-6);
    fmt::print("  {:<32} {:>10.1f} {:>10.1f} {:>10.1f} {:>8.2f} {}\n", label_of(name), t.median_ms,
               t.min_ms, t.p90_ms, t.median_ms / spmm_ms, paper);
  }
  fmt::print("\n");
}

void print_json(const std::string& topology, const bench::FusionResult& r) {
  for (const auto& [name, t] : r.methods) {
    const nlohmann::ordered_json line = {
        {"bench", "fusion"},        {"topology", topology},
        {"nodes", r.nodes},         {"edges", r.edges},
        {"features", r.features},   {"method", name},
        {"ms_median", t.median_ms}, {"ms_min", t.min_ms},
        {"ms_p90", t.p90_ms},       {"reps", t.reps},
        {"threads", num_threads()}, {"target", kernels::current_target()}};
    fmt::print("{}\n", line.dump());
  }
}

struct FusionOptions {
  std::vector<std::string> topologies = {"arxiv-like", "zinc-batch", "code-batch", "reddit-like"};
  int64_t features = 256;
  int reps = 7;
  double scale = 1.0;
};

void run_fusion(const FusionOptions& o, const CommonOptions& common) {
  if (!common.json)
    fmt::print(
        "Aggregator fusion: add + max + min, H = B = 1; {} threads, {}. The paper's column: "
        "Xeon Gold 5218.\n\n",
        num_threads(), kernels::current_target());
  for (const std::string& topology : o.topologies) {
    const auto result = bench::measure_fusion(topology, o.features, o.scale, o.reps, common.seed);
    (common.json ? print_json : print_table)(topology, result);
    std::fflush(stdout);
  }
}

}  // namespace

void add_bench_fusion(CLI::App& bench, const CommonOptions& common) {
  auto o = std::make_shared<FusionOptions>();
  CLI::App* app = bench.add_subcommand(
      "fusion", "Measure aggregator fusion as in the paper's table: SpMM, naive, reordered, fused");
  app->add_option("--topology", o->topologies,
                  "Graphs to measure: arxiv-like, zinc-batch, code-batch, reddit-like")
      ->delimiter(',')
      ->capture_default_str();
  app->add_option("--features", o->features, "Number of feature columns")
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  app->add_option("--reps", o->reps, "Number of measured rounds")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app->add_option("--scale", o->scale, "Fraction of the graphs' full size, in (0, 1]")
      ->capture_default_str();
  app->footer("Example:\n  egc bench fusion --topology arxiv-like,zinc-batch");
  app->callback([o, &common] { run_fusion(*o, common); });
}

}  // namespace egc::cli
