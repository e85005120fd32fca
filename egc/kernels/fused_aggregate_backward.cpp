#include "egc/kernels/fused_aggregate_backward.h"

#include <algorithm>
#include <cmath>

#include "egc/kernels/row_scratch.h"
#include "egc/kernels/simd_targets.h"
#include "egc/kernels/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "egc/kernels/fused_aggregate_backward.cpp"
#include <hwy/foreach_target.h>

#include "egc/kernels/edge_gradient-inl.h"
#include "egc/kernels/row_aggregate-inl.h"

HWY_BEFORE_NAMESPACE();
namespace egc::kernels::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
// The sum of a vector's blocks of 128 bits.
template <class D, class V = hn::Vec<D>>
HWY_INLINE auto sum_of_blocks(D d, V v) {
  if constexpr (kLanes<D> * sizeof(hn::TFromD<D>) <= 16) {
    return v;
  } else {
    const hn::Half<D> half;
    return sum_of_blocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}
#endif

// The sums over the lanes of four vectors, next to each other.
template <class V, class T>
HWY_INLINE void store_lane_sums(const V* sums, T* out) {
  const hn::ScalableTag<T> d;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) == 4) {
    const auto even =
        hn::Add(hn::InterleaveLower(d, sums[0], sums[2]), hn::InterleaveUpper(d, sums[0], sums[2]));
    const auto odd =
        hn::Add(hn::InterleaveLower(d, sums[1], sums[3]), hn::InterleaveUpper(d, sums[1], sums[3]));
    const auto in_blocks =
        hn::Add(hn::InterleaveLower(d, even, odd), hn::InterleaveUpper(d, even, odd));
    return hn::StoreU(sum_of_blocks(d, in_blocks), hn::CappedTag<T, 4>(), out);
  }
#endif
  for (int k = 0; k < 4; ++k) out[k] = hn::GetLane(hn::SumOfLanes(d, sums[k]));
}

// out[h, b] = <g[h], values[b]> for kHeads rows of g and kBases of the values, `width` columns
// each. All are in scratch, where a vector may be read past the end.
template <int kHeads, int kBases, class T>
HWY_INLINE void dots(const T* g, int64_t g_stride, const T* values, size_t width, T (*out)[4]) {
  const hn::ScalableTag<T> d;
  hn::Vec<decltype(d)> sum[kHeads][kBases];
  for (auto& of_head : sum)
    for (auto& s : of_head) s = hn::Zero(d);
  const auto step = [&](size_t l, auto&& load) HWY_ATTR {
    hn::Vec<decltype(d)> gl[kHeads];
    for (int h = 0; h < kHeads; ++h) gl[h] = load(g + h * g_stride + l);
    for (int b = 0; b < kBases; ++b) {
      const auto value = load(values + b * width + l);
      for (int h = 0; h < kHeads; ++h) sum[h][b] = hn::MulAdd(gl[h], value, sum[h][b]);
    }
  };
  size_t l = 0;
  for (; l + kFullLanes<T> <= width; l += kFullLanes<T>)
    step(l, [&](const T* from) HWY_ATTR { return hn::LoadU(d, from); });
  if (l < width) {
    const auto in_range = hn::FirstN(d, width - l);
    step(l,
         [&](const T* from) HWY_ATTR { return hn::IfThenElseZero(in_range, hn::LoadU(d, from)); });
  }
  for (int h = 0; h < kHeads; ++h) {
    if constexpr (kBases == 4)
      store_lane_sums(sum[h], out[h]);
    else
      out[h][0] = hn::GetLane(hn::SumOfLanes(d, sum[h][0]));
  }
}

// Heads whose dot products with four bases are taken together: what the registers hold.
template <class T>
inline constexpr int kHeadsAtOnce = kFullLanes<T> * sizeof(T) >= 64 ? 4 : 2;

