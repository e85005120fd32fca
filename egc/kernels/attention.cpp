#include "egc/kernels/attention.h"

#include "egc/kernels/simd_targets.h"
#include "egc/kernels/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "egc/kernels/attention.cpp"
#include <hwy/foreach_target.h>

#include "egc/kernels/attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace egc::kernels::HWY_NAMESPACE {

// scores[e, h] of row i. GAT leaves the sign of the sum in them, which the leaky ReLU keeps.
template <class T>
void row_scores(const AttentionInput<T>& in, int64_t i, Neighbours n, T* scores) {
  const int64_t heads = in.heads;
  if (!in.is_v2) {
    const T* target = in.target_score + i * heads;
    for (int64_t e = 0; e < n.count; ++e) {
      const T* source = in.source_score + n.id[e] * heads;
      for (int64_t h = 0; h < heads; ++h)
        scores[e * heads + h] = leaky(source[h] + target[h], in.slope);
    }
    return;
  }
  std::fill(scores, scores + n.count * heads, T{0});
  for (int64_t h = 0; h < heads; ++h) {
    const T* values = in.values + h * in.width;
    const T* query = in.query + i * in.columns() + h * in.width;
    const T* weight = in.attention + h * in.width;
    for_each_head_block<T>(in.width, [&](auto block, auto vectors) HWY_ATTR {
      const auto d = block.d;
      const auto slope = hn::Set(d, in.slope);
      hn::Vec<decltype(d)> q[vectors()];
      hn::Vec<decltype(d)> w[vectors()];
      for (int v = 0; v < vectors(); ++v) {
        q[v] = hn::LoadU(d, query + block.at[v]);
        w[v] = hn::LoadU(d, weight + block.at[v]);
      }
      for (int64_t e = 0; e < n.count; ++e) {
        const T* x = values + n.id[e] * in.columns();
        scores[e * heads + h] += block.dot([&](int v) HWY_ATTR {
          const auto sum = hn::Add(hn::LoadU(d, x + block.at[v]), q[v]);
          return hn::Mul(w[v], leaky_vector(d, sum, slope));
        });
      }
    });
  }
}

// scores [count, H] become alphas; greatest [H] and inverse [H] are what was taken off and divided
// by.
template <class T>
void softmax(T* scores, int64_t count, int64_t heads, T* greatest, T* inverse) {
  std::fill(greatest, greatest + heads, -std::numeric_limits<T>::infinity());
  for (int64_t e = 0; e < count; ++e)
    for (int64_t h = 0; h < heads; ++h) greatest[h] = std::max(greatest[h], scores[e * heads + h]);
  for (int64_t e = 0; e < count; ++e)
    for (int64_t h = 0; h < heads; ++h) scores[e * heads + h] -= greatest[h];
  exp_in_place(scores, count * heads);
  sum_over_edges(scores, count, heads, inverse);
  for (int64_t h = 0; h < heads; ++h) inverse[h] = T{1} / inverse[h];
  for (int64_t e = 0; e < count; ++e)
    for (int64_t h = 0; h < heads; ++h) scores[e * heads + h] *= inverse[h];
}

// out[h] = sum over edges of factors[e, h] * values[j, h] + bias.
template <class T>
void weighted_sum(const AttentionInput<T>& in, Neighbours n, const T* factors, const T* bias,
                  T* out) {
  for (int64_t h = 0; h < in.heads; ++h) {
    const int64_t first = h * in.width;
    for_each_head_block<T>(in.width, [&](auto block, auto vectors) HWY_ATTR {
      const auto d = block.d;
      hn::Vec<decltype(d)> sum[vectors()];
      hn::Vec<decltype(d)> folded[vectors()];
      for (int v = 0; v < vectors(); ++v) {
        sum[v] = hn::Zero(d);
        folded[v] = bias != nullptr ? hn::LoadU(d, bias + first + block.at[v]) : hn::Zero(d);
      }
      for_each_edge(
          n.count,
          [&](int64_t e) HWY_ATTR {
            const auto factor = hn::Set(d, factors[e * in.heads + h]);
            const T* x = in.values + n.id[e] * in.columns() + first;
            for (int v = 0; v < vectors(); ++v)
              sum[v] = hn::MulAdd(factor, hn::LoadU(d, x + block.at[v]), sum[v]);
          },
          [&]() HWY_ATTR { fold_sums<vectors()>(d, sum, folded); });
      for (int v = 0; v < vectors(); ++v)
        hn::StoreU(hn::Add(folded[v], sum[v]), d, out + first + block.at[v]);
    });
  }
}

