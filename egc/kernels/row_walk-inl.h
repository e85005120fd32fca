// One walk over the neighbours of a row, with all accumulators of a column block in registers: each
// neighbour element is read once, whatever the number of aggregators.
// Included once per instruction set.
#if defined(EGC_KERNELS_ROW_WALK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EGC_KERNELS_ROW_WALK_INL_H_
#undef EGC_KERNELS_ROW_WALK_INL_H_
#else
#define EGC_KERNELS_ROW_WALK_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstdint>
#include <limits>

#include "egc/kernels/columns-inl.h"
#include "egc/kernels/edge_term.h"
#include "egc/kernels/row_scratch.h"

HWY_BEFORE_NAMESPACE();
namespace egc::kernels::HWY_NAMESPACE {

// A row of the graph, ready to be walked.
template <class T>
struct Row {
  const T* x = nullptr;  // rows `stride` apart
  int64_t stride = 0;
  const int32_t* source = nullptr;  // its edges
  const float* weight = nullptr;
  int64_t edges = 0;
  int64_t until_end = 0;            // edges from here to the end of the graph, for prefetching
  int32_t self = -1;                // the row's own id
  bool loop_first = false;          // the virtual self-loop, met before the edges
  bool skip_loops = false;          // the graph's own loops do not count
  bool sym_skips_loops = false;     // ... for symnorm only
  const T* source_scale = nullptr;  // of symnorm
  bool prefetch = false;
  const EdgeTerm<T>* term = nullptr;  // what edges add; null: nothing
  const int32_t* type = nullptr;      // of its edges
  const T* values = nullptr;          // of its edges
};

// An edge as the term sees it: its row of the table and its numbers, if there are any.
template <class T>
struct EdgeAt {
  const T* table = nullptr;
  const T* values = nullptr;
};
template <class T>
HWY_INLINE EdgeAt<T> edge_at(const EdgeTerm<T>& term, const Row<T>& row, int64_t e) {
  return {term.table + (row.type == nullptr ? 0 : row.type[e]) * row.stride,
          row.values + e * term.columns};
}
template <class T>
HWY_INLINE EdgeAt<T> loop_at(const EdgeTerm<T>& term, const Row<T>& row) {
  return {term.table + term.types * row.stride, nullptr};
}

// x_j + e for a vector of columns.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> add_edge(D d, hn::Vec<D> x, const EdgeTerm<T>& term, const EdgeAt<T>& edge,
                               int64_t stride, size_t at) {
  auto m = hn::Add(x, hn::LoadU(d, edge.table + at));
  if (edge.values != nullptr)
    for (int64_t k = 0; k < term.columns; ++k)
      m = hn::MulAdd(hn::Set(d, edge.values[k]), hn::LoadU(d, term.linear + k * stride + at), m);
  return m;
}
// The same of one column, phi included: for rows that are repaired.
template <class T>
T message_at(const Row<T>& row, int64_t j, int64_t e, int64_t c) {
  T m = row.x[j * row.stride + c];
  if (row.term == nullptr) return m;
  const EdgeAt<T> edge = e == row.edges ? loop_at(*row.term, row) : edge_at(*row.term, row, e);
  m += edge.table[c];
  for (int64_t k = 0; edge.values != nullptr && k < row.term->columns; ++k)
    m += edge.values[k] * row.term->linear[k * row.stride + c];
  return row.term->relu && m < T{0} ? T{0} : m;
}

// How many edges ahead a row is asked for: about what is in flight while a line travels from
// memory.
constexpr int64_t kAhead = 8;
// The first chunk of moments: about the first message, so an outlier there costs log2 of this in
// bits.
constexpr int64_t kFirstMoments = 64;
// How many rows ahead what belongs to a row (its weights, its gradient) is asked for.
constexpr int64_t kRowsAhead = 2;

// Whether messages that are not finite need a second look. Every walk with max or min keeps a sum
// to notice them (AccumulatorSet::of).
template <AccumulatorSet kAccumulators>
inline constexpr bool kNeedsRepair =
    kAccumulators.max || kAccumulators.min || kAccumulators.sums == AccumulatorSet::kMoments;

