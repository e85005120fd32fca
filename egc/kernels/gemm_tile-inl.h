// The innermost loop of dense products. Included once per instruction set.
#if defined(EGC_KERNELS_GEMM_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EGC_KERNELS_GEMM_TILE_INL_H_
#undef EGC_KERNELS_GEMM_TILE_INL_H_
#else
#define EGC_KERNELS_GEMM_TILE_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "egc/kernels/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace egc::kernels::HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX2
inline constexpr bool kHasMaskedMemory = true;
#else
inline constexpr bool kHasMaskedMemory = false;
#endif
inline constexpr bool kManyRegisters = HWY_TARGET <= HWY_AVX3;

// a(r, s) is a[r * a_stride + s] by rows, a[s * a_stride + r] by steps.
enum class Layout { kRows, kSteps };

// The largest tile that leaves registers for a row of b and one element of a. No more than 12 rows
// are read side by side: a power of two apart, they compete for one set of the first-level cache.
inline constexpr int kMaxVectors = kManyRegisters ? 3 : 2;
constexpr int max_rows(int vectors, Layout layout) {
  if (!kManyRegisters) return vectors == 2 ? 6 : 8;
  if (vectors == 1 && layout == Layout::kSteps) return 16;
  return vectors == 3 ? 8 : 12;
}

// How many vectors the next panel has. 4 are 2 + 2: a panel of one is bound by its loads.
constexpr int panel_vectors(int64_t left) {
  if (kMaxVectors == 3 && left == 4) return 2;
  return static_cast<int>(left < kMaxVectors ? left : kMaxVectors);
}

template <class T>
inline constexpr auto kLane = static_cast<int64_t>(kFullLanes<T>);

// Calls f(<vectors>, first column) for every panel.
template <class T, class F>
HWY_INLINE void for_each_panel(int64_t columns, F&& f) {
  const int64_t vectors = (columns + kLane<T> - 1) / kLane<T>;
  for (int64_t v = 0; v < vectors;) {
    const int here = panel_vectors(vectors - v);
    const int64_t column = v * kLane<T>;
    if constexpr (kMaxVectors == 3)
      if (here == 3) f(std::integral_constant<int, 3>(), column);
    if (here == 2) f(std::integral_constant<int, 2>(), column);
    if (here == 1) f(std::integral_constant<int, 1>(), column);
    v += here;
  }
}

// The first `count` lanes; nothing is read or written behind them.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_first(D d, const T* from, size_t count) {
  if (count == kLanes<D>) return hn::LoadU(d, from);
  if constexpr (kHasMaskedMemory) {
    return hn::MaskedLoad(hn::FirstN(d, count), d, from);
  } else {
    HWY_ALIGN T lanes[kLanes<D>] = {};
    for (size_t c = 0; c < count; ++c) lanes[c] = from[c];
    return hn::Load(d, lanes);
  }
}

template <class D, class T>
HWY_INLINE void store_first(hn::Vec<D> v, D d, T* to, size_t count) {
  if (count == kLanes<D>) return hn::StoreU(v, d, to);
  if constexpr (kHasMaskedMemory) {
    hn::BlendedStore(v, hn::FirstN(d, count), d, to);
  } else {
    HWY_ALIGN T lanes[kLanes<D>];
    hn::Store(v, d, lanes);
    for (size_t c = 0; c < count; ++c) to[c] = lanes[c];
  }
}

// c[r, j] = start + sum over steps s of a(r, s) * b[s, j], for the columns j of one panel.
template <class T>
struct Product {
  const T* a = nullptr;
  int64_t a_stride = 0;
  const T* b = nullptr;  // whole vectors
  int64_t b_stride = 0;
  int64_t steps = 0;
  bool accumulate = false;  // start = c
  const T* bias = nullptr;  // otherwise, of the first column; null: 0
  T* c = nullptr;
  int64_t c_stride = 0;
  size_t last = 0;  // lanes of the last vector that c and bias have
};

// Loops over it are unrolled: an array that is indexed at run time would live in memory.
template <class T, int kRows, int kVectors>
struct Sums {
  hn::Vec<hn::ScalableTag<T>> at[kRows][kVectors];
};

template <bool kPartial, class T, int kRows, int kVectors>
HWY_INLINE void load_sums(Sums<T, kRows, kVectors>& sums, const T* from, int64_t stride,
                          size_t last) {
  const hn::ScalableTag<T> d;
  HWY_UNROLL(16)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) {
      const T* at = from + r * stride + v * kLane<T>;
      sums.at[r][v] = kPartial && v + 1 == kVectors ? load_first(d, at, last) : hn::LoadU(d, at);
    }
  }
}