// Everything the row pass keeps from row to row.
template <class T>
struct RowPass {
  const FusedShape& shape;
  size_t width;    // of the slice
  size_t columns;  // B * width
  const RowScratch<T>& buf;
  const T* g;         // [H, width], the row's gradient; with weights in scratch
  int64_t stride;     // of its heads
  const T* weights;   // [H, A, B] of the row, or null
  int64_t per_head;   // A * B
  int64_t num_bases;  // B

  // out[b, l] = factor * sum over h of w[h, a, b] * g[h, l]; without weights factor * g[a, l]
  void spread(int a, T factor, T* out) const {
    if (weights == nullptr) {
      for_each_chunk<T>(width, [&](auto d, size_t l) HWY_ATTR {
        hn::StoreU(hn::Mul(hn::Set(d, factor), hn::LoadU(d, g + a * stride + l)), d, out + l);
      });
      return;
    }
    for (int64_t b = 0; b < num_bases; ++b) {
      const T* w = weights + a * num_bases + b;
      for_each_block<T, 2, true>(
          width, [&](auto d, auto vectors, size_t begin, size_t last) HWY_ATTR {
            constexpr int kVectors = vectors();
            size_t at[kVectors];
            hn::Vec<decltype(d)> sum[kVectors];
            for (int v = 0; v < kVectors; ++v) {
              at[v] = v + 1 == kVectors ? last : begin + v * kLanes<decltype(d)>;
              sum[v] = hn::Zero(d);
            }
            for (int64_t h = 0; h < shape.heads; ++h) {
              const auto wh = hn::Set(d, w[h * per_head] * factor);
              for (int v = 0; v < kVectors; ++v)
                sum[v] = hn::MulAdd(wh, hn::LoadU(d, g + h * stride + at[v]), sum[v]);
            }
            for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[v], d, out + b * width + at[v]);
          });
    }
  }

  // The same, added to what `out` has unless this is the first contribution.
  void add_spread(int a, T factor, bool first, T* out, T* temporary) const {
    if (first) return spread(a, factor, out);
    spread(a, factor, temporary);
    for_each_chunk<T>(columns, [&](auto d, size_t c) HWY_ATTR {
      hn::StoreU(hn::Add(hn::LoadU(d, out + c), hn::LoadU(d, temporary + c)), d, out + c);
    });
  }

  // dweights[h, a, b] = factor * <g[h], values_a[b]>
  void weight_gradient(int a, T factor, bool first, T* dweights) const {
    const T* values = buf.values(shape.aggregators[a]);
    int64_t b = 0;
    for (; b + 4 <= num_bases; b += 4)
      of_bases<4>(a, b, values + b * width, factor, first, dweights);
    for (; b < num_bases; ++b) of_bases<1>(a, b, values + b * width, factor, first, dweights);
  }

 private:
  template <int kBases>
  HWY_INLINE void of_bases(int a, int64_t b, const T* values, T factor, bool first,
                           T* dweights) const {
    T* to = dweights + a * num_bases + b;
    int64_t h = 0;
    for (; h + kHeadsAtOnce<T> <= shape.heads; h += kHeadsAtOnce<T>)
      of_heads<kHeadsAtOnce<T>, kBases>(h, values, factor, first, to + h * per_head);
    for (; h < shape.heads; ++h) of_heads<1, kBases>(h, values, factor, first, to + h * per_head);
  }

  template <int kHeads, int kBases>
  HWY_INLINE void of_heads(int64_t h, const T* values, T factor, bool first, T* to) const {
    T value[kHeads][4];
    dots<kHeads, kBases>(g + h * stride, stride, values, width, value);
    for (int k = 0; k < kHeads; ++k, to += per_head)
      for (int b = 0; b < kBases; ++b)
        to[b] = first ? factor * value[k][b] : to[b] + factor * value[k][b];
  }
};

// A row's gradient in scratch: heads are padded apart, so that `dots` may read a vector past each.
template <class T>
void copy_heads(const FusedShape& shape, const T* from, size_t width, int64_t stride, T* to) {
  for (int64_t h = 0; h < shape.heads; ++h)
    std::copy_n(from + h * shape.head_width, width, to + h * stride);
}

