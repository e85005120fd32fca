#include "egc/core/nearest_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

namespace egc {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Three rows of the table of edit distances: a swap looks two rows back.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const char x = lower(a[i - 1]);
      const char y = lower(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (x == y ? 0 : 1)});
      if (i > 1 && j > 1 && x == lower(b[j - 2]) && y == lower(a[i - 2]))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view name, const std::vector<std::string_view>& known) {
  const size_t most = (name.size() + 1) / 3;
  std::string_view nearest;
  size_t least = most + 1;
  for (const std::string_view candidate : known) {
    const size_t longer = std::max(name.size(), candidate.size());
    // Names come from files, too, and may be long: what differs in length is not compared.
    if (longer - std::min(name.size(), candidate.size()) >= least) continue;
    const size_t distance = edit_distance(name, candidate);
    if (distance >= least || distance >= longer) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& known) {
  const std::string_view nearest = nearest_name(name, known);
  return nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest);
}

std::string spell_known(std::string_view name, const std::vector<std::string_view>& known) {
  const std::string guess = did_you_mean(name, known);
  return fmt::format("{} known: {}", guess.empty() ? ";" : guess, fmt::join(known, ", "));
}

}  // namespace egc