// to[at] = factor * value + bias[at], the factor of the row. bias: or null.
template <class D, class T>
HWY_INLINE void put_scaled(D d, T factor, hn::Vec<D> value, const T* bias, size_t at, bool stream,
                           T* to) {
  const auto f = hn::Set(d, factor);
  const auto y =
      bias == nullptr ? hn::Mul(f, value) : hn::MulAdd(f, value, hn::LoadU(d, bias + at));
  if (stream)
    hn::Stream(y, d, to + at);
  else
    hn::StoreU(y, d, to + at);
}

// Aggregates of a block of columns on their way to the output: what to do with each.
template <class T>
struct StoredAggregate {
  const T* values = nullptr;
  Aggregator aggregator = Aggregator::kAdd;
  T factor = T{1};
};

// With one head and one basis the weighted result needs no other column: straight to the output,
// as one weighted sum or each in a place of its own. One function for all walks:
// the aggregates come through the first cache, which costs little beside gathering them.
template <class D, class T = hn::TFromD<D>>
HWY_NOINLINE void put_direct(D d, const StoredAggregate<T>* stored, int count, const size_t* at,
                             int vectors, const DirectOut<T>& to) {
  const auto value = [&](const StoredAggregate<T>& s, int v)
                         HWY_ATTR { return hn::LoadU(d, s.values + v * kLanes<D>); };
  if (!to.apart) {
    for (int v = 0; v < vectors; ++v) {
      auto y = to.bias == nullptr ? hn::Zero(d) : hn::LoadU(d, to.bias + at[v]);
      for (int k = 0; k < count; ++k)  // what nobody asked for may be infinite
        if (to.place(stored[k].aggregator) >= 0)
          y = hn::MulAdd(hn::Set(d, stored[k].factor), value(stored[k], v), y);
      if (to.stream)
        hn::Stream(y, d, to.out + at[v]);
      else
        hn::StoreU(y, d, to.out + at[v]);
    }
    return;
  }
  for (int k = 0; k < count; ++k) {
    const int64_t place = to.place(stored[k].aggregator);
    if (place < 0) continue;
    for (int v = 0; v < vectors; ++v)
      put_scaled(d, stored[k].factor, value(stored[k], v),
                 to.bias == nullptr ? nullptr : to.bias + place, at[v], to.stream, to.out + place);
  }
}

// What a walk found.
struct Walked {
  int64_t count = 0;   // neighbours taken
  bool finite = true;  // false: the row is to be repaired
};

// The accumulators of kVectors vectors of columns.
template <AccumulatorSet kAccumulators, bool kWeighted, int kVectors, class D>
struct Accumulators {
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  using DI = hn::RebindToSigned<D>;
  using TI = hn::TFromD<DI>;
  struct None {};
  template <bool kUsed, class A>
  using If = std::conditional_t<kUsed, A, None>;
  static constexpr bool kMoments = kAccumulators.sums == AccumulatorSet::kMoments;
  static constexpr bool kSum = kAccumulators.sums == AccumulatorSet::kSum;
  // Accumulators that look at a loaded vector.
  static constexpr int kUses = int{kSum || kMoments} + int{kAccumulators.sym} +
                               int{kAccumulators.max} + int{kAccumulators.min};

  [[no_unique_address]] If<kSum || kMoments, V[kVectors]> sum;  // with moments: about the origin
  [[no_unique_address]] If<kMoments, V[kVectors]> squares;
  [[no_unique_address]] If<kMoments, V[kVectors]> origin;
  [[no_unique_address]] If<kAccumulators.sym, V[kVectors]> sym;
  // Of the chunks before this one.
  int64_t folded = 0;  // their messages
  [[no_unique_address]] If<kSum || kMoments, V[kVectors]> folded_sum;
  [[no_unique_address]] If<kMoments, V[kVectors]> folded_squares;
  [[no_unique_address]] If<kAccumulators.sym, V[kVectors]> folded_sym;
  [[no_unique_address]] If<kAccumulators.max, V[kVectors]> max;
  [[no_unique_address]] If<kAccumulators.min, V[kVectors]> min;
  [[no_unique_address]] If<kAccumulators.max && kAccumulators.winners, hn::Vec<DI>[kVectors]>
      max_source;
  [[no_unique_address]] If<kAccumulators.min && kAccumulators.winners, hn::Vec<DI>[kVectors]>
      min_source;
  [[no_unique_address]] If<kAccumulators.max && kAccumulators.winners && kWeighted, V[kVectors]>
      max_weight;
  [[no_unique_address]] If<kAccumulators.min && kAccumulators.winners && kWeighted, V[kVectors]>
      min_weight;

