#include "egc/data/raw/verify.h"

#include <cmath>

#include "egc/core/error.h"

namespace egc::data {

std::vector<std::string> differences_from_published(const Dataset& d, const Published& published) {
  std::vector<std::string> out;
  const auto compare = [&](const char* what, int64_t expected, int64_t found) {
    if (expected != found)
      out.push_back(fmt::format("{}: published {}, found {}", what, expected, found));
  };
  compare("graphs", published.graphs, d.num_graphs());
  const auto graphs = static_cast<double>(d.num_graphs());
  // Published means are rounded: to two digits, or one.
  const auto agrees = [&](double expected, int64_t sum) {
    return std::abs(static_cast<double>(sum) / graphs - expected) <= 0.051;
  };
  if (!agrees(published.mean_nodes, d.num_nodes()))
    out.push_back(fmt::format("nodes per graph: published {}, found {:.3f}", published.mean_nodes,
                              static_cast<double>(d.num_nodes()) / graphs));
  // Some figures count a bond once, some twice; copies store it either way.
  const int64_t both_ways = d.info.add_inverse_edge ? 2 * d.num_edges() : d.num_edges();
  if (!agrees(published.mean_edges, d.num_edges()) && !agrees(published.mean_edges, both_ways))
    out.push_back(fmt::format("edges per graph: published {}, found {:.3f}", published.mean_edges,
                              static_cast<double>(d.num_edges()) / graphs));
  if (d.splits.empty()) {
    out.emplace_back("it has no split");
    return out;
  }
  const Split& s = d.splits[0];
  compare("train", published.split[0], s.train.size());
  compare("valid", published.split[1], s.valid.size());
  compare("test", published.split[2], s.test.size());
  return out;
}

}  // namespace egc::data
