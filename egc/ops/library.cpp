// The operators as torch operators, one page: usable from TorchScript and, through
// torch.ops.load_library, from Python.
#include <torch/library.h>

#include "egc/core/error.h"
#include "egc/kernels/aggregator.h"
#include "egc/ops/fused_aggregate.h"
#include "egc/ops/graph_holder.h"
#include "egc/ops/spmm.h"

namespace egc::ops {
namespace {

template <class T>
std::span<const T> span_of(const at::Tensor& t) {
  return {t.data_ptr<T>(), static_cast<size_t>(t.numel())};
}

at::Tensor constant_weights(const c10::optional<at::Tensor>& weight) {
  if (!weight.has_value() || !weight->defined()) return {};
  check(!weight->requires_grad(), "Graph: edge weights are constants, without gradient");
  return weight->cpu().to(at::kFloat).contiguous();
}

// edge_index: int64 [2, E], row 0 source, row 1 target.   edge_weight: float32 [E].
GraphPtr make_graph(const at::Tensor& edge_index, int64_t num_nodes,
                    const c10::optional<at::Tensor>& edge_weight) {
  check(edge_index.dim() == 2 && edge_index.size(0) == 2 && edge_index.scalar_type() == at::kLong,
        "Graph: edge_index must be int64 [2, E], got [{}] {}", fmt::join(edge_index.sizes(), ", "),
        c10::toString(edge_index.scalar_type()));
  const at::Tensor edges = edge_index.cpu().contiguous();
  const at::Tensor weights = constant_weights(edge_weight);
  return c10::make_intrusive<GraphHolder>(
      Csr::from_edges(num_nodes, span_of<int64_t>(edges[0]), span_of<int64_t>(edges[1]),
                      weights.defined() ? span_of<float>(weights) : std::span<const float>()));
}

template <class T>
std::vector<T> values_of(const at::Tensor& t, at::ScalarType type) {
  const at::Tensor same = t.cpu().to(type).contiguous();
  return {same.data_ptr<T>(), same.data_ptr<T>() + same.numel()};
}

// offsets: int64 [N + 1], by target.   sources: int64 or int32 [E].   edge_weight: float [E].
GraphPtr graph_from_csr(const at::Tensor& offsets, const at::Tensor& sources,
                        const c10::optional<at::Tensor>& edge_weight) {
  check(offsets.dim() == 1 && offsets.numel() >= 1 && sources.dim() == 1 &&
            at::isIntegralType(offsets.scalar_type(), false) &&
            at::isIntegralType(sources.scalar_type(), false),
        "Graph: offsets and sources must be lists of whole numbers, got [{}] {} and [{}] {}",
        fmt::join(offsets.sizes(), ", "), c10::toString(offsets.scalar_type()),
        fmt::join(sources.sizes(), ", "), c10::toString(sources.scalar_type()));
  const int64_t nodes = offsets.numel() - 1;
  const at::Tensor weights = constant_weights(edge_weight);
  // Checked here: a source beyond 32 bits must not wrap around to a good one.
  check(sources.numel() == 0 ||
            (sources.min().item<int64_t>() >= 0 && sources.max().item<int64_t>() < nodes),
        "Graph: sources must be from 0 to {}", nodes - 1);
  return c10::make_intrusive<GraphHolder>(
      Csr(nodes, values_of<int64_t>(offsets, at::kLong), values_of<int32_t>(sources, at::kInt),
          weights.defined() ? values_of<float>(weights, at::kFloat) : std::vector<float>()));
}

// What pickle keeps of a graph.
using GraphState = std::tuple<at::Tensor, at::Tensor, c10::optional<at::Tensor>>;

template <class T>
at::Tensor copy_of(std::span<const T> values, at::ScalarType type) {
  return at::from_blob(const_cast<T*>(values.data()), {static_cast<int64_t>(values.size())}, type)
      .clone();
}

GraphState state_of(const GraphPtr& g) {
  check(g->graph.is_square(), "Graph: only square graphs are pickled");
  c10::optional<at::Tensor> weights;
  if (!g->graph.weights().empty()) weights = copy_of(g->graph.weights(), at::kFloat);
  return {copy_of(g->graph.offsets(), at::kLong), copy_of(g->graph.sources(), at::kInt), weights};
}

at::Tensor fused_aggregate_op(const GraphPtr& graph, const at::Tensor& bases,
                              const at::Tensor& weights, const c10::optional<at::Tensor>& bias,
                              const std::vector<std::string>& aggregators, int64_t heads,
                              int64_t num_bases, const std::string& self_loops) {
  check(num_bases >= 1 && bases.dim() == 2 && bases.size(1) % num_bases == 0,
        "fused_aggregate: bases must be [N, {} * L], got [{}]", num_bases,
        fmt::join(bases.sizes(), ", "));
  const kernels::FusedShape shape{parse_aggregators(aggregators), parse_self_loops(self_loops),
                                  heads, num_bases, bases.size(1) / num_bases};
  return fused_aggregate(graph->graph, shape, SliceLayout::row_major(num_bases, shape.head_width),
                         bases, weights, bias);
}

at::Tensor spmm_op(const GraphPtr& graph, const at::Tensor& x) { return spmm(graph->graph, x); }

}  // namespace

TORCH_LIBRARY(egc, m) {
  m.class_<GraphHolder>("Graph")
      .def(torch::init(&make_graph))
      .def("num_nodes", [](const GraphPtr& g) { return g->graph.num_targets(); })
      .def("num_edges", [](const GraphPtr& g) { return g->graph.num_edges(); })
      .def_pickle([](const GraphPtr& g) { return state_of(g); },
                  [](const GraphState& state) {
                    return graph_from_csr(std::get<0>(state), std::get<1>(state),
                                          std::get<2>(state));
                  });
  m.def(
      "graph_from_csr(Tensor offsets, Tensor sources, Tensor? edge_weight) -> "
      "__torch__.torch.classes.egc.Graph",
      &graph_from_csr);
  m.def(
      "fused_aggregate(__torch__.torch.classes.egc.Graph graph, Tensor bases, Tensor weights, "
      "Tensor? bias, str[] aggregators, int heads, int num_bases, str self_loops) -> Tensor",
      &fused_aggregate_op);
  m.def("spmm(__torch__.torch.classes.egc.Graph graph, Tensor x) -> Tensor", &spmm_op);
}

}  // namespace egc::ops
