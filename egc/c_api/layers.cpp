// Layers on raw pointers. Shapes follow from the graph and the options, so only these are checked.
#include <algorithm>

#include "egc/c_api/call.h"
#include "egc/c_api/graph.h"
#include "egc/engine/attention.h"
#include "egc/engine/fused.h"
#include "egc/ops/egc.h"
#include "egc/tensor/tensor.h"

namespace egc::c_api {
namespace {

constexpr int64_t kMaxWidth = int64_t{1} << 24;  // products of two cannot overflow

int64_t checked(int64_t value, const char* what) {
  check(value >= 1 && value <= kMaxWidth, "egc_layer: {} must be from 1 to {}, got {}", what,
        kMaxWidth, value);
  return value;
}

template <class Enum>
Enum checked_enum(int32_t value, Enum last, const char* what) {
  check(value >= 0 && value <= static_cast<int32_t>(last),
        "egc_layer: {} must be from 0 to {}, got {}", what, static_cast<int32_t>(last), value);
  return static_cast<Enum>(value);
}

DType dtype_of(const egc_layer& layer) {
  check(layer.dtype == EGC_FLOAT32 || layer.dtype == EGC_FLOAT64,
        "egc_layer: dtype must be EGC_FLOAT32 or EGC_FLOAT64, got {}", layer.dtype);
  return layer.dtype == EGC_FLOAT64 ? DType::kF64 : DType::kF32;
}

AggregatorSet aggregators_of(const egc_layer& layer) {
  check(layer.num_aggregators >= 1 && layer.num_aggregators <= EGC_NUM_AGGREGATORS,
        "egc_layer: num_aggregators must be from 1 to {}, got {}", EGC_NUM_AGGREGATORS,
        layer.num_aggregators);
  std::array<Aggregator, kNumAggregators> list{};
  for (int k = 0; k < layer.num_aggregators; ++k)
    list[static_cast<size_t>(k)] =
        checked_enum(layer.aggregators[k], Aggregator::kStd, "an aggregator");
  return AggregatorSet(std::span(list).first(static_cast<size_t>(layer.num_aggregators)));
}

SelfLoops loops_of(const egc_layer& layer) {
  return checked_enum(layer.self_loops, SelfLoops::kNone, "self_loops");
}

// A layer's numbers, checked.
struct Egc {
  explicit Egc(const egc_layer& layer)
      : shape{aggregators_of(layer), loops_of(layer), checked(layer.heads, "heads"),
              checked(layer.bases, "bases"),
              checked_enum(layer.activation, WeightActivation::kHardtanh, "activation")},
        type(dtype_of(layer)),
        width(checked(layer.width, "width")) {}
  int64_t weights() const { return shape.heads * shape.aggregators.size() * shape.bases; }
  int64_t out_width() const { return shape.heads * width; }

  ops::EgcShape shape;
  DType type;
  int64_t width;
};

// The caller's memory as a matrix; undefined where the pointer is NULL.
template <class T>
Tensor matrix(const void* data, int64_t rows, int64_t columns) {
  if (data == nullptr) return {};
  return Tensor::borrow(static_cast<const T*>(data), rows, columns, nullptr);
}

// The same with a gradient that is written to the caller's memory.
Tensor differentiated(Tensor t, void* gradient) {
  if (!t.defined() || gradient == nullptr) return t;
  return with_type(t.dtype(), [&](auto zero) {
    return t.with_gradient_in(matrix<decltype(zero)>(gradient, t.rows(), t.columns()));
  });
}

struct ConvTensors {
  Tensor x;
  Tensor x_target;
  ops::EgcWeights weights;
  ops::EgcProducts products;
};

template <class T>
ConvTensors conv_tensors(const Csr& graph, const egc_layer& layer, const Egc& o, const void* x,
                         const void* x_target, const void* bases_weight, const void* comb_weight,
                         const void* saved) {
  const int64_t in = checked(layer.in_channels, "in_channels");
  const int64_t bases = graph.num_sources() * o.shape.bases * o.width;
  ConvTensors t;
  t.x = matrix<T>(x, graph.num_sources(), in);
  t.x_target = matrix<T>(x_target, graph.num_targets(), in);
  t.weights.theta = matrix<T>(bases_weight, o.shape.bases * o.width, in);
  t.weights.phi = matrix<T>(comb_weight, o.weights(), in);
  if (saved != nullptr) {
    const T* at = static_cast<const T*>(saved);
    t.products = {matrix<T>(at, graph.num_sources(), o.shape.bases * o.width),
                  matrix<T>(at + bases, graph.num_targets(), o.weights())};
  } else {
    t.products = {Tensor::empty(graph.num_sources(), o.shape.bases * o.width, o.type),
                  Tensor::empty(graph.num_targets(), o.weights(), o.type)};
  }
  return t;
}

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

template <class F>
egc_status call_layer(const char* function, const egc_graph* graph, const egc_layer* layer, F&& f) {
  return call([&] {
    const Csr& csr = given(graph, function, "graph").csr;
    const egc_layer& options = given(layer, function, "layer");
    for (const int64_t value : options.reserved)
      check(value == 0, "{}: egc_layer.reserved must be 0, set the options to zero first",
            function);
    with_type(dtype_of(options), [&](auto zero) { f(csr, options, zero); });
  });
}

// Refuses NULL where memory of at least one element is needed.
void expect_memory(const char* function, int64_t elements,
                   std::initializer_list<const void*> pointers) {
  if (elements == 0) return;
  for (const void* p : pointers) check(p != nullptr, "{}: a matrix is NULL", function);
}

}  // namespace
}  // namespace egc::c_api

