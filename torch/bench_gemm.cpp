#include "torch/bench_gemm.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <chrono>
#include <filesystem>
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

// Weight matrices [out, in] of all configurations of a folder, each shape once.
std::set<std::pair<int64_t, int64_t>> shapes_of_configs(const std::string& folder) {
  namespace fs = std::filesystem;
  std::set<std::pair<int64_t, int64_t>> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    models::ModelConfig config = train::read_model_config(entry.path().string());
    if (config.model == "pna") config.mean_log_degree = 1;
    for (const auto& [name, p] : models::make_network(config)->named_parameters())
      if (p->shape.size() == 2 && p->shape[0] > 1 && p->shape[1] > 1 &&
          name.find("embedding") == std::string::npos)
        out.emplace(p->shape[0], p->shape[1]);
  }
  check(!out.empty(), "{}: no configurations", folder);
  return out;
}

}  // namespace

void bench_gemm(const std::string& folder, const std::vector<int64_t>& all_rows,
                const BenchOptions& common) {
  const at::NoGradGuard no_grad;
  at::manual_seed(common.seed);
  if (!common.json)
    fmt::print(
        "Dense products; {} threads, {}, LibTorch {}. GFLOP/s of the fastest round.\n"
        "  {:>6} {:>6} {:>6} {:<12} {:>8} {:>8} {:>7}\n",
        num_threads(), kernels::current_target(), TORCH_VERSION, "rows", "out", "in", "", "egc",
        "LibTorch", "ratio");
  for (const auto& [out, in] : shapes_of_configs(folder))
    for (const int64_t rows : all_rows) {
      const at::Tensor x = at::randn({rows, in}), w = at::randn({out, in}),
                       g = at::randn({rows, out});
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
      const std::vector<Contestant> contestants = {
          {"forward",
           [&] {
             gemm<float>(rows, {&forward, 1});
           }},
          {"forward", [&] { at::mm_out(y, x, w.t()); }},
          {"grad_input",
           [&] {
             gemm_backward<float>(rows, {&input, 1});
           }},
          {"grad_input", [&] { at::mm_out(gx, g, w); }},
          {"grad_weight",
           [&] {
             gemm_backward<float>(rows, {&weight, 1});
           }},
          {"grad_weight", [&] { at::mm_out(gw, g.t(), x); }}};
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
}

}  // namespace egc::torch
