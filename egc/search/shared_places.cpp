#include "egc/search/shared_places.h"

#include <algorithm>
#include <map>

namespace egc::search {

std::vector<size_t> shared_order(const std::vector<std::vector<std::string>>& sets,
                                 const std::vector<size_t>& order) {
  if (sets.empty()) return {};
  std::vector<double> place(sets.size());
  for (size_t k = 0; k < order.size(); ++k) place[order[k]] = static_cast<double>(k);
  const double middle = static_cast<double>(sets.size() - 1) / 2;

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
  const auto size = static_cast<double>(sets.front().size());
  if (members <= size) return order;
  // The sets with a member have the other members equally often, so least squares are these means,
  // stretched by what the others' effects, which add up to minus its own, take away.
  const double stretch = (members - 1) / (members - size);
  std::vector<double> shared(sets.size());
  for (size_t s = 0; s < sets.size(); ++s) {
    double sum = middle;
    for (const std::string& member : sets[s])
      sum += stretch * (of_member[member].places / of_member[member].count - middle);
    shared[s] = (place[s] + sum) / 2;
  }
  std::vector<size_t> out = order;
  std::stable_sort(out.begin(), out.end(),
                   [&](size_t a, size_t b) { return shared[a] < shared[b]; });
  return out;
}

}  // namespace egc::search
