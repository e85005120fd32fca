// Eigenvectors of the normalized Laplacian of small graphs.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "egc/core/error.h"
#include "egc/core/symmetric_spectrum.h"
#include "egc/graph/node_encodings.h"

namespace egc {
namespace {

// [N, N]: 1 where two nodes have an edge in either direction.
std::vector<double> symmetrized(const Csr& graph) {
  const int64_t n = graph.num_targets();
  std::vector<double> out(static_cast<size_t>(n * n), 0.0);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e)
      if (const int64_t j = graph.sources()[e]; i != j) out[i * n + j] = out[j * n + i] = 1;
  return out;
}

// Each has an eigenvalue 0, which rounding must not decide.
int64_t num_components(const Csr& graph) {
  std::vector<int64_t> parent(static_cast<size_t>(graph.num_targets()));
  std::iota(parent.begin(), parent.end(), int64_t{0});
  const auto root = [&](int64_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  int64_t out = graph.num_targets();
  for (int64_t i = 0; i < graph.num_targets(); ++i)
    for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e)
      if (const int64_t a = root(i), b = root(graph.sources()[e]); a != b) {
        parent[a] = b;
        --out;
      }
  return out;
}

// Of a vector of unit length. Entries that symmetry makes equal differ by rounding, which must not
// decide: the first that is about as large as the largest does.
double sign_of(const std::vector<double>& vectors, int64_t n, int64_t column) {
  double largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(vectors[i * n + column]));
  for (int64_t i = 0; i < n; ++i)
    if (const double v = vectors[i * n + column]; std::abs(v) > (1 - 1e-6) * largest)
      return v < 0 ? -1 : 1;
  return 1;
}

}  // namespace

std::vector<double> laplacian_vectors(const Csr& graph, int64_t count) {
  const int64_t n = graph.num_targets();
  check(graph.is_square(), "node encodings need a graph among the same nodes");
  check(n <= kMaxLaplacianNodes,
        "eigenvectors of the Laplacian are computed for graphs of at most {} nodes, got {}",
        kMaxLaplacianNodes, n);
  std::vector<double> out(static_cast<size_t>(n * count), 0.0);
  const int64_t trivial = num_components(graph);
  if (trivial == n) return out;
  std::vector<double> a = symmetrized(graph);
  std::vector<double> scale(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const double degree = std::accumulate(&a[i * n], &a[i * n] + n, 0.0);
    scale[i] = degree > 0 ? 1 / std::sqrt(degree) : 0;
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      a[i * n + j] = (i == j && scale[i] > 0 ? 1 : 0) - scale[i] * a[i * n + j] * scale[j];
  const Spectrum spectrum = symmetric_spectrum(std::move(a), n);
  for (int64_t k = 0; k < std::min(count, n - trivial); ++k) {
    const double sign = sign_of(spectrum.vectors, n, trivial + k);
    for (int64_t i = 0; i < n; ++i)
      out[i * count + k] = sign * spectrum.vectors[i * n + trivial + k];
  }
  return out;
}

}  // namespace egc
