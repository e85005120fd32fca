#include "egc/kernels/fused_aggregate.h"

#include "egc/kernels/row_scratch.h"
#include "egc/kernels/simd_targets.h"
#include "egc/kernels/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "egc/kernels/fused_aggregate.cpp"
#include <hwy/foreach_target.h>

#include "egc/kernels/row_aggregate-inl.h"

HWY_BEFORE_NAMESPACE();
namespace egc::kernels::HWY_NAMESPACE {

// y[h, l] = bias[h, l] + sum over terms t and bases b of w[h, t, b] * values_t[b, l].
template <class T>
struct Combine {
  const T* const* values;  // [A] rows of [B, width]
  const T* w;              // [H, A, B], the row's factors already in
  int64_t terms;
  int64_t bases;
  int64_t width;
  const T* bias;  // of this slice: bias[h * head_width + l], or null
  T* out;         // of this slice: out[h * head_width + l]
  int64_t head_width;
  bool stream;  // past the caches

  // kHeads heads by kVectors vectors of columns are kept in registers; the last vector begins at
  // `last` and may overlap the one before.
  template <int kHeads, int kVectors, class D>
  HWY_INLINE void block(D d, int64_t h, size_t begin, size_t last) const {
    size_t at[kVectors];
    for (int v = 0; v < kVectors; ++v) at[v] = v + 1 == kVectors ? last : begin + v * kLanes<D>;
    hn::Vec<D> acc[kHeads][kVectors];
    for (int k = 0; k < kHeads; ++k)
      for (int v = 0; v < kVectors; ++v)
        acc[k][v] =
            bias == nullptr ? hn::Zero(d) : hn::LoadU(d, bias + (h + k) * head_width + at[v]);
    const int64_t per_head = terms * bases;
    const T* wt = w + h * per_head;
    for (int64_t t = 0; t < terms; ++t) {
      const T* row = values[t];
      for (int64_t b = 0; b < bases; ++b, row += width, ++wt) {
        hn::Vec<D> x[kVectors];
        for (int v = 0; v < kVectors; ++v) x[v] = hn::LoadU(d, row + at[v]);
        for (int k = 0; k < kHeads; ++k) {
          const auto factor = hn::Set(d, wt[k * per_head]);
          for (int v = 0; v < kVectors; ++v) acc[k][v] = hn::MulAdd(factor, x[v], acc[k][v]);
        }
      }
    }
    for (int k = 0; k < kHeads; ++k)
      for (int v = 0; v < kVectors; ++v) {
        T* to = out + (h + k) * head_width + at[v];
        if (kLanes<D> == kFullLanes<T> && stream)
          hn::Stream(acc[k][v], d, to);
        else
          hn::StoreU(acc[k][v], d, to);
      }
  }

  template <int kHeads>
  HWY_INLINE void heads(int64_t h) const {
    // Four heads by four vectors fill half of the 32 registers of AVX-512; others have 16 in all.
    constexpr int kMax = kHeads == 1 || kFullLanes<T> * sizeof(T) >= 64 ? 4 : 2;
    for_each_block<T, kMax, true>(static_cast<size_t>(width),
                                  [&](auto d, auto vectors, size_t begin, size_t last)
                                      HWY_ATTR { block<kHeads, vectors()>(d, h, begin, last); });
  }

  HWY_INLINE void all_heads(int64_t num_heads) const {
    int64_t h = 0;
    for (; h + 4 <= num_heads; h += 4) heads<4>(h);
    for (; h < num_heads; ++h) heads<1>(h);
  }
};

// Writes rows whose aggregates are there.
template <class T>
class WeightedRows {
 public:
  // w: scratch for the weights of a row.
  WeightedRows(const FusedShape& shape, const FusedInput<T>& in, const T* bias, T* out, bool stream,
               T* w)
      : shape_(shape),
        in_(in),
        out_(out),
        w_(w),
        scaled_(shape.aggregators.has(Aggregator::kMean) ||
                shape.aggregators.has(Aggregator::kSymnorm)),
        combine_{values_,
                 w,
                 shape.aggregators.size(),
                 shape.bases,
                 in.bases.width,
                 bias == nullptr ? nullptr : bias + in.bases.first,
                 nullptr,
                 shape.head_width,
                 stream} {}

