// The processes that share a batch between them. Batch norm takes its statistics over all of them,
// and dropout draws as if their rows were one matrix, rank after rank.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace egc::ops {

class BatchGroup {
 public:
  virtual ~BatchGroup() = default;
  virtual int rank() const = 0;
  // The tensor of every rank, in order of the ranks; all have the same shape. Every rank calls it.
  virtual std::vector<at::Tensor> gather(const at::Tensor& mine) = 0;
};

// Of this process; null: it has its batches to itself. The group must outlive its use.
BatchGroup* batch_group();
void set_batch_group(BatchGroup* group);

}  // namespace egc::ops
