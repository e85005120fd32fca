// Tiles of y stay in registers while a panel of packed weights and a few rows of x pass by. The
// gradient of the weights is the same tile, with its panel copied from x block by block.
#include "egc/kernels/gemm.h"

#include <algorithm>

#include "egc/kernels/simd_targets.h"
#include "egc/kernels/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "egc/kernels/gemm.cpp"
#include <hwy/foreach_target.h>

#include "egc/kernels/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace egc::kernels::HWY_NAMESPACE {

// A panel of this many steps stays in the first-level cache, or streams from the second.
constexpr int64_t kMaxSteps = 512;
constexpr int64_t kBlockBytes = 256 << 10;  // of x, in the second-level cache
constexpr int64_t kGradSteps = 512;         // rows whose panel of x is copied ...
constexpr int64_t kFewRows = 80;            // ... where more rows of w than this read it

template <class T>
size_t lanes_of_last(int64_t columns, int64_t first, int vectors) {
  return static_cast<size_t>(std::min(kLane<T>, columns - first - (vectors - 1) * kLane<T>));
}

// [rows, columns] to whole vectors, which follow each other.
template <int kVectors, class T>
HWY_INLINE void copy_panel(const T* from, int64_t stride, int64_t rows, size_t last, T* to) {
  const hn::ScalableTag<T> d;
  for (int64_t r = 0; r < rows; ++r, from += stride, to += kVectors * kLane<T>)
    for (int v = 0; v < kVectors; ++v)
      hn::StoreU(load_first(d, from + v * kLane<T>, v + 1 == kVectors ? last : kFullLanes<T>), d,
                 to + v * kLane<T>);
}

// b: panels of a packed matrix (kPacked), or a matrix with rows ldb apart.
template <bool kPacked, class T>
void gemm_any(int64_t m, int64_t n, int64_t k, const T* x, int64_t ldx, const T* b, int64_t ldb,
              const T* bias, bool accumulate, T* y, int64_t ldy) {
  HWY_ALIGN T copy[kPacked ? 1 : kMaxSteps * kMaxVectors * kFullLanes<T>];
  Product<T> p;
  p.a_stride = ldx;
  p.c_stride = ldy;
  const int64_t max_steps = std::clamp<int64_t>(k, 1, kMaxSteps);
  const int64_t block =
      std::max<int64_t>(48, kBlockBytes / (max_steps * static_cast<int64_t>(sizeof(T))) / 48 * 48);
  for (int64_t r = 0; r < m; r += block)
    for (int64_t s = 0; s == 0 || s < k; s += kMaxSteps) {
      p.steps = std::min(kMaxSteps, k - s);
      p.accumulate = accumulate || s > 0;
      for_each_panel<T>(n, [&](auto vectors, int64_t column) HWY_ATTR {
        constexpr int64_t kWidth = vectors() * kLane<T>;
        p.a = x + r * ldx + s;
        p.b = kPacked ? b + column * k + s * kWidth : b + s * ldb + column;
        p.b_stride = kPacked ? kWidth : ldb;
        p.bias = bias == nullptr ? nullptr : bias + column;
        p.c = y + r * ldy + column;
        p.last = lanes_of_last<T>(n, column, vectors());
        if constexpr (!kPacked)
          if (p.last != kFullLanes<T>) {  // the last panel: nothing is read behind it
            copy_panel<vectors()>(p.b, ldb, p.steps, p.last, copy);
            p.b = copy;
            p.b_stride = kWidth;
          }
        tiles<vectors(), Layout::kRows, false>(std::min(block, m - r), p);
      });
    }
}

template <class T>
void gemm_grad_weight_any(int64_t m, int64_t o, int64_t i, const T* g, int64_t ldg, const T* x,
                          int64_t ldx, bool accumulate, T* w, int64_t ldw) {
  HWY_ALIGN T copy[kGradSteps * kMaxVectors * kFullLanes<T>];
  Product<T> p;
  p.a_stride = ldg;
  p.c_stride = ldw;
  for (int64_t r = 0; r == 0 || r < m; r += kGradSteps) {
    p.steps = std::min(kGradSteps, m - r);
    p.accumulate = accumulate || r > 0;
    p.a = g + r * ldg;
    for_each_panel<T>(i, [&](auto vectors, int64_t column) HWY_ATTR {
      p.c = w + column;
      p.last = lanes_of_last<T>(i, column, vectors());
      const T* from = x + r * ldx + column;
      if (o <= kFewRows && (kHasMaskedMemory || p.last == kFullLanes<T>)) {
        p.b = from;
        p.b_stride = ldx;
        return p.last == kFullLanes<T> ? tiles<vectors(), Layout::kSteps, false>(o, p)
                                       : tiles<vectors(), Layout::kSteps, kHasMaskedMemory>(o, p);
      }
      copy_panel<vectors()>(from, ldx, p.steps, p.last, copy);
      p.b = copy;
      p.b_stride = vectors() * kLane<T>;
      tiles<vectors(), Layout::kSteps, false>(o, p);
    });
  }
}

