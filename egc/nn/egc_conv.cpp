#include "egc/nn/egc_conv.h"

#include <cmath>

#include "egc/ops/aggregate.h"
#include "egc/ops/for_each_row.h"
#include "egc/ops/linear.h"

namespace egc::nn {

EgcConvOptions EgcConvOptions::egc_m(int64_t in, int64_t out, AggregatorSet aggregators) {
  EgcConvOptions options(in, out);
  options.heads = options.bases = 4;
  options.aggregators = aggregators;
  return options;
}

EgcConv::EgcConv(EgcConvOptions opts) : options(std::move(opts)) {
  const EgcConvOptions& o = options;
  for (const int64_t n : {o.in_channels, o.out_channels, o.heads, o.bases})
    check(n >= 1 && n <= kMaxChannels,
          "EgcConv: in_channels, out_channels, heads and bases must be from 1 to {}, got {}, {}, "
          "{}, {}",
          kMaxChannels, o.in_channels, o.out_channels, o.heads, o.bases);
  check(o.out_channels % o.heads == 0,
        "EgcConv: out_channels must be divisible by heads, got {} and {}", o.out_channels, o.heads);
  const int64_t columns = o.bases * (o.out_channels / o.heads);
  const int64_t weights = o.heads * o.aggregators.size() * o.bases;
  // In the order of optimiser states in checkpoints: own parameters, then those of the Linears.
  if (o.bias) bias = add_parameter("bias", {o.out_channels});
  bases_weight = add_parameter("bases_lin.weight", {columns, o.in_channels});
  comb_weight = add_parameter("comb_lin.weight", {weights, o.in_channels});
  comb_bias = add_parameter("comb_lin.bias", {weights});
  check(!o.relu_messages || !o.edges.empty(), "EgcConv: ReLU messages need edge features");
  edges = make_edge_encoder(o.edges, columns, o.self_loops != SelfLoops::kNone);
  if (edges) add_module("edges", edges);
}

void EgcConv::reset_parameters(Rng& rng) {
  glorot_uniform(bases_weight->value, rng);
  const double bound = 1.0 / std::sqrt(static_cast<double>(options.in_channels));
  uniform(comb_weight->value, bound, rng);
  uniform(comb_bias->value, bound, rng);
  if (bias) bias->value.fill(0);
  if (edges) edges->reset_parameters(rng);
}

ops::EgcShape EgcConv::shape() const {
  return {options.aggregators, options.self_loops, options.heads, options.bases,
          options.activation};
}

Tensor EgcConv::forward(Tape& tape, const Tensor& x, const Csr& graph,
                        const ops::EpilogueTensors& epilogue) {
  check_conv_input("EgcConv", x, graph, options.in_channels);
  return ops::egc(
      tape, shape(),
      {bases_weight->value, comb_weight->value, comb_bias->value, bias ? bias->value : Tensor(),
       edge_term(edges, tape, graph, options.relu_messages)},
      x, graph, epilogue);
}

Tensor EgcConv::combination(const Tensor& x) const {
  Tape tape = Tape::inference();
  Tensor w = ops::linear(tape, x, comb_weight->value, comb_bias->value);
  ops::activate_weights(options.activation, options.heads, w);
  return w;
}

Tensor EgcConv::term_norms(const Tensor& x, const Csr& graph) const {
  check_conv_input("EgcConv", x, graph, options.in_channels);
  Tape tape = Tape::inference();
  const Tensor bases = ops::linear(tape, x, bases_weight->value, {});
  const Tensor aggregates =
      ops::aggregate(tape, graph, options.aggregators, options.self_loops, bases, {}, {},
                     edge_term(edges, tape, graph, options.relu_messages));
  const Tensor terms = combination(x);
  const int64_t count = options.aggregators.size() * options.bases;  // of a head
  const int64_t width = options.out_channels / options.heads;
  with_type(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    ops::for_each_row(x.rows(), [&](int64_t i) {
      const T* from = aggregates.data<T>() + i * count * width;
      T* to = terms.data<T>() + i * terms.columns();
      for (int64_t k = 0; k < count; ++k) {
        T squares = 0;
        for (int64_t c = 0; c < width; ++c) squares += from[k * width + c] * from[k * width + c];
        for (int64_t h = 0; h < options.heads; ++h)
          to[h * count + k] = std::abs(to[h * count + k]) * std::sqrt(squares);
      }
    });
  });
  return terms;
}

}  // namespace egc::nn
