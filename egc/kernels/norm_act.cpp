#include "egc/kernels/norm_act.h"

#include <algorithm>
#include <cmath>

#include "egc/core/rng.h"
#include "egc/kernels/simd_targets.h"
#include "egc/kernels/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "egc/kernels/norm_act.cpp"
#include <hwy/foreach_target.h>

#include "egc/kernels/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace egc::kernels::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
// As many neighbouring blocks of the generator as a vector has lanes of 64 bits, one in each: the
// words of a block are in the lower halves of x[0], ... x[3].
struct Blocks {
  using D = hn::ScalableTag<uint64_t>;
  hn::Vec<D> x[4];

  HWY_INLINE Blocks(uint64_t seed, uint64_t stream, uint64_t first) {
    const D d;
    const hn::Repartition<uint32_t, D> d32;
    const auto times = [&](uint32_t factor, hn::Vec<D> v) HWY_ATTR {
      return hn::MulEven(hn::BitCast(d32, hn::Set(d, factor)), hn::BitCast(d32, v));
    };
    const auto index = hn::Add(hn::Iota(d, 0), hn::Set(d, first));
    x[0] = index;
    x[1] = hn::ShiftRight<32>(index);
    x[2] = hn::Set(d, stream);
    x[3] = hn::Set(d, stream >> 32);
    auto k0 = static_cast<uint32_t>(seed);
    auto k1 = static_cast<uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {  // as Rng::block
      const auto p0 = times(0xD2511F53U, x[0]);
      const auto p1 = times(0xCD9E8D57U, x[2]);
      x[0] = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), x[1]), hn::Set(d, k0));
      x[1] = p1;
      x[2] = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), x[3]), hn::Set(d, k1));
      x[3] = p0;
      k0 += 0x9E3779B9U;
      k1 += 0xBB67AE85U;
    }
  }

  // The blocks one after the other.
  HWY_INLINE void store(uint16_t* to) const {
    const D d;
    const auto lower = hn::Set(d, 0xFFFFFFFFU);
    const auto pair = [&](int k) HWY_ATTR {
      return hn::Or(hn::And(x[k], lower), hn::ShiftLeft<32>(x[k + 1]));
    };
    hn::StoreInterleaved2(pair(0), pair(2), d, reinterpret_cast<uint64_t*>(to));
  }
};
#endif

// The factors of one row: 0 for a dropped element, 1 / (1 - drop) for the others. Sixteen random
// bits decide, eight elements a block of the generator.
template <class T>
void fill_keep(const NormAct<T>& op, int64_t row, int64_t columns, T* keep) {
  const double threshold = std::round(op.drop * 65536.0);
  const T factor = static_cast<T>(threshold < 65536.0 ? 65536.0 / (65536.0 - threshold) : 0.0);
  const auto below = static_cast<int32_t>(threshold);
  const auto stream = static_cast<uint64_t>(op.first_row + row);
#if HWY_TARGET == HWY_SCALAR
  const Rng rng(op.seed, stream);
  for (int64_t c = 0; c < columns; c += 8) {
    const auto words = rng.block(static_cast<uint64_t>(c / 8));
    for (int k = 0; k < 8; ++k)
      keep[c + k] =
          static_cast<int32_t>(words[k / 2] >> 16 * (k % 2) & 0xFFFFU) < below ? T{0} : factor;
  }
#else
  constexpr auto kBlocks = static_cast<int64_t>(hn::MaxLanes(Blocks::D()));
  alignas(64) uint16_t bits[8 * kBlocks];
  for (int64_t c = 0; c < columns; c += 8 * kBlocks) {
    Blocks(op.seed, stream, static_cast<uint64_t>(c / 8)).store(bits);
    const int64_t count = std::min(8 * kBlocks, (columns - c + 7) / 8 * 8);
    if constexpr (sizeof(T) == 4) {
      const hn::CappedTag<float, 8> d;
      const hn::RebindToSigned<decltype(d)> di;
      const hn::Rebind<uint16_t, decltype(d)> d16;
      for (int64_t k = 0; k < count; k += static_cast<int64_t>(hn::MaxLanes(d))) {
        const auto drawn = hn::PromoteTo(di, hn::LoadU(d16, bits + k));
        const auto dropped = hn::RebindMask(d, hn::Lt(drawn, hn::Set(di, below)));
        hn::StoreU(hn::IfThenZeroElse(dropped, hn::Set(d, factor)), d, keep + c + k);
      }
    } else {
      for (int64_t k = 0; k < count; ++k)
        keep[c + k] = static_cast<int32_t>(bits[k]) < below ? T{0} : factor;
    }
  }
#endif
}

