#include <ATen/ATen.h>

#include <algorithm>

#include "cli/measure.h"
#include "cli/torch/bench_spec.h"
#include "cli/torch/module.h"
#include "egc/graph/topologies.h"
#include "egc/nn/composed_layers.h"

namespace egc::cli {
namespace {

// Every edge once more between nodes half the graph further on: twice the edges, the same nodes and
// the same kind of degrees.
Csr with_twice_the_edges(const Csr& graph) {
  const int64_t nodes = graph.num_targets();
  std::vector<int64_t> source;
  std::vector<int64_t> target;
  const auto add = [&](int64_t j, int64_t i) {
    source.push_back(j);
    target.push_back(i);
  };
  for (int64_t i = 0; i < nodes; ++i)
    for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e) {
      const int64_t j = graph.sources()[e];
      add(j, i);
      add((j + nodes / 2) % nodes, (i + nodes / 2) % nodes);
    }
  return Csr::from_edges(nodes, source, target);
}

// A layer, ours or composed of ATen calls, with what one step of it needs.
struct Bench {
  std::shared_ptr<nn::Conv> conv;
  nn::ComposedLayer layer;        // on the graph
  nn::ComposedLayer layer_twice;  // on the graph with twice the edges
  at::Tensor x;
  at::Tensor upstream;

  void infer(const nn::ComposedLayer& run) const {
    at::NoGradGuard no_grad;
    run(x);
  }
  void train(const nn::ComposedLayer& run) const {
    forget();
    run(x).backward(upstream);
  }
  void forget() const {
    nn::as_module(conv)->zero_grad();
    x.mutable_grad() = at::Tensor();
  }
};

}  // namespace

ModelBenchResult bench_models(const LayerBenchOptions& o,
                              const std::vector<std::pair<std::string, int64_t>>& models) {
  at::manual_seed(o.seed);
  const Csr graph = make_topology(o.topology, o.seed, o.scale);
  const Csr twice = with_twice_the_edges(graph);
  graph.transposed();  // made once for a graph, not once a step
  twice.transposed();
  const int64_t nodes = graph.num_targets();

  std::vector<Bench> benches;
  ModelBenchResult result;
  result.nodes = nodes;
  result.edges = graph.num_edges();
  const std::vector<std::string_view> composed = nn::composed_layer_names();
  for (const auto& [model, hidden] : models) {
    const nn::ConvSpec spec = bench_spec(o, hidden);
    const std::shared_ptr<nn::Conv> conv = nn::make_conv(model, spec);
    ModelBenchRow row;
    row.model = model;
    row.implementation = "egc";
    row.hidden = hidden;
    for (const at::Tensor& p : nn::as_module(conv)->parameters()) row.parameters += p.numel();
    const auto on = [&](const Csr& g) {
      return [conv, &g](const at::Tensor& x) { return conv->forward(x, g); };
    };
    Bench bench{conv, on(graph), on(twice), at::randn({nodes, hidden}).requires_grad_(),
                at::randn({nodes, hidden})};
    result.rows.push_back(row);
    benches.push_back(bench);
    if (!o.aten) continue;
    if (std::find(composed.begin(), composed.end(), model) == composed.end()) {
      check(models.size() > 1, "bench layer: --aten has {}, not {}", fmt::join(composed, ", "),
            model);
      continue;
    }
    row.implementation = "aten";
    bench.layer = nn::compose_layer(model, spec, conv, graph);
    bench.layer_twice = nn::compose_layer(model, spec, conv, twice);
    result.rows.push_back(row);
    benches.push_back(bench);
  }
  std::vector<Contestant> contestants;
  for (size_t k = 0; k < benches.size(); ++k) {
    const Bench& bench = benches[k];
    contestants.push_back({result.rows[k].model, [&bench] { bench.infer(bench.layer); }});
    contestants.push_back({result.rows[k].model, [&bench] { bench.train(bench.layer); }});
  }
  const std::vector<Timing> timings = measure(contestants, o.reps, /*warm=*/true);
  for (const Bench& bench : benches) bench.forget();
  for (size_t k = 0; k < benches.size(); ++k) {
    const Bench& bench = benches[k];
    ModelBenchRow& row = result.rows[k];
    row.infer_ms = timings[2 * k].median_ms;
    row.train_ms = timings[2 * k + 1].median_ms;
    row.reps = timings[2 * k].reps;
    const auto peak = [&bench](auto&& run) {
      bench.forget();
      const double mb = peak_extra_mb(run);
      bench.forget();
      return mb;
    };
    row.infer_mb = peak([&] { bench.infer(bench.layer); });
    row.train_mb = peak([&] { bench.train(bench.layer); });
    row.infer_mb_twice = peak([&] { bench.infer(bench.layer_twice); });
    row.train_mb_twice = peak([&] { bench.train(bench.layer_twice); });
  }
  return result;
}

}  // namespace egc::cli