// Packing the rows of a transposed matrix.
#if HWY_TARGET == HWY_SCALAR
template <class T>
void pack_rows(const T* w, int64_t /*ldw*/, int64_t k, int64_t /*last_row*/, T* to, int64_t width) {
  for (int64_t s = 0; s < k; ++s) to[s * width] = w[s];
}
#else
// Transposes as many rows as a vector has lanes, 128 bits of each at a time.
template <class T>
inline constexpr size_t kBlockLanes = 16 / sizeof(T);

// Blocks of the rows row, row + kBlockLanes ...; for rows behind the last, the last one again.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_blocks(D d, const T* w, int64_t ldw, int64_t row, int64_t last_row) {
  if constexpr (kLanes<D> <= kBlockLanes<T>) {
    return hn::LoadU(d, w + std::min(row, last_row) * ldw);
  } else {
    const hn::Half<D> half;
    constexpr auto kHalf = static_cast<int64_t>(kLanes<D> / 2);
    return hn::Combine(d, load_blocks(half, w, ldw, row + kHalf, last_row),
                       load_blocks(half, w, ldw, row, last_row));
  }
}

// Vector s of the result is column s of w. to: vectors `width` apart.
template <class T>
HWY_INLINE void transpose_block(const T* w, int64_t ldw, int64_t last_row, T* to, int64_t width) {
  const hn::ScalableTag<T> d;
  if constexpr (kBlockLanes<T> == 2) {
    const auto r0 = load_blocks(d, w, ldw, 0, last_row);
    const auto r1 = load_blocks(d, w, ldw, 1, last_row);
    hn::StoreU(hn::InterleaveLower(d, r0, r1), d, to);
    hn::StoreU(hn::InterleaveUpper(d, r0, r1), d, to + width);
  } else {
    const auto r0 = load_blocks(d, w, ldw, 0, last_row);
    const auto r1 = load_blocks(d, w, ldw, 1, last_row);
    const auto r2 = load_blocks(d, w, ldw, 2, last_row);
    const auto r3 = load_blocks(d, w, ldw, 3, last_row);
    const auto low02 = hn::InterleaveLower(d, r0, r2);
    const auto low13 = hn::InterleaveLower(d, r1, r3);
    const auto high02 = hn::InterleaveUpper(d, r0, r2);
    const auto high13 = hn::InterleaveUpper(d, r1, r3);
    hn::StoreU(hn::InterleaveLower(d, low02, low13), d, to);
    hn::StoreU(hn::InterleaveUpper(d, low02, low13), d, to + width);
    hn::StoreU(hn::InterleaveLower(d, high02, high13), d, to + 2 * width);
    hn::StoreU(hn::InterleaveUpper(d, high02, high13), d, to + 3 * width);
  }
}

// One vector of a panel: the rows [0, last_row] of w, repeated to fill it.
template <class T>
HWY_INLINE void pack_rows(const T* w, int64_t ldw, int64_t k, int64_t last_row, T* to,
                          int64_t width) {
  constexpr auto kBlock = static_cast<int64_t>(kBlockLanes<T>);
  if (k < kBlock) {
    for (int64_t s = 0; s < k; ++s)
      for (int64_t r = 0; r < kLane<T>; ++r) to[s * width + r] = w[std::min(r, last_row) * ldw + s];
    return;
  }
  for (int64_t s = 0; s < k; s += kBlock) {
    const int64_t at = std::min(s, k - kBlock);  // the last block may overlap the one before
    transpose_block(w + at, ldw, last_row, to + at * width, width);
  }
}
#endif

template <class T>
void pack_transposed_any(const T* w, int64_t ldw, int64_t k, int64_t n, T* packed) {
  for_each_panel<T>(n, [&](auto vectors, int64_t column) HWY_ATTR {
    for (int v = 0; v < vectors(); ++v) {
      const int64_t row = column + v * kLane<T>;
      pack_rows(w + row * ldw, ldw, k, std::min(n - row, kLane<T>) - 1,
                packed + column * k + v * kLane<T>, vectors() * kLane<T>);
    }
  });
}

template <class T>
void pack_any(const T* w, int64_t ldw, int64_t k, int64_t n, T* packed) {
  for_each_panel<T>(n, [&](auto vectors, int64_t column) HWY_ATTR {
    copy_panel<vectors()>(w + column, ldw, k, lanes_of_last<T>(n, column, vectors()),
                          packed + column * k);
  });
}

