// Mean and sample deviation of what was seen.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

namespace egc {

struct Spread {
  double mean = 0;
  double deviation = 0;  // 0 of fewer than two values
  size_t count = 0;
};

inline Spread spread_of(std::span<const double> values) {
  Spread out;
  out.count = values.size();
  for (const double v : values) out.mean += v / static_cast<double>(values.size());
  double square = 0;
  for (const double v : values) square += (v - out.mean) * (v - out.mean);
  if (values.size() > 1) out.deviation = std::sqrt(square / static_cast<double>(values.size() - 1));
  return out;
}

}  // namespace egc
