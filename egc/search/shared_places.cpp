#include "egc/search/ranks.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "egc/search/halving.h"

namespace egc::search {
namespace {

// Sets without a score share the places after all others: the order they were written down in says
// nothing about their members.
std::vector<double> places_of(const std::vector<size_t>& order, size_t scored) {
  std::vector<double> place(order.size());
  const double middle_of_rest = static_cast<double>(scored + order.size() - 1) / 2;
  for (size_t k = 0; k < order.size(); ++k)
    place[order[k]] = k < scored ? static_cast<double>(k) : middle_of_rest;
  return place;
}

}  // namespace

std::vector<size_t> shared_order(const std::vector<std::vector<std::string>>& sets,
                                 const std::vector<double>& scores, bool lower_is_better) {
  std::vector<size_t> order = best_of(scores, scores.size(), lower_is_better);
  const auto without =
      std::find_if(order.begin(), order.end(), [&](size_t s) { return std::isnan(scores[s]); });
  const std::vector<double> place = places_of(order, static_cast<size_t>(without - order.begin()));

  struct Sum {
    double places = 0;
    double count = 0;
  };
  std::map<std::string, Sum> of_member;
  for (size_t s = 0; s < sets.size(); ++s)
    for (const std::string& member : sets[s]) {
      of_member[member].places += place[s];
      of_member[member].count += 1;
    }
  const auto members = static_cast<double>(of_member.size());
  const double size = sets.empty() ? 0 : static_cast<double>(sets.front().size());
  if (members <= size) return order;
  // The sets with a member have the other members equally often, so least squares are these means,
  // stretched by what the others' effects, which add up to minus its own, take away.
  const double middle = static_cast<double>(sets.size() - 1) / 2;
  const double stretch = (members - 1) / (members - size);
  std::vector<double> shared(sets.size());
  for (size_t s = 0; s < sets.size(); ++s) {
    double sum = middle;
    for (const std::string& member : sets[s])
      sum += stretch * (of_member[member].places / of_member[member].count - middle);
    shared[s] = (place[s] + sum) / 2;
  }
  std::stable_sort(order.begin(), without,
                   [&](size_t a, size_t b) { return shared[a] < shared[b]; });
  return order;
}

}  // namespace egc::search
