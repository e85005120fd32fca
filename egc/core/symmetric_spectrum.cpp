#include "egc/core/symmetric_spectrum.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace egc {
namespace {

// One of Jacobi's rotations: makes a[p, q] of the symmetric matrix 0; the columns of v turn along.
void rotate(std::vector<double>& a, std::vector<double>& v, int64_t n, int64_t p, int64_t q) {
  const double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
  const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::hypot(theta, 1));
  const double c = 1 / std::hypot(t, 1);
  const double s = t * c;
  const auto turn = [&](double& x, double& y) {
    const double before = x;
    x = c * x - s * y;
    y = s * before + c * y;
  };
  for (int64_t k = 0; k < n; ++k) turn(a[k * n + p], a[k * n + q]);
  for (int64_t k = 0; k < n; ++k) turn(a[p * n + k], a[q * n + k]);
  for (int64_t k = 0; k < n; ++k) turn(v[k * n + p], v[k * n + q]);
}

}  // namespace

Spectrum symmetric_spectrum(std::vector<double> a, int64_t n) {
  std::vector<double> v(a.size(), 0.0);
  for (int64_t i = 0; i < n; ++i) v[i * n + i] = 1;
  double largest = 0;
  for (const double x : a) largest = std::max(largest, std::abs(x));
  constexpr int kMaxSweeps = 60;  // some ten are enough
  const double zero = 1e-15 * largest;
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    bool done = true;
    for (int64_t p = 0; p < n; ++p)
      for (int64_t q = p + 1; q < n; ++q)
        if (std::abs(a[p * n + q]) > zero) {
          rotate(a, v, n, p, q);
          done = false;
        }
    if (done) break;
  }
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t i, int64_t j) { return a[i * n + i] < a[j * n + j]; });
  Spectrum out;
  out.vectors.resize(v.size());
  for (int64_t k = 0; k < n; ++k) {
    out.values.push_back(a[order[k] * n + order[k]]);
    for (int64_t i = 0; i < n; ++i) out.vectors[i * n + k] = v[i * n + order[k]];
  }
  return out;
}

}  // namespace egc
