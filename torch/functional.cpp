#include "egc/torch/functional.h"

#include "egc/ops/aggregate.h"
#include "egc/torch/autograd.h"
#include "egc/torch/composed.h"

namespace egc::torch {
namespace {

// A vector would reach the operators as one row.
void expect_dim(const char* operation, const char* what, const at::Tensor& t, int64_t dim) {
  check(!t.defined() || t.dim() == dim, "{}: {} must be a {}, got {}", operation, what,
        dim == 1 ? "vector" : "matrix", describe(t));
}

void expect_type(const char* operation, const char* what, const at::Tensor& t,
                 at::ScalarType type) {
  check(!t.defined() || t.scalar_type() == type, "{}: {} must be {}, got {}", operation, what,
        c10::toString(type), c10::toString(t.scalar_type()));
}

// The parameters of edges, which are there exactly where options.edges asks for them.
void check_edge_tensors(const nn::EgcConvOptions& o, const EgcConvTensors& t, const Csr& graph) {
  constexpr const char* kName = "EgcConv";
  check(!o.edges.empty() || graph.edge_features().empty(),
        "EgcConv: the graph has features of edges, which options.edges must describe");
  const auto expect = [&](const char* what, const at::Tensor& given, bool wanted, int64_t dim) {
    check(given.defined() == wanted, "EgcConv: options.edges {} {}, which is {}",
          wanted ? "needs" : "does not take", what, wanted ? "undefined" : "given");
    expect_type(kName, what, given, t.bases_weight.scalar_type());
    expect_dim(kName, what, given, dim);
  };
  expect("edges.table", t.edge_table, !o.edges.categories.empty(), 2);
  expect("edges.lin.weight", t.edge_weight, o.edges.numbers > 0, 2);
  expect("edges.lin.bias", t.edge_bias, o.edges.numbers > 0, 1);
  expect("edges.self_edge", t.self_edge, !o.edges.empty() && o.self_loops != SelfLoops::kNone, 1);
}

}  // namespace

at::Tensor egc_conv(const nn::EgcConvOptions& o, const EgcConvTensors& t, const at::Tensor& x,
                    const Csr& graph) {
  constexpr const char* kName = "EgcConv";
  check(x.dim() == 2 && x.size(0) == graph.num_targets() && x.size(1) == o.in_channels,
        "EgcConv: x must be [{}, {}], got {}", graph.num_targets(), o.in_channels, describe(x));
  check(graph.rows_are_sources() && graph.halo() == nullptr,
        "EgcConv: the graph's targets must be its sources, got {} targets and {} other sources",
        graph.num_targets(), graph.num_sources());
  const at::ScalarType type = t.bases_weight.scalar_type();
  expect_type(kName, "x", x, type);
  expect_type(kName, "comb_lin.weight", t.comb_weight, type);
  expect_type(kName, "comb_lin.bias", t.comb_bias, type);
  expect_type(kName, "bias", t.bias, type);
  expect_dim(kName, "bases_lin.weight", t.bases_weight, 2);
  expect_dim(kName, "comb_lin.weight", t.comb_weight, 2);
  expect_dim(kName, "comb_lin.bias", t.comb_bias, 1);
  expect_dim(kName, "bias", t.bias, 1);
  check_edge_tensors(o, t, graph);
  if (!x.is_cpu()) return composed_egc(o, t, x, graph);
  const ops::EgcShape shape{o.aggregators, o.self_loops, o.heads, o.bases, o.activation};
  return run(kName,
             [shape, graph, schema = o.edges, relu = o.relu_messages](
                 Tape& tape, const std::vector<Tensor>& in) {
               const ops::EdgeTerm edges =
                   schema.empty()
                       ? ops::EdgeTerm()
                       : nn::edge_term(tape, graph, schema, {in[5], in[6], in[7], in[8]}, relu);
               return ops::egc(tape, shape, {in[1], in[2], in[3], in[4], edges}, in[0], graph);
             },
             {x, t.bases_weight, t.comb_weight, t.comb_bias, t.bias, t.edge_table, t.edge_weight,
              t.edge_bias, t.self_edge});
}

at::Tensor fused_aggregate(const Csr& graph, const ops::EgcShape& shape, const at::Tensor& bases,
                           const at::Tensor& weights, const at::Tensor& bias) {
  constexpr const char* kName = "fused_aggregate";
  expect_dim(kName, "bases", bases, 2);
  expect_dim(kName, "weights", weights, 2);
  expect_dim(kName, "bias", bias, 1);
  if (!bases.is_cpu()) return composed_aggregate(graph, shape, bases, weights, bias);
  return run(kName,
             [shape, graph](Tape& tape, const std::vector<Tensor>& in) {
               return ops::egc_aggregate(tape, shape, in[0], in[1], in[2], graph);
             },
             {bases, weights, bias});
}

at::Tensor spmm(const Csr& graph, const at::Tensor& x) {
  expect_dim("spmm", "x", x, 2);
  return run(
      "spmm",
      [graph](Tape& tape, const std::vector<Tensor>& in) { return ops::spmm(tape, graph, in[0]); },
      {x});
}

}  // namespace egc::torch
