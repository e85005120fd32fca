// Sums of gradients over all ranks, in buckets that are sent while the backward pass continues, as
// in PyTorch's DistributedDataParallel.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "egc/distributed/process_group.h"

namespace egc::distributed {

// Sums the gradients of one network. Every rank calls its functions in the same order.
class GradientSum {
 public:
  // sizes: elements of each parameter, in the network's order. `group` must outlive it.
  GradientSum(const std::vector<int64_t>& sizes, ProcessGroup& group);

  void begin();  // call before each backward pass
  // Hands over the complete gradient of a parameter, at most once per pass. Gradients that are not
  // handed over count as zeros.
  void ready(size_t parameter, std::span<const float> gradient);
  // Call after the backward pass: waits, then calls use(parameter, sum) for every parameter.
  void finish(const std::function<void(size_t parameter, std::span<const float> sum)>& use);

 private:
  struct Bucket {
    std::vector<float> values;
    std::vector<size_t> parameters;
    size_t missing = 0;  // gradients that have not come yet
    std::unique_ptr<ProcessGroup::Pending> sum;
  };
  struct BucketSlice {
    size_t bucket = 0;
    int64_t offset = 0;
    int64_t size = 0;
  };
  void send_complete();

  ProcessGroup& group_;
  std::vector<BucketSlice> slices_;
  std::vector<Bucket> buckets_;  // in the order in which backward completes them
  size_t sent_ = 0;              // they leave in order, so that ranks agree on it
};

}  // namespace egc::distributed
