#include "egc/distributed/gradient_sum.h"

#include <algorithm>

namespace egc::distributed {
namespace {

constexpr int64_t kBucket = 1 << 18;  // values: a megabyte

}  // namespace

GradientSum::GradientSum(const std::vector<int64_t>& sizes, ProcessGroup& group)
    : group_(group), slices_(sizes.size()) {
  for (size_t k = sizes.size(); k-- > 0;) {
    const auto filled = buckets_.empty() ? 0 : std::ssize(buckets_.back().values);
    if (buckets_.empty() || filled + sizes[k] > kBucket) buckets_.emplace_back();
    Bucket& bucket = buckets_.back();
    slices_[k] = {buckets_.size() - 1, std::ssize(bucket.values), sizes[k]};
    bucket.parameters.push_back(k);
    bucket.values.resize(bucket.values.size() + static_cast<size_t>(sizes[k]));
  }
}

void GradientSum::begin() {
  sent_ = 0;
  for (Bucket& bucket : buckets_) {
    std::fill(bucket.values.begin(), bucket.values.end(), 0.0f);
    bucket.missing = bucket.parameters.size();
  }
}

void GradientSum::ready(size_t parameter, std::span<const float> gradient) {
  const BucketSlice& place = slices_[parameter];
  Bucket& bucket = buckets_[place.bucket];
  std::copy(gradient.begin(), gradient.end(), bucket.values.begin() + place.offset);
  if (--bucket.missing == 0) send_complete();
}

void GradientSum::send_complete() {
  for (; sent_ < buckets_.size() && buckets_[sent_].missing == 0; ++sent_)
    buckets_[sent_].sum = group_.begin_sum(buckets_[sent_].values);
}

void GradientSum::finish(
    const std::function<void(size_t parameter, std::span<const float> sum)>& use) {
  for (Bucket& bucket : buckets_) bucket.missing = 0;
  send_complete();
  for (Bucket& bucket : buckets_) {
    bucket.sum->wait();
    bucket.sum.reset();
    for (const size_t k : bucket.parameters)
      use(k, std::span<const float>(bucket.values)
                 .subspan(static_cast<size_t>(slices_[k].offset),
                          static_cast<size_t>(slices_[k].size)));
  }
}

}  // namespace egc::distributed
