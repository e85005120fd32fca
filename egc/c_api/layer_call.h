// Layers on raw pointers. Shapes follow from the graph and the options, so only these are checked.
#pragma once

#include "egc/c_api/call.h"
#include "egc/c_api/graph.h"
#include "egc/ops/egc.h"
#include "egc/tensor/tensor.h"

namespace egc::c_api {

inline constexpr int64_t kMaxWidth = int64_t{1} << 24;  // products of two cannot overflow

inline int64_t checked(int64_t value, const char* what) {
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

inline DType dtype_of(const egc_layer& layer) {
  check(layer.dtype == EGC_FLOAT32 || layer.dtype == EGC_FLOAT64,
        "egc_layer: dtype must be EGC_FLOAT32 or EGC_FLOAT64, got {}", layer.dtype);
  return layer.dtype == EGC_FLOAT64 ? DType::kF64 : DType::kF32;
}

inline AggregatorSet aggregators_of(const egc_layer& layer) {
  check(layer.num_aggregators >= 1 && layer.num_aggregators <= EGC_NUM_AGGREGATORS,
        "egc_layer: num_aggregators must be from 1 to {}, got {}", EGC_NUM_AGGREGATORS,
        layer.num_aggregators);
  std::array<Aggregator, kNumAggregators> list{};
  for (int k = 0; k < layer.num_aggregators; ++k)
    list[static_cast<size_t>(k)] =
        checked_enum(layer.aggregators[k], Aggregator::kStd, "an aggregator");
  return AggregatorSet(std::span(list).first(static_cast<size_t>(layer.num_aggregators)));
}

inline SelfLoops loops_of(const egc_layer& layer) {
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
  int64_t bases_width() const { return shape.bases * width; }
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
inline Tensor differentiated(Tensor t, void* gradient) {
  if (!t.defined() || gradient == nullptr) return t;
  return with_type(t.dtype(), [&](auto zero) {
    return t.with_gradient_in(matrix<decltype(zero)>(gradient, t.rows(), t.columns()));
  });
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
inline void expect_memory(const char* function, int64_t elements,
                          std::initializer_list<const void*> pointers) {
  if (elements == 0) return;
  for (const void* p : pointers) check(p != nullptr, "{}: a matrix is NULL", function);
}

}  // namespace egc::c_api