  // Takes a neighbour, load(v) of which is vector v of its row; the first one initialises.
  // `source`: by what winners know it.
  template <bool kFirst, class Load>
  HWY_INLINE void take(D d, Load&& load, int32_t source, T weight, T scale) {
    const DI di;
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      V raw = load(v);
      if constexpr (kUses > 1) raw = loaded_once(raw);
      V m = raw;  // the message
      if constexpr (kWeighted) m = hn::Mul(raw, hn::Set(d, weight));
      if constexpr (kSum) sum[v] = kFirst ? m : hn::Add(sum[v], m);
      if constexpr (kMoments) {
        // About a value that is near the data (fold moves it), so nothing cancels.
        if constexpr (kFirst) {
          origin[v] = m;
          sum[v] = squares[v] = hn::Zero(d);
        } else {
          const V delta = hn::Sub(m, origin[v]);
          sum[v] = hn::Add(sum[v], delta);
          squares[v] = hn::MulAdd(delta, delta, squares[v]);
        }
      }
      if constexpr (kAccumulators.sym) {
        const V s = hn::Set(d, scale);
        sym[v] = kFirst ? hn::Mul(s, raw) : hn::MulAdd(s, raw, sym[v]);
      }
      if constexpr (kAccumulators.max) {
        if constexpr (kFirst) {
          max[v] = m;
          if constexpr (kAccumulators.winners) max_source[v] = hn::Set(di, static_cast<TI>(source));
          if constexpr (kAccumulators.winners && kWeighted) max_weight[v] = hn::Set(d, weight);
        } else if constexpr (kAccumulators.winners) {
          const auto better = hn::Gt(m, max[v]);  // ties stay with the first
          max[v] = hn::IfThenElse(better, m, max[v]);
          max_source[v] = hn::IfThenElse(hn::RebindMask(di, better),
                                         hn::Set(di, static_cast<TI>(source)), max_source[v]);
          if constexpr (kWeighted)
            max_weight[v] = hn::IfThenElse(better, hn::Set(d, weight), max_weight[v]);
        } else {
          max[v] = hn::Max(max[v], m);
        }
      }
      if constexpr (kAccumulators.min) {
        if constexpr (kFirst) {
          min[v] = m;
          if constexpr (kAccumulators.winners) min_source[v] = hn::Set(di, static_cast<TI>(source));
          if constexpr (kAccumulators.winners && kWeighted) min_weight[v] = hn::Set(d, weight);
        } else if constexpr (kAccumulators.winners) {
          const auto better = hn::Lt(m, min[v]);
          min[v] = hn::IfThenElse(better, m, min[v]);
          min_source[v] = hn::IfThenElse(hn::RebindMask(di, better),
                                         hn::Set(di, static_cast<TI>(source)), min_source[v]);
          if constexpr (kWeighted)
            min_weight[v] = hn::IfThenElse(better, hn::Set(d, weight), min_weight[v]);
        } else {
          min[v] = hn::Min(min[v], m);
        }
      }
    }
  }

  // Ends a chunk after `count` messages in all. Moments go on about the mean so far. A chunk is at
  // most as long as all before it, so however far it lies from them, the distance is part of the
  // variance too, and what cancels here is at most half of it.
  HWY_INLINE void fold(D d, int64_t count) {
    const bool first = folded == 0;
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      if constexpr (kSum || kMoments) {
        const V all = first ? sum[v] : hn::Add(folded_sum[v], sum[v]);
        folded_sum[v] = all;
        if constexpr (kMoments) {
          const V n = hn::Set(d, static_cast<T>(count));
          const V offset = hn::Div(all, n);
          const MeanParts mean = mean_parts(origin[v], offset);
          const V about_origin = first ? squares[v] : hn::Add(folded_squares[v], squares[v]);
          folded_squares[v] = not_below_zero(d, hn::NegMulAdd(all, offset, about_origin));
          folded_sum[v] = hn::Mul(n, mean.rest);
          origin[v] = mean.rounded;
          squares[v] = hn::Zero(d);
        }
        sum[v] = hn::Zero(d);
      }
      if constexpr (kAccumulators.sym) {
        folded_sym[v] = first ? sym[v] : hn::Add(folded_sym[v], sym[v]);
        sym[v] = hn::Zero(d);
      }
    }
    folded = count;
  }

  // Takes the chunks before into the last one.
  HWY_INLINE void finish() {
    if (folded == 0) return;
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      if constexpr (kSum || kMoments) sum[v] = hn::Add(folded_sum[v], sum[v]);
      if constexpr (kMoments) squares[v] = hn::Add(folded_squares[v], squares[v]);
      if constexpr (kAccumulators.sym) sym[v] = hn::Add(folded_sym[v], sym[v]);
    }
  }

  // False where a message may have been NaN or infinite. Max and Min lose a NaN, moments about an
  // infinite origin the infinity: rows with such messages are repaired (repair_row).
  HWY_INLINE bool is_finite(D d) const {
    if constexpr (!kNeedsRepair<kAccumulators>) return true;
    const V zero = hn::Zero(d);
    V all = zero;  // NaN where a sum is not finite
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      if constexpr (kMoments) all = hn::MulAdd(origin[v], zero, all);
      if constexpr (kSum || kMoments)
        all = hn::MulAdd(sum[v], zero, all);
      else if constexpr (kAccumulators.sym)
        all = hn::MulAdd(sym[v], zero, all);
    }
    return hn::AllTrue(d, hn::Eq(all, all));
  }

  // The mean and what rounding took from it.
  struct MeanParts {
    V rounded, rest;
  };
  static HWY_INLINE MeanParts mean_parts(V origin, V offset) {
    const V rounded = hn::Add(origin, offset);
    const V added = hn::Sub(rounded, origin);  // exact with either order of magnitudes
    return {rounded, hn::Add(hn::Sub(origin, hn::Sub(rounded, added)), hn::Sub(offset, added))};
  }

  static HWY_INLINE V not_below_zero(D d, V v) {  // NaN stays NaN
    return hn::IfThenZeroElse(hn::Lt(v, hn::Zero(d)), v);
  }

  // sum, mean, var and std from the moments about the origin.
  struct Moments {
    V sum, offset, var, std;  // the mean is origin + offset
  };
  HWY_INLINE Moments moments(D d, int v, int64_t count) const {
    const T n = static_cast<T>(count);
    const V inverse = hn::Set(d, T{1} / n);
    const V offset = hn::Mul(sum[v], inverse);
    const V var = not_below_zero(d, hn::NegMulAdd(offset, offset, hn::Mul(squares[v], inverse)));
    return {hn::MulAdd(hn::Set(d, n), origin[v], sum[v]), offset, var,
            hn::Sqrt(hn::Add(var, hn::Set(d, static_cast<T>(kStdEpsilon))))};
  }

  HWY_INLINE void store(D d, const size_t* at, int64_t count, const DirectOut<T>& to) const {
    constexpr int kStored = int{kSum} + 3 * int{kMoments} + int{kAccumulators.sym} +
                            int{kAccumulators.max} + int{kAccumulators.min};
    HWY_ALIGN T values[HWY_MAX(1, kStored)][kVectors * kLanes<D>];
    StoredAggregate<T> stored[HWY_MAX(1, kStored) + 1];
    int rows = 0, entries = 0;
    const auto keep = [&](auto&& of) HWY_ATTR {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) hn::StoreU(of(v), d, values[rows] + v * kLanes<D>);
      return values[rows++];
    };
    const auto use = [&](const T* from, Aggregator a, T factor) {
      stored[entries++] = {from, a, factor};
    };
    const auto weight = [&](Aggregator a) { return to.apart ? T{1} : to.weight(a); };
    const auto use_sum = [&](const T* from) {
      const T mean_factor = T{1} / static_cast<T>(count);
      if (to.apart) {
        use(from, Aggregator::kAdd, T{1});
        use(from, Aggregator::kMean, mean_factor);
      } else {
        use(from, to.place(Aggregator::kAdd) >= 0 ? Aggregator::kAdd : Aggregator::kMean,
            to.weight(Aggregator::kAdd) + to.weight(Aggregator::kMean) * mean_factor);
      }
    };
    if constexpr (kSum) use_sum(keep([&](int v) HWY_ATTR { return sum[v]; }));
    if constexpr (kMoments) {
      use_sum(keep([&](int v) HWY_ATTR { return moments(d, v, count).sum; }));
      use(keep([&](int v) HWY_ATTR { return moments(d, v, count).var; }), Aggregator::kVar,
          weight(Aggregator::kVar));
      use(keep([&](int v) HWY_ATTR { return moments(d, v, count).std; }), Aggregator::kStd,
          weight(Aggregator::kStd));
    }
    if constexpr (kAccumulators.sym)  // its weight has the target's factor
      use(keep([&](int v) HWY_ATTR { return sym[v]; }), Aggregator::kSymnorm,
          to.weight(Aggregator::kSymnorm));
    if constexpr (kAccumulators.max)
      use(keep([&](int v) HWY_ATTR { return max[v]; }), Aggregator::kMax, weight(Aggregator::kMax));
    if constexpr (kAccumulators.min)
      use(keep([&](int v) HWY_ATTR { return min[v]; }), Aggregator::kMin, weight(Aggregator::kMin));
    put_direct(d, stored, entries, at, kVectors, to);
  }

  HWY_INLINE void store(D d, const size_t* at, int64_t count, const RowScratch<T>& to) const {
    const DI di;
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const size_t c = at[v];
      if constexpr (kSum) hn::StoreU(sum[v], d, to.sum + c);
      if constexpr (kMoments) {
        const Moments m = moments(d, v, count);
        hn::StoreU(m.sum, d, to.sum + c);
        const MeanParts mean = mean_parts(origin[v], m.offset);
        hn::StoreU(mean.rounded, d, to.mean + c);
        hn::StoreU(mean.rest, d, to.mean_rest + c);
        hn::StoreU(m.var, d, to.var + c);
        hn::StoreU(m.std, d, to.std + c);
      }
      if constexpr (kAccumulators.sym) hn::StoreU(sym[v], d, to.sym + c);
      if constexpr (kAccumulators.max) hn::StoreU(max[v], d, to.max + c);
      if constexpr (kAccumulators.min) hn::StoreU(min[v], d, to.min + c);
      if constexpr (kAccumulators.max && kAccumulators.winners) {
        hn::StoreU(max_source[v], di, to.max_winner.source + c);
        if constexpr (kWeighted) hn::StoreU(max_weight[v], d, to.max_winner.weight + c);
      }
      if constexpr (kAccumulators.min && kAccumulators.winners) {
        hn::StoreU(min_source[v], di, to.min_winner.source + c);
        if constexpr (kWeighted) hn::StoreU(min_weight[v], d, to.min_winner.weight + c);
      }
    }
  }
};

