// The gradient of an edge term while passes add to it. Included once per instruction set.
#if defined(EGC_KERNELS_EDGE_GRADIENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EGC_KERNELS_EDGE_GRADIENT_INL_H_
#undef EGC_KERNELS_EDGE_GRADIENT_INL_H_
#else
#define EGC_KERNELS_EDGE_GRADIENT_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "egc/kernels/columns-inl.h"
#include "egc/kernels/edge_term.h"

HWY_BEFORE_NAMESPACE();
namespace egc::kernels::HWY_NAMESPACE {

// The gradient of a term. A table has few rows and many edges: they are added up in chunks, or
// rounding to the spacing of a long sum would cost digits.
template <class T>
class TermGradient {
 public:
  // total: added to; or null.   chunk: scratch of the same size.
  TermGradient(const EdgeTerm<T>& term, int64_t columns, T* total, T* chunk)
      : rows_(term.rows()),
        columns_(columns),
        total_(total),
        chunk_(chunk),
        limit_(std::max(kLongestChunk, 8 * rows_)) {
    clear();
  }

  T* row(int64_t r) const { return chunk_ + r * columns_; }

  // After `edges` more have been added to rows.
  void count(int64_t edges) {
    added_ += edges;
    if (added_ >= limit_) fold();
  }

  void fold() {
    if (added_ == 0) return;
    if (total_ != nullptr)
      for_each_chunk<T>(static_cast<size_t>(rows_ * columns_), [&](auto d, size_t c) HWY_ATTR {
        hn::StoreU(hn::Add(hn::LoadU(d, total_ + c), hn::LoadU(d, chunk_ + c)), d, total_ + c);
      });
    clear();
  }

 private:
  void clear() {
    std::fill_n(chunk_, rows_ * columns_, T{0});
    added_ = 0;
  }

  const int64_t rows_;
  const int64_t columns_;
  T* const total_;
  T* const chunk_;
  const int64_t limit_;
  int64_t added_ = 0;
};

}  // namespace egc::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