template <class T>
void write_winner(const WinnerRow<T>& from, bool weighted, const T* g, size_t columns,
                  int32_t* source, T* gradient) {
  for (size_t c = 0; c < columns; ++c) source[c] = static_cast<int32_t>(from.source[c]);
  if (weighted)
    for (size_t c = 0; c < columns; ++c) gradient[c] = g[c] * from.weight[c];
  else
    std::copy(g, g + columns, gradient);
}

// The most edges of a row of which each is asked which columns it won, a vector at a time; of
// others each column is taken to its winner (see winners.cpp).
template <class T>
inline constexpr int64_t kFewEdges = sizeof(T) == 4 && HWY_TARGET != HWY_SCALAR
                                         ? static_cast<int64_t>(kFullLanes<T>) / 2
                                         : 0;

// Of a row with few edges: adds what every edge won to its rows of the gradient, and turns places
// into sources.
template <class T>
void credit_few_edges(const CsrView& graph, const EdgeTerm<T>& term, int64_t i, int64_t degree,
                      size_t columns, int32_t* source, const T* gradient,
                      TermGradient<T>& of_term) {
  const int64_t first = graph.offsets[i];
  for_each_chunk<T>(columns, [&](auto d, size_t c) HWY_ATTR {
    const hn::RebindToSigned<decltype(d)> di;
    const auto place = hn::LoadU(di, source + c);
    const auto g = hn::LoadU(d, gradient + c);
    auto from = place;  // -1 stays: a row without neighbours
    const auto add = [&](int64_t row, auto value) HWY_ATTR {
      T* to = of_term.row(row) + c;
      hn::StoreU(hn::Add(hn::LoadU(d, to), value), d, to);
    };
    for (int64_t k = 0; k <= degree; ++k) {
      const auto won = hn::Eq(place, hn::Set(di, static_cast<int32_t>(k)));
      if (hn::AllFalse(di, won)) continue;
      const auto mine = hn::IfThenElseZero(hn::RebindMask(d, won), g);
      const int64_t e = first + k;
      const auto j = static_cast<int32_t>(k == degree ? i : graph.sources[e]);
      from = hn::IfThenElse(won, hn::Set(di, j), from);
      add(k == degree ? term.types : term.type == nullptr ? 0 : term.type[e], mine);
      for (int64_t n = 0; k < degree && n < term.columns; ++n)
        add(term.types + 1 + n, hn::Mul(hn::Set(d, term.values[e * term.columns + n]), mine));
    }
    hn::StoreU(from, di, source + c);
  });
}

// Where edges add a term, winners are places in the row, its length for the added loop. Turns them
// into sources, and gives the term its gradient. values: what won; ReLU lets only what is not zero
// through.
template <class T>
void credit_edges(const CsrView& graph, const EdgeTerm<T>& term, int64_t i, const T* values,
                  size_t columns, int32_t* source, T* gradient, TermGradient<T>& of_term) {
  const int64_t first = graph.offsets[i];
  const auto degree = static_cast<int32_t>(graph.offsets[i + 1] - first);
  if (term.relu)
    for (size_t c = 0; c < columns; ++c) gradient[c] = values[c] == T{0} ? T{0} : gradient[c];
  if constexpr (kFewEdges<T> != 0)
    if (degree < kFewEdges<T>)
      return credit_few_edges(graph, term, i, degree, columns, source, gradient, of_term);
  for (size_t c = 0; c < columns; ++c) {
    const int32_t place = source[c];
    if (place < 0) continue;
    const int64_t e = first + place;
    if (place == degree) {
      source[c] = static_cast<int32_t>(i);
      of_term.row(term.types)[c] += gradient[c];
      continue;
    }
    source[c] = graph.sources[e];
    of_term.row(term.type == nullptr ? 0 : term.type[e])[c] += gradient[c];
    for (int64_t k = 0; k < term.columns; ++k)
      of_term.row(term.types + 1 + k)[c] += term.values[e * term.columns + k] * gradient[c];
  }
}

