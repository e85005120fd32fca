#include "egc/kernels/simd_targets.h"
#include "egc/kernels/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "egc/kernels/attention_backward.cpp"
#include <hwy/foreach_target.h>

#include "egc/kernels/attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace egc::kernels::HWY_NAMESPACE {

// <a[h], b[h] - c[h]> for every head; c may be null.
template <class T>
void head_dots(const AttentionInput<T>& in, const T* a, const T* b, const T* c, T* out) {
  for (int64_t h = 0; h < in.heads; ++h) {
    out[h] = T{0};
    const int64_t first = h * in.width;
    for_each_head_block<T>(in.width, [&](auto block, auto) HWY_ATTR {
      const auto d = block.d;
      out[h] += block.dot([&](int v) HWY_ATTR {
        const size_t at = static_cast<size_t>(first) + block.at[v];
        auto x = hn::LoadU(d, b + at);
        if (c != nullptr) x = hn::Sub(x, hn::LoadU(d, c + at));
        return hn::Mul(hn::LoadU(d, a + at), x);
      });
    });
  }
}

// An edge of GATv2 as seen from either end: the row of this end, and the matrices that the other
// end's rows are in.
template <class T>
struct V2Edges {
  const AttentionInput<T>& in;
  Neighbours n;
  const T* own;         // [H*C]: query of the target, or values of the source
  const T* other;       // [.., H*C]: the other of the two
  const T* grad_out;    // a row (at the target) or a matrix (at the source)
  int64_t grad_stride;  // 0 at the target
  const T*
      grad_with;  // what <grad_out, .> is taken with: `other` at the target, `own` at the source
  int64_t with_stride;

  // scores[e, h] = <attention, leaky(own + other)>,   dots[e, h] = <grad_out, values>.
  void scores_and_dots(T* scores, T* dots) const {
    std::fill(scores, scores + n.count * in.heads, T{0});
    std::fill(dots, dots + n.count * in.heads, T{0});
    for (int64_t h = 0; h < in.heads; ++h) {
      const int64_t first = h * in.width;
      for_each_head_block<T>(in.width, [&](auto block, auto vectors) HWY_ATTR {
        const auto d = block.d;
        const auto slope = hn::Set(d, in.slope);
        hn::Vec<decltype(d)> q[vectors()];
        hn::Vec<decltype(d)> w[vectors()];
        for (int v = 0; v < vectors(); ++v) {
          q[v] = hn::LoadU(d, own + first + block.at[v]);
          w[v] = hn::LoadU(d, in.attention + first + block.at[v]);
        }
        for (int64_t e = 0; e < n.count; ++e) {
          const T* x = other + n.id[e] * in.columns() + first;
          const T* g = grad_out + n.id[e] * grad_stride + first;
          const T* with = grad_with + n.id[e] * with_stride + first;
          scores[e * in.heads + h] += block.dot([&](int v) HWY_ATTR {
            const auto sum = hn::Add(hn::LoadU(d, x + block.at[v]), q[v]);
            return hn::Mul(w[v], leaky_vector(d, sum, slope));
          });
          dots[e * in.heads + h] += block.dot([&](int v) HWY_ATTR {
            return hn::Mul(hn::LoadU(d, g + block.at[v]), hn::LoadU(d, with + block.at[v]));
          });
        }
      });
    }
  }

