// The operators under torch's names, for TorchScript and, through torch.ops.load_library, Python:
// class egc.Graph, egc::graph_from_csr, egc::fused_aggregate, egc::spmm, egc::egc_conv.
#include <ATen/ATen.h>
#include <torch/custom_class.h>
#include <torch/library.h>

#include "egc/kernels/aggregator.h"
#include "egc/torch/autograd.h"
#include "egc/torch/functional.h"
#include "egc/torch/graph.h"

namespace egc::torch {
namespace {

// std::optional since LibTorch 2, one of its own before.
using OptionalTensor = decltype(std::declval<c10::IValue>().toOptional<at::Tensor>());

struct GraphHolder : ::torch::CustomClassHolder {
  explicit GraphHolder(Csr g) : graph(std::move(g)) {}
  Csr graph;
};
using GraphPtr = c10::intrusive_ptr<GraphHolder>;

at::Tensor or_undefined(const OptionalTensor& t) { return t.has_value() ? *t : at::Tensor(); }

GraphPtr make_graph_object(const at::Tensor& edge_index, int64_t num_nodes,
                           const OptionalTensor& edge_weight) {
  return c10::make_intrusive<GraphHolder>(
      graph_from_edge_index(edge_index, num_nodes, or_undefined(edge_weight)));
}

GraphPtr graph_from_csr_op(const at::Tensor& offsets, const at::Tensor& sources,
                           const OptionalTensor& edge_weight) {
  return c10::make_intrusive<GraphHolder>(
      graph_from_csr(offsets, sources, or_undefined(edge_weight)));
}

// What pickle keeps of a graph.
using GraphState = std::tuple<at::Tensor, at::Tensor, OptionalTensor>;

template <class T>
at::Tensor copy_of(std::span<const T> values, at::ScalarType type) {
  return at::from_blob(const_cast<T*>(values.data()), {static_cast<int64_t>(values.size())}, type)
      .clone();
}

GraphState state_of(const GraphPtr& g) {
  check(g->graph.is_square(), "Graph: only square graphs are pickled");
  OptionalTensor weights;
  if (!g->graph.weights().empty()) weights = copy_of(g->graph.weights(), at::kFloat);
  return {copy_of(g->graph.offsets(), at::kLong), copy_of(g->graph.sources(), at::kInt), weights};
}

at::Tensor fused_aggregate_op(const GraphPtr& graph, const at::Tensor& bases,
                              const at::Tensor& weights, const OptionalTensor& bias,
                              const std::vector<std::string>& aggregators, int64_t heads,
                              int64_t num_bases, const std::string& self_loops) {
  const ops::EgcShape shape{parse_aggregators(aggregators), parse_self_loops(self_loops), heads,
                            num_bases};
  return fused_aggregate(graph->graph, shape, bases, weights, or_undefined(bias));
}

at::Tensor spmm_op(const GraphPtr& graph, const at::Tensor& x) { return spmm(graph->graph, x); }

at::Tensor egc_conv_op(const GraphPtr& graph, const at::Tensor& x, const at::Tensor& bases_weight,
                       const at::Tensor& comb_weight, const at::Tensor& comb_bias,
                       const OptionalTensor& bias, const std::vector<std::string>& aggregators,
                       int64_t heads, int64_t num_bases, const std::string& self_loops,
                       const std::string& activation) {
  check(x.dim() == 2 && bases_weight.dim() == 2 && comb_weight.dim() == 2 && num_bases >= 1 &&
            heads >= 1 && bases_weight.size(0) % num_bases == 0 &&
            bases_weight.size(1) == x.size(1) && comb_weight.size(1) == x.size(1),
        "egc_conv: expected x [N, F], bases_weight [B * L, F] and comb_weight [H * A * B, F] with "
        "B = {}, got {}, {} and {}",
        num_bases, describe(x), describe(bases_weight), describe(comb_weight));
  nn::EgcConvOptions o(x.size(1), bases_weight.size(0) / num_bases * heads);
  o.heads = heads;
  o.bases = num_bases;
  o.aggregators = parse_aggregators(aggregators);
  o.self_loops = parse_self_loops(self_loops);
  o.activation = parse_weight_activation(activation);
  return egc_conv(o, {bases_weight, comb_weight, comb_bias, or_undefined(bias)}, x, graph->graph);
}

void register_operators(::torch::Library& m) {
  m.class_<GraphHolder>("Graph")
      .def(::torch::init(&make_graph_object))
      .def("num_nodes", [](const GraphPtr& g) { return g->graph.num_targets(); })
      .def("num_edges", [](const GraphPtr& g) { return g->graph.num_edges(); })
      .def_pickle([](const GraphPtr& g) { return state_of(g); },
                  [](const GraphState& state) {
                    return graph_from_csr_op(std::get<0>(state), std::get<1>(state),
                                             std::get<2>(state));
                  });
  m.def(
      "graph_from_csr(Tensor offsets, Tensor sources, Tensor? edge_weight) -> "
      "__torch__.torch.classes.egc.Graph",
      &graph_from_csr_op);
  m.def(
      "fused_aggregate(__torch__.torch.classes.egc.Graph graph, Tensor bases, Tensor weights, "
      "Tensor? bias, str[] aggregators, int heads, int num_bases, str self_loops) -> Tensor",
      &fused_aggregate_op);
  m.def("spmm(__torch__.torch.classes.egc.Graph graph, Tensor x) -> Tensor", &spmm_op);
  m.def(
      "egc_conv(__torch__.torch.classes.egc.Graph graph, Tensor x, Tensor bases_weight, Tensor "
      "comb_weight, Tensor comb_bias, Tensor? bias, str[] aggregators, int heads, int num_bases, "
      "str self_loops, str activation) -> Tensor",
      &egc_conv_op);
}

}  // namespace
}  // namespace egc::torch

// The macro speaks of ::torch, which it would not find within egc.
TORCH_LIBRARY(egc, m) { egc::torch::register_operators(m); }
