#include "egc/c_api/edge_features.h"

#include <limits>
#include <vector>

#include "egc/c_api/call.h"

namespace egc::c_api {
namespace {

constexpr int64_t kMaxColumns = 1 << 16;  // times the number of edges fits 64 bits

void check_columns(int64_t columns, const char* what) {
  check(columns >= 0 && columns <= kMaxColumns,
        "egc_edge_features: {} must be from 0 to {}, got {}", what, kMaxColumns, columns);
}

void check_counts(std::span<const int64_t> counts) {
  int64_t sum = 0;  // a layer has a row for each
  for (size_t column = 0; column < counts.size(); ++column) {
    check(counts[column] >= 1 && counts[column] <= std::numeric_limits<int32_t>::max() - sum,
          "egc_edge_features: num_categories[{}] must be from 1 to {}, got {}", column,
          std::numeric_limits<int32_t>::max() - sum, counts[column]);
    sum += counts[column];
  }
}

template <class T>
std::vector<int32_t> categories_of(const T* given, int64_t num_edges,
                                   std::span<const int64_t> counts) {
  const int64_t columns = std::ssize(counts);
  std::vector<int32_t> out(static_cast<size_t>(num_edges * columns));
  for (int64_t k = 0; k < std::ssize(out); ++k) {
    const int64_t count = counts[k % columns];
    check_data(given[k] >= 0 && given[k] < count,
               "egc_graph: category {} of edge {} must be in [0, {}), got {}", k % columns,
               k / columns, count, given[k]);
    out[k] = static_cast<int32_t>(given[k]);
  }
  return out;
}

template <class T>
std::vector<T> copied(const void* given, int64_t count) {
  const T* from = static_cast<const T*>(given);
  return count == 0 ? std::vector<T>() : std::vector<T>(from, from + count);
}

}  // namespace

std::span<const int64_t> category_counts(const egc_edge_features& given) {
  return {given.num_categories, static_cast<size_t>(given.category_columns)};
}

EdgeFeatures edge_features_of(const egc_edge_features& f, int64_t num_edges) {
  for (const int64_t value : f.reserved)
    check(value == 0, "egc_edge_features: reserved must be 0, set the struct to zero first");
  check_columns(f.category_columns, "category_columns");
  check_columns(f.number_columns, "number_columns");
  EdgeFeatures out;
  if (f.category_columns > 0) {
    check(f.num_categories != nullptr, "egc_edge_features: num_categories is NULL");
    check(f.categories != nullptr || num_edges == 0, "egc_edge_features: categories is NULL");
    check(f.category_dtype == EGC_INT32 || f.category_dtype == EGC_INT64,
          "egc_edge_features: category_dtype must be EGC_INT32 or EGC_INT64, got {}",
          f.category_dtype);
    const auto counts = category_counts(f);
    check_counts(counts);
    out = edge_types(
        f.category_dtype == EGC_INT32
            ? categories_of(static_cast<const int32_t*>(f.categories), num_edges, counts)
            : categories_of(static_cast<const int64_t*>(f.categories), num_edges, counts),
        f.category_columns);
  }
  if (f.number_columns > 0) {
    check(f.numbers != nullptr || num_edges == 0, "egc_edge_features: numbers is NULL");
    check(f.number_dtype == EGC_FLOAT32 || f.number_dtype == EGC_FLOAT64,
          "egc_edge_features: number_dtype must be EGC_FLOAT32 or EGC_FLOAT64, got {}",
          f.number_dtype);
    out.columns = f.number_columns;
    if (f.number_dtype == EGC_FLOAT64)
      out.exact = copied<double>(f.numbers, num_edges * f.number_columns);
    else
      out.values = copied<float>(f.numbers, num_edges * f.number_columns);
  }
  return out;
}

}  // namespace egc::c_api
