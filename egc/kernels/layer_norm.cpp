#include "egc/kernels/layer_norm.h"

#include <cmath>

#include "egc/kernels/simd_targets.h"
#include "egc/kernels/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "egc/kernels/layer_norm.cpp"
#include <hwy/foreach_target.h>

#include "egc/kernels/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace egc::kernels::HWY_NAMESPACE {

// The sum of term(tag, column) over a row: whole vectors in one accumulator, the rest in another.
template <class T, class F>
HWY_INLINE T sum_along(int64_t columns, F&& term) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto sum = hn::Zero(d);
  int64_t c = 0;
  for (; c + lanes <= columns; c += lanes) sum = hn::Add(sum, term(d, c));
  auto rest = hn::Set(one, hn::GetLane(hn::SumOfLanes(d, sum)));
  for (; c < columns; ++c) rest = hn::Add(rest, term(one, c));
  return hn::GetLane(rest);
}

template <class T>
void forward_rows(const T* x, RowRange rows, int64_t columns, T eps, T* normal, T* inv_std) {
  const auto width = static_cast<size_t>(columns);
  const T by = T{1} / static_cast<T>(columns);
  for (int64_t i = rows.begin; i < rows.end; ++i) {
    const T* row = x + i * columns;
    T* to = normal + i * columns;
    // Relative to the first value: sums of large, nearly equal ones would lose their digits.
    const T origin = columns > 0 ? row[0] : T{0};
    const auto from_origin = [&](auto d, int64_t c) HWY_ATTR {
      return hn::Sub(hn::LoadU(d, row + c), hn::Set(d, origin));
    };
    const T mean = by * sum_along<T>(columns, from_origin);
    const auto off = [&](auto d, int64_t c)
                         HWY_ATTR { return hn::Sub(from_origin(d, c), hn::Set(d, mean)); };
    const T variance = by * sum_along<T>(columns, [&](auto d, int64_t c) HWY_ATTR {
                         return hn::Mul(off(d, c), off(d, c));
                       });
    const T inverse = T{1} / std::sqrt(variance + eps);
    inv_std[i] = inverse;
    for_each_chunk<T>(width, [&](auto d, size_t c) HWY_ATTR {
      hn::StoreU(hn::Mul(off(d, static_cast<int64_t>(c)), hn::Set(d, inverse)), d, to + c);
    });
  }
}

template <class T>
void backward_rows(const T* normal, const T* inv_std, const T* g, RowRange rows, int64_t columns,
                   T* grad_x) {
  const auto width = static_cast<size_t>(columns);
  const T by = T{1} / static_cast<T>(columns);
  for (int64_t i = rows.begin; i < rows.end; ++i) {
    const T* n = normal + i * columns;
    const T* from = g + i * columns;
    T* to = grad_x + i * columns;
    const T mean = by * sum_along<T>(columns, [&](auto d, int64_t c)
                                                  HWY_ATTR { return hn::LoadU(d, from + c); });
    const T along = by * sum_along<T>(columns, [&](auto d, int64_t c) HWY_ATTR {
                      return hn::Mul(hn::LoadU(d, from + c), hn::LoadU(d, n + c));
                    });
    for_each_chunk<T>(width, [&](auto d, size_t c) HWY_ATTR {
      const auto off = hn::Sub(hn::LoadU(d, from + c), hn::Set(d, mean));
      const auto straight = hn::Mul(hn::LoadU(d, n + c), hn::Set(d, along));
      hn::StoreU(hn::Mul(hn::Sub(off, straight), hn::Set(d, inv_std[i])), d, to + c);
    });
  }
}

// Highway's table of functions takes no templates.
#define EGC_FOR_TYPE(T, suffix)                                                        \
  void forward_##suffix(const T* x, RowRange rows, int64_t columns, T eps, T* normal,  \
                        T* inv_std) {                                                  \
    forward_rows(x, rows, columns, eps, normal, inv_std);                              \
  }                                                                                    \
  void backward_##suffix(const T* normal, const T* inv_std, const T* g, RowRange rows, \
                         int64_t columns, T* grad_x) {                                 \
    backward_rows(normal, inv_std, g, rows, columns, grad_x);                          \
  }
EGC_FOR_TYPE(float, f32)
EGC_FOR_TYPE(double, f64)
#undef EGC_FOR_TYPE

}  // namespace egc::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace egc::kernels {

HWY_EXPORT(forward_f32);
HWY_EXPORT(forward_f64);
HWY_EXPORT(backward_f32);
HWY_EXPORT(backward_f64);

#define EGC_FOR_TYPE(T, suffix)                                                                   \
  template <>                                                                                     \
  void normalize_rows(const T* x, RowRange rows, int64_t columns, T eps, T* normal, T* inv_std) { \
    apply_target_from_environment();                                                              \
    HWY_DYNAMIC_DISPATCH(forward_##suffix)(x, rows, columns, eps, normal, inv_std);               \
  }                                                                                               \
  template <>                                                                                     \
  void normalize_rows_backward(const T* normal, const T* inv_std, const T* g, RowRange rows,      \
                               int64_t columns, T* grad_x) {                                      \
    apply_target_from_environment();                                                              \
    HWY_DYNAMIC_DISPATCH(backward_##suffix)(normal, inv_std, g, rows, columns, grad_x);           \
  }
EGC_FOR_TYPE(float, f32)
EGC_FOR_TYPE(double, f64)
#undef EGC_FOR_TYPE

}  // namespace egc::kernels
#endif
