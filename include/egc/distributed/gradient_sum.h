// The gradients of all ranks, added up in buckets that travel while the backward pass goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "egc/distributed/process_group.h"

namespace egc::distributed {

class GradientSum {
 public:
  // sizes: of the parameters' gradients, in the network's order; backward goes the other way.
  GradientSum(const std::vector<int64_t>& sizes, ProcessGroup& group);

  // Before a backward pass.
  void begin();
  // The gradient of a parameter is complete. Each at most once; those that never come are zeros.
  void ready(size_t parameter, std::span<const float> gradient);
  // After the backward pass: the sums over all ranks.
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
