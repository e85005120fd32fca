// What kernel tests write results to and compare them with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace egc::testing {

template <class T>
double tolerance() {
  return sizeof(T) == 4 ? 1e-5 : 1e-12;
}

// Poisoned memory between margins: shows what was not written, and what was written outside.
template <class T>
class Output {
 public:
  explicit Output(size_t size) : size_(size), all_(size + 2 * kMargin, kPoison) {}
  T* data() { return all_.data() + kMargin; }
  size_t size() const { return size_; }
  std::vector<T> values() const {
    return {all_.begin() + kMargin, all_.begin() + kMargin + static_cast<int64_t>(size_)};
  }
  bool margins_are_intact() const {
    const auto poisoned = [](T v) { return std::isnan(v); };
    return std::all_of(all_.begin(), all_.begin() + kMargin, poisoned) &&
           std::all_of(all_.end() - kMargin, all_.end(), poisoned);
  }

 private:
  static constexpr int64_t kMargin = 32;
  static constexpr T kPoison = std::numeric_limits<T>::quiet_NaN();
  size_t size_;
  std::vector<T> all_;
};

// The largest difference, relative to the largest value or to `scale`.
template <class T>
double worst(const Output<T>& got, const std::vector<double>& want, double scale = 1.0) {
  if (got.size() != want.size() || !got.margins_are_intact()) return INFINITY;
  const std::vector<T> values = got.values();
  double difference = 0.0;
  for (size_t k = 0; k < want.size(); ++k) {
    scale = std::max(scale, std::abs(want[k]));
    difference = std::max(difference, std::abs(static_cast<double>(values[k]) - want[k]));
    if (!std::isfinite(values[k])) return INFINITY;
  }
  return difference / scale;
}

template <class T>
bool same_bits(const Output<T>& a, const Output<T>& b) {
  const std::vector<T> x = a.values();
  const std::vector<T> y = b.values();
  return x.size() == y.size() &&
         (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0);
}

}  // namespace egc::testing