// Adds to what earlier blocks of sources left of a row, or begins it.
template <bool kFirst, AccumulatorSet kAccumulators, int kVectors, class D>
HWY_INLINE void merge(D d, const Accumulators<kAccumulators, false, kVectors, D>& acc, size_t begin,
                      const PartialRow<hn::TFromD<D>> to) {
  static_assert(kAccumulators.sums != AccumulatorSet::kMoments,
                "moments about different origins do not add up");
  const auto put = [&](auto* at, auto value, auto both) HWY_ATTR {
    hn::StoreU(kFirst ? value : both(hn::LoadU(d, at), value), d, at);
  };
  const auto add = [](auto a, auto b) HWY_ATTR { return hn::Add(a, b); };
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    const size_t c = begin + v * kLanes<D>;
    if constexpr (kAccumulators.sums == AccumulatorSet::kSum) put(to.sum + c, acc.sum[v], add);
    if constexpr (kAccumulators.sym) put(to.sym + c, acc.sym[v], add);
    if constexpr (kAccumulators.max)
      put(to.max + c, acc.max[v], [](auto a, auto b) HWY_ATTR { return hn::Max(a, b); });
    if constexpr (kAccumulators.min)
      put(to.min + c, acc.min[v], [](auto a, auto b) HWY_ATTR { return hn::Min(a, b); });
  }
}

