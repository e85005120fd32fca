// What a walk over one row computes, and where it leaves it.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "egc/kernels/aggregator.h"
#include "egc/kernels/csr_view.h"

namespace egc::kernels {

// Which accumulators a walk keeps in registers.
struct AccumulatorSet {
  enum Sums : uint8_t { kNone, kSum, kMoments };
  Sums sums = kNone;  // add, mean; var and std need the moments, which give the sum as well
  bool sym = false;   // symnorm
  bool max = false;
  bool min = false;
  bool winners = false;  // max and min with the source that gave them

  // Accumulators of a walk without moments and winners.
  constexpr int parts() const { return int{sums != kNone} + int{sym} + int{max} + int{min}; }

  static AccumulatorSet of(const AggregatorSet& a, bool winners) {
    AccumulatorSet k;
    if (a.has(Aggregator::kVar) || a.has(Aggregator::kStd))
      k.sums = kMoments;
    else if (a.has(Aggregator::kAdd) || a.has(Aggregator::kMean))
      k.sums = kSum;
    k.sym = a.has(Aggregator::kSymnorm);
    k.max = a.has(Aggregator::kMax);
    k.min = a.has(Aggregator::kMin);
    // A sum shows that there was a NaN, which the instructions for max and min lose.
    if ((k.max || k.min) && !k.sym && k.sums == kNone) k.sums = kSum;
    k.winners = winners && (k.max || k.min);
    return k;
  }
};

// A row that is walked in several visits, and its place in scratch: kBlockedColumns values of each
// kind, one after the other.
template <class T>
struct PartialRow {
  T* sum = nullptr;
  T* sym = nullptr;
  T* max = nullptr;
  T* min = nullptr;
  bool first = true;  // nothing is there yet

  PartialRow() = default;
  PartialRow(const AccumulatorSet& accumulators, T* at) {
    const auto take = [&at](bool used, T*& row) {
      if (used) row = std::exchange(at, at + kBlockedColumns);
    };
    take(accumulators.sums != AccumulatorSet::kNone, sum);
    take(accumulators.sym, sym);
    take(accumulators.max, max);
    take(accumulators.min, min);
  }

  void advance(int64_t stride) {
    for (T** row : {&sum, &sym, &max, &min}) *row += *row == nullptr ? 0 : stride;
  }
};

template <class T>
struct WinnerRow {
  std::conditional_t<sizeof(T) == 4, int32_t, int64_t>* source =
      nullptr;          // as wide as T, for the vectors
  T* weight = nullptr;  // of the winning edge
};

// Rows of `columns` values, carved out of one block.
template <class T>
struct RowScratch {
  T* sum = nullptr;
  T* sym = nullptr;
  T* max = nullptr;
  T* min = nullptr;
  T* mean = nullptr;
  T* mean_rest = nullptr;  // what rounding took from the mean
  T* var = nullptr;
  T* std = nullptr;
  WinnerRow<T> max_winner;
  WinnerRow<T> min_winner;
  T* rest = nullptr;  // what the caller may use further on

  static constexpr int kRows = 12;
  // Whole cache lines, and one vector may be read past the end.
  static int64_t padded(int64_t columns) { return (columns + 15) / 16 * 16 + 16; }
  static int64_t size(int64_t columns) { return kRows * padded(columns); }

  RowScratch() = default;
  RowScratch(T* block, int64_t columns) {
    const int64_t step = padded(columns);
    for (T** row : {&sum, &sym, &max, &min, &mean, &mean_rest, &var, &std, &max_winner.weight,
                    &min_winner.weight}) {
      *row = block;
      block += step;
    }
    max_winner.source = reinterpret_cast<decltype(max_winner.source)>(block);
    min_winner.source = reinterpret_cast<decltype(min_winner.source)>(block + step);
    rest = block + 2 * step;
  }

  // Points at the sums and extrema of a row that was put together elsewhere.
  void take(const PartialRow<T>& row) {
    if (row.sum != nullptr) sum = row.sum;
    if (row.sym != nullptr) sym = row.sym;
    if (row.max != nullptr) max = row.max;
    if (row.min != nullptr) min = row.min;
  }

  // Where the values of an aggregator are, up to a factor that depends on the row alone.
  const T* values(Aggregator a) const {
    switch (a) {
      case Aggregator::kAdd:
      case Aggregator::kMean:
        return sum;
      case Aggregator::kSymnorm:
        return sym;
      case Aggregator::kMax:
        return max;
      case Aggregator::kMin:
        return min;
      case Aggregator::kVar:
        return var;
      case Aggregator::kStd:
        return std;
    }
    return nullptr;
  }
};

// The output row and the weight of each aggregator (the row's factors already in, but for the
// mean's 1/n), for walks that need no scratch: either one head and one basis, or each aggregate
// apart, in columns of its own.
template <class T>
struct DirectOut {
  T* out = nullptr;
  const T* bias = nullptr;
  bool stream = false;
  bool apart = false;
  T weights[kNumAggregators] = {};
  // Where those columns begin in out and bias; negative: the aggregator is not asked for.
  int64_t places[kNumAggregators] = {-1, -1, -1, -1, -1, -1, -1};

  T& weight(Aggregator a) { return weights[static_cast<int>(a)]; }
  T weight(Aggregator a) const { return weights[static_cast<int>(a)]; }
  int64_t& place(Aggregator a) { return places[static_cast<int>(a)]; }
  int64_t place(Aggregator a) const { return places[static_cast<int>(a)]; }
};

// That factor: mean is sum / n, symnorm is s_i * sym.
template <class T>
T row_factor(Aggregator a, int64_t count, const T* target_scale, int64_t i) {
  if (a == Aggregator::kMean) return count > 0 ? T{1} / static_cast<T>(count) : T{0};
  if (a == Aggregator::kSymnorm) return target_scale[i];
  return T{1};
}

}  // namespace egc::kernels