  HWY_INLINE void write(int64_t i, int64_t count, const RowScratch<T>& row) {
    const int terms = shape_.aggregators.size();
    T factor[kNumAggregators];
    for (int a = 0; a < terms; ++a) {
      factor[a] = row_factor(shape_.aggregators[a], count, in_.target_scale, i);
      values_[a] = row.values(shape_.aggregators[a]);
    }
    combine_.out = out_ + i * shape_.out_width() + in_.bases.first;
    if (in_.weights == nullptr) return write_apart(factor);
    combine_.w = in_.weights + i * shape_.weights_per_row();
    if (scaled_) {
      for (int64_t h = 0, k = 0; h < shape_.heads; ++h)
        for (int a = 0; a < terms; ++a)
          for (int64_t b = 0; b < shape_.bases; ++b, ++k) w_[k] = combine_.w[k] * factor[a];
      combine_.w = w_;
    }
    combine_.all_heads(shape_.heads);
  }

 private:
  HWY_INLINE void write_apart(const T* factor) const {
    for (int64_t a = 0; a < combine_.terms; ++a) {
      const T* bias = combine_.bias == nullptr ? nullptr : combine_.bias + a * combine_.head_width;
      T* out = combine_.out + a * combine_.head_width;
      for_each_block<T, 4, true>(static_cast<size_t>(combine_.width), [&](auto d, auto vectors,
                                                                          size_t begin,
                                                                          size_t last) HWY_ATTR {
        for (int v = 0; v < vectors(); ++v) {
          const size_t at = v + 1 == vectors() ? last : begin + v * kLanes<decltype(d)>;
          put_scaled(d, factor[a], hn::LoadU(d, values_[a] + at), bias, at, combine_.stream, out);
        }
      });
    }
  }