  // The gradient that flows through the scores to the own row:
  //   grad_own[h] = attention * sum over edges of grad_scores[e, h] * leaky'(own + other)
  // At the source also alphas[e, h] * grad_out; at the target also
  //   grad_attention += sum over edges of grad_scores[e, h] * leaky(own + other).
  void gradients(const T* grad_scores, const T* alphas, T* grad_own, T* grad_attention) const {
    for (int64_t h = 0; h < in.heads; ++h) {
      const int64_t first = h * in.width;
      for_each_head_block<T>(in.width, [&](auto block, auto vectors) HWY_ATTR {
        const auto d = block.d;
        const auto slope = hn::Set(d, in.slope);
        hn::Vec<decltype(d)> q[vectors()];
        hn::Vec<decltype(d)> through[vectors()];  // of leaky'
        hn::Vec<decltype(d)> second[vectors()];   // of leaky, or of alpha * grad_out
        hn::Vec<decltype(d)> folded_through[vectors()];
        hn::Vec<decltype(d)> folded_second[vectors()];
        for (int v = 0; v < vectors(); ++v) {
          q[v] = hn::LoadU(d, own + first + block.at[v]);
          through[v] = second[v] = folded_through[v] = folded_second[v] = hn::Zero(d);
        }
        const auto fold = [&]() HWY_ATTR {
          fold_sums<vectors()>(d, through, folded_through);
          fold_sums<vectors()>(d, second, folded_second);
        };
        const auto take = [&](int64_t e) HWY_ATTR {
          const T* x = other + n.id[e] * in.columns() + first;
          const auto ds = hn::Set(d, grad_scores[e * in.heads + h]);
          const T* g = grad_out + n.id[e] * grad_stride + first;
          const auto alpha = hn::Set(d, alphas != nullptr ? alphas[e * in.heads + h] : T{0});
          for (int v = 0; v < vectors(); ++v) {
            const auto sum = hn::Add(hn::LoadU(d, x + block.at[v]), q[v]);
            const auto part = hn::Mul(ds, leaky_slope(d, sum, slope));
            through[v] = hn::Add(through[v], part);
            second[v] = alphas != nullptr
                            ? hn::MulAdd(alpha, hn::LoadU(d, g + block.at[v]), second[v])
                            : hn::MulAdd(part, sum, second[v]);
          }
        };
        for_each_edge(n.count, take, fold);
        for (int v = 0; v < vectors(); ++v) {
          through[v] = hn::Add(folded_through[v], through[v]);
          second[v] = hn::Add(folded_second[v], second[v]);
          const size_t at = static_cast<size_t>(first) + block.at[v];
          auto total = hn::Mul(through[v], hn::LoadU(d, in.attention + at));
          if (alphas != nullptr) total = hn::Add(total, second[v]);
          hn::StoreU(total, d, grad_own + at);
          if (grad_attention == nullptr) continue;
          // Lanes that two vectors share must be added once.
          if (v + 1 == vectors()) second[v] = hn::IfThenZeroElse(block.repeated, second[v]);
          hn::StoreU(hn::Add(hn::LoadU(d, grad_attention + at), second[v]), d, grad_attention + at);
        }
      });
    }
  }
};

template <class T>
void targets_rows(const AttentionInput<T>& in, const AttentionGrad<T>& grad, RowRange rows,
                  T* grad_target_score, T* grad_query, T* grad_attention, T* scratch,
                  int32_t* buffer) {
  const int64_t heads = in.heads;
  const int64_t columns = in.columns();
  for (int64_t i = rows.begin; i < rows.end; ++i) {
    const T* g = grad.grad_out + i * columns;
    const T* greatest = grad.saved.softmax + i * 2 * heads;
    const T* inverse = greatest + heads;
    T* record = grad.records + i * 4 * heads;
    T* passed = record + 3 * heads;  // <grad_out, y>
    std::copy(greatest, greatest + 2 * heads, record + heads);
    head_dots(in, g, grad.out + i * columns, grad.bias, passed);
    if (!in.is_v2) {
      std::copy_n(in.target_score + i * heads, heads, record);
      T* out = grad_target_score + i * heads;
      head_dots(in, g, static_cast<const T*>(grad.saved.sloped_y + i * columns),
                static_cast<const T*>(nullptr), out);
      for (int64_t h = 0; h < heads; ++h)
        out[h] -= passed[h] * grad.saved.sloped_sum[i * heads + h];
      continue;
    }
    if (in.prefetch) EGC_PREFETCH_NEXT(in.graph, i, rows.end, in.values, columns);
    std::fill(record, record + heads, T{0});
    const Neighbours n = neighbours_of(in.graph, i, in.self_loops, buffer);
    T* scores = scratch;
    T* dots = scores + n.count * heads + 16;
    const V2Edges<T> edges{in, n, in.query + i * columns, in.values, g, 0, in.values, columns};
    edges.scores_and_dots(scores, dots);
    for (int64_t e = 0; e < n.count; ++e)
      for (int64_t h = 0; h < heads; ++h) scores[e * heads + h] -= greatest[h];
    exp_in_place(scores, n.count * heads);
    for (int64_t e = 0; e < n.count; ++e)
      for (int64_t h = 0; h < heads; ++h) {
        const int64_t k = e * heads + h;
        dots[k] = scores[k] * inverse[h] * (dots[k] - passed[h]);
      }
    edges.gradients(dots, nullptr, grad_query + i * columns, grad_attention);
  }
}