using namespace egc;         // NOLINT: what follows is in no namespace
using namespace egc::c_api;  // NOLINT

int64_t egc_conv_saved_size(const egc_graph* graph, const egc_layer* layer) {
  int64_t size = 0;
  static_cast<void>(call_layer(
      "egc_conv_saved_size", graph, layer, [&](const Csr& csr, const egc_layer& options, auto) {
        const Egc o(options);
        size = csr.num_sources() * o.shape.bases * o.width + csr.num_targets() * o.weights();
      }));
  return size;
}

egc_status egc_conv_forward(const egc_graph* graph, const egc_layer* layer, const void* x,
                            const void* x_target, const void* bases_weight, const void* comb_weight,
                            const void* comb_bias, const void* bias, void* y, void* saved) {
  constexpr const char* kName = "egc_conv_forward";
  return call_layer(kName, graph, layer, [&](const Csr& csr, const egc_layer& options, auto zero) {
    using T = decltype(zero);
    const Egc o(options);
    expect_memory(kName, csr.num_sources(), {x});
    expect_memory(kName, csr.num_targets(), {y});
    expect_memory(kName, 1, {bases_weight, comb_weight});
    // An empty matrix may have no memory; the operator wants one all the same.
    static const T nothing[1] = {};
    ConvTensors t = conv_tensors<T>(csr, options, o, x == nullptr ? nothing : x, x_target,
                                    bases_weight, comb_weight, saved);
    t.weights.phi_bias = matrix<T>(comb_bias, 1, o.weights());
    t.weights.bias = matrix<T>(bias, 1, o.out_width());
    ops::egc_forward(o.shape, t.weights, t.x, t.x_target, csr, t.products,
                     matrix<T>(y == nullptr ? nothing : y, csr.num_targets(), o.out_width()));
  });
}

egc_status egc_conv_backward(const egc_graph* graph, const egc_layer* layer, const void* x,
                             const void* x_target, const void* bases_weight,
                             const void* comb_weight, const void* grad_y, const void* saved,
                             void* grad_x, void* grad_x_target, void* grad_bases_weight,
                             void* grad_comb_weight, void* grad_comb_bias, void* grad_bias) {
  constexpr const char* kName = "egc_conv_backward";
  return call_layer(kName, graph, layer, [&](const Csr& csr, const egc_layer& options, auto zero) {
    using T = decltype(zero);
    const Egc o(options);
    expect_memory(kName, csr.num_sources(), {x});
    expect_memory(kName, csr.num_targets(), {grad_y});
    expect_memory(kName, csr.num_sources() + csr.num_targets(), {saved});
    expect_memory(kName, 1, {bases_weight, comb_weight});
    static const T nothing[1] = {};
    ConvTensors t = conv_tensors<T>(csr, options, o, x == nullptr ? nothing : x, x_target,
                                    bases_weight, comb_weight, saved == nullptr ? nothing : saved);
    t.x = differentiated(t.x, grad_x);
    t.x_target = differentiated(t.x_target, grad_x_target);
    t.weights.theta = differentiated(t.weights.theta, grad_bases_weight);
    t.weights.phi = differentiated(t.weights.phi, grad_comb_weight);
    // Of the biases only the gradient matters.
    t.weights.phi_bias = differentiated(matrix<T>(grad_comb_bias, 1, o.weights()), grad_comb_bias);
    t.weights.bias = differentiated(matrix<T>(grad_bias, 1, o.out_width()), grad_bias);
    ops::egc_backward(
        o.shape, t.weights, t.x, t.x_target, csr, t.products,
        matrix<T>(grad_y == nullptr ? nothing : grad_y, csr.num_targets(), o.out_width()));
  });
}

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
