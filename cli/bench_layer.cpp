// egc bench layer: time and memory of one EGC layer, ours and composed of ATen calls.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/torch_module.h"
#include "egc/core/parallel.h"
#include "egc/kernels/target.h"

namespace egc::cli {
namespace {

const LayerBenchRow* find(const LayerBenchResult& r, const std::string& implementation,
                          const std::string& mode) {
  for (const LayerBenchRow& row : r.rows)
    if (row.implementation == implementation && row.mode == mode) return &row;
  return nullptr;
}

void print_ratio(const char* what, const LayerBenchRow* a, double by) {
  if (a != nullptr && by > 0) fmt::print("  {:<58} {:>8.2f}\n", what, a->ms_median / by);
}

void print_table(const LayerBenchOptions& o, const LayerBenchResult& r) {
  fmt::print("{}\n{}: {} nodes, {} edges; {} threads, {}\n", r.description, o.topology, r.nodes,
             r.edges, num_threads(), kernels::current_target());
  fmt::print("  {:<8} {:<6} {:>10} {:>10} {:>10} {:>14}\n", "", "", "median ms", "min", "p90",
             "peak extra MB");
  for (const LayerBenchRow& row : r.rows)
    fmt::print("  {:<8} {:<6} {:>10.3f} {:>10.3f} {:>10.3f} {:>14.1f}\n", row.implementation,
               row.mode, row.ms_median, row.ms_min, row.ms_p90, row.peak_extra_mb);
  const LayerBenchRow* infer = find(r, "egc", "infer");
  const LayerBenchRow* train = find(r, "egc", "train");
  const LayerBenchRow* gemm = find(r, "gemm", "infer");
  const LayerBenchRow* spmm = find(r, "spmm", "infer");
  print_ratio("inference / (its GEMM + one SpMM of its bases)", infer,
              gemm->ms_median + spmm->ms_median);
  print_ratio("training step / inference", train, infer->ms_median);
  print_ratio("ATen / egc, inference", find(r, "aten", "infer"), infer->ms_median);
  print_ratio("ATen / egc, training step", find(r, "aten", "train"), train->ms_median);
  if (r.output_and_bases_mb > 1) {
    fmt::print("  {:<58} {:>8.2f}\n", "peak extra memory / (output + bases), inference",
               infer->peak_extra_mb / r.output_and_bases_mb);
    fmt::print("  {:<58} {:>8.2f}\n", "peak extra memory / (output + bases), training step",
               train->peak_extra_mb / r.output_and_bases_mb);
  }
  fmt::print("\n");
}

void print_json(const LayerBenchOptions& o, const LayerBenchResult& r) {
  for (const LayerBenchRow& row : r.rows) {
    const nlohmann::ordered_json line = {{"bench", "layer"},
                                         {"model", o.model},
                                         {"layer", r.description},
                                         {"topology", o.topology},
                                         {"nodes", r.nodes},
                                         {"edges", r.edges},
                                         {"implementation", row.implementation},
                                         {"mode", row.mode},
                                         {"ms_median", row.ms_median},
                                         {"ms_min", row.ms_min},
                                         {"ms_p90", row.ms_p90},
                                         {"reps", row.reps},
                                         {"threads", num_threads()},
                                         {"peak_extra_mb", row.peak_extra_mb},
                                         {"output_and_bases_mb", r.output_and_bases_mb}};
    fmt::print("{}\n", line.dump());
  }
}

}  // namespace

void add_bench_layer(CLI::App& bench, const CommonOptions& common) {
  auto o = std::make_shared<LayerBenchOptions>();
  CLI::App* app = bench.add_subcommand(
      "layer", "One EGC layer: inference, training step, peak memory; ours and composed of ATen");
  app->add_option("--model", o->model, "egc-s (symnorm) or egc-m (three aggregators)")
      ->check(CLI::IsMember({"egc-s", "egc-m"}))
      ->capture_default_str();
  app->add_option("--topology", o->topology,
                  "arxiv-like, zinc-batch, code-batch, reddit-like, zinc-minibatch, zinc-single")
      ->capture_default_str();
  app->add_option("--hidden", o->hidden, "Width in and out (egc-s: 184, egc-m: 136)");
  app->add_option("--heads", o->heads, "Heads (egc-s: 8, egc-m: 4)");
  app->add_option("--bases", o->bases, "Bases (4)");
  app->add_option("--aggregators", o->aggregators, "egc-s: symnorm; egc-m: symnorm,max,mean")
      ->delimiter(',');
  app->add_option("--self-loops", o->self_loops, "all, symnorm or none")->capture_default_str();
  app->add_option("--activation", o->activation, "identity, softmax, sigmoid or hardtanh")
      ->capture_default_str();
  app->add_option("--reps", o->reps, "Measured rounds")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app->add_option("--scale", o->scale, "Shrinks the graph, in (0, 1]")->capture_default_str();
  app->add_flag("--aten,!--no-aten", o->aten, "With the layer composed of ATen calls");
  app->footer(
      "Example:\n  egc bench layer --model egc-m --hidden 124 --aggregators add,std,max --topology "
      "zinc-minibatch");
  app->callback([o, &common] {
    o->seed = common.seed;
    const LayerBenchResult result = torch_module().bench_layer(*o);
    common.json ? print_json(*o, result) : print_table(*o, result);
  });
}

}  // namespace egc::cli
