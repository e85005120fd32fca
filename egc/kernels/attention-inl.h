// What the attention kernels share: the neighbours of a row, exponentials, and products of vectors
// along edges. Included once per instruction set.
#if defined(EGC_KERNELS_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EGC_KERNELS_ATTENTION_INL_H_
#undef EGC_KERNELS_ATTENTION_INL_H_
#else
#define EGC_KERNELS_ATTENTION_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "egc/kernels/attention.h"
#include "egc/kernels/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace egc::kernels::HWY_NAMESPACE {

struct Neighbours {
  const int32_t* id = nullptr;
  int64_t count = 0;
};

// Row i of g; with `loops` the added loop comes first and loops of the graph are left out.
inline Neighbours neighbours_of(const CsrView& g, int64_t i, bool loops, int32_t* buffer) {
  const int32_t* begin = g.sources + g.offsets[i];
  const int32_t* end = g.sources + g.offsets[i + 1];
  if (!loops) return {begin, end - begin};
  const auto self = static_cast<int32_t>(i);
  buffer[0] = self;
  int32_t* last = std::copy_if(begin, end, buffer + 1, [self](int32_t j) { return j != self; });
  return {buffer, last - buffer};
}

// Asks for the rows that the next row of the graph will read. A macro, because GCC takes a function
// that only prefetches for one without effect. At most 64 rows: a hub's would push each other out.
#define EGC_PREFETCH_NEXT(g, i, end, matrix, columns)                                         \
  if ((i) + 1 < (end)) {                                                                      \
    const int64_t next_end = std::min((g).offsets[(i) + 2], (g).offsets[(i) + 1] + 64);       \
    for (int64_t e = (g).offsets[(i) + 1]; e < next_end; ++e) {                               \
      const char* row = reinterpret_cast<const char*>((matrix) + (g).sources[e] * (columns)); \
      for (int64_t b = 0; b < (columns) * static_cast<int64_t>(sizeof(*(matrix))); b += 64)   \
        __builtin_prefetch(row + b);                                                          \
    }                                                                                         \
  }

template <class T, class D>
HWY_INLINE void exp_vector(D d, T* x) {
  const auto v = hn::LoadU(d, x);
  hn::StoreU(hn::IfThenElse(hn::IsNaN(v), v, hn::Exp(d, v)), d, x);  // Exp makes NaN a 0
}

// x = exp(x); x has room for a vector past the end.
template <class T>
void exp_in_place(T* x, int64_t count) {
  const hn::ScalableTag<T> d;
  for (int64_t k = 0; k < count; k += static_cast<int64_t>(kFullLanes<T>)) exp_vector(d, x + k);
}

template <class T>
HWY_INLINE T leaky(T x, T slope) {
  return x > 0 ? x : x * slope;
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V leaky_vector(D d, V x, V slope) {
  return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Mul(x, slope));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V leaky_slope(D d, V x, V slope) {
  return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Set(d, hn::TFromD<D>{1}), slope);
}

// Calls f(e) for `count` edges, and fold() between chunks of them: then sums begin anew.
template <class F, class Fold>
HWY_INLINE void for_each_edge(int64_t count, F&& f, Fold&& fold) {
  for (int64_t e = 0; e < count;) {
    const int64_t end = HWY_MIN(count, e + kLongestChunk);
    for (; e < end; ++e) f(e);
    if (e < count) fold();
  }
}

// Moves kVectors sums to those of the chunks before.
template <int kVectors, class D, class V = hn::Vec<D>>
HWY_INLINE void fold_sums(D d, V* sum, V* folded) {
  for (int v = 0; v < kVectors; ++v) {
    folded[v] = hn::Add(folded[v], sum[v]);
    sum[v] = hn::Zero(d);
  }
}

// out[h] = sum over edges of x[e, h].
template <class T>
void sum_over_edges(const T* x, int64_t count, int64_t heads, T* out) {
  std::fill(out, out + heads, T{0});
  if (count <= kLongestChunk) {
    for (int64_t e = 0; e < count; ++e)
      for (int64_t h = 0; h < heads; ++h) out[h] += x[e * heads + h];
    return;
  }
  for (int64_t h = 0; h < heads; ++h) {
    T sum = T{0};
    for_each_edge(
        count, [&](int64_t e) { sum += x[e * heads + h]; },
        [&] { out[h] += std::exchange(sum, T{0}); });
    out[h] += sum;
  }
}

// A block of columns of one head: where its vectors begin, and for the last, which may overlap the
// one before, which of its lanes count.
template <class D, int kVectors>
struct HeadBlock {
  using T = hn::TFromD<D>;
  D d;
  size_t at[kVectors];
  hn::Mask<D> repeated;  // lanes of the last vector that the one before has too

  HWY_INLINE HeadBlock(D tag, size_t begin, size_t last) : d(tag) {
    for (int v = 0; v < kVectors; ++v)
      at[v] = v + 1 == kVectors ? last : begin + static_cast<size_t>(v) * kLanes<D>;
    repeated = hn::FirstN(d, begin + (kVectors - 1) * kLanes<D> - last);
  }

  // The sum over the block's columns, every column once, of products that f(v) gives.
  template <class F>
  HWY_INLINE T dot(F&& f) const {
    auto last = hn::IfThenZeroElse(repeated, f(kVectors - 1));
    for (int v = 0; v + 1 < kVectors; ++v) last = hn::Add(last, f(v));
    return hn::GetLane(hn::SumOfLanes(d, last));
  }
};

// Calls f(HeadBlock) for the blocks of a head of `width` columns.
template <class T, class F>
HWY_INLINE void for_each_head_block(int64_t width, F&& f) {
  constexpr int kMax = sizeof(T) == 8 ? 1 : 4;  // doubles are not the fast path: less to compile
  for_each_block<T, kMax, true>(static_cast<size_t>(width),
                                [&](auto d, auto vectors, size_t begin, size_t last) HWY_ATTR {
                                  f(HeadBlock<decltype(d), vectors()>(d, begin, last), vectors);
                                });
}

}  // namespace egc::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