// Asks for the row of edge e + kAhead. A macro, because GCC takes a function that only prefetches
// for a pure one and drops the call.
#define EGC_PREFETCH_AHEAD(e)                                         \
  if (kPrefetch && row.prefetch && (e) + kAhead < row.until_end) {    \
    const auto* next = row.x + row.source[(e) + kAhead] * row.stride; \
    for (size_t c = begin; c < last + kLanes<D>; c += 64 / sizeof(T)) \
      __builtin_prefetch(next + c);                                   \
  }

// Walks the row for one block of columns; with no neighbours nothing is stored. kEdges: whether
// edges add a term; winners are then places in the row, its length for the added loop, not sources.
// kPrefetch: whether the row may ask for that.
template <AccumulatorSet kAccumulators, bool kWeighted, int kVectors, bool kEdges = false,
          bool kPrefetch = true, class D, class F>
HWY_INLINE Walked walk_block(D d, const Row<hn::TFromD<D>>& row, size_t begin, size_t last,
                             F&& store) {
  using T = hn::TFromD<D>;
  size_t at[kVectors];
  for (int v = 0; v + 1 < kVectors; ++v) at[v] = begin + v * kLanes<D>;
  at[kVectors - 1] = last;

  Accumulators<kAccumulators, kWeighted, kVectors, D> acc;
  const auto scale_of = [&](int64_t j, T weight) HWY_ATTR -> T {
    if constexpr (kAccumulators.sym)
      return row.sym_skips_loops && j == row.self ? T{0} : row.source_scale[j] * weight;
    else
      return T{0};
  };
  const auto weight_of = [&](int64_t e) HWY_ATTR -> T {
    if constexpr (kWeighted)
      return static_cast<T>(row.weight[e]);
    else
      return T{1};
  };

  // No message is below the floor: zero for ReLU.
  const auto floor =
      hn::Set(d, kEdges && row.term->relu ? T{0} : -std::numeric_limits<T>::infinity());
  // Edge e from j; e == row.edges is the added loop.
  const auto take = [&](auto is_first, int64_t e, int32_t j, T weight) HWY_ATTR {
    const T* x = row.x + j * row.stride;
    const T scale = scale_of(j, weight);
    if constexpr (kEdges) {
      const EdgeAt<T> edge = e == row.edges ? loop_at(*row.term, row) : edge_at(*row.term, row, e);
      const auto load = [&](int v) HWY_ATTR {
        const auto m = add_edge(d, hn::LoadU(d, x + at[v]), *row.term, edge, row.stride, at[v]);
        return hn::IfThenZeroElse(hn::Lt(m, floor), m);  // NaN stays NaN
      };
      acc.template take<is_first()>(d, load, static_cast<int32_t>(e), weight, scale);
    } else {
      const auto load = [&](int v) HWY_ATTR { return hn::LoadU(d, x + at[v]); };
      acc.template take<is_first()>(d, load, j, weight, scale);
    }
  };
  constexpr std::true_type kFirstOne;
  constexpr std::false_type kNext;

  int64_t count = 0;
  int64_t e = 0;
  if (row.loop_first) {
    take(kFirstOne, row.edges, row.self, T{1});
    count = 1;
  } else {
    while (e < row.edges && row.skip_loops && row.source[e] == row.self) ++e;
    if (e == row.edges) return {};
    const int32_t j = row.source[e];
    EGC_PREFETCH_AHEAD(e)
    take(kFirstOne, e, j, weight_of(e));
    count = 1;
    ++e;
  }
  constexpr bool kMoments = kAccumulators.sums == AccumulatorSet::kMoments;
  int64_t chunk = kMoments ? kFirstMoments : kLongestChunk;
  while (e < row.edges) {
    const int64_t end = HWY_MIN(row.edges, e + chunk);
    for (; e < end; ++e) {
      const int32_t j = row.source[e];
      EGC_PREFETCH_AHEAD(e)
      if (row.skip_loops && j == row.self) continue;
      take(kNext, e, j, weight_of(e));
      ++count;
    }
    if (e == row.edges) break;
    acc.fold(d, count);
    if constexpr (kMoments) chunk = HWY_MIN(count, kLongestChunk);
  }
  acc.finish();
  store(acc, d, at, count);
  return {count, acc.is_finite(d)};
}

