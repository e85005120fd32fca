// The operators as torch operators, one page: usable from TorchScript and, through
// torch.ops.load_library, from Python.
#include <torch/custom_class.h>
#include <torch/library.h>

#include "egc/core/error.h"
#include "egc/kernels/aggregator.h"
#include "egc/ops/fused_aggregate.h"
#include "egc/ops/spmm.h"

namespace egc::ops {
namespace {

// torch.classes.egc.Graph
struct GraphHolder : torch::CustomClassHolder {
  explicit GraphHolder(Csr g) : graph(std::move(g)) {}
  Csr graph;
};

template <class T>
std::span<const T> span_of(const at::Tensor& t) {
  return {t.data_ptr<T>(), static_cast<size_t>(t.numel())};
}

// edge_index: int64 [2, E], row 0 source, row 1 target.   edge_weight: float32 [E].
c10::intrusive_ptr<GraphHolder> make_graph(const at::Tensor& edge_index, int64_t num_nodes,
                                           const c10::optional<at::Tensor>& edge_weight) {
  check(edge_index.dim() == 2 && edge_index.size(0) == 2 && edge_index.scalar_type() == at::kLong,
        "Graph: edge_index must be int64 [2, E], got [{}] {}", fmt::join(edge_index.sizes(), ", "),
        c10::toString(edge_index.scalar_type()));
  const at::Tensor edges = edge_index.cpu().contiguous();
  at::Tensor weights;
  if (edge_weight.has_value() && edge_weight->defined()) {
    check(!edge_weight->requires_grad(), "Graph: edge weights are constants, without gradient");
    weights = edge_weight->cpu().to(at::kFloat).contiguous();
  }
  return c10::make_intrusive<GraphHolder>(
      Csr::from_edges(num_nodes, span_of<int64_t>(edges[0]), span_of<int64_t>(edges[1]),
                      weights.defined() ? span_of<float>(weights) : std::span<const float>()));
}

at::Tensor fused_aggregate_op(const c10::intrusive_ptr<GraphHolder>& graph, const at::Tensor& bases,
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

at::Tensor spmm_op(const c10::intrusive_ptr<GraphHolder>& graph, const at::Tensor& x) {
  return spmm(graph->graph, x);
}

}  // namespace

TORCH_LIBRARY(egc, m) {
  m.class_<GraphHolder>("Graph")
      .def(torch::init(&make_graph))
      .def("num_nodes",
           [](const c10::intrusive_ptr<GraphHolder>& g) { return g->graph.num_targets(); })
      .def("num_edges",
           [](const c10::intrusive_ptr<GraphHolder>& g) { return g->graph.num_edges(); });
  m.def(
      "fused_aggregate(__torch__.torch.classes.egc.Graph graph, Tensor bases, Tensor weights, "
      "Tensor? bias, str[] aggregators, int heads, int num_bases, str self_loops) -> Tensor",
      &fused_aggregate_op);
  m.def("spmm(__torch__.torch.classes.egc.Graph graph, Tensor x) -> Tensor", &spmm_op);
}

}  // namespace egc::ops
