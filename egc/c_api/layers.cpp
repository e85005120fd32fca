// Aggregation and attention on raw pointers.
#include "egc/c_api/layer_call.h"
#include "egc/engine/attention.h"
#include "egc/engine/fused.h"

namespace egc::c_api {
namespace {

// One basis without weights: every aggregator has columns of its own.
kernels::FusedShape aggregate_shape(const egc_layer& layer) {
  const AggregatorSet aggregators = aggregators_of(layer);
  return {aggregators, loops_of(layer), aggregators.size(), 1,
          checked(layer.in_channels, "in_channels")};
}

template <class T>
FusedProblem<T> aggregate_problem(const Csr& graph, const kernels::FusedShape& shape,
                                  const void* x) {
  return {graph, shape, SliceLayout::row_major(1, shape.head_width), static_cast<const T*>(x),
          nullptr};
}

kernels::FusedShape combine_shape(const Egc& o) {
  return {o.shape.aggregators, o.shape.self_loops, o.shape.heads, o.shape.bases, o.width};
}

template <class T>
FusedProblem<T> combine_problem(const Csr& graph, const kernels::FusedShape& shape,
                                const void* bases, const void* weights) {
  return {graph, shape, SliceLayout::row_major(shape.bases, shape.head_width),
          static_cast<const T*>(bases), static_cast<const T*>(weights)};
}

template <class T>
kernels::AttentionInput<T> attention_input(const Csr& graph, const egc_layer& layer,
                                           const void* values, const void* of_source,
                                           const void* of_target, const void* attention) {
  kernels::AttentionInput<T> in;
  check(layer.attention_version == 1 || layer.attention_version == 2,
        "egc_layer: attention_version must be 1 or 2, got {}", layer.attention_version);
  in.self_loops = loops_of(layer) != SelfLoops::kNone;
  in.is_v2 = layer.attention_version == 2;
  in.heads = checked(layer.heads, "heads");
  in.width = checked(layer.width, "width");
  check(layer.negative_slope >= 0 && layer.negative_slope <= 1,
        "egc_layer: the negative slope of attention must be in [0, 1], got {}",
        layer.negative_slope);
  check(!in.self_loops || graph.is_square(),
        "attention: self-loops need a graph whose sources are its targets, got {} sources and {} "
        "targets",
        graph.num_sources(), graph.num_targets());
  check(graph.weights().empty(),
        "attention: edge weights are not supported, but the graph has them");
  in.slope = static_cast<T>(layer.negative_slope);
  in.values = static_cast<const T*>(values);
  in.source_score = static_cast<const T*>(of_source);
  (in.is_v2 ? in.query : in.target_score) = static_cast<const T*>(of_target);
  in.attention = static_cast<const T*>(attention);
  const bool has_source = in.source_score != nullptr || (!in.is_v2 && graph.num_sources() == 0);
  check(has_source != in.is_v2 && (in.attention != nullptr) == in.is_v2,
        "attention: GAT takes scores of sources and targets, GATv2 a query and an attention "
        "vector");
  return in;
}

// What the forward pass keeps, within one buffer.
template <class T>
kernels::AttentionSaved<T> attention_saved(const Csr& graph, const kernels::AttentionInput<T>& in,
                                           const void* saved) {
  kernels::AttentionSaved<T> out;
  if (saved == nullptr) return out;
  out.softmax = const_cast<T*>(static_cast<const T*>(saved));
  if (in.is_v2) return out;
  out.sloped_y = out.softmax + graph.num_targets() * 2 * in.heads;
  out.sloped_sum = out.sloped_y + graph.num_targets() * in.columns();
  return out;
}

}  // namespace
}  // namespace egc::c_api

using namespace egc;         // NOLINT: what follows is in no namespace
using namespace egc::c_api;  // NOLINT

egc_status egc_combine_forward(const egc_graph* graph, const egc_layer* layer, const void* bases,
                               const void* weights, void* y) {
  constexpr const char* kName = "egc_combine_forward";
  return call_layer(kName, graph, layer, [&](const Csr& csr, const egc_layer& options, auto zero) {
    using T = decltype(zero);
    const Egc o(options);
    expect_memory(kName, csr.num_sources(), {bases});
    expect_memory(kName, csr.num_targets(), {weights, y});
    const auto shape = combine_shape(o);
    fused_forward(combine_problem<T>(csr, shape, bases, weights), static_cast<const T*>(nullptr),
                  static_cast<T*>(y));
  });
}

