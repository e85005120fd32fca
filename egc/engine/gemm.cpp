#include "egc/engine/gemm.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "egc/core/huge_buffer.h"
#include "egc/core/parallel.h"
#include "egc/core/work_clock.h"
#include "egc/graph/row_split.h"
#include "egc/kernels/gemm.h"

namespace egc {
namespace {

// Rows of one task: enough for a packed weight to be used often, few enough that a mini-batch still
// makes work for several threads. Depends on the number of rows alone.
int64_t block_rows(int64_t rows) { return rows < 8192 ? 256 : 1024; }
// A weight is packed for the gradient of more rows than this.
constexpr int64_t kFewRows = 128;
// Partial weight gradients: enough for as many threads, few enough that adding them up is nothing.
constexpr int64_t kMaxPartials = 32;

template <class T>
std::shared_ptr<T> make_array(int64_t count) {
  return std::static_pointer_cast<T>(make_buffer(static_cast<size_t>(count) * sizeof(T)));
}

// The packed weights of several terms, one after the other.
template <class T>
class Packed {
 public:
  explicit Packed(size_t terms) : offsets_(terms, -1) {}

  // k, n: as kernels::packed_size.   pack(T* to) fills it.
  void reserve(size_t term, int64_t k, int64_t n) {
    offsets_[term] = size_;
    size_ += (kernels::packed_size<T>(k, n) + 15) / 16 * 16;
  }
  void allocate() { buffer_ = make_array<T>(size_); }
  T* at(size_t term) const { return buffer_.get() + offsets_[term]; }

