// Features of edges: what an edge adds to the message that it carries.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace egc {

// The types of edges: combinations of categories. A graph has few of them, so layers keep one row
// of a table for each, and an edge is a small number.
struct EdgeTypes {
  int64_t columns = 0;              // categorical features of an edge
  std::vector<int32_t> categories;  // [types, columns]

  // Number of types.
  int64_t size() const { return columns == 0 ? 0 : std::ssize(categories) / columns; }
  // One categorical feature with so many categories: type k has category k.
  static EdgeTypes of_one_feature(int64_t categories);
  bool operator==(const EdgeTypes&) const = default;  // compares all types, in order
};

// Features of the edges of a graph, in the order of its edges: a type, numbers, or both.
struct EdgeFeatures {
  std::vector<int32_t> type;               // [E], below types->size(); or empty
  std::shared_ptr<const EdgeTypes> types;  // null without types
  int64_t columns = 0;                     // numbers of an edge
  std::vector<float> values;               // [E, columns]; or empty
  std::vector<double> exact;               // the same in double precision, instead of `values`

  bool has_types() const { return types != nullptr; }              // whether edges have a type
  bool has_values() const { return columns > 0; }                  // whether they have numbers
  bool empty() const { return !has_types() && !has_values(); }     // whether they have neither
  int64_t num_types() const { return types ? types->size() : 0; }  // number of types
  bool operator==(const EdgeFeatures& other) const;                // the same types and numbers

  // The features of the edges order[0], order[1], ...
  EdgeFeatures selected(std::span<const int64_t> order) const;
  // Adds those of further edges; types are renumbered where both differ. Throws kData where only
  // one has types, or other numbers of columns.
  void append(const EdgeFeatures& other);
  // Whether edge a comes before edge b in the order that graphs keep duplicates in.
  bool less(int64_t a, int64_t b) const;
};

// From categories of edges [E, columns] to their types, the combinations that occur in ascending
// order.
EdgeFeatures edge_types(std::span<const int32_t> categories, int64_t columns);

// Throws kData unless there is a feature for each of the edges, types are in range and numbers are
// finite.
void check_edge_features(const EdgeFeatures& features, int64_t num_edges);

}  // namespace egc