// What row i + kRowsAhead reads, into the caches.
template <class T>
HWY_INLINE void prefetch_row(const FusedShape& shape, const FusedInput<T>& in, const T* grad_out,
                             int64_t i) {
  const int64_t per_row = in.weights != nullptr ? shape.weights_per_row() : 0;
  for (int64_t k = 0; k < per_row; k += 64 / int64_t{sizeof(T)})
    __builtin_prefetch(in.weights + (i + kRowsAhead) * per_row + k);
  for (int64_t k = 0; k < shape.out_width(); k += 64 / int64_t{sizeof(T)})
    __builtin_prefetch(grad_out + (i + kRowsAhead) * shape.out_width() + k);
}

// K * (x_j - m_i) is as exact as the mean. What rounding took from it, all neighbours get alike: it
// goes with the sums, where there are any.
template <class T>
HWY_INLINE void keep_rest_of_mean(const T* squares, const T* mean_rest, size_t columns, T* plain) {
  for_each_chunk<T>(columns, [&](auto d, size_t c) HWY_ATTR {
    hn::StoreU(hn::NegMulAdd(hn::LoadU(d, squares + c), hn::LoadU(d, mean_rest + c),
                             hn::LoadU(d, plain + c)),
               d, plain + c);
  });
}

template <class T>
void rows_any(const FusedShape& shape, const FusedInput<T>& in, RowRange rows, const T* grad_out,
              T* dweights, T* records, Winners<T> winners, T* grad_term, T* scratch) {
  const auto width = static_cast<size_t>(in.bases.width);
  const size_t columns = static_cast<size_t>(shape.bases) * width;
  const RowScratch<T> buf(scratch, static_cast<int64_t>(columns));
  RowAggregator<true, T> row(shape, in, buf);
  const RecordLayout layout = record_layout(shape.aggregators);
  const bool first_slice = in.bases.first == 0;
  // Without a gradient of the weights, the gradient of a sum does not depend on what was summed.
  const bool needs_values = dweights != nullptr || layout.squares || layout.winners > 0;
  const int64_t per_row = shape.weights_per_row();
  const bool weighted = in.weights != nullptr;
  const int64_t padded = RowScratch<T>::padded(in.bases.width);
  RowPass<T> pass{shape,      width,
                  columns,    buf,
                  buf.rest,   weighted ? padded : shape.head_width,
                  nullptr,    per_row / shape.heads,
                  shape.bases};
  T* const temporary = buf.rest + shape.heads * padded;  // one row of columns
  TermGradient<T> of_term(in.edges, static_cast<int64_t>(columns), grad_term,
                          temporary + RowScratch<T>::padded(static_cast<int64_t>(columns)));

  for (int64_t i = rows.begin; i < rows.end; ++i) {
    if (in.prefetch) prefetch_row(shape, in, grad_out, i);
    const int64_t count = needs_values ? row.aggregate(i) : row.count(i);
    const T* from = grad_out + i * shape.out_width() + in.bases.first;
    if (weighted) {
      pass.weights = in.weights + i * per_row;
      copy_heads(shape, from, width, padded, buf.rest);
    } else {
      pass.g = from;
    }

    T* plain = records + i * layout.parts() * static_cast<int64_t>(columns);
    T* sym = plain + (layout.plain ? columns : 0);
    T* squares = sym + (layout.sym ? columns : 0);
    bool plain_set = false;
    bool squares_set = false;
    const T inverse = count > 0 ? T{1} / static_cast<T>(count) : T{0};
    for (int a = 0; a < shape.aggregators.size(); ++a) {
      const Aggregator kind = shape.aggregators[a];
      const T factor = row_factor(kind, count, in.target_scale, i);
      if (dweights != nullptr) pass.weight_gradient(a, factor, first_slice, dweights + i * per_row);
      switch (kind) {
        case Aggregator::kAdd:
        case Aggregator::kMean:
          pass.add_spread(a, factor, !plain_set, plain, temporary);
          plain_set = true;
          break;
        case Aggregator::kSymnorm:
          pass.spread(a, factor, sym);
          break;
        case Aggregator::kMax:
        case Aggregator::kMin: {
          pass.spread(a, T{1}, temporary);
          const bool is_max = kind == Aggregator::kMax;
          const int64_t slot = is_max ? 0 : layout.winners - 1;
          const int64_t at = (slot * in.graph.num_targets + i) * static_cast<int64_t>(columns);
          write_winner(is_max ? buf.max_winner : buf.min_winner, in.graph.weights != nullptr,
                       temporary, columns, winners.source + at, winners.gradient + at);
          if (in.edges.present()) {
            credit_edges(in.graph, in.edges, i, buf.values(kind), columns, winners.source + at,
                         winners.gradient + at, of_term);
            of_term.count(1);
          }
          break;
        }
        case Aggregator::kVar:  // K gets 2/n * g_var
          pass.add_spread(a, 2 * inverse, !squares_set, squares, temporary);
          squares_set = true;
          break;
        case Aggregator::kStd:  // K gets g_std / (n * std)
          pass.spread(a, inverse, temporary);
          for_each_chunk<T>(columns, [&](auto d, size_t c) HWY_ATTR {
            auto k = hn::Div(hn::LoadU(d, temporary + c), hn::LoadU(d, buf.std + c));
            if (squares_set) k = hn::Add(k, hn::LoadU(d, squares + c));
            hn::StoreU(k, d, squares + c);
          });
          squares_set = true;
          break;
      }
    }
    if (layout.squares) std::copy_n(buf.mean, columns, squares + columns);
    if (layout.squares && layout.plain && count > 0)
      keep_rest_of_mean(squares, buf.mean_rest, columns, plain);
  }
  of_term.fold();
}