template <class T>
void forward_rows(const AttentionInput<T>& in, RowRange rows, const T* bias, T* out,
                  const AttentionSaved<T>& saved, T* scratch, int32_t* buffer) {
  const int64_t heads = in.heads;
  T* const own_softmax = scratch;  // where nobody keeps it
  T* const alphas = scratch + 2 * heads;
  for (int64_t i = rows.begin; i < rows.end; ++i) {
    if (in.prefetch) {
      EGC_PREFETCH_NEXT(in.graph, i, rows.end, in.values, in.columns());
      if (!in.is_v2) EGC_PREFETCH_NEXT(in.graph, i, rows.end, in.source_score, heads);
    }
    const Neighbours n = neighbours_of(in.graph, i, in.self_loops, buffer);
    T* greatest = saved.softmax != nullptr ? saved.softmax + i * 2 * heads : own_softmax;
    if (n.count == 0) std::fill(greatest, greatest + 2 * heads, T{0});
    row_scores(in, i, n, alphas);
    T* sloped = alphas + n.count * heads + 16;
    if (saved.sloped_y != nullptr)
      for (int64_t k = 0; k < n.count * heads; ++k) sloped[k] = alphas[k] > 0 ? T{1} : in.slope;
    if (n.count > 0) softmax(alphas, n.count, heads, greatest, greatest + heads);
    weighted_sum(in, n, alphas, bias, out + i * in.columns());
    if (saved.sloped_y != nullptr) {
      for (int64_t k = 0; k < n.count * heads; ++k) sloped[k] *= alphas[k];
      sum_over_edges(sloped, n.count, heads, saved.sloped_sum + i * heads);
      weighted_sum(in, n, sloped, static_cast<const T*>(nullptr),
                   saved.sloped_y + i * in.columns());
    }
  }
}

void forward_f32(const AttentionInput<float>& in, RowRange rows, const float* bias, float* out,
                 const AttentionSaved<float>& saved, float* scratch, int32_t* neighbours) {
  forward_rows(in, rows, bias, out, saved, scratch, neighbours);
}
void forward_f64(const AttentionInput<double>& in, RowRange rows, const double* bias, double* out,
                 const AttentionSaved<double>& saved, double* scratch, int32_t* neighbours) {
  forward_rows(in, rows, bias, out, saved, scratch, neighbours);
}

}  // namespace egc::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace egc::kernels {

HWY_EXPORT(forward_f32);
HWY_EXPORT(forward_f64);

template <>
void attention_forward(const AttentionInput<float>& in, RowRange rows, const float* bias,
                       float* out, const AttentionSaved<float>& saved, float* scratch,
                       int32_t* neighbours) {
  apply_target_from_environment();
  HWY_DYNAMIC_DISPATCH(forward_f32)(in, rows, bias, out, saved, scratch, neighbours);
}
template <>
void attention_forward(const AttentionInput<double>& in, RowRange rows, const double* bias,
                       double* out, const AttentionSaved<double>& saved, double* scratch,
                       int32_t* neighbours) {
  apply_target_from_environment();
  HWY_DYNAMIC_DISPATCH(forward_f64)(in, rows, bias, out, saved, scratch, neighbours);
}

}  // namespace egc::kernels
#endif