template <bool kPartial, class T, int kRows, int kVectors>
HWY_INLINE void store_sums(const Sums<T, kRows, kVectors>& sums, T* to, int64_t stride,
                           size_t last) {
  const hn::ScalableTag<T> d;
  HWY_UNROLL(16)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) {
      T* at = to + r * stride + v * kLane<T>;
      if (kPartial && v + 1 == kVectors)
        store_first(sums.at[r][v], d, at, last);
      else
        hn::StoreU(sums.at[r][v], d, at);
    }
  }
}

template <class T, int kRows, int kVectors>
HWY_INLINE void start_sums(Sums<T, kRows, kVectors>& sums, const Product<T>& p) {
  if (p.accumulate)
    return p.last == kFullLanes<T> ? load_sums<false>(sums, p.c, p.c_stride, p.last)
                                   : load_sums<true>(sums, p.c, p.c_stride, p.last);
  if (p.bias != nullptr) return load_sums<true>(sums, p.bias, 0, p.last);
  HWY_UNROLL(16)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) sums.at[r][v] = hn::Zero(hn::ScalableTag<T>());
  }
}

// kPartial: the last vector of b has no more lanes than that of c.
template <int kRows, int kVectors, Layout kLayout, bool kPartial, class T>
HWY_NOINLINE void tile(const Product<T>& p) {
  const hn::ScalableTag<T> d;
  Sums<T, kRows, kVectors> sums;
  start_sums(sums, p);
  const T* a = p.a;
  const T* b = p.b;
  const int64_t a_stride = p.a_stride;
  const int64_t b_stride = p.b_stride;
  for (int64_t s = p.steps; s > 0; --s) {
    hn::Vec<hn::ScalableTag<T>> row[kVectors];
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v)
      row[v] = loaded_once(kPartial && v + 1 == kVectors ? load_first(d, b + v * kLane<T>, p.last)
                                                         : hn::LoadU(d, b + v * kLane<T>));
    HWY_UNROLL(16)
    for (int r = 0; r < kRows; ++r) {
      const auto one = hn::Set(d, kLayout == Layout::kRows ? a[r * a_stride] : a[r]);
      HWY_UNROLL(4)
      for (int v = 0; v < kVectors; ++v) sums.at[r][v] = hn::MulAdd(one, row[v], sums.at[r][v]);
    }
    a += kLayout == Layout::kRows ? 1 : a_stride;
    b += b_stride;
  }
  p.last == kFullLanes<T> ? store_sums<false>(sums, p.c, p.c_stride, p.last)
                          : store_sums<true>(sums, p.c, p.c_stride, p.last);
}

template <int kVectors, Layout kLayout, bool kPartial, int kRows, class T>
HWY_INLINE void tile_of(int64_t rows, const Product<T>& p) {
  constexpr int kFewer = sizeof(T) == 8 ? kRows / 2 : kRows - 1;
  if constexpr (kFewer > 0)
    if (rows != kRows) return tile_of<kVectors, kLayout, kPartial, kFewer>(rows, p);
  tile<kRows, kVectors, kLayout, kPartial>(p);
}

// Any number of rows, in tiles as equal as possible: a tile of few rows waits for its sums. Double
// precision is not the fast path: tiles of 8, 4, 2 and 1 rows are fewer to compile.
template <class T>
int64_t rows_of_tile(int64_t rows, int most) {
  if constexpr (sizeof(T) == 8) {
    int64_t here = most;
    while (here > rows) here /= 2;
    return here;
  }
  const int64_t left = (rows + most - 1) / most;
  return (rows + left - 1) / left;
}

template <int kVectors, Layout kLayout, bool kPartial, class T>
HWY_INLINE void tiles(int64_t rows, Product<T> p) {
  constexpr int kMax =
      sizeof(T) == 8 ? (max_rows(kVectors, kLayout) >= 8 ? 8 : 4) : max_rows(kVectors, kLayout);
  while (rows > 0) {
    const int64_t here = rows_of_tile<T>(rows, kMax);
    tile_of<kVectors, kLayout, kPartial, kMax>(here, p);
    p.a += here * (kLayout == Layout::kRows ? p.a_stride : 1);
    p.c += here * p.c_stride;
    rows -= here;
  }
}

}  // namespace egc::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
