#include "egc/kernels/adam.h"

#include "egc/kernels/simd_targets.h"
#include "egc/kernels/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "egc/kernels/adam.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if defined(__SSE__) && !defined(EGC_ADAM_FLUSH)
#define EGC_ADAM_FLUSH
#include <xmmintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace egc::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void adam_stretch(const AdamStep& s, int64_t count, const float* HWY_RESTRICT gradient,
                  float* HWY_RESTRICT parameter, float* HWY_RESTRICT mean,
                  float* HWY_RESTRICT square) {
  const auto update = [&](auto d, int64_t i) HWY_ATTR {
    const auto p = hn::LoadU(d, parameter + i);
    const auto g = hn::Add(hn::Mul(hn::Set(d, s.scale), hn::LoadU(d, gradient + i)),
                           hn::Mul(hn::Set(d, s.wd), p));
    const auto m = hn::Add(hn::Mul(hn::Set(d, s.beta1), hn::LoadU(d, mean + i)),
                           hn::Mul(hn::Set(d, 1 - s.beta1), g));
    const auto v = hn::Add(hn::Mul(hn::Set(d, s.beta2), hn::LoadU(d, square + i)),
                           hn::Mul(hn::Mul(hn::Set(d, 1 - s.beta2), g), g));
    const auto below = hn::Add(hn::Div(hn::Sqrt(v), hn::Set(d, s.root)), hn::Set(d, s.eps));
    hn::StoreU(m, d, mean + i);
    hn::StoreU(v, d, square + i);
    const auto kept = hn::Mul(hn::Set(d, s.keep), p);  // times 1 changes no bit
    hn::StoreU(hn::Sub(kept, hn::Div(hn::Mul(hn::Set(d, s.size), m), below)), d, parameter + i);
  };
  const hn::ScalableTag<float> full;
  const auto lanes = static_cast<int64_t>(hn::Lanes(full));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) update(full, i);
  for (; i < count; ++i) update(hn::CappedTag<float, 1>(), i);
}

}  // namespace egc::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace egc::kernels {
namespace {

// While it lives, this thread takes and gives 0 for numbers too small to be normal. Where the
// processor has no such switch they stay.
class WithoutDenormals {
 public:
#ifdef EGC_ADAM_FLUSH
  WithoutDenormals() : before_(_mm_getcsr()) {
    constexpr unsigned kFlushResults = 1U << 15;
    constexpr unsigned kInputsAreZero = 1U << 6;
    _mm_setcsr(before_ | kFlushResults | kInputsAreZero);
  }
  ~WithoutDenormals() { _mm_setcsr(before_); }
#else
  WithoutDenormals() : before_(0) {}
#endif
  WithoutDenormals(const WithoutDenormals&) = delete;
  WithoutDenormals& operator=(const WithoutDenormals&) = delete;

 private:
  unsigned before_;
};

}  // namespace

HWY_EXPORT(adam_stretch);

void adam(const AdamStep& step, int64_t count, const float* gradient, float* parameter, float* mean,
          float* square) {
  apply_target_from_environment();
  const WithoutDenormals flush;
  HWY_DYNAMIC_DISPATCH(adam_stretch)(step, count, gradient, parameter, mean, square);
}

}  // namespace egc::kernels
#endif