// grad_values[h] = sum of alphas[e, h] * grad_out,   dots[e, h] = <grad_out, own values>.
template <class T>
void gat_source(const AttentionInput<T>& in, Neighbours n, const T* own, const T* grad_out,
                const T* alphas, T* dots, T* grad_values) {
  std::fill(dots, dots + n.count * in.heads, T{0});
  for (int64_t h = 0; h < in.heads; ++h) {
    const int64_t first = h * in.width;
    for_each_head_block<T>(in.width, [&](auto block, auto vectors) HWY_ATTR {
      const auto d = block.d;
      hn::Vec<decltype(d)> x[vectors()];
      hn::Vec<decltype(d)> sum[vectors()];
      hn::Vec<decltype(d)> folded[vectors()];
      for (int v = 0; v < vectors(); ++v) {
        x[v] = hn::LoadU(d, own + first + block.at[v]);
        sum[v] = folded[v] = hn::Zero(d);
      }
      for_each_edge(
          n.count,
          [&](int64_t e) HWY_ATTR {
            const T* g = grad_out + n.id[e] * in.columns() + first;
            const auto alpha = hn::Set(d, alphas[e * in.heads + h]);
            dots[e * in.heads + h] += block.dot([&](int v) HWY_ATTR {
              const auto gv = hn::LoadU(d, g + block.at[v]);
              sum[v] = hn::MulAdd(alpha, gv, sum[v]);
              return hn::Mul(gv, x[v]);
            });
          },
          [&]() HWY_ATTR { fold_sums<vectors()>(d, sum, folded); });
      for (int v = 0; v < vectors(); ++v)
        hn::StoreU(hn::Add(folded[v], sum[v]), d, grad_values + first + block.at[v]);
    });
  }
}

template <class T>
void sources_rows(const AttentionInput<T>& in, const AttentionGrad<T>& grad,
                  const CsrView& transposed, RowRange sources, T* grad_values, T* grad_source_score,
                  T* scratch, int32_t* buffer) {
  const int64_t heads = in.heads;
  const int64_t columns = in.columns();
  for (int64_t j = sources.begin; j < sources.end; ++j) {
    if (in.prefetch) {
      EGC_PREFETCH_NEXT(transposed, j, sources.end, grad.grad_out, columns);
      EGC_PREFETCH_NEXT(transposed, j, sources.end, grad.records, 4 * heads);
      if (in.is_v2) EGC_PREFETCH_NEXT(transposed, j, sources.end, in.query, columns);
    }
    const Neighbours n = neighbours_of(transposed, j, in.self_loops, buffer);
    const int64_t values = n.count * heads;
    T* HWY_RESTRICT alphas = scratch;
    T* HWY_RESTRICT dots = alphas + values + 16;
    T* HWY_RESTRICT slopes = dots + values + 16;
    T* HWY_RESTRICT inverse = slopes + values + 16;
    T* HWY_RESTRICT passed = inverse + values + 16;
    const T* own = in.values + j * columns;
    const V2Edges<T> edges{in, n, own, in.query, grad.grad_out, columns, own, 0};
    if (in.is_v2) edges.scores_and_dots(alphas, dots);
    // The targets' records are gathered once; what follows runs over neighbouring memory.
    for (int64_t e = 0; e < n.count; ++e) {
      const T* HWY_RESTRICT record = grad.records + n.id[e] * 4 * heads;
      const int64_t first = e * heads;
      for (int64_t h = 0; h < heads; ++h) {
        if (!in.is_v2) {
          const T sum = in.source_score[j * heads + h] + record[h];
          slopes[first + h] = sum > 0 ? T{1} : in.slope;
          alphas[first + h] = leaky(sum, in.slope);
        }
        alphas[first + h] -= record[heads + h];
        inverse[first + h] = record[2 * heads + h];
        passed[first + h] = record[3 * heads + h];
      }
    }
    exp_in_place(alphas, values);
    for (int64_t k = 0; k < values; ++k) alphas[k] *= inverse[k];
    if (!in.is_v2) gat_source(in, n, own, grad.grad_out, alphas, dots, grad_values + j * columns);
    // The dots become the gradients of the scores.
    for (int64_t k = 0; k < values; ++k) dots[k] = alphas[k] * (dots[k] - passed[k]);
    if (in.is_v2) {
      edges.gradients(dots, alphas, grad_values + j * columns, nullptr);
      continue;
    }
    for (int64_t k = 0; k < values; ++k) dots[k] *= slopes[k];
    sum_over_edges(dots, n.count, heads, grad_source_score + j * heads);
  }
}

