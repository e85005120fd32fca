// egc bench layer: time and memory of a layer; of all layers in one table beside the paper's.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/common.h"
#include "egc/app/paper_tables.h"
#include "egc/bench/layers.h"
#include "egc/core/parallel.h"
#include "egc/kernels/target.h"
#include "egc/nn/conv_table.h"

namespace egc::cli {
namespace {

// The layers of the paper's latency table for Arxiv, in its order, with the widths of its networks;
// then those that it does not have.
struct Layer {
  const char* model;
  int64_t hidden;
};
constexpr Layer kLayers[] = {{"gcn", 156},   {"gin", 156},      {"sage", 115},     {"gat", 152},
                             {"gatv2", 112}, {"mpnn-sum", 116}, {"mpnn-max", 116}, {"pna", 76},
                             {"egc-s", 184}, {"egc-m", 136},    {"rgcn", 128},     {"regc", 128},
                             {"mlp", 128}};

// Of whole networks of three layers on a GPU. figure: a key of the table.
std::optional<double> paper_figure(const std::string& model, const char* figure) {
  static const app::PaperFigures figures("latency-arxiv");
  return figures.of("arxiv", model, figure);
}

bench::ModelBenchResult compare(const bench::LayerBenchOptions& o) {
  std::vector<std::pair<std::string, int64_t>> models;
  for (const Layer& layer : kLayers)
    if (o.model == "all" || o.model == layer.model)
      models.emplace_back(layer.model, o.hidden > 0 ? o.hidden : layer.hidden);
  if (models.empty()) models.emplace_back(o.model, o.hidden > 0 ? o.hidden : 128);
  return bench::measure_models(o, models);
}

constexpr const char* kHeadings =
    "  {:<9} {:>5} {:>9} | {:>8} {:>8} | {:>9} {:>9} | {:>9} {:>9} | {:>8} {:>8} {:>8}\n";

std::string spell(const std::optional<double>& figure, int digits) {
  return figure ? fmt::format("{:.{}f}", *figure, digits) : "-";
}

void print_comparison(const bench::LayerBenchOptions& o, const bench::ModelBenchResult& r) {
  fmt::print("One layer on {}: {} nodes, {} edges; {} threads, {}\n", o.topology, r.nodes, r.edges,
             num_threads(), kernels::current_target());
  fmt::print(kHeadings, "", "", "", "infer", "train", "infer", "train", "infer", "train", "infer",
             "train", "peak");
  fmt::print(kHeadings, "layer", "width", "params", "ms", "ms", "peak MB", "peak MB", "2x edges",
             "2x edges", "paper ms", "paper ms", "paper MB");
  for (const bench::ModelBenchRow& row : r.rows) {
    fmt::print(
        "  {:<9} {:>5} {:>9} | {:>8.1f} {:>8.1f} | {:>9.1f} {:>9.1f} | {:>9.1f} {:>9.1f} | "
        "{:>8} {:>8} {:>8}\n",
        row.model, row.hidden, row.parameters, row.infer_ms, row.train_ms, row.infer_mb,
        row.train_mb, row.infer_mb_twice, row.train_mb_twice,
        spell(paper_figure(row.model, "eval_s"), 1), spell(paper_figure(row.model, "train_s"), 1),
        spell(paper_figure(row.model, "train_peak_mb"), 0));
  }
  fmt::print(
      "  Peak MB: memory on top of features, graph and weights; \"2x edges\": with twice the edges "
      "between the same nodes.\n  The paper's figures are for whole three-layer networks on a "
      "GPU.\n\n");
}

void print_comparison_json(const bench::LayerBenchOptions& o, const bench::ModelBenchResult& r) {
  const auto line = [&](const bench::ModelBenchRow& row, const char* mode, double ms, double mb,
                        double mb_twice, const std::optional<double>& paper_ms) {
    nlohmann::ordered_json json = {{"bench", "layer"},
                                   {"model", row.model},
                                   {"topology", o.topology},
                                   {"nodes", r.nodes},
                                   {"edges", r.edges},
                                   {"features", row.hidden},
                                   {"parameters", row.parameters},
                                   {"implementation", "egc"},
                                   {"mode", mode},
                                   {"ms_median", ms},
                                   {"reps", row.reps},
                                   {"threads", num_threads()},
                                   {"peak_extra_mb", mb},
                                   {"peak_extra_mb_twice_the_edges", mb_twice}};
    if (paper_ms) json["paper_gpu_ms"] = *paper_ms;
    fmt::print("{}\n", json.dump());
  };
  for (const bench::ModelBenchRow& row : r.rows) {
    line(row, "infer", row.infer_ms, row.infer_mb, row.infer_mb_twice,
         paper_figure(row.model, "eval_s"));
    line(row, "train", row.train_ms, row.train_mb, row.train_mb_twice,
         paper_figure(row.model, "train_s"));
  }
}

const bench::LayerBenchRow* find(const bench::LayerBenchResult& r,
                                 const std::string& implementation, const std::string& mode) {
  for (const bench::LayerBenchRow& row : r.rows)
    if (row.implementation == implementation && row.mode == mode) return &row;
  return nullptr;
}

void print_ratio(const char* what, const bench::LayerBenchRow* a, double by) {
  if (a != nullptr && by > 0) fmt::print("  {:<58} {:>8.2f}\n", what, a->ms_median / by);
}

void print_layer(const bench::LayerBenchOptions& o, const bench::LayerBenchResult& r) {
  fmt::print("{}\n{}: {} nodes, {} edges; {} threads, {}\n", r.description, o.topology, r.nodes,
             r.edges, num_threads(), kernels::current_target());
  fmt::print("  {:<8} {:<6} {:>10} {:>10} {:>10} {:>14}\n", "", "", "median ms", "min", "p90",
             "peak extra MB");
  for (const bench::LayerBenchRow& row : r.rows)
    fmt::print("  {:<8} {:<6} {:>10.3f} {:>10.3f} {:>10.3f} {:>14.1f}\n", row.implementation,
               row.mode, row.ms_median, row.ms_min, row.ms_p90, row.peak_extra_mb);
  const bench::LayerBenchRow* infer = find(r, "egc", "infer");
  const bench::LayerBenchRow* train = find(r, "egc", "train");
  const bench::LayerBenchRow* gemm = find(r, "gemm", "infer");
  const bench::LayerBenchRow* spmm = find(r, "spmm", "infer");
  print_ratio("inference / (its GEMM + one SpMM of its bases)", infer,
              gemm->ms_median + spmm->ms_median);
  print_ratio("training step / inference", train, infer->ms_median);
  if (o.edge_types > 0) {
    print_ratio("inference with edge types / without", find(r, "edges", "infer"), infer->ms_median);
    print_ratio("training step with edge types / without", find(r, "edges", "train"),
                train->ms_median);
    fmt::print("  {:<58} {:>8.1f}\n", "peak extra MB of a training step with edge types",
               r.edges_train_mb);
    fmt::print("  {:<58} {:>8.1f}\n", "the same with twice the edges", r.edges_train_mb_twice);
  }
  if (r.output_and_bases_mb > 1) {
    fmt::print("  {:<58} {:>8.2f}\n", "peak extra memory / (output + bases), inference",
               infer->peak_extra_mb / r.output_and_bases_mb);
    fmt::print("  {:<58} {:>8.2f}\n", "peak extra memory / (output + bases), training step",
               train->peak_extra_mb / r.output_and_bases_mb);
  }
  fmt::print("\n");
}

void print_layer_json(const bench::LayerBenchOptions& o, const bench::LayerBenchResult& r) {
  for (const bench::LayerBenchRow& row : r.rows) {
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
  if (o.edge_types > 0)
    fmt::print("{}\n", nlohmann::ordered_json{{"bench", "layer"},
                                              {"edge_types", o.edge_types},
                                              {"train_mb", r.edges_train_mb},
                                              {"train_mb_twice_the_edges", r.edges_train_mb_twice}}
                           .dump());
}

}  // namespace

void add_bench_layer(CLI::App& bench, const CommonOptions& common) {
  auto o = std::make_shared<bench::LayerBenchOptions>();
  CLI::App* app = bench.add_subcommand(
      "layer",
      "Measure a layer: inference, training step, peak memory, and the same with twice the edges");
  app->add_option("--model", o->model,
                  "Layer: egc-s, egc-m, gcn, gin, sage, gat, gatv2, mpnn-sum, mpnn-max, pna, rgcn, "
                  "regc, mlp, or all for one table beside the paper's figures")
      ->capture_default_str();
  app->add_option(
         "--topology", o->topology,
         "Graph: arxiv-like, zinc-batch, code-batch, reddit-like, zinc-minibatch or zinc-single")
      ->capture_default_str();
  app->add_option("--hidden", o->hidden, "Input and output width (default: the paper's for Arxiv)")
      ->check(CLI::Range(1, 1 << 24));
  app->add_option("--heads", o->heads, "Number of heads (default: 8 for egc-s, 4 for egc-m)")
      ->check(CLI::Range(1, 1 << 24));
  app->add_option("--bases", o->bases, "Number of bases (default: 4)")
      ->check(CLI::Range(1, 1 << 24));
  app->add_option("--aggregators", o->aggregators,
                  "Aggregators (default: symnorm for egc-s, symnorm,max,mean for egc-m)")
      ->delimiter(',');
  app->add_option("--self-loops", o->self_loops, "Self-loops: all, symnorm or none")
      ->capture_default_str();
  app->add_option("--activation", o->activation,
                  "Activation of the combination weights: identity, softmax, sigmoid or hardtanh")
      ->capture_default_str();
  app->add_option("--edge-types", o->edge_types,
                  "Measure EGC with so many types of edges beside EGC without edge features")
      ->check(CLI::Range(1, 1 << 16));
  app->add_option("--reps", o->reps, "Number of measured rounds")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app->add_option("--scale", o->scale, "Fraction of the graph's full size, in (0, 1]")
      ->capture_default_str();
  app->footer(
      "Example:\n  egc bench layer --model all\n  egc bench layer --model egc-m --hidden 124 "
      "--aggregators add,std,max --topology zinc-minibatch");
  app->callback([o, app, &common] {
    if (o->model != "all")
      for (const auto& [flag, option] : {std::pair{"--heads", "heads"},
                                         {"--bases", "bases"},
                                         {"--aggregators", "aggregators"},
                                         {"--self-loops", "self_loops"},
                                         {"--activation", "activation"}})
        if (app->get_option(flag)->count() > 0) nn::check_takes(o->model, option, flag);
    o->seed = common.seed;
    const bool one_of_egc = o->model == "egc-s" || o->model == "egc-m";
    check(one_of_egc || o->edge_types == 0, "--edge-types is for egc-s and egc-m");
    if (!one_of_egc) {
      const bench::ModelBenchResult all = compare(*o);
      return common.json ? print_comparison_json(*o, all) : print_comparison(*o, all);
    }
    for (const Layer& layer : kLayers)
      if (o->hidden == 0 && o->model == layer.model) o->hidden = layer.hidden;
    const bench::LayerBenchResult result = bench::measure_layer(*o);
    common.json ? print_layer_json(*o, result) : print_layer(*o, result);
  });
}

}  // namespace egc::cli
