#include "egc/ops/blocked_gemm.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "egc/core/parallel.h"
#include "egc/core/work_clock.h"
#include "egc/graph/row_split.h"
#include "egc/ops/blas_check.h"

namespace egc::ops {
namespace {

// Rows in one GEMM: enough to pay for packing the weights, few enough that a mini-batch still makes
// work for several threads. Depends on the number of rows alone.
int64_t block_rows(int64_t rows) { return rows < 8192 ? 256 : 1024; }
// Partial weight gradients: enough for as many threads, few enough that adding them up is nothing.
constexpr int64_t kMaxPartials = 32;

}  // namespace

void blocked_gemm(int64_t rows, const std::vector<GemmTerm>& terms,
                  const std::function<void(RowRange)>& finish) {
  const WorkTimer timer(Work::kGemm);
  warn_of_slow_blas();
  const auto blocks = split_evenly(rows, block_rows(rows));
  parallel_tasks(static_cast<int64_t>(blocks.size()), [&](int64_t b) {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    const int64_t begin = blocks[b].begin;
    const int64_t count = blocks[b].end - begin;
    for (const GemmTerm& term : terms) {
      const at::Tensor x = term.x.narrow(0, begin, count);
      at::Tensor y = term.y.narrow(0, begin, count);
      if (term.accumulate)
        y.addmm_(x, term.w.t());
      else if (term.bias.defined())
        at::addmm_out(y, term.bias, x, term.w.t());
      else
        at::mm_out(y, x, term.w.t());
    }
    if (finish) finish(blocks[b]);
  });
}

std::vector<at::Tensor> blocked_gemm_backward(int64_t rows,
                                              const std::vector<GemmGradTerm>& terms) {
  const WorkTimer timer(Work::kGemm);
  const auto blocks = split_evenly(rows, block_rows(rows));
  const auto num_blocks = static_cast<int64_t>(blocks.size());
  const int64_t partials = std::clamp<int64_t>(num_blocks, 1, kMaxPartials);
  int64_t weights = 0;
  for (const GemmGradTerm& term : terms) weights += term.w.numel();
  const at::Tensor partial = at::zeros({partials, weights}, terms.at(0).w.options());
  const auto views = [&](const at::Tensor& flat) {
    std::vector<at::Tensor> out;
    int64_t at = 0;
    for (const GemmGradTerm& term : terms) {
      out.push_back(flat.narrow(0, at, term.w.numel()).view(term.w.sizes()));
      at += term.w.numel();
    }
    return out;
  };
  parallel_tasks(partials, [&](int64_t p) {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    std::vector<at::Tensor> mine = views(partial[p]);
    for (int64_t b = num_blocks * p / partials; b < num_blocks * (p + 1) / partials; ++b) {
      const int64_t begin = blocks[b].begin;
      const int64_t count = blocks[b].end - begin;
      for (size_t k = 0; k < terms.size(); ++k) {
        const GemmGradTerm& term = terms[k];
        const at::Tensor grad_y = term.grad_y.narrow(0, begin, count);
        mine[k].addmm_(grad_y.t(), term.x.narrow(0, begin, count));
        if (!term.grad_x.defined()) continue;
        at::Tensor grad_x = term.grad_x.narrow(0, begin, count);
        if (term.accumulate)
          grad_x.addmm_(grad_y, term.w);
        else
          at::mm_out(grad_x, grad_y, term.w);
      }
    }
  });
  at::Tensor total = partial[0].clone();  // a view would keep all the others alive
  for (int64_t p = 1; p < partials; ++p) total.add_(partial[p]);
  return views(total);
}

}  // namespace egc::ops