 private:
  std::vector<int64_t> offsets_;
  int64_t size_ = 0;
  std::shared_ptr<T> buffer_;
};

// Where the partial gradients of each term's weight begin within one partial.
template <class T>
std::vector<int64_t> partial_offsets(std::span<const GemmGradTerm<T>> terms, int64_t& size) {
  std::vector<int64_t> offsets;
  size = 0;
  for (const auto& term : terms) {
    offsets.push_back(size);
    if (term.grad_w.data != nullptr) size += term.in * term.out;
  }
  return offsets;
}

// The gradient of a weight with few inputs does not fill vectors: its partials are transposed.
template <class T>
bool is_narrow(const GemmGradTerm<T>& term) {
  return term.in <= 8 && term.out >= 2 * term.in;
}

template <class T>
void add_partials(std::span<const GemmGradTerm<T>> terms, const std::vector<int64_t>& offsets,
                  const T* partial, int64_t size, int64_t partials) {
  for (size_t k = 0; k < terms.size(); ++k) {
    const GemmGradTerm<T>& term = terms[k];
    if (term.grad_w.data == nullptr) continue;
    const auto blocks = split_evenly(term.out, 16);
    parallel_tasks(static_cast<int64_t>(blocks.size()), [&](int64_t b) {
      for (int64_t o = blocks[b].begin; o < blocks[b].end; ++o) {
        T* to = term.grad_w.data + o * term.grad_w.stride;
        if (is_narrow(term)) {
          for (int64_t i = 0; i < term.in; ++i) {
            const T* from = partial + offsets[k] + i * term.out + o;
            T sum = term.add_to_w ? to[i] : from[0];
            for (int64_t p = term.add_to_w ? 0 : 1; p < partials; ++p) sum += from[p * size];
            to[i] = sum;
          }
          continue;
        }
        const T* from = partial + offsets[k] + o * term.in;
        if (!term.add_to_w) std::copy_n(from, term.in, to);
        for (int64_t p = term.add_to_w ? 0 : 1; p < partials; ++p)
          for (int64_t i = 0; i < term.in; ++i) to[i] += from[p * size + i];
      }
    });
  }
}

// Where there is one block of rows, wide weights are shared by columns: heads over a vocabulary
// have a hundred rows and tens of thousands of columns. Each task packs its own columns, so there
// is no packed copy of the weight either.
constexpr int64_t kColumnUnit = 48;              // the panels of all instruction sets end there
constexpr int64_t kTaskWork = int64_t{1} << 20;  // multiply-adds that are worth a task
constexpr int64_t kSoloWork = int64_t{1} << 17;  // that one thread does before another has woken

// A matrix that some terms write, in their order.
template <class T>
struct Output {
  T* data = nullptr;
  int64_t columns = 0;  // rows of a weight's gradient
  int64_t stride = 1;   // of them
  std::vector<size_t> terms;
  int64_t depth = 0;  // steps of all terms together
};

template <class T>
void add_output(std::vector<Output<T>>& outputs, size_t term, T* data, int64_t columns,
                int64_t stride, int64_t depth) {
  auto it = std::find_if(outputs.begin(), outputs.end(), [&](const Output<T>& o) {
    return o.data == data && o.columns == columns;
  });
  if (it == outputs.end()) it = outputs.insert(it, {data, columns, stride, {}, 0});
  it->terms.push_back(term);
  it->depth += depth;
}

template <class T>
std::vector<Output<T>> outputs_of(std::span<const GemmTerm<T>> terms) {
  std::vector<Output<T>> out;
  for (size_t k = 0; k < terms.size(); ++k)
    add_output(out, k, terms[k].y.data, terms[k].out, 1, terms[k].in);
  return out;
}
template <class T>
std::vector<Output<T>> weight_outputs_of(std::span<const GemmGradTerm<T>> terms) {
  std::vector<Output<T>> out;
  for (size_t k = 0; k < terms.size(); ++k)
    if (const auto& t = terms[k]; t.grad_w.data != nullptr)
      add_output(out, k, t.grad_w.data, t.out, t.grad_w.stride, t.in);
  return out;
}
template <class T>
std::vector<Output<T>> input_outputs_of(std::span<const GemmGradTerm<T>> terms) {
  std::vector<Output<T>> out;
  for (size_t k = 0; k < terms.size(); ++k)
    if (const auto& t = terms[k]; t.grad_x.data != nullptr)
      add_output(out, k, t.grad_x.data, t.in, 1, t.out);
  return out;
}

// One block of rows, and no output overlaps another.
template <class T>
bool are_shared_by_columns(int64_t rows, const std::vector<Output<T>>& outputs) {
  if (rows == 0 || rows > block_rows(rows)) return false;
  for (size_t k = 0; k < outputs.size(); ++k) {
    const Output<T>& a = outputs[k];
    for (size_t j = 0; j < k; ++j) {
      const Output<T>& b = outputs[j];
      if (a.data < b.data + b.columns * b.stride && b.data < a.data + a.columns * a.stride)
        return false;
    }
  }
  return true;
}

// f(output, first column, number of columns) for pieces of all outputs, in parallel.
template <class T, class F>
void for_each_piece(int64_t rows, const std::vector<Output<T>>& outputs, F&& f) {
  struct Piece {
    const Output<T>* output;
    int64_t begin, columns;
  };
  std::vector<Piece> pieces;
  for (const Output<T>& output : outputs) {
    const int64_t unit_work = std::max<int64_t>(1, rows * output.depth * kColumnUnit);
    const int64_t step = std::max<int64_t>(1, kTaskWork / unit_work) * kColumnUnit;
    for (int64_t c = 0; c < output.columns; c += step)
      pieces.push_back({&output, c, std::min(output.columns - c, step)});
  }
  int64_t work = 0;
  for (const Output<T>& output : outputs) work += rows * output.depth * output.columns;
  const auto run = [&](int64_t k) {
    const Piece& piece = pieces[static_cast<size_t>(k)];
    f(*piece.output, piece.begin, piece.columns);
  };
  if (work > kSoloWork) return parallel_tasks(std::ssize(pieces), run);
  for (int64_t k = 0; k < std::ssize(pieces); ++k) run(k);
}

template <class T>
void gemm_by_columns(int64_t rows, std::span<const GemmTerm<T>> terms,
                     const std::vector<Output<T>>& outputs) {
  for_each_piece(rows, outputs, [&](const Output<T>& output, int64_t begin, int64_t columns) {
    for (const size_t k : output.terms) {
      const GemmTerm<T>& t = terms[k];
      const auto packed = make_array<T>(kernels::packed_size<T>(t.in, columns));
      kernels::pack_transposed(t.w.data + begin * t.w.stride, t.w.stride, t.in, columns,
                               packed.get());
      kernels::gemm(rows, columns, t.in, t.x.data, t.x.stride, static_cast<const T*>(packed.get()),
                    t.bias == nullptr ? nullptr : t.bias + begin, t.accumulate, t.y.data + begin,
                    t.y.stride);
    }
  });
}

template <class T>
void grad_weight_by_rows(int64_t rows, std::span<const GemmGradTerm<T>> terms,
                         const std::vector<Output<T>>& weights) {
  for_each_piece(rows, weights, [&](const Output<T>& weight, int64_t begin, int64_t count) {
    for (const size_t k : weight.terms) {
      const GemmGradTerm<T>& t = terms[k];
      kernels::gemm_grad_weight(rows, count, t.in, t.grad_y.data + begin, t.grad_y.stride, t.x.data,
                                t.x.stride, t.add_to_w, t.grad_w.data + begin * t.grad_w.stride,
                                t.grad_w.stride);
    }
  });
}

template <class T>
void grad_input_by_columns(int64_t rows, std::span<const GemmGradTerm<T>> terms,
                           const std::vector<Output<T>>& inputs) {
  for_each_piece(rows, inputs, [&](const Output<T>& input, int64_t begin, int64_t columns) {
    for (const size_t k : input.terms) {
      const GemmGradTerm<T>& t = terms[k];
      if (rows <= kFewRows) {
        kernels::gemm_unpacked(rows, columns, t.out, t.grad_y.data, t.grad_y.stride,
                               t.w.data + begin, t.w.stride, t.add_to_x, t.grad_x.data + begin,
                               t.grad_x.stride);
        continue;
      }
      const auto packed = make_array<T>(kernels::packed_size<T>(t.out, columns));
      kernels::pack(t.w.data + begin, t.w.stride, t.out, columns, packed.get());
      kernels::gemm(rows, columns, t.out, t.grad_y.data, t.grad_y.stride,
                    static_cast<const T*>(packed.get()), static_cast<const T*>(nullptr), t.add_to_x,
                    t.grad_x.data + begin, t.grad_x.stride);
    }
  });
}

}  // namespace

template <class T>
void gemm(int64_t rows, std::span<const GemmTerm<T>> terms,
          const std::function<void(RowRange)>& finish) {
  const WorkTimer timer(Work::kGemm);
  if (!finish)
    if (const auto outputs = outputs_of(terms); are_shared_by_columns(rows, outputs))
      return gemm_by_columns(rows, terms, outputs);
  Packed<T> packed(terms.size());
  for (size_t k = 0; k < terms.size(); ++k) packed.reserve(k, terms[k].in, terms[k].out);
  packed.allocate();
  for (size_t k = 0; k < terms.size(); ++k)
    kernels::pack_transposed(terms[k].w.data, terms[k].w.stride, terms[k].in, terms[k].out,
                             packed.at(k));
  const auto blocks = split_evenly(rows, block_rows(rows));
  parallel_tasks(static_cast<int64_t>(blocks.size()), [&](int64_t b) {
    const int64_t begin = blocks[b].begin;
    const int64_t count = blocks[b].end - begin;
    for (size_t k = 0; k < terms.size(); ++k) {
      const GemmTerm<T>& t = terms[k];
      kernels::gemm(count, t.out, t.in, t.x.data + begin * t.x.stride, t.x.stride,
                    static_cast<const T*>(packed.at(k)), t.bias, t.accumulate,
                    t.y.data + begin * t.y.stride, t.y.stride);
    }
    if (finish) finish(blocks[b]);
  });
}

template <class T>
void gemm_backward(int64_t rows, std::span<const GemmGradTerm<T>> terms) {
  const WorkTimer timer(Work::kGemm);
  const auto weights = weight_outputs_of(terms);
  const auto inputs = input_outputs_of(terms);
  if (are_shared_by_columns(rows, weights) && are_shared_by_columns(rows, inputs)) {
    grad_weight_by_rows(rows, terms, weights);
    grad_input_by_columns(rows, terms, inputs);
    return;
  }
  Packed<T> packed(terms.size());
  const bool is_packed = rows > kFewRows;
  for (size_t k = 0; k < terms.size(); ++k)
    if (is_packed && terms[k].grad_x.data != nullptr) packed.reserve(k, terms[k].out, terms[k].in);
  packed.allocate();
  for (size_t k = 0; k < terms.size(); ++k)
    if (is_packed && terms[k].grad_x.data != nullptr)
      kernels::pack(terms[k].w.data, terms[k].w.stride, terms[k].out, terms[k].in, packed.at(k));

  const auto blocks = split_evenly(rows, block_rows(rows));
  const auto num_blocks = static_cast<int64_t>(blocks.size());
  const int64_t partials = std::clamp<int64_t>(num_blocks, 1, kMaxPartials);
  int64_t size = 0;
  const std::vector<int64_t> offsets = partial_offsets(terms, size);
  const std::shared_ptr<T> partial = make_array<T>(size * partials);
  parallel_tasks(partials, [&](int64_t p) {
    const int64_t first = num_blocks * p / partials;
    const int64_t last = num_blocks * (p + 1) / partials;
    if (first == last) std::fill_n(partial.get() + p * size, size, T{0});  // no rows at all
    for (int64_t b = first; b < last; ++b) {
      const int64_t begin = blocks[b].begin;
      const int64_t count = blocks[b].end - begin;
      for (size_t k = 0; k < terms.size(); ++k) {
        const GemmGradTerm<T>& t = terms[k];
        const T* grad_y = t.grad_y.data + begin * t.grad_y.stride;
        const T* x = t.x.data + begin * t.x.stride;
        T* grad_w = partial.get() + p * size + offsets[k];
        const bool accumulate = b > first;
        if (t.grad_w.data != nullptr && is_narrow(t))
          kernels::gemm_grad_weight(count, t.in, t.out, x, t.x.stride, grad_y, t.grad_y.stride,
                                    accumulate, grad_w, t.out);
        else if (t.grad_w.data != nullptr)
          kernels::gemm_grad_weight(count, t.out, t.in, grad_y, t.grad_y.stride, x, t.x.stride,
                                    accumulate, grad_w, t.in);
        if (t.grad_x.data != nullptr && !is_packed)
          kernels::gemm_unpacked(count, t.in, t.out, grad_y, t.grad_y.stride, t.w.data, t.w.stride,
                                 t.add_to_x, t.grad_x.data + begin * t.grad_x.stride,
                                 t.grad_x.stride);
        else if (t.grad_x.data != nullptr)
          kernels::gemm(count, t.in, t.out, grad_y, t.grad_y.stride,
                        static_cast<const T*>(packed.at(k)), static_cast<const T*>(nullptr),
                        t.add_to_x, t.grad_x.data + begin * t.grad_x.stride, t.grad_x.stride);
      }
    }
  });
  add_partials<T>(terms, offsets, partial.get(), size, partials);
}

template void gemm(int64_t, std::span<const GemmTerm<float>>, const std::function<void(RowRange)>&);
template void gemm(int64_t, std::span<const GemmTerm<double>>,
                   const std::function<void(RowRange)>&);
template void gemm_backward(int64_t, std::span<const GemmGradTerm<float>>);
template void gemm_backward(int64_t, std::span<const GemmGradTerm<double>>);

}  // namespace egc
