#include "egc/bench/layers.h"
#include "egc/bench/measure.h"
#include "egc/graph/topologies.h"

namespace egc::bench {

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

Csr with_edge_types(const Csr& graph, int64_t types) {
  EdgeFeatures features;
  features.types = std::make_shared<const EdgeTypes>(EdgeTypes::of_one_feature(types));
  for (int64_t i = 0; i < graph.num_targets(); ++i)
    for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e) {
      const int64_t j = graph.sources()[e];
      Rng rng(static_cast<uint64_t>(std::min(i, j)), static_cast<uint64_t>(std::max(i, j)));
      features.type.push_back(static_cast<int32_t>(rng.below(static_cast<uint32_t>(types))));
    }
  return {graph.num_targets(),
          {graph.offsets().begin(), graph.offsets().end()},
          {graph.sources().begin(), graph.sources().end()},
          {},
          std::move(features)};
}

namespace {

// A layer with what one step of it needs.
struct Bench {
  std::shared_ptr<nn::Conv> conv;
  Tensor x;
  Tensor upstream;

  void infer(const Csr& graph) const {
    Tape tape = Tape::inference();
    conv->forward(tape, x, graph);
  }
  void train(const Csr& graph) const {
    forget();
    Tape tape = Tape::training(0);
    tape.backward(conv->forward(tape, x.with_gradient(), graph), upstream);
  }
  void forget() const { conv->clear_gradients(); }
};

}  // namespace

ModelBenchResult measure_models(const LayerBenchOptions& o,
                                const std::vector<std::pair<std::string, int64_t>>& models) {
  Rng rng(o.seed);
  const Csr graph = make_topology(o.topology, o.seed, o.scale);
  const Csr twice = with_twice_the_edges(graph);
  graph.transposed();  // made once for a graph, not once a step
  twice.transposed();
  const int64_t nodes = graph.num_targets();

  std::vector<Bench> benches;
  ModelBenchResult result;
  result.nodes = nodes;
  result.edges = graph.num_edges();
  for (const auto& [model, hidden] : models) {
    benches.push_back({nn::make_conv(model, bench_spec(o, hidden)),
                       random_matrix(nodes, hidden, rng), random_matrix(nodes, hidden, rng)});
    benches.back().conv->reset_parameters(rng);
    ModelBenchRow row;
    row.model = model;
    row.hidden = hidden;
    row.parameters = benches.back().conv->num_parameters();
    result.rows.push_back(row);
  }
  std::vector<Contestant> contestants;
  for (const Bench& bench : benches) {
    contestants.push_back({"infer", [&] { bench.infer(graph); }});
    contestants.push_back({"train", [&] { bench.train(graph); }});
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
    row.infer_mb = peak([&] { bench.infer(graph); });
    row.train_mb = peak([&] { bench.train(graph); });
    row.infer_mb_twice = peak([&] { bench.infer(twice); });
    row.train_mb_twice = peak([&] { bench.train(twice); });
  }
  return result;
}

}  // namespace egc::bench
