// Householder's reduction to a tridiagonal matrix, then QL with implicit shifts: tred2 and tql2 of
// EISPACK (Bowdler, Martin, Reinsch and Wilkinson, 1968). Matrices lie column by column, so that
// inner loops run along memory.
#include "egc/core/symmetric_spectrum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace egc {
namespace {

// A symmetric matrix on its way: v becomes the product of all reflections and rotations.
struct Reduction {
  int64_t n;
  std::vector<double> v;  // [n, n], column by column
  std::vector<double> d;  // [n], the diagonal
  std::vector<double> e;  // [n], below the diagonal

  double* column(int64_t j) { return v.data() + j * n; }
};

double dot(const double* x, const double* y, int64_t n) {
  double sum = 0;
  for (int64_t k = 0; k < n; ++k) sum += x[k] * y[k];
  return sum;
}

// d is row i; the reflection that leaves only its last entry is applied to the rows above.
void reflect(Reduction& r, int64_t i) {
  auto& [n, v, d, e] = r;
  double scale = 0;
  for (int64_t k = 0; k < i; ++k) scale += std::abs(d[k]);
  if (scale == 0) {
    e[i] = d[i - 1];
    for (int64_t j = 0; j < i; ++j) {
      d[j] = v[j * n + i - 1];
      v[j * n + i] = v[i * n + j] = 0;
    }
    d[i] = 0;
    return;
  }
  for (int64_t k = 0; k < i; ++k) d[k] /= scale;
  double h = dot(d.data(), d.data(), i);
  const double last = d[i - 1];
  const double norm = last > 0 ? -std::sqrt(h) : std::sqrt(h);
  e[i] = scale * norm;
  h -= last * norm;
  d[i - 1] = last - norm;
  std::fill(e.begin(), e.begin() + i, 0.0);
  for (int64_t j = 0; j < i; ++j) {
    const double f = d[j];
    const double* c = r.column(j);
    v[i * n + j] = f;
    double g = e[j] + c[j] * f;
    for (int64_t k = j + 1; k < i; ++k) {
      g += c[k] * d[k];
      e[k] += c[k] * f;
    }
    e[j] = g;
  }
  for (int64_t j = 0; j < i; ++j) e[j] /= h;
  const double half = dot(e.data(), d.data(), i) / (h + h);
  for (int64_t j = 0; j < i; ++j) e[j] -= half * d[j];
  for (int64_t j = 0; j < i; ++j) {
    const double f = d[j];
    const double g = e[j];
    double* c = r.column(j);
    for (int64_t k = j; k < i; ++k) c[k] -= f * e[k] + g * d[k];
    d[j] = c[i - 1];
    c[i] = 0;
  }
  d[i] = h;
}

// Multiplies the reflections, which v keeps in its upper triangle.
void accumulate(Reduction& r) {
  auto& [n, v, d, e] = r;
  for (int64_t i = 0; i + 1 < n; ++i) {
    v[i * n + n - 1] = v[i * n + i];
    v[i * n + i] = 1;
    double* const next = r.column(i + 1);
    if (const double h = d[i + 1]; h != 0) {
      for (int64_t k = 0; k <= i; ++k) d[k] = next[k] / h;
      for (int64_t j = 0; j <= i; ++j) {
        double* c = r.column(j);
        const double g = dot(next, c, i + 1);
        for (int64_t k = 0; k <= i; ++k) c[k] -= g * d[k];
      }
    }
    std::fill(next, next + i + 1, 0.0);
  }
  for (int64_t j = 0; j < n; ++j) {
    d[j] = v[j * n + n - 1];
    v[j * n + n - 1] = 0;
  }
  v[n * n - 1] = 1;
  e[0] = 0;
}

void tridiagonalize(Reduction& r) {
  for (int64_t j = 0; j < r.n; ++j) r.d[j] = r.v[j * r.n + r.n - 1];
  for (int64_t i = r.n - 1; i > 0; --i) reflect(r, i);
  accumulate(r);
}

// A sweep of rotations from row m up to row l, where `shift` was taken off the diagonal.
void sweep(Reduction& r, int64_t l, int64_t m, double next_diagonal) {
  auto& [n, v, d, e] = r;
  double p = d[m];
  double c = 1;
  double c2 = 1;
  double c3 = 1;
  const double below = e[l + 1];
  double s = 0;
  double s2 = 0;
  for (int64_t i = m - 1; i >= l; --i) {
    c3 = c2;
    c2 = c;
    s2 = s;
    const double g = c * e[i];
    const double h = c * p;
    const double length = std::hypot(p, e[i]);
    e[i + 1] = s * length;
    s = e[i] / length;
    c = p / length;
    p = c * d[i] - s * g;
    d[i + 1] = h + s * (c * g + s * d[i]);
    double* a = r.column(i);
    double* b = r.column(i + 1);
    for (int64_t k = 0; k < n; ++k) {
      const double before = b[k];
      b[k] = s * a[k] + c * before;
      a[k] = c * a[k] - s * before;
    }
  }
  p = -s * s2 * c3 * below * e[l] / next_diagonal;
  e[l] = s * p;
  d[l] = c * p;
}

void diagonalize(Reduction& r) {
  auto& [n, v, d, e] = r;
  std::rotate(e.begin(), e.begin() + 1, e.end());
  e[n - 1] = 0;
  constexpr int kMaxSweeps = 60;  // two or three are usual
  double shift = 0;
  double size = 0;
  for (int64_t l = 0; l < n; ++l) {
    size = std::max(size, std::abs(d[l]) + std::abs(e[l]));
    const double zero = std::numeric_limits<double>::epsilon() * size;
    int64_t m = l;
    while (m + 1 < n && std::abs(e[m]) > zero) ++m;
    for (int sweeps = 0; m > l && std::abs(e[l]) > zero && sweeps < kMaxSweeps; ++sweeps) {
      const double g = d[l];
      const double p = (d[l + 1] - g) / (2 * e[l]);
      const double root = p < 0 ? -std::hypot(p, 1.0) : std::hypot(p, 1.0);
      d[l] = e[l] / (p + root);
      d[l + 1] = e[l] * (p + root);
      const double moved = g - d[l];
      for (int64_t i = l + 2; i < n; ++i) d[i] -= moved;
      shift += moved;
      sweep(r, l, m, d[l + 1]);
    }
    d[l] += shift;
    e[l] = 0;
  }
}

}  // namespace

Spectrum symmetric_spectrum(std::vector<double> a, int64_t n) {
  if (n == 0) return {};
  const auto size = static_cast<size_t>(n);
  Reduction r{n, std::move(a), std::vector<double>(size), std::vector<double>(size)};
  tridiagonalize(r);
  diagonalize(r);
  std::vector<int64_t> order(size);
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t i, int64_t j) { return r.d[i] < r.d[j]; });
  Spectrum out;
  out.vectors.resize(size * size);
  for (int64_t k = 0; k < n; ++k) {
    out.values.push_back(r.d[order[k]]);
    for (int64_t i = 0; i < n; ++i) out.vectors[i * n + k] = r.column(order[k])[i];
  }
  return out;
}

}  // namespace egc
