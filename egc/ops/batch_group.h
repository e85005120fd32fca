// The processes that share a batch, or one large graph, between them. Batch norm takes its
// statistics over all of them, dropout draws as if their rows were one matrix, rank after rank, and
// layers exchange the rows that edges between parts of a graph need.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace egc::ops {

class BatchGroup {
 public:
  virtual ~BatchGroup() = default;
  virtual int rank() const = 0;
  // The tensor of every rank, in order of the ranks; all have the same shape. Every rank calls it.
  virtual std::vector<at::Tensor> gather(const at::Tensor& mine) = 0;

  // What goes on while the caller does something else; its tensors must not be touched meanwhile.
  class Pending {
   public:
    virtual ~Pending() = default;
    virtual void wait() = 0;
  };
  // Rows to every rank and from every rank, in order of the ranks. Both matrices are contiguous.
  virtual std::unique_ptr<Pending> begin_exchange(const at::Tensor& sent,
                                                  std::span<const int64_t> num_sent,
                                                  const at::Tensor& received,
                                                  std::span<const int64_t> num_received) = 0;
};

// Of this process; null: it has its batches to itself. The group must outlive its use.
BatchGroup* batch_group();
void set_batch_group(BatchGroup* group);

}  // namespace egc::ops