egc_status egc_combine_backward(const egc_graph* graph, const egc_layer* layer, const void* bases,
                                const void* weights, const void* grad_y, void* grad_bases,
                                void* grad_weights) {
  constexpr const char* kName = "egc_combine_backward";
  return call_layer(kName, graph, layer, [&](const Csr& csr, const egc_layer& options, auto zero) {
    using T = decltype(zero);
    const Egc o(options);
    expect_memory(kName, csr.num_sources(), {bases, grad_bases});
    expect_memory(kName, csr.num_targets(), {weights, grad_y, grad_weights});
    const auto shape = combine_shape(o);
    fused_backward(combine_problem<T>(csr, shape, bases, weights), static_cast<const T*>(grad_y),
                   static_cast<T*>(grad_bases), static_cast<T*>(grad_weights));
  });
}

egc_status egc_aggregate_forward(const egc_graph* graph, const egc_layer* layer, const void* x,
                                 void* y) {
  constexpr const char* kName = "egc_aggregate_forward";
  return call_layer(kName, graph, layer, [&](const Csr& csr, const egc_layer& options, auto zero) {
    using T = decltype(zero);
    expect_memory(kName, csr.num_sources(), {x});
    expect_memory(kName, csr.num_targets(), {y});
    const auto shape = aggregate_shape(options);
    fused_forward(aggregate_problem<T>(csr, shape, x), static_cast<const T*>(nullptr),
                  static_cast<T*>(y));
  });
}

egc_status egc_aggregate_backward(const egc_graph* graph, const egc_layer* layer, const void* x,
                                  const void* grad_y, void* grad_x) {
  constexpr const char* kName = "egc_aggregate_backward";
  return call_layer(kName, graph, layer, [&](const Csr& csr, const egc_layer& options, auto zero) {
    using T = decltype(zero);
    expect_memory(kName, csr.num_sources(), {x, grad_x});
    expect_memory(kName, csr.num_targets(), {grad_y});
    const auto shape = aggregate_shape(options);
    fused_backward(aggregate_problem<T>(csr, shape, x), static_cast<const T*>(grad_y),
                   static_cast<T*>(grad_x), static_cast<T*>(nullptr));
  });
}

int64_t egc_attention_saved_size(const egc_graph* graph, const egc_layer* layer) {
  int64_t size = 0;
  static_cast<void>(call_layer(
      "egc_attention_saved_size", graph, layer, [&](const Csr& csr, const egc_layer& o, auto) {
        const int64_t heads = checked(o.heads, "heads");
        const int64_t of_row =
            o.attention_version == 2 ? 2 * heads : 3 * heads + heads * checked(o.width, "width");
        size = csr.num_targets() * of_row;
      }));
  return size;
}

egc_status egc_attention_forward(const egc_graph* graph, const egc_layer* layer, const void* values,
                                 const void* of_source, const void* of_target,
                                 const void* attention, void* y, void* saved) {
  constexpr const char* kName = "egc_attention_forward";
  return call_layer(kName, graph, layer, [&](const Csr& csr, const egc_layer& options, auto zero) {
    using T = decltype(zero);
    expect_memory(kName, csr.num_sources(), {values});
    expect_memory(kName, csr.num_targets(), {of_target, y});
    const auto in = attention_input<T>(csr, options, values, of_source, of_target, attention);
    attention_forward(csr, in, static_cast<const T*>(nullptr), static_cast<T*>(y),
                      attention_saved<T>(csr, in, saved), {});
  });
}

egc_status egc_attention_backward(const egc_graph* graph, const egc_layer* layer,
                                  const void* values, const void* of_source, const void* of_target,
                                  const void* attention, const void* y, const void* saved,
                                  const void* grad_y, void* grad_values, void* grad_of_source,
                                  void* grad_of_target, void* grad_attention) {
  constexpr const char* kName = "egc_attention_backward";
  return call_layer(kName, graph, layer, [&](const Csr& csr, const egc_layer& options, auto zero) {
    using T = decltype(zero);
    expect_memory(kName, csr.num_sources(), {values, grad_values});
    expect_memory(kName, csr.num_targets(), {of_target, y, saved, grad_y, grad_of_target});
    const auto in = attention_input<T>(csr, options, values, of_source, of_target, attention);
    expect_memory(kName, in.is_v2 ? 1 : csr.num_sources(),
                  {in.is_v2 ? grad_attention : grad_of_source});
    kernels::AttentionGrad<T> grad;
    grad.grad_out = static_cast<const T*>(grad_y);
    grad.out = static_cast<const T*>(y);
    grad.saved = attention_saved<T>(csr, in, saved);
    auto* of = static_cast<T*>(grad_of_target);
    attention_backward(
        csr, in, grad,
        {static_cast<T*>(grad_values), static_cast<T*>(grad_of_source), in.is_v2 ? nullptr : of,
         in.is_v2 ? of : nullptr, static_cast<T*>(grad_attention)});
  });
}
