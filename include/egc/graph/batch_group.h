// The processes that share a batch, or one large graph, between them. Batch norm takes its
// statistics over all of them, dropout draws as if their rows were one matrix, rank after rank, and
// layers exchange the rows that edges between parts of a graph need.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace egc {

// Every rank calls the collective functions in the same order.
class BatchGroup {
 public:
  virtual ~BatchGroup() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  // local: [n], the same n on every rank. Returns [size * n], in order of the ranks.
  virtual std::vector<double> gather(std::span<const double> local) = 0;

  // What goes on while the caller does something else. Its end waits, too: nothing writes to a
  // buffer that is gone.
  class Pending {
   public:
    virtual ~Pending() = default;
    virtual void wait() = 0;
  };
  // Bytes to every rank and from every rank, in order of the ranks. The caller leaves both buffers
  // alone until wait() returns.
  virtual std::unique_ptr<Pending> begin_exchange(const void* sent,
                                                  std::span<const int64_t> bytes_sent,
                                                  void* received,
                                                  std::span<const int64_t> bytes_received) = 0;
};

// Of this process; null: it has its batches to itself. The group must outlive its use.
BatchGroup* batch_group();
void set_batch_group(BatchGroup* group);

}  // namespace egc
