#include "egc/report/graph_layout.h"

#include <algorithm>
#include <cmath>
#include <complex>

namespace egc::report {
namespace {

using Spot = std::complex<double>;

// Numbers of edges between all pairs, by Floyd and Warshall; pairs that nothing connects are as far
// as a path of sqrt(n).
std::vector<double> distances(size_t nodes, const std::vector<std::pair<int64_t, int64_t>>& edges) {
  std::vector<double> out(nodes * nodes, 1e9);
  for (const auto& [a, b] : edges) {
    out[static_cast<size_t>(a) * nodes + static_cast<size_t>(b)] = 1;
    out[static_cast<size_t>(b) * nodes + static_cast<size_t>(a)] = 1;
  }
  for (size_t k = 0; k < nodes; ++k)
    for (size_t i = 0; i < nodes; ++i)
      for (size_t j = 0; j < nodes; ++j)
        out[i * nodes + j] = std::min(out[i * nodes + j], out[i * nodes + k] + out[k * nodes + j]);
  for (double& d : out)
    if (d >= 1e9) d = std::sqrt(static_cast<double>(nodes)) + 1;
  return out;
}

// Moves the nodes; what is left of the stress.
double majorise(std::vector<Spot>& at, const std::vector<double>& wanted) {
  const size_t nodes = at.size();
  double stress = 0;
  constexpr int kRounds = 300;
  for (int round = 0; round < kRounds; ++round) {
    stress = 0;
    for (size_t i = 0; i < nodes; ++i) {
      Spot sum = 0;
      double weights = 1e-300;
      for (size_t j = 0; j < nodes; ++j) {
        if (j == i) continue;
        const double d = wanted[i * nodes + j];
        const Spot apart = at[i] - at[j];
        const double length = std::max(std::abs(apart), 1e-9);
        const double weight = 1 / (d * d);
        sum += weight * (at[j] + d / length * apart);
        weights += weight;
        stress += weight * (length - d) * (length - d);
      }
      if (nodes > 1) at[i] = sum / weights;
    }
  }
  return stress;
}

}  // namespace

Places lay_out(const Places& start, const std::vector<std::pair<int64_t, int64_t>>& edges) {
  const size_t nodes = start.size();
  const std::vector<double> wanted = distances(nodes, edges);
  double reach = 1e-9;
  for (const auto& [x, y] : start) reach = std::max({reach, std::abs(x), std::abs(y)});
  // As wide as the result will be, and off by what differs from node to node: nodes of one place
  // would stay together. A twisted ring stays twisted, so several starts are tried.
  const double width = std::sqrt(static_cast<double>(nodes));
  double least = 1e300;
  std::vector<Spot> at;
  for (const double off : {0.2, 1.0, 2.0, 3.0}) {
    std::vector<Spot> tried;
    for (size_t k = 0; k < nodes; ++k)
      tried.push_back(width / reach * Spot(start[k].first, start[k].second) +
                      std::polar(off, 2.4 * static_cast<double>(k)));
    const double stress = majorise(tried, wanted);
    if (stress > 0.99 * least) continue;  // the first, unless another is clearly better
    least = stress;
    at = tried;
  }
  Spot middle = 0;
  for (const Spot& p : at) middle += p / static_cast<double>(nodes);
  Spot square = 0;  // its angle is twice that of the widest direction
  for (const Spot& p : at) square += (p - middle) * (p - middle);
  const Spot turn = std::polar(1.0, -std::arg(square) / 2);
  Places out;
  for (const Spot& p : at) {
    const Spot turned = turn * (p - middle);
    out.emplace_back(turned.real(), turned.imag());
  }
  return out;
}

}  // namespace egc::report
