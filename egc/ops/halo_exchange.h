// Rows of a matrix that the parts of a graph exchange: forward, what sources of other processes
// have; backward, their gradients to where they belong.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "egc/graph/csr.h"
#include "egc/ops/batch_group.h"

namespace egc::ops {

// The rows of all sources of a part: its own, and behind them, once it has waited, the others'.
class HaloRows {
 public:
  // own: [halo.owned, columns], contiguous.
  HaloRows(const Halo& halo, const at::Tensor& own);

  const at::Tensor& rows() const { return rows_; }  // [num_sources, columns]
  void wait();

 private:
  at::Tensor rows_;
  at::Tensor sent_;
  std::unique_ptr<BatchGroup::Pending> exchange_;
};

// Of gradients of all sources: those of the own, with what the others found for them added, in
// order of the parts. Returns a part of `gradients`, which it writes to.
at::Tensor return_halo(const Halo& halo, const at::Tensor& gradients);

}  // namespace egc::ops
