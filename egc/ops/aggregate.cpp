#include "egc/ops/aggregate.h"

#include <numeric>
#include <optional>
#include <vector>

#include "egc/engine/fused.h"
#include "egc/engine/spmm.h"
#include "egc/ops/column_sum.h"
#include "egc/ops/edge_rows.h"
#include "egc/ops/halo_exchange.h"

namespace egc::ops {
namespace {

using kernels::FusedShape;

// Without weights the fused pass gives every aggregate its own columns.
template <class T>
FusedProblem<T> problem(const Csr& graph, const FusedShape& shape, const Tensor& x,
                        const EdgeRows<T>& edges) {
  return {graph, shape, SliceLayout::row_major(1, x.columns()), x.data<T>(), nullptr, edges};
}

Csr selection(int64_t sources, std::span<const int64_t> indices) {
  std::vector<int64_t> offsets(indices.size() + 1);
  std::iota(offsets.begin(), offsets.end(), int64_t{0});
  const auto targets = static_cast<int64_t>(indices.size());
  return {targets, sources, std::move(offsets),
          std::vector<int32_t>(indices.begin(), indices.end())};
}

}  // namespace

Tensor aggregate(Tape& tape, const Csr& graph, const AggregatorSet& aggregators,
                 SelfLoops self_loops, const Tensor& x, const Tensor& bias,
                 const EpilogueTensors& epilogue, const EdgeTerm& edges) {
  expect_matrix("aggregate", "x", x, graph.num_own_sources());
  const FusedShape shape{aggregators, self_loops, aggregators.size(), 1, x.columns()};
  check_fused(graph, shape);
  if (bias.defined()) expect_matrix("aggregate", "bias", bias, 1, shape.out_width(), x.dtype());
  check_edge_term("aggregate", edges, graph, x.columns(), x.dtype());
  const SliceLayout layout = SliceLayout::row_major(1, x.columns());
  const Tensor rows_of_edges = edge_rows(edges, graph, layout, x.dtype());
  const std::vector<Tensor> inputs = {x,          bias,           edges.table, edges.linear,
                                      edges.bias, edges.self_edge};
  const bool recorded = tape.wants(inputs);
  Tensor all = x.detached();  // of a part of a graph with the others' rows
  std::optional<HaloRows> halo;
  if (graph.halo() != nullptr) {
    halo.emplace(*graph.halo(), all);
    all = halo->rows();
  }
  Tensor out = Tensor::empty(graph.num_targets(), shape.out_width(), x.dtype());
  with_type(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto rows = [&](int64_t begin, int64_t end) {
      fused_forward(problem<T>(graph, shape, all, borrow_edges<T>(edges, rows_of_edges)),
                    pointer<T>(bias), out.data<T>(),
                    borrow<T>(epilogue, out.rows(), out.columns(), recorded), {begin, end});
    };
    const int64_t interior = halo ? graph.halo()->interior : 0;
    if (halo) {
      rows(0, interior);
      halo->wait();
    }
    rows(interior, graph.num_targets());
  });
  if (recorded)
    tape.record(out, inputs, [=](const Tensor& grad_out) {
      with_type(grad_out.dtype(), [&](auto zero) {
        using T = decltype(zero);
        add_column_sum<T>(grad_out, bias);
        if (x.gradient() == nullptr && !edges.present()) return;
        const Tensor grad_x = Tensor::empty(all.rows(), all.columns(), all.dtype());
        const Tensor grad_edges =
            edges.present()
                ? Tensor::empty(rows_of_edges.rows(), rows_of_edges.columns(), all.dtype())
                : Tensor();
        fused_backward(problem<T>(graph, shape, all, borrow_edges<T>(edges, rows_of_edges)),
                       static_cast<const T*>(grad_out.data<T>()), grad_x.data<T>(),
                       static_cast<T*>(nullptr), pointer<T>(grad_edges));
        add_edge_gradients(edges, graph, layout, grad_edges);
        if (x.gradient() != nullptr)
          x.gradient()->add(graph.halo() == nullptr ? grad_x : return_halo(*graph.halo(), grad_x));
      });
    });
  return out;
}

Tensor spmm(Tape& tape, const Csr& graph, const Tensor& x) {
  expect_matrix("spmm", "x", x, graph.num_sources());
  const auto multiply = [](const Csr& by, const Tensor& from) {
    const Tensor to = Tensor::empty(by.num_targets(), from.columns(), from.dtype());
    with_type(from.dtype(), [&](auto zero) {
      using T = decltype(zero);
      egc::spmm(by, static_cast<const T*>(from.data<T>()), from.columns(), to.data<T>());
    });
    return to;
  };
  Tensor out = multiply(graph, x);
  if (tape.wants({&x}))
    tape.record(out, {x}, [graph, to_x = x.gradient(), multiply](const Tensor& grad_out) {
      to_x->add(multiply(graph.transposed(), grad_out));
    });
  return out;
}

Tensor select_rows(Tape& tape, const Tensor& table, std::span<const int64_t> indices) {
  for (const int64_t index : indices)
    check(index >= 0 && index < table.rows(), "select_rows: there is no row {} in {}", index,
          describe(table));
  return spmm(tape, selection(table.rows(), indices), table);
}

}  // namespace egc::ops