  const FusedShape& shape_;
  const FusedInput<T>& in_;
  T* out_;
  T* w_;
  const bool scaled_;  // whether rows have factors other than 1
  const T* values_[kNumAggregators] = {};
  Combine<T> combine_;
};

template <class T>
void fused_rows(const FusedShape& shape, const FusedInput<T>& in, RowRange rows, const T* bias,
                T* out, bool stream, T* scratch) {
  const RowScratch<T> buf(scratch, shape.bases * in.bases.width);
  RowAggregator<false, T> row(shape, in, buf);
  WeightedRows<T> weighted(shape, in, bias, out, stream, buf.rest);
  const int64_t per_row = shape.weights_per_row();
  const bool prefetch = in.prefetch && in.weights != nullptr;
  for (int64_t i = rows.begin; i < rows.end; ++i) {
    // The gathering between two rows of weights keeps the hardware from seeing their stride.
    for (int64_t k = 0; prefetch && k < per_row; k += 64 / int64_t{sizeof(T)})
      __builtin_prefetch(in.weights + (i + kRowsAhead) * per_row + k);
    const int64_t count = row.aggregate(i);
    weighted.write(i, count, buf);
  }
  if (stream) hwy::FlushStream();
}

// Blocks of sources outside, rows inside: the gathered rows of a block stay in the second-level
// cache, and the rows under way in `partial`.   counts: neighbours taken, zeros at first.
template <AccumulatorSet kAccumulators, class T>
void walk_blocks(const FusedShape& shape, const FusedInput<T>& in, RowRange rows, T* partial,
                 int64_t* counts) {
  Row<T> row = make_row(shape, in);
  const bool loop_first = row.loop_first;
  for (int64_t b = 0; b < in.blocks.count; ++b) {
    row.loop_first = loop_first && b == 0;
    PartialRow<T> to(kAccumulators, partial);
    for (int64_t i = rows.begin; i < rows.end;
         ++i, to.advance(kAccumulators.parts() * kBlockedColumns)) {
      point_at_block(row, in.graph, in.blocks, b, i, rows.end);
      int64_t& count = counts[i - rows.begin];
      to.first = count == 0;
      count += walk_partial_row<kAccumulators>(row, to);
    }
  }
}

template <class T>
bool all_finite(const T* values) {
  const hn::ScalableTag<T> d;
  auto all = hn::Zero(d);
  for (size_t c = 0; c < kBlockedColumns; c += kLanes<decltype(d)>)
    all = hn::MulAdd(hn::LoadU(d, values + c), hn::Zero(d), all);
  return hn::AllTrue(d, hn::Eq(all, all));
}

template <class T>
void blocked_rows(const FusedShape& shape, const FusedInput<T>& in, RowRange rows, const T* bias,
                  T* out, T* scratch) {
  const AccumulatorSet accumulators = AccumulatorSet::of(shape.aggregators, false);
  const RowScratch<T> shared(scratch, kBlockedColumns);
  T* partial = shared.rest + shape.weights_per_row();
  partial += -reinterpret_cast<uintptr_t>(partial) % 64 / sizeof(T);  // whole lines
  const int64_t stride = accumulators.parts() * kBlockedColumns;
  int64_t counts[kBlockedRows] = {};
  with_accumulators<false, false>(accumulators, [&]<AccumulatorSet kAccumulators>() {
    walk_blocks<kAccumulators>(shape, in, rows, partial, counts);
  });

  WeightedRows<T> weighted(shape, in, bias, out, /*stream=*/false, shared.rest);
  const bool sym_loop = has_sym_loop(shape);
  PartialRow<T> from(accumulators, partial);
  RowScratch<T> done = shared;
  Row<T> row = make_row(shape, in);
  const int64_t num_edges = in.graph.num_edges();
  for (int64_t i = rows.begin; i < rows.end; ++i, from.advance(stride)) {
    done.take(from);
    const int64_t count = counts[i - rows.begin];
    if (count == 0) clear_row(done, kBlockedColumns);
    point_at(row, in.graph, i, num_edges);
    if ((accumulators.max || accumulators.min) &&
        !all_finite(accumulators.sums == AccumulatorSet::kNone ? done.sym : done.sum))
      repair_row(row, kBlockedColumns, accumulators, done);
    if (sym_loop) add_sym_loop(done, row, kBlockedColumns);
    weighted.write(i, count, done);
  }
}

// A row without neighbours.
template <class T>
void write_nothing(const FusedShape& shape, size_t columns, const DirectOut<T>& to) {
  const T std_of_nothing = static_cast<T>(std::sqrt(kStdEpsilon));
  if (!to.apart) {
    for (size_t c = 0; c < columns; ++c)
      to.out[c] =
          to.weight(Aggregator::kStd) * std_of_nothing + (to.bias == nullptr ? T{0} : to.bias[c]);
    return;
  }
  for (const Aggregator a : shape.aggregators)
    for (size_t c = 0; c < columns; ++c)
      to.out[to.place(a) + c] = (a == Aggregator::kStd ? std_of_nothing : T{0}) +
                                (to.bias == nullptr ? T{0} : to.bias[to.place(a) + c]);
}

// One head and one basis, the paper's Algorithm 1, or no weights: no row of aggregates is
// kept. Rows are written by the walk itself, so this serves the modes whose loops it knows.
template <class T>
void direct_rows(const FusedShape& shape, const FusedInput<T>& in, RowRange rows, const T* bias,
                 T* out, bool stream, T* scratch) {
  const auto walk = choose_walk<false, T, DirectOut<T>, false>(
      AccumulatorSet::of(shape.aggregators, false), false);
  const auto columns = static_cast<size_t>(in.bases.width);
  const int64_t num_edges = in.graph.num_edges();
  Row<T> row = make_row(shape, in);
  DirectOut<T> to;
  to.stream = stream;
  to.bias = bias == nullptr ? nullptr : bias + in.bases.first;
  to.apart = in.weights == nullptr;
  for (int a = 0; a < shape.aggregators.size(); ++a)
    to.place(shape.aggregators[a]) = a * shape.head_width;
  for (int64_t i = rows.begin; i < rows.end; ++i) {
    const T* w = to.apart ? nullptr : in.weights + i * shape.weights_per_row();
    for (const Aggregator a : shape.aggregators) to.weight(a) = to.apart ? T{1} : *w++;
    if (in.target_scale != nullptr) to.weight(Aggregator::kSymnorm) *= in.target_scale[i];
    to.out = out + i * shape.out_width() + in.bases.first;
    point_at(row, in.graph, i, num_edges);
    const Walked walked = walk(row, columns, to);
    if (!walked.finite) {
      if (stream) hwy::FlushStream();  // the row is written a second time
      fused_rows(shape, in, {i, i + 1}, bias, out, /*stream=*/false, scratch);
    } else if (walked.count == 0) {
      write_nothing(shape, columns, to);
    }
  }
  if (stream) hwy::FlushStream();
}

template <class T>
void fused_any(const FusedShape& shape, const FusedInput<T>& in, RowRange rows, const T* bias,
               T* out, bool stream, T* scratch) {
  if constexpr (sizeof(T) == 4 && kFastTarget) {
    const bool direct = in.weights == nullptr || (shape.heads == 1 && shape.bases == 1);
    if (direct && in.graph.weights == nullptr && !in.edges.present() &&
        shape.self_loops != SelfLoops::kSymnorm)
      return direct_rows(shape, in, rows, bias, out, stream, scratch);
  }
  fused_rows(shape, in, rows, bias, out, stream, scratch);
}

void fused_f32(const FusedShape& shape, const FusedInput<float>& in, RowRange rows,
               const float* bias, float* out, bool stream, float* scratch) {
  if constexpr (kFastTarget)
    if (in.blocks.count > 0) return blocked_rows(shape, in, rows, bias, out, scratch);
  fused_any(shape, in, rows, bias, out, stream, scratch);
}
void fused_f64(const FusedShape& shape, const FusedInput<double>& in, RowRange rows,
               const double* bias, double* out, bool stream, double* scratch) {
  fused_any(shape, in, rows, bias, out, stream, scratch);
}

}  // namespace egc::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace egc::kernels {