// The source pass. Records are gathered over the transposed graph.
template <bool kWeighted, class T>
class SourcePass {
 public:
  SourcePass(const FusedShape& shape, const FusedInput<T>& in, const CsrView& transposed,
             const T* records, T* scratch)
      : in_(in),
        t_(transposed),
        layout_(record_layout(shape.aggregators)),
        columns_(shape.bases * in.bases.width),
        num_edges_(transposed.num_edges()),
        sym_loop_(layout_.sym && shape.self_loops == SelfLoops::kSymnorm),
        sym_apart_(sym_loop_ && in.graph_has_loops),
        sum_(scratch) {
    row_.x = records;
    row_.stride = layout_.parts() * columns_;
    row_.prefetch = in.prefetch;
    row_.loop_first = shape.self_loops == SelfLoops::kAll;
    row_.skip_loops = row_.loop_first && in.graph_has_loops;
  }

  void run(int64_t j, T* out) {
    point_at(row_, t_, j, num_edges_);
    const int64_t sym_at = layout_.plain ? columns_ : 0;
    if (sym_apart_) {  // symnorm does not see the loops of the graph, the others do
      if (layout_.plain) add_up(row_, 0, columns_);
      Row<T> without_loops = row_;
      without_loops.skip_loops = true;
      add_up(without_loops, sym_at, columns_);
    } else if (layout_.sums() > 0) {
      add_up(row_, 0, layout_.sums() * columns_);
    }
    const T* own_record = row_.x + j * row_.stride;
    const T scale = layout_.sym ? in_.source_scale[j] : T{0};
    for_each_chunk<T>(static_cast<size_t>(columns_), [&](auto d, size_t c) HWY_ATTR {
      auto dx = layout_.plain ? hn::LoadU(d, sum_ + c) : hn::Zero(d);
      if (layout_.sym) {
        auto q = hn::LoadU(d, sum_ + sym_at + c);
        if (sym_loop_) q = hn::Add(q, hn::LoadU(d, own_record + sym_at + c));
        dx = hn::MulAdd(hn::Set(d, scale), q, dx);
      }
      hn::StoreU(dx, d, out + c);
    });
    if (layout_.squares) add_pull_to_mean(j, out);
  }

