// Rows of a matrix that the parts of a graph exchange: forward, what sources of other processes
// have; backward, their gradients to where they belong.
#pragma once

#include <memory>

#include "egc/graph/batch_group.h"
#include "egc/graph/csr.h"
#include "egc/tensor/tensor.h"

namespace egc::ops {

// The rows of all sources of a part: its own, and behind them, once it has waited, the others'.
class HaloRows {
 public:
  // own: [halo.owned, columns].
  HaloRows(const Halo& halo, const Tensor& own);

  const Tensor& rows() const { return rows_; }  // [num_sources, columns]
  void wait();

 private:
  Tensor rows_;
  Tensor sent_;
  std::unique_ptr<BatchGroup::Pending> exchange_;
};

// Of gradients of all sources: those of the own, with what the others found for them added, in
// order of the parts.
Tensor return_halo(const Halo& halo, const Tensor& gradients);

}  // namespace egc::ops