HWY_EXPORT(fused_f32);
HWY_EXPORT(fused_f64);

int64_t fused_scratch_size(const FusedShape& shape, int64_t slice_width) {
  return RowScratch<float>::size(shape.bases * slice_width) + shape.weights_per_row();
}

int64_t blocked_scratch_size(const FusedShape& shape) {
  constexpr int64_t kAlignment = 16;
  return fused_scratch_size(shape, kBlockedColumns / shape.bases) + kAlignment +
         kBlockedRows * AccumulatorSet::of(shape.aggregators, false).parts() * kBlockedColumns;
}

bool can_block(const FusedShape& shape) {
  return AccumulatorSet::of(shape.aggregators, false).sums != AccumulatorSet::kMoments;
}

template <>
void fused_aggregate(const FusedShape& shape, const FusedInput<float>& input, RowRange rows,
                     const float* bias, float* out, bool stream, float* scratch) {
  apply_target_from_environment();
  HWY_DYNAMIC_DISPATCH(fused_f32)(shape, input, rows, bias, out, stream, scratch);
}
template <>
void fused_aggregate(const FusedShape& shape, const FusedInput<double>& input, RowRange rows,
                     const double* bias, double* out, bool stream, double* scratch) {
  apply_target_from_environment();
  HWY_DYNAMIC_DISPATCH(fused_f64)(shape, input, rows, bias, out, stream, scratch);
}

}  // namespace egc::kernels
#endif