void targets_f32(const AttentionInput<float>& in, const AttentionGrad<float>& grad, RowRange rows,
                 float* grad_target_score, float* grad_query, float* grad_attention, float* scratch,
                 int32_t* neighbours) {
  targets_rows(in, grad, rows, grad_target_score, grad_query, grad_attention, scratch, neighbours);
}
void targets_f64(const AttentionInput<double>& in, const AttentionGrad<double>& grad, RowRange rows,
                 double* grad_target_score, double* grad_query, double* grad_attention,
                 double* scratch, int32_t* neighbours) {
  targets_rows(in, grad, rows, grad_target_score, grad_query, grad_attention, scratch, neighbours);
}
void sources_f32(const AttentionInput<float>& in, const AttentionGrad<float>& grad,
                 const CsrView& transposed, RowRange sources, float* grad_values,
                 float* grad_source_score, float* scratch, int32_t* neighbours) {
  sources_rows(in, grad, transposed, sources, grad_values, grad_source_score, scratch, neighbours);
}
void sources_f64(const AttentionInput<double>& in, const AttentionGrad<double>& grad,
                 const CsrView& transposed, RowRange sources, double* grad_values,
                 double* grad_source_score, double* scratch, int32_t* neighbours) {
  sources_rows(in, grad, transposed, sources, grad_values, grad_source_score, scratch, neighbours);
}

}  // namespace egc::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace egc::kernels {

HWY_EXPORT(targets_f32);
HWY_EXPORT(targets_f64);
HWY_EXPORT(sources_f32);
HWY_EXPORT(sources_f64);

#define EGC_FOR_TYPE(T, suffix)                                                                    \
  template <>                                                                                      \
  void attention_targets(const AttentionInput<T>& in, const AttentionGrad<T>& grad, RowRange rows, \
                         T* grad_target_score, T* grad_query, T* grad_attention, T* scratch,       \
                         int32_t* neighbours) {                                                    \
    apply_target_from_environment();                                                               \
    HWY_DYNAMIC_DISPATCH(targets_##suffix)                                                         \
    (in, grad, rows, grad_target_score, grad_query, grad_attention, scratch, neighbours);          \
  }                                                                                                \
  template <>                                                                                      \
  void attention_sources(const AttentionInput<T>& in, const AttentionGrad<T>& grad,                \
                         CsrView transposed, RowRange sources, T* grad_values,                     \
                         T* grad_source_score, T* scratch, int32_t* neighbours) {                  \
    apply_target_from_environment();                                                               \
    HWY_DYNAMIC_DISPATCH(sources_##suffix)                                                         \
    (in, grad, transposed, sources, grad_values, grad_source_score, scratch, neighbours);          \
  }
EGC_FOR_TYPE(float, f32)
EGC_FOR_TYPE(double, f64)
#undef EGC_FOR_TYPE

}  // namespace egc::kernels
#endif
