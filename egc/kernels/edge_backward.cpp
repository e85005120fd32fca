#include "egc/kernels/edge_backward.h"

#include <algorithm>

#include "egc/kernels/simd_targets.h"
#include "egc/kernels/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "egc/kernels/edge_backward.cpp"
#include <hwy/foreach_target.h>

#include "egc/kernels/edge_gradient-inl.h"
#include "egc/kernels/row_aggregate-inl.h"

HWY_BEFORE_NAMESPACE();
namespace egc::kernels::HWY_NAMESPACE {

// Calls f(tag, <vectors>, begin) for blocks of vectors that cover [0, columns) without overlap, so
// that f may add to memory.
template <class T, class F>
HWY_INLINE void for_each_block_once(size_t columns, F&& f) {
  size_t c = 0;
  const hn::ScalableTag<T> d;
  for (; c + 4 * kFullLanes<T> <= columns; c += 4 * kFullLanes<T>)
    f(d, std::integral_constant<int, 4>(), c);
  for (; c + 2 * kFullLanes<T> <= columns; c += 2 * kFullLanes<T>)
    f(d, std::integral_constant<int, 2>(), c);
  for_each_chunk<T>(columns - c, [&](auto tag, size_t at) HWY_ATTR {
    f(tag, std::integral_constant<int, 1>(), c + at);
  });
}

// Which records the source pass takes of a target.
struct Taken {
  bool plain = false;
  bool sym = false;
  bool squares = false;
};

// Per source: g = e * (P + s_j * Q + K * (m - mean)) of every edge where phi lets it pass.
template <bool kWeighted, bool kRelu, class T>
class EdgeSourcePass {
 public:
  EdgeSourcePass(const FusedShape& shape, const FusedInput<T>& in, const CsrView& transposed,
                 const EdgeTerm<T>& edges, const T* records, TermGradient<T>& gradient)
      : shape_(shape),
        in_(in),
        t_(transposed),
        term_(edges),
        layout_(record_layout(shape.aggregators)),
        columns_(shape.bases * in.bases.width),
        num_edges_(transposed.num_edges()),
        records_(records),
        gradient_(gradient) {
    row_ = make_row(shape, in);
    row_.term = &term_;
  }

  void run(int64_t j, T* out) {
    point_at(row_, t_, j, num_edges_);
    std::fill(out, out + columns_, T{0});
    const Taken all{layout_.plain, layout_.sym, layout_.squares};
    if (row_.loop_first) add_edges<true>(j, 0, 1, all, out);
    if (has_sym_loop(shape_)) add_edges<true>(j, 0, 1, {.sym = true}, out);
    for (int64_t e = 0; e < row_.edges; e += kLongestChunk)
      add_edges<false>(j, e, std::min(row_.edges, e + kLongestChunk), all, out);
  }

 private:
  // The edges [begin, end) of source j, or its added loop.
  template <bool kLoop>
  void add_edges(int64_t j, int64_t begin, int64_t end, const Taken& taken, T* out) {
    const T* x = in_.bases.data + j * in_.bases.row_stride;
    const int64_t sym_at = layout_.plain ? columns_ : 0;
    const int64_t squares_at = layout_.sums() * columns_;
    const int64_t stride = layout_.parts() * columns_;
    const auto scale = layout_.sym ? in_.source_scale[j] : T{0};
    for_each_block_once<T>(static_cast<size_t>(columns_), [&](auto d, auto vectors,
                                                              size_t first) HWY_ATTR {
      using V = hn::Vec<decltype(d)>;
      constexpr int kVectors = vectors();
      V own[kVectors];
      V sum[kVectors];
      for (int v = 0; v < kVectors; ++v) {
        own[v] = hn::LoadU(d, x + first + v * kLanes<decltype(d)>);
        sum[v] = hn::Zero(d);
      }
      const auto zero = hn::Zero(d);
      for (int64_t e = begin; e < end; ++e) {
        const int64_t i = kLoop ? j : row_.source[e];
        if constexpr (!kLoop) {
          if (row_.prefetch && e + kAhead < row_.until_end) {
            const T* next = records_ + row_.source[e + kAhead] * stride + first;
            for (size_t c = 0; c < kVectors * kLanes<decltype(d)>; c += 64 / sizeof(T))
              for (int64_t part = 0; part < layout_.parts(); ++part)
                __builtin_prefetch(next + part * columns_ + c);
          }
          if (row_.skip_loops && i == j) continue;
        }
        const bool sym = taken.sym && (kLoop || !(row_.sym_skips_loops && i == j));
        const T* record = records_ + i * stride;
        const EdgeAt<T> edge = kLoop ? loop_at(term_, row_) : edge_at(term_, row_, e);
        const int64_t type = kLoop ? term_.types : row_.type == nullptr ? 0 : row_.type[e];
        T* to = gradient_.row(type);
        const auto weight = hn::Set(d, kWeighted && !kLoop ? static_cast<T>(row_.weight[e]) : T{1});
        for (int v = 0; v < kVectors; ++v) {
          const size_t c = first + v * kLanes<decltype(d)>;
          const V x_and_e = add_edge(d, own[v], term_, edge, columns_, c);
          V g = taken.plain ? hn::LoadU(d, record + c) : zero;
          if (sym) g = hn::MulAdd(hn::Set(d, scale), hn::LoadU(d, record + sym_at + c), g);
          if (taken.squares) {
            V m = x_and_e;
            if constexpr (kRelu) m = hn::IfThenZeroElse(hn::Lt(m, zero), m);
            if constexpr (kWeighted) m = hn::Mul(m, weight);
            const T* pull = record + squares_at + c;
            g = hn::MulAdd(hn::LoadU(d, pull), hn::Sub(m, hn::LoadU(d, pull + columns_)), g);
          }
          if constexpr (kWeighted) g = hn::Mul(g, weight);
          if constexpr (kRelu) g = hn::IfThenZeroElse(hn::Le(x_and_e, zero), g);
          sum[v] = hn::Add(sum[v], g);
          hn::StoreU(hn::Add(hn::LoadU(d, to + c), g), d, to + c);
          for (int64_t k = 0; edge.values != nullptr && k < term_.columns; ++k) {
            T* linear = gradient_.row(term_.types + 1 + k) + c;
            hn::StoreU(hn::MulAdd(hn::Set(d, edge.values[k]), g, hn::LoadU(d, linear)), d, linear);
          }
        }
      }
      for (int v = 0; v < kVectors; ++v) {
        T* to = out + first + v * kLanes<decltype(d)>;
        hn::StoreU(hn::Add(hn::LoadU(d, to), sum[v]), d, to);
      }
    });
    gradient_.count(end - begin);
  }

