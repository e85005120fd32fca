// Splitting a row of columns into vectors. Included once per instruction set.
#if defined(EGC_KERNELS_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EGC_KERNELS_COLUMNS_INL_H_
#undef EGC_KERNELS_COLUMNS_INL_H_
#else
#define EGC_KERNELS_COLUMNS_INL_H_
#endif

// Nobody chooses plain code for its speed: there the size counts. It is the last that is compiled.
#if defined(HWY_TARGET) && HWY_TARGET == HWY_SCALAR && defined(__OPTIMIZE__) && !defined(__clang__)
#pragma GCC optimize("Os")
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace egc::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
inline constexpr size_t kLanes = hn::MaxLanes(D());

template <class T>
inline constexpr size_t kFullLanes = hn::MaxLanes(hn::ScalableTag<T>());

// Keeps a loaded vector in its register. GCC would rather repeat the load in every instruction that
// uses it, and three aggregators would ask for each line three times.
template <class V>
HWY_INLINE V loaded_once(V v) {
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL
  asm("" : "+v"(v.raw));
#endif
  return v;
}

// The most messages that are added up one after the other; further ones begin a sum of their own. A
// sum of a million equal values would be a per cent off in float32: each is rounded to the spacing
// of the sum.
inline constexpr int64_t kLongestChunk = 1024;

// Calls f(tag, column) for the columns [0, columns): whole vectors, then halves, quarters and
// single lanes. No masks, nothing read or written outside.
template <class T, class F>
HWY_INLINE void for_each_chunk(size_t columns, F&& f) {
  size_t c = 0;
  for (; c + kFullLanes<T> <= columns; c += kFullLanes<T>) f(hn::ScalableTag<T>(), c);
  if constexpr (kFullLanes < T >> 8)
    if (c + 8 <= columns) {
      f(hn::CappedTag<T, 8>(), c);
      c += 8;
    }
  if constexpr (kFullLanes < T >> 4)
    if (c + 4 <= columns) {
      f(hn::CappedTag<T, 4>(), c);
      c += 4;
    }
  for (; c < columns; ++c) f(hn::CappedTag<T, 1>(), c);
}

// Calls f(tag, <vectors>, begin, last) for blocks of up to kMax vectors that cover [0, columns).
// The vectors of a block begin at `begin` and follow each other, but for the last, which begins at
// `last`: it may overlap the one before, so that no column is outside and none is masked. Work done
// twice in the overlap gives the same values, so f must not accumulate into memory.
// Columns that do not fill a vector use quarter vectors or, with kHalves, the better fitting half.
template <class T, int kMax, bool kHalves = false, class F>
HWY_INLINE void for_each_block(size_t columns, F&& f);

// Blocks have 8 (where kMax allows), 4, 3, 2 or 1 vectors: every size costs compile time.
template <int kMax, class D, class F>
HWY_INLINE void blocks_of(D d, size_t columns, F&& f) {
  static_assert(kMax <= 4 || kMax == 8);
  const size_t vectors = (columns + kLanes<D> - 1) / kLanes<D>;
  size_t v = 0;
  const auto next = [&](auto n) HWY_ATTR {
    const size_t begin = v * kLanes<D>;
    v += n();
    f(d, n, begin, HWY_MIN((v - 1) * kLanes<D>, columns - kLanes<D>));
  };
  if constexpr (kMax == 8)
    // NOLINTNEXTLINE(bugprone-infinite-loop): next() moves v
    while (v + 8 <= vectors) next(std::integral_constant<int, 8>());
  constexpr size_t kSmall = HWY_MIN(kMax, 4);
  for (size_t blocks = (vectors - v + kSmall - 1) / kSmall; blocks > 0; --blocks) {
    const size_t here = (vectors - v + blocks - 1) / blocks;  // an even split
    if constexpr (kSmall >= 4)
      if (here == 4) next(std::integral_constant<int, 4>());
    if constexpr (kSmall >= 3)
      if (here == 3) next(std::integral_constant<int, 3>());
    if constexpr (kSmall >= 2)
      if (here == 2) next(std::integral_constant<int, 2>());
    if (here == 1) next(std::integral_constant<int, 1>());
  }
}

template <class T, int kMax, bool kHalves, class F>
HWY_INLINE void for_each_block(size_t columns, F&& f) {
  if (columns >= kFullLanes<T>) return blocks_of<kMax>(hn::ScalableTag<T>(), columns, f);
  if constexpr (kHalves && kFullLanes < T >> 8)
    if (columns >= 8) return blocks_of<HWY_MIN(2, kMax)>(hn::CappedTag<T, 8>(), columns, f);
  if constexpr (kFullLanes < T >> 4)
    if (columns >= 4) return blocks_of<1>(hn::CappedTag<T, 4>(), columns, f);
  blocks_of<1>(hn::CappedTag<T, 1>(), columns, f);
}

}  // namespace egc::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