 private:
  // sum[from, from + n) = sum of the records' columns, weighted.
  void add_up(const Row<T>& row, int64_t from, int64_t n) {
    constexpr AccumulatorSet kSumOnly{AccumulatorSet::kSum};
    Row<T> part = row;
    part.x += from;
    RowScratch<T> to;
    to.sum = sum_ + from;
    const auto columns = static_cast<size_t>(n);
    if (walk_row<kSumOnly, kWeighted, false, T, RowScratch<T>>(part, columns, to).count == 0)
      std::fill(to.sum, to.sum + n, T{0});
  }

  // out += sum of e * K_i * (e * x_j - m_i). The difference is taken edge by edge: x_j * sum(K) -
  // sum(K * m) would need a row less, and lose all digits where a variance is near zero.
  void add_pull_to_mean(int64_t j, T* out) {
    const T* x = in_.bases.data + j * in_.bases.row_stride;
    const int64_t at = layout_.sums() * columns_;
    for_each_block<T, 2>(static_cast<size_t>(columns_), [&](auto d, auto vectors, size_t begin,
                                                            size_t last) HWY_ATTR {
      using V = hn::Vec<decltype(d)>;
      constexpr int kVectors = vectors();
      size_t column[kVectors];
      V own[kVectors];
      V sum[kVectors];
      for (int v = 0; v < kVectors; ++v) {
        column[v] = v + 1 == kVectors ? last : begin + v * kLanes<decltype(d)>;
        own[v] = hn::LoadU(d, x + column[v]);
        sum[v] = hn::Zero(d);
      }
      const auto take = [&](int64_t i, T weight) HWY_ATTR {
        const T* k = row_.x + i * row_.stride + at;
        for (int v = 0; v < kVectors; ++v) {
          V factor = hn::LoadU(d, k + column[v]);
          V message = own[v];
          if constexpr (kWeighted) {
            factor = hn::Mul(factor, hn::Set(d, weight));
            message = hn::Mul(message, hn::Set(d, weight));
          }
          const V mean = hn::LoadU(d, k + columns_ + column[v]);
          sum[v] = hn::MulAdd(factor, hn::Sub(message, mean), sum[v]);
        }
      };
      V folded[kVectors];  // of the chunks before
      for (V& f : folded) f = hn::Zero(d);
      if (row_.loop_first) take(j, T{1});
      for (int64_t e = 0; e < row_.edges; ++e) {
        if (e % kLongestChunk == kLongestChunk - 1)
          for (int v = 0; v < kVectors; ++v) {
            folded[v] = hn::Add(folded[v], sum[v]);
            sum[v] = hn::Zero(d);
          }
        if (row_.prefetch && e + kAhead < row_.until_end) {
          const T* next = row_.x + row_.source[e + kAhead] * row_.stride + at;
          for (size_t c = begin; c < last + kLanes<decltype(d)>; c += 64 / sizeof(T)) {
            __builtin_prefetch(next + c);
            __builtin_prefetch(next + columns_ + c);
          }
        }
        if (row_.skip_loops && row_.source[e] == row_.self) continue;
        take(row_.source[e], kWeighted ? static_cast<T>(row_.weight[e]) : T{1});
      }
      // The overlap of the last vector must be added once: it is stored to scratch, added below.
      for (int v = 0; v < kVectors; ++v)
        hn::StoreU(hn::Add(folded[v], sum[v]), d, sum_ + column[v]);
    });
    for_each_chunk<T>(static_cast<size_t>(columns_), [&](auto d, size_t c) HWY_ATTR {
      hn::StoreU(hn::Add(hn::LoadU(d, out + c), hn::LoadU(d, sum_ + c)), d, out + c);
    });
  }

  const FusedInput<T>& in_;
  const CsrView t_;
  const RecordLayout layout_;
  const int64_t columns_;
  const int64_t num_edges_;
  const bool sym_loop_;
  const bool sym_apart_;
  T* const sum_;
  Row<T> row_;
};

template <bool kWeighted, class T>
void sources_any(const FusedShape& shape, const FusedInput<T>& in, const CsrView& transposed,
                 RowRange sources, const T* records, T* grad_bases, T* scratch) {
  SourcePass<kWeighted, T> pass(shape, in, transposed, records, scratch);
  const int64_t columns = shape.bases * in.bases.width;
  for (int64_t j = sources.begin; j < sources.end; ++j) pass.run(j, grad_bases + j * columns);
}

