#include "egc/distributed/gradient_sum.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace egc::distributed {
namespace {

constexpr int64_t kBucket = 1 << 18;  // values: a megabyte

}  // namespace

GradientSum::GradientSum(std::vector<at::Tensor> parameters, Group& group)
    : group_(group), parameters_(std::move(parameters)), places_(parameters_.size()) {
  std::reverse(parameters_.begin(), parameters_.end());
  for (size_t k = 0; k < parameters_.size();) {
    Bucket bucket;
    bucket.first = k;
    int64_t size = 0;
    do {
      places_[k] = {buckets_.size(), size, false};
      size += parameters_[k].numel();
      ++k;
    } while (k < parameters_.size() && size + parameters_[k].numel() <= kBucket);
    bucket.count = bucket.missing = k - bucket.first;
    bucket.values = at::zeros({size}, at::kFloat);
    buckets_.push_back(std::move(bucket));
  }
  for (size_t k = 0; k < parameters_.size(); ++k)
    parameters_[k].register_hook([this, k](const at::Tensor& g) { take(k, g); });
}

void GradientSum::take(size_t k, const at::Tensor& gradient) {
  Place& place = places_[k];
  Bucket& bucket = buckets_[place.bucket];
  bucket.values.narrow(0, place.offset, parameters_[k].numel()).copy_(gradient.reshape(-1));
  place.came = true;
  if (--bucket.missing == 0) send_complete();
}

void GradientSum::send_complete() {
  for (; sent_ < buckets_.size() && buckets_[sent_].missing == 0; ++sent_)
    buckets_[sent_].sum = group_.begin_sum(buckets_[sent_].values);
}

void GradientSum::finish() {
  for (Bucket& bucket : buckets_) bucket.missing = 0;  // those that do not come are zeros
  send_complete();
  for (Bucket& bucket : buckets_) {
    bucket.sum->wait();
    bucket.sum.reset();
    for (size_t k = bucket.first; k < bucket.first + bucket.count; ++k) {
      at::Tensor& p = parameters_[k];
      if (places_[k].came)
        p.mutable_grad() =
            bucket.values.narrow(0, places_[k].offset, p.numel()).view(p.sizes()).clone();
      places_[k].came = false;
    }
    bucket.values.zero_();
    bucket.missing = bucket.count;
  }
  sent_ = 0;
}

}  // namespace egc::distributed