// HWY_EXPORT takes plain functions.
#define EGC_GEMM_FUNCTIONS(T, suffix)                                                             \
  void pack_transposed_##suffix(const T* w, int64_t ldw, int64_t k, int64_t n, T* packed) {       \
    pack_transposed_any(w, ldw, k, n, packed);                                                    \
  }                                                                                               \
  void pack_##suffix(const T* w, int64_t ldw, int64_t k, int64_t n, T* packed) {                  \
    pack_any(w, ldw, k, n, packed);                                                               \
  }                                                                                               \
  void gemm_##suffix(int64_t m, int64_t n, int64_t k, const T* x, int64_t ldx, const T* packed,   \
                     const T* bias, bool accumulate, T* y, int64_t ldy) {                         \
    gemm_any<true>(m, n, k, x, ldx, packed, 0, bias, accumulate, y, ldy);                         \
  }                                                                                               \
  void gemm_unpacked_##suffix(int64_t m, int64_t n, int64_t k, const T* x, int64_t ldx,           \
                              const T* w, int64_t ldw, bool accumulate, T* y, int64_t ldy) {      \
    gemm_any<false>(m, n, k, x, ldx, w, ldw, static_cast<const T*>(nullptr), accumulate, y, ldy); \
  }                                                                                               \
  void gemm_grad_weight_##suffix(int64_t m, int64_t o, int64_t i, const T* g, int64_t ldg,        \
                                 const T* x, int64_t ldx, bool accumulate, T* w, int64_t ldw) {   \
    gemm_grad_weight_any(m, o, i, g, ldg, x, ldx, accumulate, w, ldw);                            \
  }
EGC_GEMM_FUNCTIONS(float, f32)
EGC_GEMM_FUNCTIONS(double, f64)
#undef EGC_GEMM_FUNCTIONS

}  // namespace egc::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace egc::kernels {

template <class T>
int64_t packed_size(int64_t k, int64_t n) {
  constexpr int64_t kMaxLanes = 64 / sizeof(T);
  return k * ((n + kMaxLanes - 1) / kMaxLanes * kMaxLanes);
}
template int64_t packed_size<float>(int64_t k, int64_t n);
template int64_t packed_size<double>(int64_t k, int64_t n);

#define EGC_GEMM_FUNCTIONS(T, suffix)                                                             \
  HWY_EXPORT(pack_transposed_##suffix);                                                           \
  HWY_EXPORT(pack_##suffix);                                                                      \
  HWY_EXPORT(gemm_##suffix);                                                                      \
  HWY_EXPORT(gemm_unpacked_##suffix);                                                             \
  HWY_EXPORT(gemm_grad_weight_##suffix);                                                          \
  template <>                                                                                     \
  void gemm_unpacked(int64_t m, int64_t n, int64_t k, const T* x, int64_t ldx, const T* w,        \
                     int64_t ldw, bool accumulate, T* y, int64_t ldy) {                           \
    apply_target_from_environment();                                                              \
    HWY_DYNAMIC_DISPATCH(gemm_unpacked_##suffix)(m, n, k, x, ldx, w, ldw, accumulate, y, ldy);    \
  }                                                                                               \
  template <>                                                                                     \
  void pack_transposed(const T* w, int64_t ldw, int64_t k, int64_t n, T* packed) {                \
    apply_target_from_environment();                                                              \
    HWY_DYNAMIC_DISPATCH(pack_transposed_##suffix)(w, ldw, k, n, packed);                         \
  }                                                                                               \
  template <>                                                                                     \
  void pack(const T* w, int64_t ldw, int64_t k, int64_t n, T* packed) {                           \
    apply_target_from_environment();                                                              \
    HWY_DYNAMIC_DISPATCH(pack_##suffix)(w, ldw, k, n, packed);                                    \
  }                                                                                               \
  template <>                                                                                     \
  void gemm(int64_t m, int64_t n, int64_t k, const T* x, int64_t ldx, const T* packed,            \
            const T* bias, bool accumulate, T* y, int64_t ldy) {                                  \
    apply_target_from_environment();                                                              \
    HWY_DYNAMIC_DISPATCH(gemm_##suffix)(m, n, k, x, ldx, packed, bias, accumulate, y, ldy);       \
  }                                                                                               \
  template <>                                                                                     \
  void gemm_grad_weight(int64_t m, int64_t o, int64_t i, const T* g, int64_t ldg, const T* x,     \
                        int64_t ldx, bool accumulate, T* w, int64_t ldw) {                        \
    apply_target_from_environment();                                                              \
    HWY_DYNAMIC_DISPATCH(gemm_grad_weight_##suffix)(m, o, i, g, ldg, x, ldx, accumulate, w, ldw); \
  }
EGC_GEMM_FUNCTIONS(float, f32)
EGC_GEMM_FUNCTIONS(double, f64)
#undef EGC_GEMM_FUNCTIONS

}  // namespace egc::kernels
#endif