#define EGC_DEFINE_BACKWARD(T, suffix)                                                             \
  void rows_##suffix(const FusedShape& shape, const FusedInput<T>& in, RowRange rows,              \
                     const T* grad_out, T* dweights, T* records, Winners<T> winners, T* grad_term, \
                     T* scratch) {                                                                 \
    rows_any(shape, in, rows, grad_out, dweights, records, winners, grad_term, scratch);           \
  }                                                                                                \
  void sources_##suffix(const FusedShape& shape, const FusedInput<T>& in, const CsrView& t,        \
                        RowRange sources, const T* records, T* grad_bases, T* scratch) {           \
    t.weights != nullptr                                                                           \
        ? sources_any<true>(shape, in, t, sources, records, grad_bases, scratch)                   \
        : sources_any<false>(shape, in, t, sources, records, grad_bases, scratch);                 \
  }
EGC_DEFINE_BACKWARD(float, f32)
EGC_DEFINE_BACKWARD(double, f64)
#undef EGC_DEFINE_BACKWARD

}  // namespace egc::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace egc::kernels {

HWY_EXPORT(rows_f32);
HWY_EXPORT(rows_f64);
HWY_EXPORT(sources_f32);
HWY_EXPORT(sources_f64);

RecordLayout record_layout(const AggregatorSet& a) {
  RecordLayout layout;
  layout.plain = a.has(Aggregator::kAdd) || a.has(Aggregator::kMean);
  layout.sym = a.has(Aggregator::kSymnorm);
  layout.squares = a.has(Aggregator::kVar) || a.has(Aggregator::kStd);
  layout.winners = int{a.has(Aggregator::kMax)} + int{a.has(Aggregator::kMin)};
  return layout;
}

int64_t backward_scratch_size(const FusedShape& shape, int64_t slice_width, int64_t edge_rows) {
  using Scratch = RowScratch<float>;
  const int64_t columns = shape.bases * slice_width;
  const int64_t row_pass = Scratch::size(columns) + shape.heads * Scratch::padded(slice_width) +
                           Scratch::padded(columns) + edge_rows * columns;
  const int64_t source_pass = std::max(Scratch::padded(2 * columns), edge_rows * columns);
  return std::max(row_pass, source_pass);
}

template <>
void backward_rows(const FusedShape& shape, const FusedInput<float>& input, RowRange rows,
                   const float* grad_out, float* dweights, float* records, Winners<float> winners,
                   float* grad_term, float* scratch) {
  apply_target_from_environment();
  HWY_DYNAMIC_DISPATCH(rows_f32)
  (shape, input, rows, grad_out, dweights, records, winners, grad_term, scratch);
}
template <>
void backward_rows(const FusedShape& shape, const FusedInput<double>& input, RowRange rows,
                   const double* grad_out, double* dweights, double* records,
                   Winners<double> winners, double* grad_term, double* scratch) {
  apply_target_from_environment();
  HWY_DYNAMIC_DISPATCH(rows_f64)
  (shape, input, rows, grad_out, dweights, records, winners, grad_term, scratch);
}

template <>
void backward_sources(const FusedShape& shape, const FusedInput<float>& input, CsrView transposed,
                      RowRange sources, const float* records, float* grad_bases, float* scratch) {
  apply_target_from_environment();
  HWY_DYNAMIC_DISPATCH(sources_f32)
  (shape, input, transposed, sources, records, grad_bases, scratch);
}
template <>
void backward_sources(const FusedShape& shape, const FusedInput<double>& input, CsrView transposed,
                      RowRange sources, const double* records, double* grad_bases,
                      double* scratch) {
  apply_target_from_environment();
  HWY_DYNAMIC_DISPATCH(sources_f64)
  (shape, input, transposed, sources, records, grad_bases, scratch);
}

}  // namespace egc::kernels
#endif
