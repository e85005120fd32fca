#include "egc/kernels/winners.h"

#include <algorithm>

#include "egc/kernels/simd_targets.h"
#include "egc/kernels/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "egc/kernels/winners.cpp"
#include <hwy/foreach_target.h>

#include "egc/kernels/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace egc::kernels::HWY_NAMESPACE {

// Of a row with few sources each is asked which columns it won, a vector at a time; of others each
// column is taken to its winner. About where the two cost the same while all is in the caches; out
// of memory the lines that nothing in a row has won make it a tenth of a training step slower.
template <class T>
inline constexpr int64_t kFewSources = sizeof(T) == 4 && HWY_TARGET != HWY_SCALAR
                                           ? static_cast<int64_t>(kFullLanes<T>) / 2
                                           : 0;

// Each of them once; the winners are among them.
struct FewSources {
  int32_t of[32];
  int count = 0;

  void add(int32_t source) {
    if (std::find(of, of + count, source) == of + count) of[count++] = source;
  }
};

template <class T>
class WinnerPass {
 public:
  WinnerPass(const CsrView& graph, bool own, bool cached, int64_t columns, int64_t begin,
             int64_t end, const Winners<const T>& winners, T* grad_bases)
      : graph_(graph),
        own_(own),
        cached_(cached),
        columns_(columns),
        begin_(begin),
        end_(end),
        winners_(winners),
        out_(grad_bases) {}

  void run() const {
    for (int64_t i = 0; i < graph_.num_targets; ++i) {
      if (!cached_ && i + kAhead < graph_.num_targets)
        prefetch(winners_.source + (i + kAhead) * columns_);
      const int32_t* source = winners_.source + i * columns_;
      const T* gradient = winners_.gradient + i * columns_;
      if (has_few(i))
        from_sources(i, source, gradient);
      else
        from_columns(source, gradient);
    }
  }

 private:
  static constexpr int64_t kAhead = 8;  // rows; a row alone is too short a time
  static_assert(kFewSources<T> < 32);

  bool has_few(int64_t i) const {
    return cached_ && graph_.offsets[i + 1] - graph_.offsets[i] + int64_t{own_} <= kFewSources<T>;
  }

  // The winners' rows are scattered: half of the time without.
  void prefetch(const int32_t* source) const {
    for (int64_t c = begin_; c < end_; ++c) __builtin_prefetch(out_ + source[c] * columns_ + c, 1);
  }

  void from_columns(const int32_t* source, const T* gradient) const {
    for (int64_t c = begin_; c < end_; ++c)
      if (source[c] >= 0) out_[source[c] * columns_ + c] += gradient[c];
  }

  void from_sources(int64_t i, const int32_t* source, const T* gradient) const {
    if constexpr (kFewSources < T >> 0) {
      FewSources few;
      if (own_) few.add(static_cast<int32_t>(i));
      for (int64_t e = graph_.offsets[i]; e < graph_.offsets[i + 1]; ++e)
        few.add(graph_.sources[e]);
      for_each_chunk<T>(static_cast<size_t>(end_ - begin_), [&](auto d, size_t chunk) HWY_ATTR {
        const hn::RebindToSigned<decltype(d)> di;
        const size_t c = static_cast<size_t>(begin_) + chunk;
        const auto winner = hn::LoadU(di, source + c);
        const auto g = hn::LoadU(d, gradient + c);
        for (int k = 0; k < few.count; ++k) {
          const auto won = hn::RebindMask(d, hn::Eq(winner, hn::Set(di, few.of[k])));
          T* to = out_ + few.of[k] * columns_ + c;
          const auto old = hn::LoadU(d, to);
          hn::StoreU(hn::IfThenElse(won, hn::Add(old, g), old), d, to);
        }
      });
    }
  }

  const CsrView& graph_;
  const bool own_;
  const bool cached_;
  const int64_t columns_;
  const int64_t begin_;
  const int64_t end_;
  const Winners<const T> winners_;
  T* const out_;
};

#define EGC_DEFINE_WINNERS(T, suffix)                                                  \
  void winners_##suffix(const CsrView& graph, bool own, bool cached, int64_t columns,  \
                        int64_t begin, int64_t end, const Winners<const T>& winners,   \
                        T* grad_bases) {                                               \
    WinnerPass<T>(graph, own, cached, columns, begin, end, winners, grad_bases).run(); \
  }
EGC_DEFINE_WINNERS(float, f32)
EGC_DEFINE_WINNERS(double, f64)
#undef EGC_DEFINE_WINNERS

}  // namespace egc::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace egc::kernels {

HWY_EXPORT(winners_f32);
HWY_EXPORT(winners_f64);

template <>
void backward_winners(const CsrView& graph, bool own, bool cached, int64_t columns, int64_t begin,
                      int64_t end, Winners<const float> winners, float* grad_bases) {
  apply_target_from_environment();
  HWY_DYNAMIC_DISPATCH(winners_f32)(graph, own, cached, columns, begin, end, winners, grad_bases);
}
template <>
void backward_winners(const CsrView& graph, bool own, bool cached, int64_t columns, int64_t begin,
                      int64_t end, Winners<const double> winners, double* grad_bases) {
  apply_target_from_environment();
  HWY_DYNAMIC_DISPATCH(winners_f64)(graph, own, cached, columns, begin, end, winners, grad_bases);
}

}  // namespace egc::kernels
#endif