template <class T>
void forward_rows(const NormAct<T>& op, RowRange rows, int64_t columns, int64_t first,
                  int64_t width, const T* x, const T* residual, T* y, T* keep) {
  for (int64_t i = rows.begin; i < rows.end; ++i) {
    if (op.drop > 0) fill_keep(op, i, columns, keep);
    const int64_t at = i * columns;
    for_each_chunk<T>(static_cast<size_t>(width), [&](auto d, size_t k) HWY_ATTR {
      const size_t c = static_cast<size_t>(first) + k;
      auto v = hn::LoadU(d, x + at + c);
      if (op.scale != nullptr)
        v = hn::MulAdd(v, hn::LoadU(d, op.scale + c), hn::LoadU(d, op.shift + c));
      if (op.relu) v = hn::IfThenZeroElse(hn::Lt(v, hn::Zero(d)), v);  // NaN stays NaN
      if (op.drop > 0) v = hn::Mul(v, hn::LoadU(d, keep + c));
      if (residual != nullptr) v = hn::Add(v, hn::LoadU(d, residual + at + c));
      hn::StoreU(v, d, y + at + c);
    });
  }
}

template <class T>
void moments_rows(const T* x, RowRange rows, int64_t columns, T* mean, T* squares) {
  std::fill(mean, mean + columns, T{0});
  std::fill(squares, squares + columns, T{0});
  if (rows.begin == rows.end) return;
  const auto width = static_cast<size_t>(columns);
  // Relative to the first row: sums of large, nearly equal values would lose their digits.
  const T* origin = x + rows.begin * columns;
  for (int64_t i = rows.begin; i < rows.end; ++i)
    for_each_chunk<T>(width, [&](auto d, size_t c) HWY_ATTR {
      const auto off = hn::Sub(hn::LoadU(d, x + i * columns + c), hn::LoadU(d, origin + c));
      hn::StoreU(hn::Add(hn::LoadU(d, mean + c), off), d, mean + c);
    });
  const T by = T{1} / static_cast<T>(rows.end - rows.begin);
  for (int64_t c = 0; c < columns; ++c) mean[c] = origin[c] + mean[c] * by;
  for (int64_t i = rows.begin; i < rows.end; ++i)
    for_each_chunk<T>(width, [&](auto d, size_t c) HWY_ATTR {
      const auto off = hn::Sub(hn::LoadU(d, x + i * columns + c), hn::LoadU(d, mean + c));
      hn::StoreU(hn::MulAdd(off, off, hn::LoadU(d, squares + c)), d, squares + c);
    });
}

// grad_y where it passed dropout and ReLU.
template <class T, class D>
HWY_INLINE hn::Vec<D> passed(const NormActGrad<T>& in, D d, hn::Vec<D> x, int64_t at, size_t c,
                             const T* keep) {
  auto g = hn::LoadU(d, in.grad_y + at + c);
  if (in.op.drop > 0) g = hn::Mul(g, hn::LoadU(d, keep + c));
  if (in.op.relu) {
    if (in.op.scale != nullptr)
      x = hn::MulAdd(x, hn::LoadU(d, in.op.scale + c), hn::LoadU(d, in.op.shift + c));
    g = hn::IfThenZeroElse(hn::Le(x, hn::Zero(d)), g);  // NaN passes, as in torch
  }
  return g;
}

template <class T>
void sums_rows(const NormActGrad<T>& in, RowRange rows, int64_t columns, T* sum_g, T* sum_gx,
               T* keep) {
  std::fill(sum_g, sum_g + columns, T{0});
  std::fill(sum_gx, sum_gx + columns, T{0});
  for (int64_t i = rows.begin; i < rows.end; ++i) {
    if (in.op.drop > 0) fill_keep(in.op, i, columns, keep);
    const int64_t at = i * columns;
    for_each_chunk<T>(static_cast<size_t>(columns), [&](auto d, size_t c) HWY_ATTR {
      const auto x = hn::LoadU(d, in.x + at + c);
      const auto g = passed(in, d, x, at, c, keep);
      const auto off = hn::Sub(x, hn::LoadU(d, in.mean + c));
      hn::StoreU(hn::Add(hn::LoadU(d, sum_g + c), g), d, sum_g + c);
      hn::StoreU(hn::MulAdd(g, off, hn::LoadU(d, sum_gx + c)), d, sum_gx + c);
    });
  }
}

