#include "egc/bench/layers.h"
#include "egc/bench/measure.h"
#include "egc/engine/slice_layout.h"
#include "egc/engine/spmm.h"
#include "egc/graph/topologies.h"
#include "egc/ops/linear.h"

namespace egc::bench {
namespace {

std::string spell(const nn::EgcConvOptions& o) {
  std::vector<std::string_view> aggregators;
  for (const Aggregator a : o.aggregators) aggregators.push_back(name_of(a));
  return fmt::format("EgcConv({}, {}, heads={}, bases={}, aggregators={}, self_loops={}{})",
                     o.in_channels, o.out_channels, o.heads, o.bases, fmt::join(aggregators, "+"),
                     name_of(o.self_loops),
                     o.activation == WeightActivation::kIdentity
                         ? std::string()
                         : fmt::format(", activation={}", name_of(o.activation)));
}

}  // namespace

nn::ConvSpec bench_spec(const LayerBenchOptions& o, int64_t hidden) {
  nn::ConvSpec spec;
  spec.in_channels = spec.out_channels = hidden;
  spec.mean_log_degree = 2.0;
  if (o.heads > 0) spec.heads = o.heads;
  if (o.bases > 0) spec.bases = o.bases;
  if (!o.aggregators.empty()) spec.aggregators = parse_aggregators(o.aggregators);
  spec.self_loops = parse_self_loops(o.self_loops);
  spec.activation = nn::parse_weight_activation(o.activation);
  return spec;
}

Tensor random_matrix(int64_t rows, int64_t columns, Rng& rng) {
  Tensor out = Tensor::empty(rows, columns, DType::kF32);
  nn::normal(out, rng);
  return out;
}

LayerBenchResult measure_layer(const LayerBenchOptions& o) {
  Rng rng(o.seed);
  const nn::EgcConvOptions options = nn::egc_options(o.model, bench_spec(o, o.hidden));
  nn::EgcConv conv(options);
  conv.reset_parameters(rng);
  const Csr graph = make_topology(o.topology, o.seed, o.scale);
  const int64_t nodes = graph.num_targets();
  const int64_t head_width = options.out_channels / options.heads;
  const SliceLayout layout = choose_slices(graph, options.bases, head_width, sizeof(float));
  const Tensor x = random_matrix(nodes, options.in_channels, rng);
  const Tensor upstream = random_matrix(nodes, options.out_channels, rng);
  const Tensor bases = random_matrix(nodes, layout.columns(), rng);
  const Tensor sums = Tensor::empty(nodes, layout.columns(), DType::kF32);
  graph.transposed();  // made once for a graph, not once a step
  nn::EgcConvOptions edge_options = options;
  edge_options.edges.categories = {std::max<int64_t>(1, o.edge_types)};
  edge_options.relu_messages = true;
  nn::EgcConv edge_conv(edge_options);
  edge_conv.reset_parameters(rng);
  const Csr typed = with_edge_types(graph, edge_options.edges.categories[0]);
  typed.transposed();
  const auto train = [&](nn::EgcConv& layer, const Csr& on) {
    layer.clear_gradients();
    Tape tape = Tape::training(o.seed);
    tape.backward(layer.forward(tape, x.with_gradient(), on), upstream);
  };

  struct Case {
    const char* implementation;
    const char* mode;
    std::function<void()> run;
  };
  std::vector<Case> cases = {
      {"egc", "infer",
       [&] {
         Tape tape = Tape::inference();
         conv.forward(tape, x, graph);
       }},
      {"egc", "train", [&] { train(conv, graph); }},
      {"gemm", "infer",
       [&] {
         Tape tape = Tape::inference();
         ops::linear(tape, x, conv.bases_weight->value, {});
         ops::linear(tape, x, conv.comb_weight->value, conv.comb_bias->value);
       }},
      {"spmm", "infer", [&] { spmm(graph, layout, bases.data<float>(), sums.data<float>()); }}};
  if (o.edge_types > 0) {
    cases.push_back({"edges", "infer", [&] {
                       Tape tape = Tape::inference();
                       edge_conv.forward(tape, x, typed);
                     }});
    cases.push_back({"edges", "train", [&] { train(edge_conv, typed); }});
  }
  std::vector<Contestant> contestants;
  for (const Case& c : cases) contestants.push_back({c.implementation, c.run});
  const std::vector<Timing> timings = measure(contestants, o.reps);

  LayerBenchResult result;
  result.nodes = nodes;
  result.edges = graph.num_edges();
  result.description = spell(options);
  result.output_and_bases_mb =
      static_cast<double>(nodes * (options.out_channels + layout.columns()) * sizeof(float)) * 1e-6;
  for (size_t k = 0; k < cases.size(); ++k) {
    conv.clear_gradients();
    result.rows.push_back({cases[k].implementation, cases[k].mode, timings[k].median_ms,
                           timings[k].min_ms, timings[k].p90_ms, timings[k].reps,
                           peak_extra_mb(cases[k].run)});
  }
  if (o.edge_types > 0) {
    const Csr twice = with_edge_types(with_twice_the_edges(graph), o.edge_types);
    twice.transposed();
    const auto peak = [&](const Csr& on) {
      edge_conv.clear_gradients();
      return peak_extra_mb([&] { train(edge_conv, on); });
    };
    result.edges_train_mb = peak(typed);
    result.edges_train_mb_twice = peak(twice);
  }
  return result;
}

}  // namespace egc::bench
