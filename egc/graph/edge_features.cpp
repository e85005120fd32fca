#include "egc/graph/edge_features.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <map>
#include <numeric>

#include "egc/core/error.h"

namespace egc {
namespace {

using Combination = std::vector<int32_t>;

Combination combination(const EdgeTypes& types, int64_t type) {
  const auto begin = types.categories.begin() + type * types.columns;
  return {begin, begin + types.columns};
}

// The types of `more` as types of `all`, which gets those that it lacks.
std::vector<int32_t> join_types(EdgeTypes& all, const EdgeTypes& more) {
  std::map<Combination, int32_t> known;
  for (int64_t k = 0; k < all.size(); ++k)
    known.emplace(combination(all, k), static_cast<int32_t>(k));
  std::vector<int32_t> renamed;
  for (int64_t k = 0; k < more.size(); ++k) {
    const Combination c = combination(more, k);
    const auto [at, is_new] = known.emplace(c, static_cast<int32_t>(all.size()));
    if (is_new) all.categories.insert(all.categories.end(), c.begin(), c.end());
    renamed.push_back(at->second);
  }
  return renamed;
}

template <class T>
std::vector<T> select_rows_of(const std::vector<T>& from, int64_t columns,
                              std::span<const int64_t> order) {
  std::vector<T> out;
  if (from.empty()) return out;
  out.reserve(order.size() * static_cast<size_t>(columns));
  for (const int64_t e : order)
    out.insert(out.end(), from.begin() + e * columns, from.begin() + (e + 1) * columns);
  return out;
}

template <class T>
int compare_rows(const std::vector<T>& values, int64_t columns, int64_t a, int64_t b) {
  if (values.empty()) return 0;
  const auto order = std::lexicographical_compare_three_way(
      values.begin() + a * columns, values.begin() + (a + 1) * columns,
      values.begin() + b * columns, values.begin() + (b + 1) * columns,
      [](T x, T y) { return std::strong_order(x, y); });
  return order < 0 ? -1 : int{order > 0};
}

template <class T>
void check_values(const std::vector<T>& values, int64_t columns) {
  for (size_t k = 0; k < values.size(); ++k)
    check_data(std::isfinite(values[k]), "graph: feature {} of edge {} must be finite, got {}",
               static_cast<int64_t>(k) % columns, static_cast<int64_t>(k) / columns, values[k]);
}

}  // namespace

EdgeTypes EdgeTypes::of_one_feature(int64_t categories) {
  EdgeTypes types{1, std::vector<int32_t>(static_cast<size_t>(categories))};
  std::iota(types.categories.begin(), types.categories.end(), 0);
  return types;
}

bool EdgeFeatures::operator==(const EdgeFeatures& other) const {
  return type == other.type && columns == other.columns && values == other.values &&
         exact == other.exact &&
         (types == other.types || (types && other.types && *types == *other.types));
}

EdgeFeatures EdgeFeatures::selected(std::span<const int64_t> order) const {
  return {select_rows_of(type, 1, order), types, columns, select_rows_of(values, columns, order),
          select_rows_of(exact, columns, order)};
}

void EdgeFeatures::append(const EdgeFeatures& other) {
  check_data(has_types() == other.has_types() && columns == other.columns &&
                 (!types || types->columns == other.types->columns),
             "graph: either all edges have the same features or none, got {} categories and {} "
             "numbers beside {} and {}",
             types ? types->columns : 0, columns, other.types ? other.types->columns : 0,
             other.columns);
  values.insert(values.end(), other.values.begin(), other.values.end());
  exact.insert(exact.end(), other.exact.begin(), other.exact.end());
  if (types == other.types || *types == *other.types) {
    type.insert(type.end(), other.type.begin(), other.type.end());
    return;
  }
  EdgeTypes all = *types;
  const std::vector<int32_t> renamed = join_types(all, *other.types);
  types = std::make_shared<const EdgeTypes>(std::move(all));
  for (const int32_t t : other.type) type.push_back(renamed[t]);
}

bool EdgeFeatures::less(int64_t a, int64_t b) const {
  if (!type.empty() && type[a] != type[b]) return type[a] < type[b];
  if (const int order = compare_rows(values, columns, a, b); order != 0) return order < 0;
  return compare_rows(exact, columns, a, b) < 0;
}

EdgeFeatures edge_types(std::span<const int32_t> categories, int64_t columns) {
  EdgeFeatures out;
  if (columns == 0) return out;
  const int64_t edges = std::ssize(categories) / columns;
  const auto row = [&](int64_t e) {
    return categories.subspan(static_cast<size_t>(e * columns), static_cast<size_t>(columns));
  };
  std::map<Combination, int32_t> found;
  // Neighbouring edges are often alike, which saves most of the lookups.
  int32_t* last = nullptr;
  std::vector<int32_t*> place(static_cast<size_t>(edges));
  for (int64_t e = 0; e < edges; ++e) {
    if (last == nullptr || !std::equal(row(e).begin(), row(e).end(), row(e - 1).begin()))
      last = &found.try_emplace(Combination(row(e).begin(), row(e).end())).first->second;
    place[e] = last;
  }
  EdgeTypes types{columns, {}};
  for (auto& [combination, type] : found) {
    type = static_cast<int32_t>(types.size());
    types.categories.insert(types.categories.end(), combination.begin(), combination.end());
  }
  out.type.reserve(static_cast<size_t>(edges));
  for (const int32_t* type : place) out.type.push_back(*type);
  out.types = std::make_shared<const EdgeTypes>(std::move(types));
  return out;
}

void check_edge_features(const EdgeFeatures& f, int64_t num_edges) {
  check_data(std::ssize(f.type) == (f.has_types() ? num_edges : 0),
             "graph: {} edges need as many types or none, got {}", num_edges, f.type.size());
  for (int64_t e = 0; e < std::ssize(f.type); ++e)
    check_data(f.type[e] >= 0 && f.type[e] < f.num_types(),
               "graph: the type of edge {} must be in [0, {}), got {}", e, f.num_types(),
               f.type[e]);
  const int64_t given = std::ssize(f.values) + std::ssize(f.exact);
  check_data(f.columns >= 0 && given == num_edges * f.columns,
             "graph: {} edges with {} numbers each need {} values, got {}", num_edges, f.columns,
             num_edges * f.columns, given);
  check_values(f.values, f.columns);
  check_values(f.exact, f.columns);
}

}  // namespace egc
