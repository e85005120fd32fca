#include "egc/search/ranks.h"

#include <cmath>
#include <limits>
#include <vector>

namespace egc::search {
namespace {

// About their mean. Quadratic: trials are hundreds.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<double> out;
  for (const double v : values) {
    double rank = 0;
    for (const double other : values) rank += other < v ? 0.5 : other > v ? -0.5 : 0;
    out.push_back(rank);
  }
  return out;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

}  // namespace

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  std::vector<double> x;
  std::vector<double> y;
  for (size_t k = 0; k < a.size(); ++k)
    if (!std::isnan(a[k]) && !std::isnan(b[k])) {
      x.push_back(a[k]);
      y.push_back(b[k]);
    }
  x = ranks(x);
  y = ranks(y);
  const double scale = std::sqrt(product(x, x) * product(y, y));
  if (x.size() < 3 || scale == 0) return std::numeric_limits<double>::quiet_NaN();
  return product(x, y) / scale;
}

}  // namespace egc::search
