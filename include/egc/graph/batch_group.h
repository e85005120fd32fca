// What operators need of a process group: batch norm takes its statistics over all ranks, dropout
// numbers rows over all ranks, and layers exchange rows of partitioned graphs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace egc {

// The processes that share a batch or a partitioned graph. Every rank calls the collective
// functions in the same order.
class BatchGroup {
 public:
  virtual ~BatchGroup() = default;
  virtual int rank() const = 0;  // of this process, in [0, size)
  virtual int size() const = 0;  // number of ranks

  // Collects values from all ranks. local: [n], the same n on every rank. Returns [size * n], by
  // rank.
  virtual std::vector<double> gather(std::span<const double> local) = 0;

  // An operation in progress. Its destructor waits too, so no buffer is written after its end.
  class Pending {
   public:
    virtual ~Pending() = default;
    virtual void wait() = 0;  // blocks until the operation is complete
  };
  // Starts to send bytes to every rank and receive bytes from every rank, by rank. The caller must
  // not touch either buffer until wait() returns.
  virtual std::unique_ptr<Pending> begin_exchange(const void* sent,
                                                  std::span<const int64_t> bytes_sent,
                                                  void* received,
                                                  std::span<const int64_t> bytes_received) = 0;
};

// The group of this process; null: this process computes its batches alone.
BatchGroup* batch_group();
// Sets the group of this process, which must outlive its use; null removes it.
void set_batch_group(BatchGroup* group);

}  // namespace egc
