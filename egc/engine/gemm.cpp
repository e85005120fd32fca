#include "egc/engine/gemm.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "egc/core/parallel.h"
#include "egc/core/work_clock.h"
#include "egc/graph/row_split.h"
#include "egc/kernels/gemm.h"

namespace egc {
namespace {

// Rows of one task: enough for a packed weight to be used often, few enough that a mini-batch still
// makes work for several threads. Depends on the number of rows alone.
int64_t block_rows(int64_t rows) { return rows < 8192 ? 256 : 1024; }
// Partial weight gradients: enough for as many threads, few enough that adding them up is nothing.
constexpr int64_t kMaxPartials = 32;

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
  void allocate() { values_.reset(new (std::align_val_t{64}) T[static_cast<size_t>(size_)]); }
  T* at(size_t term) const { return values_.get() + offsets_[term]; }

 private:
  struct Free {
    void operator()(T* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  std::vector<int64_t> offsets_;
  int64_t size_ = 0;
  std::unique_ptr<T[], Free> values_;
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
        const T* from = partial + offsets[k] + o * term.in;
        if (!term.add_to_w) std::copy_n(from, term.in, to);
        for (int64_t p = term.add_to_w ? 0 : 1; p < partials; ++p)
          for (int64_t i = 0; i < term.in; ++i) to[i] += from[p * size + i];
      }
    });
  }
}

}  // namespace

template <class T>
void gemm(int64_t rows, std::span<const GemmTerm<T>> terms,
          const std::function<void(RowRange)>& finish) {
  const WorkTimer timer(Work::kGemm);
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
  Packed<T> packed(terms.size());
  for (size_t k = 0; k < terms.size(); ++k)
    if (terms[k].grad_x.data != nullptr) packed.reserve(k, terms[k].out, terms[k].in);
  packed.allocate();
  for (size_t k = 0; k < terms.size(); ++k)
    if (terms[k].grad_x.data != nullptr)
      kernels::pack(terms[k].w.data, terms[k].w.stride, terms[k].out, terms[k].in, packed.at(k));

  const auto blocks = split_evenly(rows, block_rows(rows));
  const auto num_blocks = static_cast<int64_t>(blocks.size());
  const int64_t partials = std::clamp<int64_t>(num_blocks, 1, kMaxPartials);
  int64_t size = 0;
  const std::vector<int64_t> offsets = partial_offsets(terms, size);
  const std::unique_ptr<T[]> partial(new T[static_cast<size_t>(size * partials)]);
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
        if (t.grad_w.data != nullptr)
          kernels::gemm_grad_weight(count, t.out, t.in, grad_y, t.grad_y.stride,
                                    t.x.data + begin * t.x.stride, t.x.stride,
                                    /*accumulate=*/b > first,
                                    partial.get() + p * size + offsets[k], t.in);
        if (t.grad_x.data != nullptr)
          kernels::gemm(count, t.in, t.out, grad_y, t.grad_y.stride,
                        static_cast<const T*>(packed.at(k)), static_cast<const T*>(nullptr),
                        t.add_to_x, t.grad_x.data + begin * t.grad_x.stride, t.grad_x.stride);
      }
    }
  });
  add_partials<T>(terms, offsets, partial.get(), size, partials);
}

template void gemm(int64_t, std::span<const GemmTerm<float>>,
                   const std::function<void(RowRange)>&);
template void gemm(int64_t, std::span<const GemmTerm<double>>,
                   const std::function<void(RowRange)>&);
template void gemm_backward(int64_t, std::span<const GemmGradTerm<float>>);
template void gemm_backward(int64_t, std::span<const GemmGradTerm<double>>);

}  // namespace egc
