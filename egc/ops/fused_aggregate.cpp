#include "egc/ops/fused_aggregate.h"

#include <ATen/ATen.h>

#include <optional>

#include "egc/engine/fused.h"
#include "egc/ops/autograd.h"
#include "egc/ops/column_sum.h"
#include "egc/ops/composed.h"
#include "egc/ops/halo_exchange.h"
#include "egc/ops/tensor_buffer.h"
#include "egc/ops/with_type.h"

namespace egc::ops {
namespace {

namespace ag = torch::autograd;
using kernels::FusedShape;

std::string describe(const at::Tensor& t) {
  return fmt::format("[{}] {}", fmt::join(t.sizes(), ", "), c10::toString(t.scalar_type()));
}

void check_inputs(const Csr& graph, const FusedShape& shape, const at::Tensor& bases,
                  const at::Tensor& weights, const at::Tensor& bias) {
  check_fused(graph, shape);
  const auto type = bases.scalar_type();
  check(type == at::kFloat || type == at::kDouble,
        "fused_aggregate: bases must be float32 or float64, got {}", c10::toString(type));
  const int64_t rows = graph.num_own_sources();
  check(
      bases.dim() == 2 && bases.size(0) == rows && bases.size(1) == shape.bases * shape.head_width,
      "fused_aggregate: bases must be [{}, {}], got {}", rows, shape.bases * shape.head_width,
      describe(bases));
  check(weights.dim() == 2 && weights.size(0) == graph.num_targets() &&
            weights.size(1) == shape.weights_per_row() && weights.scalar_type() == type,
        "fused_aggregate: weights must be [{}, {}] {}, got {}", graph.num_targets(),
        shape.weights_per_row(), c10::toString(type), describe(weights));
  check(!bias.defined() ||
            (bias.dim() == 1 && bias.size(0) == shape.out_width() && bias.scalar_type() == type),
        "fused_aggregate: bias must be [{}] {}, got {}", shape.out_width(), c10::toString(type),
        bias.defined() ? describe(bias) : "none");
}

template <class T>
FusedProblem<T> problem(const Csr& graph, const FusedShape& shape, const SliceLayout& layout,
                        const at::Tensor& bases, const at::Tensor& weights) {
  return {graph, shape, layout, bases.data_ptr<T>(), weights.data_ptr<T>()};
}

struct FusedAggregateBackward : public ag::Node {
  Csr graph;
  FusedShape shape{{Aggregator::kAdd}};
  SliceLayout layout;
  ag::SavedVariable bases;
  ag::SavedVariable weights;
  bool has_bias = false;

  std::string name() const override { return "FusedAggregateBackward"; }

  void release_variables() override {
    bases.reset_data();
    weights.reset_data();
  }

  ag::variable_list apply(ag::variable_list&& grads) override {
    refuse_double_backward("fused_aggregate");
    if (!grads[0].defined()) return {at::Tensor(), at::Tensor(), at::Tensor()};
    const at::Tensor grad_out = grads[0].contiguous();
    const at::Tensor x = bases.unpack();
    const at::Tensor w = weights.unpack();
    const at::Tensor grad_bases = empty_buffer(x.sizes(), x.options());
    at::Tensor grad_weights;
    if (task_should_compute_output(1)) grad_weights = empty_buffer(w.sizes(), w.options());
    at::Tensor grad_bias;
    if (has_bias) grad_bias = at::empty({shape.out_width()}, x.options());
    with_type(x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      fused_backward(problem<T>(graph, shape, layout, x, w), grad_out.data_ptr<T>(),
                     grad_bases.data_ptr<T>(),
                     grad_weights.defined() ? grad_weights.data_ptr<T>() : nullptr);
      if (has_bias)
        column_sum(grad_out.data_ptr<T>(), graph.num_targets(), shape.out_width(),
                   grad_bias.data_ptr<T>());
    });
    if (graph.halo() == nullptr) return {grad_bases, grad_weights, grad_bias};
    return {return_halo(*graph.halo(), grad_bases), grad_weights, grad_bias};
  }
};

}  // namespace

at::Tensor fused_aggregate(const Csr& graph, const FusedShape& shape, const SliceLayout& layout,
                           const at::Tensor& bases, const at::Tensor& weights,
                           const c10::optional<at::Tensor>& maybe_bias,
                           const EpilogueTensors& epilogue) {
  const at::Tensor bias = maybe_bias.value_or(at::Tensor());
  check_inputs(graph, shape, bases, weights, bias);
  if (!bases.is_cpu()) {
    check(layout.num_slices() <= 1 && epilogue.empty() && graph.halo() == nullptr,
          "fused_aggregate: other devices take whole graphs, row-major bases and no epilogue");
    return composed_aggregate(graph, shape, bases, weights, maybe_bias);
  }
  at::Tensor x = bases.contiguous();
  const at::Tensor w = weights.contiguous();
  const at::Tensor b = bias.defined() ? bias.contiguous() : bias;
  std::optional<HaloRows> halo;
  if (graph.halo() != nullptr) {
    check(layout.num_slices() <= 1, "fused_aggregate: a part of a graph takes row-major bases");
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    halo.emplace(*graph.halo(), x);
    x = halo->rows();
  }
  const auto node = make_node<FusedAggregateBackward>("fused_aggregate", {bases, weights, bias},
                                                      [&](FusedAggregateBackward& n) {
                                                        n.graph = graph;
                                                        n.shape = shape;
                                                        n.layout = layout;
                                                        n.bases = ag::SavedVariable(x, false);
                                                        n.weights = ag::SavedVariable(w, false);
                                                        n.has_bias = bias.defined();
                                                      });
  at::Tensor out;
  {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    out = empty_buffer({graph.num_targets(), shape.out_width()}, x.options());
    with_type(x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto rows = [&](int64_t begin, int64_t end) {
        fused_forward(problem<T>(graph, shape, layout, x, w),
                      b.defined() ? b.data_ptr<T>() : nullptr, out.data_ptr<T>(),
                      borrow<T>(epilogue, out.size(0), out.size(1), node != nullptr), {begin, end});
      };
      const int64_t interior = halo ? graph.halo()->interior : 0;
      if (halo) {  // rows that need nobody else's, while the others' are on their way
        rows(0, interior);
        halo->wait();
      }
      rows(interior, graph.num_targets());
    });
  }
  if (node) ag::set_history(out, node);
  return out;
}

at::Tensor aggregate(const Csr& graph, const AggregatorSet& aggregators, SelfLoops self_loops,
                     const at::Tensor& x, const at::Tensor& bias, const EpilogueTensors& epilogue) {
  check(x.dim() == 2, "aggregate: x must be a matrix, got [{}]", fmt::join(x.sizes(), ", "));
  // As many heads as aggregators, each of which takes one of them.
  const int64_t count = aggregators.size();
  const kernels::FusedShape shape{aggregators, self_loops, count, 1, x.size(1)};
  const at::Tensor choice =
      at::eye(count, x.options()).view({1, -1}).repeat({graph.num_targets(), 1});
  return fused_aggregate(graph, shape, SliceLayout::row_major(1, x.size(1)), x, choice, bias,
                         epilogue);
}

}  // namespace egc::ops
