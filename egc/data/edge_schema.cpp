#include "egc/data/edge_schema.h"

#include <algorithm>

#include "egc/core/error.h"

namespace egc::data {
namespace {

// Columns of float features; -1: the description does not tell.
int64_t num_floats(const DatasetInfo& info) {
  if (!info.edge_scaling.empty()) return std::ssize(info.edge_scaling[0].mean);
  if (info.edge_columns.empty()) return -1;
  int64_t out = 0;
  for (const FeatureColumn& c : info.edge_columns) out += c.is_text ? std::ssize(c.values) : 1;
  return out;
}

std::string spell_features(FeatureKind kind, int64_t columns) {
  if (kind == FeatureKind::kNone) return "none";
  const std::string_view name = feature_kinds().name_of(kind);
  return columns < 0 ? fmt::format("{} ones", name) : fmt::format("{} {}", columns, name);
}

void check_table_columns(const std::vector<FeatureColumn>& trained,
                         const std::vector<FeatureColumn>& given, const std::string& where) {
  if (given.empty()) return;
  const auto names = [](const std::vector<FeatureColumn>& columns) {
    std::vector<std::string> out;
    for (const FeatureColumn& c : columns) out.push_back(c.name);
    return fmt::format("{}", fmt::join(out, ", "));
  };
  check_data(names(trained) == names(given),
             "{}: the edge columns are {}, but the model was trained on {}; predict from the "
             "tables with --nodes and --edges",
             where, names(given), names(trained));
  for (size_t k = 0; k < trained.size(); ++k)
    check_data(trained[k].is_text == given[k].is_text && trained[k].values == given[k].values,
               "{}: edge column \"{}\" has other categories than the model was trained on; predict "
               "from the tables with --nodes and --edges",
               where, trained[k].name);
}

// By values, not by the declared number of categories: data may declare more than they have.
void check_edge_categories(const std::vector<int64_t>& limits, const Matrix<int32_t>& given,
                           const std::string& where) {
  for (int64_t e = 0; e < given.rows(); ++e)
    for (int64_t j = 0; j < given.columns; ++j)
      if (given.at(e, j) < 0 || given.at(e, j) >= limits[j])
        fail(ErrorKind::kData,
             "{}: edge {} has the category {} in column {} of its features, but the model takes "
             "categories in [0, {})",
             where, e, given.at(e, j), j + 1, limits[j]);
}

}  // namespace

void check_edge_schema(const DatasetInfo& trained, const Dataset& given, const std::string& where,
                       int64_t columns) {
  if (given.num_edges() == 0) return;
  const Features& x = given.edge_features;
  const bool categorical = trained.edge_features == FeatureKind::kCategorical;
  if (trained.edge_features == FeatureKind::kNone)
    columns = 0;
  else if (categorical)
    columns = std::ssize(trained.edge_categories);
  else if (columns < 0)
    columns = num_floats(trained);
  check_data(x.kind() == trained.edge_features && (columns < 0 || x.columns() == columns),
             "{}: the model takes features of edges: expected {}, found {}", where,
             spell_features(trained.edge_features, columns), spell_features(x.kind(), x.columns()));
  if (!trained.edge_columns.empty())
    check_table_columns(trained.edge_columns, given.info.edge_columns, where);
  if (categorical) check_edge_categories(trained.edge_categories, x.categories, where);
}

void check_edge_weights(const DatasetInfo& trained, const Dataset& given,
                        const std::string& where) {
  if (given.num_edges() == 0) return;
  check_data(trained.edge_weight.empty() || !given.edge_weights.empty(),
             "{}: the model was trained with edge weights (\"{}\"), found none", where,
             trained.edge_weight);
  check_data(!trained.edge_weight.empty() || given.edge_weights.empty(),
             "{}: its edges have weights, but the model was trained without", where);
}

}  // namespace egc::data
