// egc_torch_bench: our layers beside the same composed of ATen calls, on LibTorch's tensors.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "egc/bench/measure.h"
#include "egc/core/parallel.h"
#include "egc/engine/gemm.h"
#include "egc/engine/spmm.h"
#include "egc/graph/topologies.h"
#include "egc/kernels/target.h"
#include "egc/models/network.h"
#include "egc/torch/autograd.h"
#include "egc/torch/composed.h"
#include "egc/train/run_config.h"
#include "torch/bench_gemm.h"

namespace egc::torch {
namespace {

using bench::Contestant;
using bench::measure;
using bench::peak_extra_mb;
using bench::Timing;

struct LayerOptions {
  std::string model = "egc-m";
  std::string topology = "arxiv-like";
  int64_t hidden = 0;  // 0: the model's size in the paper's Arxiv table
  int64_t heads = 0;   // 0: the model's own
  int64_t bases = 0;
  std::vector<std::string> aggregators;
  std::string self_loops = "all";
  std::string activation = "identity";
};

struct FusionOptions {
  std::vector<std::string> topologies = {"arxiv-like", "zinc-batch", "code-batch", "reddit-like"};
  int64_t features = 256;
};

// The widths of the networks in the paper's table for Arxiv.
constexpr std::pair<const char*, int64_t> kWidths[] = {
    {"gat", 152}, {"gatv2", 112}, {"mpnn-sum", 116}, {"mpnn-max", 116},
    {"pna", 76},  {"egc-s", 184}, {"egc-m", 136}};

nn::ConvSpec spec_of(const LayerOptions& o, const std::string& model) {
  nn::ConvSpec spec;
  spec.in_channels = o.hidden;
  for (const auto& [name, width] : kWidths)
    if (spec.in_channels == 0 && name == model) spec.in_channels = width;
  if (spec.in_channels == 0) spec.in_channels = 128;
  spec.out_channels = spec.in_channels;
  spec.mean_log_degree = 2.0;
  if (o.heads > 0) spec.heads = o.heads;
  if (o.bases > 0) spec.bases = o.bases;
  if (!o.aggregators.empty()) spec.aggregators = parse_aggregators(o.aggregators);
  spec.self_loops = parse_self_loops(o.self_loops);
  spec.activation = parse_weight_activation(o.activation);
  return spec;
}

// Every edge once more between nodes half the graph further on: twice the edges, the same nodes and
// the same kind of degrees.
Csr with_twice_the_edges(const Csr& graph) {
  const int64_t nodes = graph.num_targets();
  std::vector<int64_t> source;
  std::vector<int64_t> target;
  for (int64_t i = 0; i < nodes; ++i)
    for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e) {
      const int64_t j = graph.sources()[e];
      source.insert(source.end(), {j, (j + nodes / 2) % nodes});
      target.insert(target.end(), {i, (i + nodes / 2) % nodes});
    }
  return Csr::from_edges(nodes, source, target);
}

// A layer, ours or composed of ATen calls, with what a step of it needs.
struct Bench {
  using Layer = std::function<at::Tensor(const at::Tensor& x)>;

  const char* implementation;
  Layer layer;        // on the graph
  Layer layer_twice;  // on the graph with twice the edges
  std::function<void()> forget_parameters;
  at::Tensor x;
  at::Tensor upstream;

