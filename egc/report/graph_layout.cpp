#include "egc/report/graph_layout.h"

#include <algorithm>
#include <cmath>
#include <complex>

namespace egc::report {
namespace {

using Spot = std::complex<double>;

// Numbers of edges between all pairs; pairs that nothing connects are as far as a path of sqrt(n).
std::vector<double> distances(size_t nodes, const std::vector<std::pair<int64_t, int64_t>>& edges) {
  std::vector<std::vector<size_t>> next(nodes);
  for (const auto& [a, b] : edges) {
    next[static_cast<size_t>(a)].push_back(static_cast<size_t>(b));
    next[static_cast<size_t>(b)].push_back(static_cast<size_t>(a));
  }
  std::vector<double> out(nodes * nodes, std::sqrt(static_cast<double>(nodes)) + 1);
  std::vector<size_t> queue;
  for (size_t from = 0; from < nodes; ++from) {
    std::vector<bool> seen(nodes);
    seen[from] = true;
    double* row = out.data() + from * nodes;
    row[from] = 0;
    queue = {from};
    for (size_t k = 0; k < queue.size(); ++k)
      for (const size_t to : next[queue[k]])
        if (!seen[to]) {
          seen[to] = true;
          row[to] = row[queue[k]] + 1;
          queue.push_back(to);
        }
  }
  return out;
}

}  // namespace

Places lay_out(const Places& start, const std::vector<std::pair<int64_t, int64_t>>& edges) {
  const size_t nodes = start.size();
  const std::vector<double> wanted = distances(nodes, edges);
  double reach = 1e-9;
  for (const auto& [x, y] : start) reach = std::max({reach, std::abs(x), std::abs(y)});
  // As wide as the result will be, and off by a little that differs from node to node: nodes of one
  // place would stay together.
  const double width = std::sqrt(static_cast<double>(nodes));
  std::vector<Spot> at;
  for (size_t k = 0; k < nodes; ++k)
    at.push_back(width / reach * Spot(start[k].first, start[k].second) +
                 std::polar(0.2, 2.4 * static_cast<double>(k)));
  constexpr int kRounds = 300;
  for (int round = 0; round < kRounds; ++round)
    for (size_t i = 0; i < nodes; ++i) {
      Spot sum = 0;
      double weights = 0;
      for (size_t j = 0; j < nodes; ++j) {
        if (j == i) continue;
        const double d = wanted[i * nodes + j];
        const Spot apart = at[i] - at[j];
        const double weight = 1 / (d * d);
        sum += weight * (at[j] + d / std::max(std::abs(apart), 1e-9) * apart);
        weights += weight;
      }
      if (weights > 0) at[i] = sum / weights;
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