template <class T>
void backward_rows(const NormActGrad<T>& in, const T* a, const T* b, const T* cc, RowRange rows,
                   int64_t columns, T* grad_x, T* keep) {
  for (int64_t i = rows.begin; i < rows.end; ++i) {
    if (in.op.drop > 0) fill_keep(in.op, i, columns, keep);
    const int64_t at = i * columns;
    for_each_chunk<T>(static_cast<size_t>(columns), [&](auto d, size_t c) HWY_ATTR {
      const auto x = hn::LoadU(d, in.x + at + c);
      auto g = passed(in, d, x, at, c, keep);
      if (a != nullptr) {
        const auto off = hn::Sub(x, hn::LoadU(d, in.mean + c));
        g = hn::MulAdd(g, hn::LoadU(d, a + c),
                       hn::MulAdd(off, hn::LoadU(d, b + c), hn::LoadU(d, cc + c)));
      }
      hn::StoreU(g, d, grad_x + at + c);
    });
  }
}

// Highway's table of functions takes no templates.
#define EGC_FOR_TYPE(T, suffix)                                                              \
  void forward_##suffix(const NormAct<T>& op, RowRange rows, int64_t columns, int64_t first, \
                        int64_t width, const T* x, const T* residual, T* y, T* scratch) {    \
    forward_rows(op, rows, columns, first, width, x, residual, y, scratch);                  \
  }                                                                                          \
  void moments_##suffix(const T* x, RowRange rows, int64_t columns, T* mean, T* squares) {   \
    moments_rows(x, rows, columns, mean, squares);                                           \
  }                                                                                          \
  void sums_##suffix(const NormActGrad<T>& in, RowRange rows, int64_t columns, T* sum_g,     \
                     T* sum_gx, T* scratch) {                                                \
    sums_rows(in, rows, columns, sum_g, sum_gx, scratch);                                    \
  }                                                                                          \
  void backward_##suffix(const NormActGrad<T>& in, const T* a, const T* b, const T* c,       \
                         RowRange rows, int64_t columns, T* grad_x, T* scratch) {            \
    backward_rows(in, a, b, c, rows, columns, grad_x, scratch);                              \
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
HWY_EXPORT(moments_f32);
HWY_EXPORT(moments_f64);
HWY_EXPORT(sums_f32);
HWY_EXPORT(sums_f64);
HWY_EXPORT(backward_f32);
HWY_EXPORT(backward_f64);

#define EGC_FOR_TYPE(T, suffix)                                                           \
  template <>                                                                             \
  void norm_act(const NormAct<T>& op, RowRange rows, int64_t columns, int64_t first,      \
                int64_t width, const T* x, const T* residual, T* y, T* scratch) {         \
    apply_target_from_environment();                                                      \
    HWY_DYNAMIC_DISPATCH(forward_##suffix)                                                \
    (op, rows, columns, first, width, x, residual, y, scratch);                           \
  }                                                                                       \
  template <>                                                                             \
  void column_moments(const T* x, RowRange rows, int64_t columns, T* mean, T* squares) {  \
    apply_target_from_environment();                                                      \
    HWY_DYNAMIC_DISPATCH(moments_##suffix)(x, rows, columns, mean, squares);              \
  }                                                                                       \
  template <>                                                                             \
  void norm_act_sums(const NormActGrad<T>& in, RowRange rows, int64_t columns, T* sum_g,  \
                     T* sum_gx, T* scratch) {                                             \
    apply_target_from_environment();                                                      \
    HWY_DYNAMIC_DISPATCH(sums_##suffix)(in, rows, columns, sum_g, sum_gx, scratch);       \
  }                                                                                       \
  template <>                                                                             \
  void norm_act_backward(const NormActGrad<T>& in, const T* a, const T* b, const T* c,    \
                         RowRange rows, int64_t columns, T* grad_x, T* scratch) {         \
    apply_target_from_environment();                                                      \
    HWY_DYNAMIC_DISPATCH(backward_##suffix)(in, a, b, c, rows, columns, grad_x, scratch); \
  }
EGC_FOR_TYPE(float, f32)
EGC_FOR_TYPE(double, f64)
#undef EGC_FOR_TYPE

}  // namespace egc::kernels
#endif
