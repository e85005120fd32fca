#include "egc/kernels/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "egc/kernels/simd_targets.h"
#include "egc/kernels/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "egc/kernels/softmax.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace egc::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
T greatest_of(const T* HWY_RESTRICT x, int64_t n) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto most = hn::Set(d, x[0]);
  int64_t c = 0;
  for (; c + lanes <= n; c += lanes) most = hn::Max(most, hn::LoadU(d, x + c));
  T out = hn::GetLane(hn::MaxOfLanes(d, most));
  for (; c < n; ++c) out = std::max(out, x[c]);
  return out;
}

template <class T>
ExpSum<T> exp_row_any(const T* HWY_RESTRICT x, int64_t n, T* HWY_RESTRICT e) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const T greatest = greatest_of(x, n);
  auto sums = hn::Zero(d);
  auto differences = hn::Zero(d);  // NaN where a value is, which Exp and Max need not pass on
  const auto take = [&](auto tag, int64_t c, auto& sum, auto& difference) HWY_ATTR {
    const auto below = hn::Sub(hn::LoadU(tag, x + c), hn::Set(tag, greatest));
    const auto value = hn::Exp(tag, below);
    sum = hn::Add(sum, value);
    difference = hn::Add(difference, hn::Sub(below, below));
    if (e != nullptr) hn::StoreU(value, tag, e + c);
  };
  int64_t c = 0;
  for (; c + lanes <= n; c += lanes) take(d, c, sums, differences);
  const hn::CappedTag<T, 1> one;
  auto sum = hn::Set(one, hn::GetLane(hn::SumOfLanes(d, sums)));
  auto difference = hn::Set(one, hn::GetLane(hn::SumOfLanes(d, differences)));
  for (; c < n; ++c) take(one, c, sum, difference);
  // -inf - greatest is -inf, whose difference to itself is NaN too: only this row is slow.
  double total = static_cast<double>(hn::GetLane(sum));
  if (const T lost = hn::GetLane(difference); lost != lost) {
    total = std::isfinite(greatest) ? 0 : std::numeric_limits<double>::quiet_NaN();
    for (c = 0; c < n; ++c) {
      const T value = std::exp(x[c] - greatest);
      total += static_cast<double>(value);
      if (e != nullptr) e[c] = value;
    }
  }
  return {greatest, total};
}

ExpSum<float> exp_row_f32(const float* x, int64_t n, float* e) { return exp_row_any(x, n, e); }
ExpSum<double> exp_row_f64(const double* x, int64_t n, double* e) { return exp_row_any(x, n, e); }

}  // namespace egc::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace egc::kernels {

HWY_EXPORT(exp_row_f32);
HWY_EXPORT(exp_row_f64);

template <>
ExpSum<float> exp_row(const float* x, int64_t n, float* e) {
  apply_target_from_environment();
  return HWY_DYNAMIC_DISPATCH(exp_row_f32)(x, n, e);
}
template <>
ExpSum<double> exp_row(const double* x, int64_t n, double* e) {
  apply_target_from_environment();
  return HWY_DYNAMIC_DISPATCH(exp_row_f64)(x, n, e);
}

}  // namespace egc::kernels
#endif