  void infer(const Layer& run) const {
    const at::NoGradGuard no_grad;
    run(x);
  }
  void train(const Layer& run) const {
    forget();
    run(x).backward(upstream);
  }
  void forget() const {
    forget_parameters();
    x.mutable_grad() = at::Tensor();
  }
  double peak(bool training, const Layer& run) const {
    forget();
    const double mb = peak_extra_mb([&] { training ? train(run) : infer(run); });
    forget();
    return mb;
  }
};

void print_row(const BenchOptions& common, const nlohmann::ordered_json& row) {
  if (common.json) return fmt::print("{}\n", row.dump());
  fmt::print("  {:<5} {:<6} {:>10.3f} {:>10.3f} {:>10.3f} {:>10.1f} {:>13.1f}\n",
             row["implementation"].get<std::string>(), row["mode"].get<std::string>(),
             row["ms_median"].get<double>(), row["ms_min"].get<double>(),
             row["ms_p90"].get<double>(), row["peak_extra_mb"].get<double>(),
             row["peak_extra_mb_twice_the_edges"].get<double>());
}

void bench_layer(const LayerOptions& o, const BenchOptions& common, const std::string& model) {
  at::manual_seed(common.seed);
  Rng rng(common.seed);
  const Csr graph = make_topology(o.topology, common.seed, common.scale);
  const Csr twice = with_twice_the_edges(graph);
  graph.transposed();  // made once for a graph, not once a step
  twice.transposed();
  const nn::ConvSpec spec = spec_of(o, model);
  const std::shared_ptr<nn::Conv> conv = nn::make_conv(model, spec);
  conv->reset_parameters(rng);
  const auto ours = [&](const Csr& on) {
    return [&](const at::Tensor& x) {
      const auto layer = [conv, on](Tape& tape, const std::vector<Tensor>& in) {
        return conv->forward(tape, in[0], on);
      };
      return run(model, layer, {x});
    };
  };
  const ComposedLayer composed = compose_layer(model, spec, *conv, graph);
  const ComposedLayer composed_twice = compose_layer(model, spec, *conv, twice);
  const at::Tensor x = at::randn({graph.num_targets(), spec.in_channels}).requires_grad_();
  const at::Tensor upstream = at::randn({graph.num_targets(), spec.out_channels});
  const std::vector<Bench> benches = {
      {"egc", ours(graph), ours(twice), [&] { conv->clear_gradients(); }, x, upstream},
      {"aten", composed.forward, composed_twice.forward,
       [&] {
         for (const ComposedLayer* layer :
              std::initializer_list<const ComposedLayer*>{&composed, &composed_twice})
           for (const auto& [name, p] : layer->parameters) p.mutable_grad() = at::Tensor();
       },
       x, upstream}};
  std::vector<Contestant> contestants;
  for (const Bench& b : benches) {
    contestants.push_back({b.implementation, [&b] { b.infer(b.layer); }});
    contestants.push_back({b.implementation, [&b] { b.train(b.layer); }});
  }
  const std::vector<Timing> timings = measure(contestants, common.reps, /*warm=*/true);
  if (!common.json)
    fmt::print(
        "{} of width {} on {}: {} nodes, {} edges; {} threads, {}, LibTorch {}\n"
        "  {:<5} {:<6} {:>10} {:>10} {:>10} {:>10} {:>13}\n",
        model, spec.in_channels, o.topology, graph.num_targets(), graph.num_edges(), num_threads(),
        kernels::current_target(), TORCH_VERSION, "", "", "median ms", "min", "p90", "peak MB",
        "at 2x edges");
  for (size_t k = 0; k < timings.size(); ++k) {
    const Bench& b = benches[k / 2];
    const bool training = k % 2 == 1;
    const char* mode = training ? "train" : "infer";
    const Timing& t = timings[k];
    print_row(common, {{"bench", "layer"},
                       {"model", model},
                       {"topology", o.topology},
                       {"nodes", graph.num_targets()},
                       {"edges", graph.num_edges()},
                       {"features", spec.in_channels},
                       {"parameters", conv->num_parameters()},
                       {"implementation", b.implementation},
                       {"mode", mode},
                       {"ms_median", t.median_ms},
                       {"ms_min", t.min_ms},
                       {"ms_p90", t.p90_ms},
                       {"reps", t.reps},
                       {"threads", num_threads()},
                       {"target", kernels::current_target()},
                       {"libtorch", TORCH_VERSION},
                       {"peak_extra_mb", b.peak(training, b.layer)},
                       {"peak_extra_mb_twice_the_edges", b.peak(training, b.layer_twice)}});
  }
  if (!common.json)
    fmt::print("  ATen / egc: inference {:.2f}, training step {:.2f}\n\n",
               timings[2].median_ms / timings[0].median_ms,
               timings[3].median_ms / timings[1].median_ms);
  std::fflush(stdout);
}

at::Tensor sparse_matrix(const Csr& graph) {
  const auto list = [](const auto& values) {
    return at::tensor(std::vector<int64_t>(values.begin(), values.end()), at::kLong);
  };
  // Unchecked, because the checked constructor refuses duplicate edges.
  return at::_sparse_csr_tensor_unsafe(
      list(graph.offsets()), list(graph.sources()), at::ones({graph.num_edges()}),
      {graph.num_targets(), graph.num_sources()},
      at::TensorOptions().dtype(at::kFloat).layout(at::kSparseCsr));
}

void bench_fusion(const FusionOptions& o, const BenchOptions& common, const std::string& topology) {
  const at::NoGradGuard no_grad;
  at::manual_seed(common.seed);
  const Csr graph = make_topology(topology, common.seed, common.scale);
  const int64_t nodes = graph.num_targets();
  const int64_t features = o.features;
  const at::Tensor x = at::randn({nodes, features});
  const at::Tensor weight = at::randn({features, features});
  at::Tensor out = at::zeros({nodes, features});
  const at::Tensor matrix = sparse_matrix(graph);
  const auto matmul = [&] {
    const GemmTerm<float> term{features,
                               features,
                               {x.data_ptr<float>(), features},
                               {weight.data_ptr<float>(), features},
                               {out.data_ptr<float>(), features}};
    gemm<float>(nodes, {&term, 1});
  };
  const std::vector<Contestant> contestants = {
      {"matmul", matmul},
      {"aten_matmul", [&] { at::mm_out(out, x, weight); }},
      {"spmm", [&] { egc::spmm(graph, x.data_ptr<float>(), features, out.data_ptr<float>()); }},
      {"aten_csr", [&] { at::mm_out(out, matrix, x); }}};
  const std::vector<Timing> timings = measure(contestants, common.reps);
  if (!common.json)
    fmt::print(
        "{}: {} nodes, {} edges, {} features; {} threads, {}, LibTorch {}\n"
        "  {:<12} {:>10} {:>10} {:>10}\n",
        topology, nodes, graph.num_edges(), features, num_threads(), kernels::current_target(),
        TORCH_VERSION, "", "median ms", "min", "p90");
  for (size_t k = 0; k < contestants.size(); ++k) {
    const Timing& t = timings[k];
    if (common.json) {
      const nlohmann::ordered_json line = {
          {"bench", "fusion"},        {"topology", topology},
          {"nodes", nodes},           {"edges", graph.num_edges()},
          {"features", features},     {"method", contestants[k].name},
          {"ms_median", t.median_ms}, {"ms_min", t.min_ms},
          {"ms_p90", t.p90_ms},       {"reps", t.reps},
          {"threads", num_threads()}, {"target", kernels::current_target()},
          {"libtorch", TORCH_VERSION}};
      fmt::print("{}\n", line.dump());
    } else {
      fmt::print("  {:<12} {:>10.1f} {:>10.1f} {:>10.1f}\n", contestants[k].name, t.median_ms,
                 t.min_ms, t.p90_ms);
    }
  }
  if (!common.json) fmt::print("\n");
  std::fflush(stdout);
}

void add_common_options(CLI::App& app, BenchOptions& common, int& threads) {
  app.add_flag("--json", common.json, "Print JSON lines to stdout, and nothing else");
  app.add_option("--seed", common.seed, "Random seed")->capture_default_str();
  app.add_option("--threads", threads, "Number of threads, for egc and for LibTorch")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.add_option("--reps", common.reps, "Number of measured rounds")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--scale", common.scale, "Fraction of the graphs' full size, in (0, 1]")
      ->capture_default_str();
}

CLI::App* add_layer(CLI::App& app, LayerOptions& layer) {
  CLI::App* layers =
      app.add_subcommand("layer", "Measure a layer, or all layers with a composed equivalent");
  layers
      ->add_option("--model", layer.model,
                   fmt::format("Layer: {}, or all (needs 24 GB on arxiv-like)",
                               fmt::join(composed_layer_names(), ", ")))
      ->capture_default_str();
  layers
      ->add_option(
          "--topology", layer.topology,
          "Graph: arxiv-like, zinc-batch, code-batch, reddit-like, zinc-minibatch or zinc-single")
      ->capture_default_str();
  layers->add_option("--hidden", layer.hidden,
                     "Input and output width (default: the paper's for Arxiv)");
  layers->add_option("--heads", layer.heads, "Number of heads");
  layers->add_option("--bases", layer.bases, "Number of bases");
  layers
      ->add_option("--aggregators", layer.aggregators,
                   "Aggregators: add, mean, symnorm, max, min, var, std")
      ->delimiter(',');
  layers->add_option("--self-loops", layer.self_loops, "Self-loops: all, symnorm or none")
      ->capture_default_str();
  layers
      ->add_option("--activation", layer.activation,
                   "Activation of the combination weights: identity, softmax, sigmoid or hardtanh")
      ->capture_default_str();
  layers->footer("Example:\n  egc_torch_bench layer --model gat --topology zinc-batch");
  return layers;
}

void add_fusion(CLI::App& app, FusionOptions& fusion) {
  CLI::App* products = app.add_subcommand("fusion", "Measure dense and sparse matrix products");
  products->add_option("--topology", fusion.topologies, "Graphs to measure")
      ->delimiter(',')
      ->capture_default_str();
  products->add_option("--features", fusion.features, "Number of feature columns")
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  products->footer("Example:\n  egc_torch_bench fusion --topology arxiv-like");
}

int run_program(int argc, char** argv) {
  CLI::App app{"Compare egc's layers with the same layers composed of ATen calls, alternating",
               "egc_torch_bench"};
  app.require_subcommand(1);
  app.fallthrough();
  BenchOptions common;
  int threads = available_cores();
  add_common_options(app, common, threads);
  LayerOptions layer;
  const CLI::App* layers = add_layer(app, layer);
  FusionOptions fusion;
  add_fusion(app, fusion);
  std::string configs = "configs";
  CLI::App* dense = app.add_subcommand(
      "gemm", "Measure the matrix products of a training step, for all configurations");
  dense->add_option("--configs", configs, "Folder of configurations")->capture_default_str();
  dense->footer("Example:\n  egc_torch_bench --reps 20 gemm");
  CLI11_PARSE(app, argc, argv);

  at::set_num_threads(threads);
  set_num_threads(threads);
  if (*layers) {
    std::vector<std::string> models = {layer.model};
    if (layer.model == "all")
      models = {"gat", "gatv2", "mpnn-sum", "mpnn-max", "pna", "egc-s", "egc-m"};
    for (const std::string& model : models) bench_layer(layer, common, model);
  } else if (*dense) {
    bench_gemm(configs, common);
  } else {
    for (const std::string& topology : fusion.topologies) bench_fusion(fusion, common, topology);
  }
  return 0;
}

}  // namespace
}  // namespace egc::torch

int main(int argc, char** argv) {
  try {
    return egc::torch::run_program(argc, argv);
  } catch (const egc::Error& e) {
    fmt::print(stderr, "egc_torch_bench: {}\n", e.what());
    return static_cast<int>(e.kind());
  }
}
