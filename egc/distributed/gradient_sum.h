// The gradients of all ranks, added up in buckets that travel while the backward pass goes on.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "egc/distributed/group.h"

namespace egc::distributed {

class GradientSum {
 public:
  // Listens to the parameters, which must be float32, as long as they live.
  GradientSum(std::vector<at::Tensor> parameters, Group& group);

  // After the backward pass: every gradient is now the sum over all ranks. Parameters without a
  // gradient stay so.
  void finish();

 private:
  struct Bucket {
    at::Tensor values;
    size_t first = 0;  // of its parameters, the last of the network first
    size_t count = 0;
    size_t missing = 0;  // gradients that have not come yet
    std::unique_ptr<Group::Pending> sum;
  };
  void take(size_t parameter, const at::Tensor& gradient);
  void send_complete();

  struct Place {
    size_t bucket = 0;
    int64_t offset = 0;
    bool came = false;
  };

  Group& group_;
  std::vector<at::Tensor> parameters_;  // in the order in which backward reaches them
  std::vector<Place> places_;
  std::vector<Bucket> buckets_;
  size_t sent_ = 0;  // buckets leave in order, so that ranks agree on it
};

}  // namespace egc::distributed
