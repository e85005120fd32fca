#include "torch/bench_gemm.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "egc/bench/measure.h"
#include "egc/core/parallel.h"
#include "egc/engine/gemm.h"
#include "egc/kernels/target.h"
#include "egc/models/network.h"
#include "egc/train/run_config.h"

namespace egc::torch {
namespace {

using bench::Contestant;
using bench::measure;
using bench::Timing;

// In turns, but apart: threads of one library that wait for work would keep the other's from
// theirs.
std::vector<Timing> measure_apart(const std::vector<Contestant>& contestants, int reps) {
  constexpr int kRounds = 2;
  std::vector<Timing> best(contestants.size());
  for (int round = 0; round < kRounds; ++round)
    for (size_t k = 0; k < contestants.size(); ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      const auto begin = std::chrono::steady_clock::now();  // until all threads take part
      while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(10))
        contestants[k].run();
      const Timing t = measure({contestants[k]}, reps)[0];
      if (round == 0 || t.min_ms < best[k].min_ms) best[k] = t;
    }
  return best;
}

// A product of a training step.
struct Shape {
  int64_t rows, out, in;
  bool has_grad_input;
  auto operator<=>(const Shape&) const = default;
};

// Mean nodes of a graph: Dwivedi et al. (Benchmarking Graph Neural Networks) and OGB. Of datasets
// that are one graph, as many rows as stay out of the caches.
constexpr int64_t kRowsOfOneGraph = 16384;
const std::map<std::string, double> kMeanNodes = {
    {"zinc", 23.2}, {"molhiv", 25.5}, {"pattern", 117.5}, {"cifar10", 117.6}, {"code2", 125.2}};

// What the weights of a configuration are multiplied by: rows of nodes, in the head of a network
// that reads graphs out rows of graphs. Tables of categories are looked up, and nobody asks for the
// gradient of features.
void add_shapes(const nlohmann::json& file, models::ModelConfig config, std::set<Shape>& out) {
  if (config.model == "pna") config.mean_log_degree = 1;
  const auto graphs = kMeanNodes.find(file.value("dataset", ""));
  const int64_t batch = file.value("train", nlohmann::json::object()).value("batch", 64);
  const auto nodes = graphs == kMeanNodes.end()
                         ? kRowsOfOneGraph
                         : static_cast<int64_t>(graphs->second * static_cast<double>(batch));
  const auto network = models::make_network(config);
  const bool reads_out = config.task != models::Task::kNodeClassification &&
                         config.task != models::Task::kNodeClassificationHetero;
  for (const auto& [name, p] : network->named_parameters()) {
    if (p->shape.size() != 2 || p->shape[0] <= 1 || p->shape[1] <= 1 || name == "encoder.weight" ||
        name.find("embedding") != std::string::npos)
      continue;
    out.insert({reads_out && name.starts_with("head.") ? batch : nodes, p->shape[0], p->shape[1],
                !name.starts_with("encoder.")});
  }
}

std::set<Shape> shapes_of_configs(const std::string& folder) {
  namespace fs = std::filesystem;
  std::set<Shape> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    add_shapes(nlohmann::json::parse(file), train::read_model_config(entry.path().string()), out);
  }
  check(!out.empty(), "{}: no configurations", folder);
  return out;
}

void bench_shape(const Shape& shape, const BenchOptions& common) {
  const auto [rows, out, in, has_grad_input] = shape;
  const at::Tensor x = at::randn({rows, in}), w = at::randn({out, in}), g = at::randn({rows, out});
  at::Tensor y = at::empty({rows, out}), gx = at::empty({rows, in}), gw = at::empty({out, in});
  const auto read = [](const at::Tensor& t) {
    return Columns<const float>{t.data_ptr<float>(), t.size(1)};
  };
  const auto write = [](const at::Tensor& t) {
    return Columns<float>{t.data_ptr<float>(), t.size(1)};
  };
  const GemmTerm<float> forward{in, out, read(x), read(w), write(y)};
  GemmGradTerm<float> input{in, out, read(x), read(w), read(g)};
  GemmGradTerm<float> weight = input;
  input.grad_x = write(gx);
  weight.grad_w = write(gw);
  std::vector<Contestant> contestants = {{"forward",
                                          [&, rows = rows] {
                                            gemm<float>(rows, {&forward, 1});
                                          }},
                                         {"forward", [&] { at::mm_out(y, x, w.t()); }},
                                         {"grad_input",
                                          [&, rows = rows] {
                                            gemm_backward<float>(rows, {&input, 1});
                                          }},
                                         {"grad_input", [&] { at::mm_out(gx, g, w); }},
                                         {"grad_weight",
                                          [&, rows = rows] {
                                            gemm_backward<float>(rows, {&weight, 1});
                                          }},
                                         {"grad_weight", [&] { at::mm_out(gw, g.t(), x); }}};
  if (!has_grad_input) contestants.erase(contestants.begin() + 2, contestants.begin() + 4);
  const std::vector<Timing> t = measure_apart(contestants, common.reps);
  const double flop =
      2e-6 * static_cast<double>(rows) * static_cast<double>(out) * static_cast<double>(in);
  for (size_t k = 0; k < t.size(); k += 2) {
    const double ours = flop / t[k].min_ms;
    const double theirs = flop / t[k + 1].min_ms;
    if (common.json)
      fmt::print("{}\n", nlohmann::ordered_json{{"bench", "gemm"},
                                                {"product", contestants[k].name},
                                                {"rows", rows},
                                                {"out", out},
                                                {"in", in},
                                                {"threads", num_threads()},
                                                {"egc_gflops", ours},
                                                {"libtorch_gflops", theirs}}
                             .dump());
    else
      fmt::print("  {:>6} {:>6} {:>6} {:<12} {:>8.1f} {:>8.1f} {:>7.2f}\n", rows, out, in,
                 contestants[k].name, ours, theirs, ours / theirs);
  }
}

}  // namespace

void bench_gemm(const std::string& folder, const BenchOptions& common) {
  const at::NoGradGuard no_grad;
  at::manual_seed(common.seed);
  if (!common.json)
    fmt::print(
        "Dense products; {} threads, {}, LibTorch {}. GFLOP/s of the fastest round.\n"
        "  {:>6} {:>6} {:>6} {:<12} {:>8} {:>8} {:>7}\n",
        num_threads(), kernels::current_target(), TORCH_VERSION, "rows", "out", "in", "", "egc",
        "LibTorch", "ratio");
  for (const Shape& shape : shapes_of_configs(folder)) bench_shape(shape, common);
}

}  // namespace egc::torch