  const FusedShape& shape_;
  const FusedInput<T>& in_;
  const CsrView t_;
  const EdgeTerm<T> term_;
  const RecordLayout layout_;
  const int64_t columns_;
  const int64_t num_edges_;
  const T* const records_;
  TermGradient<T>& gradient_;
  Row<T> row_;
};

template <bool kWeighted, bool kRelu, class T>
void edge_sources_of(const FusedShape& shape, const FusedInput<T>& in, const CsrView& transposed,
                     const EdgeTerm<T>& edges, RowRange sources, const T* records, T* grad_bases,
                     TermGradient<T>& gradient) {
  EdgeSourcePass<kWeighted, kRelu, T> pass(shape, in, transposed, edges, records, gradient);
  const int64_t columns = shape.bases * in.bases.width;
  for (int64_t j = sources.begin; j < sources.end; ++j) pass.run(j, grad_bases + j * columns);
}

template <class T>
void edge_sources_any(const FusedShape& shape, const FusedInput<T>& in, const CsrView& transposed,
                      const EdgeTerm<T>& edges, RowRange sources, const T* records, T* grad_bases,
                      T* grad_term, T* scratch) {
  const int64_t columns = shape.bases * in.bases.width;
  TermGradient<T> gradient(edges, columns, grad_term, scratch);
  if (transposed.weights != nullptr)
    edges.relu ? edge_sources_of<true, true>(shape, in, transposed, edges, sources, records,
                                             grad_bases, gradient)
               : edge_sources_of<true, false>(shape, in, transposed, edges, sources, records,
                                              grad_bases, gradient);
  else
    edges.relu ? edge_sources_of<false, true>(shape, in, transposed, edges, sources, records,
                                              grad_bases, gradient)
               : edge_sources_of<false, false>(shape, in, transposed, edges, sources, records,
                                               grad_bases, gradient);
  gradient.fold();
}

#define EGC_DEFINE_EDGE_BACKWARD(T, suffix)                                                      \
  void edge_sources_##suffix(const FusedShape& shape, const FusedInput<T>& in, const CsrView& t, \
                             const EdgeTerm<T>& edges, RowRange sources, const T* records,       \
                             T* grad_bases, T* grad_term, T* scratch) {                          \
    edge_sources_any(shape, in, t, edges, sources, records, grad_bases, grad_term, scratch);     \
  }
EGC_DEFINE_EDGE_BACKWARD(float, f32)
EGC_DEFINE_EDGE_BACKWARD(double, f64)
#undef EGC_DEFINE_EDGE_BACKWARD

}  // namespace egc::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace egc::kernels {

HWY_EXPORT(edge_sources_f32);
HWY_EXPORT(edge_sources_f64);

template <>
void backward_edge_sources(const FusedShape& shape, const FusedInput<float>& input, CsrView t,
                           const EdgeTerm<float>& edges, RowRange sources, const float* records,
                           float* grad_bases, float* grad_term, float* scratch) {
  apply_target_from_environment();
  HWY_DYNAMIC_DISPATCH(edge_sources_f32)
  (shape, input, t, edges, sources, records, grad_bases, grad_term, scratch);
}
template <>
void backward_edge_sources(const FusedShape& shape, const FusedInput<double>& input, CsrView t,
                           const EdgeTerm<double>& edges, RowRange sources, const double* records,
                           double* grad_bases, double* grad_term, double* scratch) {
  apply_target_from_environment();
  HWY_DYNAMIC_DISPATCH(edge_sources_f64)
  (shape, input, t, edges, sources, records, grad_bases, grad_term, scratch);
}

}  // namespace egc::kernels
#endif