// The instruction sets that get every variant; on the others compile time counts more.
inline constexpr bool kFastTarget = HWY_TARGET != HWY_SCALAR;

// Vectors of accumulators that fit the registers, with a few left for the message.
// kWide: also blocks of eight, for walks that write their result at once and whose rows are wide.
template <AccumulatorSet kAccumulators, bool kWeighted, class T, bool kWide = false>
constexpr int max_vectors() {
  const int per_extremum = 1 + int{kAccumulators.winners} + int{kAccumulators.winners && kWeighted};
  const int needed = int{kAccumulators.sums} + int{kAccumulators.sums == AccumulatorSet::kMoments} +
                     int{kAccumulators.sym} +
                     (int{kAccumulators.max} + int{kAccumulators.min}) * per_extremum;
  const int registers = kFullLanes<T> * sizeof(T) >= 64 ? 28 : 13;
  const int fits = needed == 0 ? 1 : registers / needed;
  // Weights and double precision are not the fast path: fewer variants to compile.
  const int most = kWeighted || !kFastTarget || sizeof(T) == 8 ? 1 : 4;
  if (kWide && most == 4 && fits >= 8) return 8;
  return HWY_MAX(1, HWY_MIN(most, fits));
}

#undef EGC_PREFETCH_AHEAD

