// All aggregates of one row, left in scratch. Shared by the forward kernel and by the backward row
// pass, which recomputes them and asks for the winners too. Included once per instruction set.
#if defined(EGC_KERNELS_ROW_AGGREGATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EGC_KERNELS_ROW_AGGREGATE_INL_H_
#undef EGC_KERNELS_ROW_AGGREGATE_INL_H_
#else
#define EGC_KERNELS_ROW_AGGREGATE_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "egc/kernels/fused_aggregate.h"
#include "egc/kernels/row_walk-inl.h"

HWY_BEFORE_NAMESPACE();
namespace egc::kernels::HWY_NAMESPACE {

// To: RowScratch or DirectOut.
template <class T, class To>
using WalkRow = Walked (*)(const Row<T>& row, size_t columns, const To& to);

template <AccumulatorSet kAccumulators, bool kWeighted, bool kEdges, class T, class To>
Walked walk_row(const Row<T>& row, size_t columns, const To& to) {
  Walked walked;
  constexpr bool kWide = std::is_same_v<To, DirectOut<T>>;
  for_each_block<T, max_vectors<kAccumulators, kWeighted, T, kWide>()>(
      columns, [&](auto d, auto vectors, size_t begin, size_t last) HWY_ATTR {
        const Walked block = walk_block<kAccumulators, kWeighted, vectors(), kEdges>(
            d, row, begin, last,
            [&](const auto& acc, auto tag, const size_t* at, int64_t n)
                HWY_ATTR { acc.store(tag, at, n, to); });
        walked = {block.count, walked.finite && block.finite};
      });
  return walked;
}

// A row without neighbours: zeros, and no winner.
template <class T>
void clear_row(const RowScratch<T>& row, size_t columns) {
  for (size_t c = 0; c < columns; ++c) {
    row.sum[c] = row.sym[c] = row.max[c] = row.min[c] = row.mean[c] = row.mean_rest[c] =
        row.var[c] = T{0};
    row.std[c] = static_cast<T>(std::sqrt(kStdEpsilon));
    row.max_winner.source[c] = row.min_winner.source[c] = -1;
    row.max_winner.weight[c] = row.min_winner.weight[c] = T{0};
  }
}

// A row with messages that are not finite, again where a sum shows it: a NaN is the greatest and
// the least, the first of several wins, and a sum of moments is the sum of the messages.
template <class T>
void repair_row(const Row<T>& row, size_t columns, const AccumulatorSet& accumulators,
                const RowScratch<T>& to) {
  struct Extremum {
    T value = T{0};
    int32_t source = -1;
    T weight = T{0};
    void take(T m, int32_t j, T w, bool better) {
      if (source >= 0 && (std::isnan(value) || !(better || std::isnan(m)))) return;
      *this = {m, j, w};
    }
    void store(T* values, const WinnerRow<T>& winner, size_t c, bool winners) const {
      values[c] = value;
      if (winners) winner.source[c] = source, winner.weight[c] = weight;
    }
  };
  const T* shows = accumulators.sums == AccumulatorSet::kNone ? to.sym : to.sum;
  for (size_t c = 0; c < columns; ++c) {
    if (std::isfinite(shows[c])) continue;
    T sum = T{0};
    int64_t count = 0;
    Extremum max;
    Extremum min;
    const auto take = [&](int32_t j, int64_t e, T w) {
      const T m = w * message_at(row, j, e, static_cast<int64_t>(c));
      const int32_t winner = row.term == nullptr ? j : static_cast<int32_t>(e);
      sum += m;
      ++count;
      max.take(m, winner, w, m > max.value);
      min.take(m, winner, w, m < min.value);
    };
    if (row.loop_first) take(row.self, row.edges, T{1});
    for (int64_t e = 0; e < row.edges; ++e)
      if (!(row.skip_loops && row.source[e] == row.self))
        take(row.source[e], e, row.weight == nullptr ? T{1} : static_cast<T>(row.weight[e]));
    if (accumulators.max) max.store(to.max, to.max_winner, c, accumulators.winners);
    if (accumulators.min) min.store(to.min, to.min_winner, c, accumulators.winners);
    if (accumulators.sums == AccumulatorSet::kMoments && !std::isfinite(sum)) {
      to.sum[c] = sum;
      to.mean[c] = sum / static_cast<T>(count);
      to.mean_rest[c] = T{0};
      to.var[c] = to.std[c] = std::numeric_limits<T>::quiet_NaN();
    }
  }
}

// The loop that symnorm alone has.
template <class T>
void add_sym_loop(const RowScratch<T>& to, const Row<T>& row, size_t columns) {
  const T* self = row.x + row.self * row.stride;
  const T scale = row.source_scale[row.self];
  for_each_chunk<T>(columns, [&](auto d, size_t c) HWY_ATTR {
    auto m = hn::LoadU(d, self + c);
    if (row.term != nullptr) {
      m = add_edge(d, m, *row.term, loop_at(*row.term, row), row.stride, c);
      if (row.term->relu) m = hn::IfThenZeroElse(hn::Lt(m, hn::Zero(d)), m);
    }
    const auto sum = hn::LoadU(d, to.sym + c);
    hn::StoreU(hn::MulAdd(hn::Set(d, scale), m, sum), d, to.sym + c);
  });
  if (!row.sym_skips_loops) return;
  // The walk skips the graph's own loops by the factor 0, which makes an infinity NaN.
  for (size_t c = 0; c < columns; ++c) {
    if (std::isfinite(to.sym[c])) continue;
    const auto column = static_cast<int64_t>(c);
    T sum = T{0};
    for (int64_t e = 0; e < row.edges; ++e) {
      const int32_t j = row.source[e];
      if (j == row.self) continue;
      const T w = row.weight == nullptr ? T{1} : static_cast<T>(row.weight[e]);
      sum += row.source_scale[j] * w * message_at(row, j, e, column);
    }
    to.sym[c] = sum + scale * message_at(row, row.self, row.edges, column);
  }
}

inline bool has_sym_loop(const FusedShape& shape) {
  return shape.self_loops == SelfLoops::kSymnorm && shape.aggregators.has(Aggregator::kSymnorm);
}

// Where speed counts less than the size of the program: walks that take the sum and both extrema
// serve for all that want some of them.
template <class T>
inline constexpr bool kFewWalks = !kFastTarget || sizeof(T) == 8;

template <class T>
AccumulatorSet walked_accumulators(AccumulatorSet accumulators, bool winners) {
  if constexpr (kFewWalks<T>) {
    if (accumulators.sums == AccumulatorSet::kNone) accumulators.sums = AccumulatorSet::kSum;
    accumulators.max = accumulators.min = true;
    accumulators.winners = winners;
  }
  return accumulators;
}

// Which walks there are, for the size of the program: one for each set of accumulators; without
// those that take the least alone; only those that take both extrema or none; those of graphs with
// weights; only those that take the sum and both (walked_accumulators).
enum class Walks { kAll, kNoLoneMin, kBothExtrema, kWeighted, kFew };

// With weights a sum or a symmetric one goes alone; everything else takes the sum and both extrema.
constexpr bool is_weighted_walk(AccumulatorSet::Sums sums, bool sym, bool max, bool min) {
  return (sums == AccumulatorSet::kSum && !sym && !max && !min) ||
         (sums == AccumulatorSet::kNone && sym && !max && !min) ||
         (sums != AccumulatorSet::kNone && max && min);
}

// Calls f<accumulators>(), with the accumulators as a constant. kWinners is a choice of the kernel,
// not of the set, so that the forward pass does not compile walks that it never uses; likewise
// kMoments.
template <bool kWinners, bool kMoments = true, Walks kWalks = Walks::kAll, class F>
void with_accumulators(AccumulatorSet accumulators, F&& f) {
  const auto with = [&]<AccumulatorSet::Sums kSums, bool kSym, bool kMax, bool kMin>() {
    constexpr bool kReached =
        kWalks == Walks::kFew ? kSums != AccumulatorSet::kNone && kMax && kMin
        : kWalks == Walks::kWeighted
            ? is_weighted_walk(kSums, kSym, kMax, kMin)
            : (kSums != AccumulatorSet::kNone || kSym) &&  // as AccumulatorSet::of has it
                  (kWalks == Walks::kAll || kMax == kMin || (kWalks == Walks::kNoLoneMin && kMax));
    if constexpr (kReached)
      f.template operator()<AccumulatorSet{kSums, kSym, kMax, kMin, kWinners && (kMax || kMin)}>();
  };
  const auto with_min = [&]<AccumulatorSet::Sums kSums, bool kSym, bool kMax>() {
    accumulators.min ? with.template operator()<kSums, kSym, kMax, true>()
                     : with.template operator()<kSums, kSym, kMax, false>();
  };
  const auto with_max = [&]<AccumulatorSet::Sums kSums, bool kSym>() {
    accumulators.max ? with_min.template operator()<kSums, kSym, true>()
                     : with_min.template operator()<kSums, kSym, false>();
  };
  const auto with_sym = [&]<AccumulatorSet::Sums kSums>() {
    accumulators.sym ? with_max.template operator()<kSums, true>()
                     : with_max.template operator()<kSums, false>();
  };
  switch (accumulators.sums) {
    case AccumulatorSet::kNone:
      with_sym.template operator()<AccumulatorSet::kNone>();
      break;
    case AccumulatorSet::kSum:
      with_sym.template operator()<AccumulatorSet::kSum>();
      break;
    case AccumulatorSet::kMoments:
      if constexpr (kMoments) with_sym.template operator()<AccumulatorSet::kMoments>();
      break;
  }
}

// The walk for a set of accumulators, chosen once per call of a kernel.
template <bool kWinners, class T, class To, bool kMayBeWeighted = true, bool kEdges = false>
WalkRow<T, To> choose_walk(AccumulatorSet accumulators, bool weighted) {
  constexpr bool kDirect = !std::is_same_v<To, RowScratch<T>>;
  constexpr Walks kPlain = kDirect        ? Walks::kBothExtrema
                           : kFewWalks<T> ? Walks::kFew
                                          : Walks::kNoLoneMin;
  WalkRow<T, To> walk = nullptr;
  if constexpr (kMayBeWeighted)
    if (weighted) {
      constexpr bool kFew = kFewWalks<T> || kEdges;
      if (kFew || !is_weighted_walk(accumulators.sums, accumulators.sym, accumulators.max,
                                    accumulators.min)) {
        accumulators.max = accumulators.min = true;
        if (accumulators.sums == AccumulatorSet::kNone) accumulators.sums = AccumulatorSet::kSum;
      }
      with_accumulators<kWinners, true, kFew ? Walks::kFew : Walks::kWeighted>(
          accumulators, [&]<AccumulatorSet kAccumulators>() {
            walk = &walk_row<kAccumulators, true, kEdges, T, To>;
          });
      return walk;
    }
  // What a direct walk takes beyond the set has the weight 0, or no place.
  if constexpr (kPlain == Walks::kBothExtrema)
    accumulators.max = accumulators.min = accumulators.max || accumulators.min;
  if constexpr (kPlain == Walks::kNoLoneMin)
    accumulators.max = accumulators.max || accumulators.min;
  with_accumulators<kWinners, true, kPlain>(accumulators, [&]<AccumulatorSet kAccumulators>() {
    walk = &walk_row<kAccumulators, false, kEdges, T, To>;
  });
  return walk;
}

// What the rows of one call have in common.
template <class T>
Row<T> make_row(const FusedShape& shape, const FusedInput<T>& in) {
  Row<T> row;
  row.x = in.bases.data;
  row.stride = in.bases.row_stride;
  row.loop_first = shape.self_loops == SelfLoops::kAll;
  row.skip_loops = row.loop_first && in.graph_has_loops;
  row.sym_skips_loops = shape.self_loops == SelfLoops::kSymnorm && in.graph_has_loops;
  row.source_scale = in.source_scale;
  row.prefetch = in.prefetch;
  if (in.edges.present()) row.term = &in.edges;
  return row;
}

template <class T>
HWY_INLINE void point_at(Row<T>& row, const CsrView& g, int64_t i, int64_t num_edges) {
  const int64_t begin = g.offsets[i];
  row.source = g.sources + begin;
  if (g.weights != nullptr) row.weight = g.weights + begin;
  row.edges = g.offsets[i + 1] - begin;
  row.until_end = num_edges - begin;
  row.self = static_cast<int32_t>(i);
  if (row.term == nullptr) return;
  if (row.term->type != nullptr) row.type = row.term->type + begin;
  if (row.term->values != nullptr) row.values = row.term->values + begin * row.term->columns;
}

template <bool kWinners, class T>
class RowAggregator {
 public:
  RowAggregator(const FusedShape& shape, const FusedInput<T>& input, const RowScratch<T>& scratch)
      : in_(input),
        buf_(scratch),
        accumulators_(
            walked_accumulators<T>(AccumulatorSet::of(shape.aggregators, kWinners), kWinners)),
        walk_(input.edges.present() ? choose_walk<kWinners, T, RowScratch<T>, true, true>(
                                          accumulators_, input.graph.weights != nullptr)
                                    : choose_walk<kWinners, T, RowScratch<T>>(
                                          accumulators_, input.graph.weights != nullptr)),
        columns_(static_cast<size_t>(shape.bases * input.bases.width)),
        sym_loop_(has_sym_loop(shape)),
        num_edges_(input.graph.num_edges()),
        row_(make_row(shape, input)) {}

  // Fills the scratch rows; returns the number of neighbours, an added loop included.
  int64_t aggregate(int64_t i) {
    point_at(row_, in_.graph, i, num_edges_);
    const Walked walked = walk_(row_, columns_, buf_);
    if (walked.count == 0) clear_row(buf_, columns_);
    if (!walked.finite) repair_row(row_, columns_, accumulators_, buf_);
    if (sym_loop_) add_sym_loop(buf_, row_, columns_);
    return walked.count;
  }

  // That number alone, without looking at the neighbours' rows.
  int64_t count(int64_t i) const {
    const CsrView& g = in_.graph;
    int64_t n = g.offsets[i + 1] - g.offsets[i] + int64_t{row_.loop_first};
    if (row_.skip_loops) n -= std::count(g.sources + g.offsets[i], g.sources + g.offsets[i + 1], i);
    return n;
  }

 private:
  const FusedInput<T>& in_;
  const RowScratch<T>& buf_;
  const AccumulatorSet accumulators_;
  const WalkRow<T, RowScratch<T>> walk_;
  const size_t columns_;
  const bool sym_loop_;
  const int64_t num_edges_;
  Row<T> row_;
};

}  // namespace egc::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