// Walks the row for kBlockedColumns columns, whole vectors without a tail.
template <AccumulatorSet kAccumulators, class T>
HWY_INLINE int64_t walk_partial_row(const Row<T>& row, const PartialRow<T>& to) {
  constexpr int kMax = max_vectors<kAccumulators, false, T>();
  constexpr int kVectors = kMax >= 4 ? 4 : kMax >= 2 ? 2 : 1;
  using D = hn::ScalableTag<T>;
  int64_t count = 0;
  for (size_t c = 0; c < kBlockedColumns; c += kVectors * kLanes<D>)
    count = walk_block<kAccumulators, false, kVectors, /*kEdges=*/false, /*kPrefetch=*/false>(
                D(), row, c, c + (kVectors - 1) * kLanes<D>,
                [&](const auto& acc, auto d, const size_t*, int64_t) HWY_ATTR {
                  to.first ? merge<true>(d, acc, c, to) : merge<false>(d, acc, c, to);
                })
                .count;
  return count;
}

// How many visits ahead the edges of a row are asked for: within a block the hardware sees no
// stride.
constexpr int64_t kVisitsAhead = 4;

// Points at the edges of row i that come from block b. rows_end: of the call, for prefetching.
template <class T>
HWY_INLINE void point_at_block(Row<T>& row, const CsrView& g, const SourceBlocksView& blocks,
                               int64_t b, int64_t i, int64_t rows_end) {
  const int32_t* begin = blocks.begin + b * g.num_targets;
  const int32_t* end = begin + g.num_targets;
  if (const int64_t next = i + kVisitsAhead; next < rows_end) {
    const int32_t* edges = g.sources + g.offsets[next] + begin[next];
    __builtin_prefetch(edges);
    __builtin_prefetch(edges + 16);
  }
  row.source = g.sources + g.offsets[i] + begin[i];
  row.edges = end[i] - begin[i];
  row.self = static_cast<int32_t>(i);
}

}  // namespace egc::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
