#include "egc/data/standardize.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "egc/core/error.h"

namespace egc::data {
namespace {

// The features of a type of nodes; graphs of one type have one.
const Matrix<float>& floats_of(const Dataset& d, size_t type) {
  return d.hetero.empty() ? d.node_features.floats : d.hetero.features[type].floats;
}
size_t num_types(const Dataset& d) { return d.hetero.empty() ? 1 : d.hetero.features.size(); }

// The rows of the features that training sees.
std::vector<int64_t> training_rows(const Dataset& d, const Split& split, size_t type) {
  std::vector<int64_t> out;
  if (!d.hetero.empty() && static_cast<int64_t>(type) != d.hetero.target_type) {
    out.resize(static_cast<size_t>(floats_of(d, type).rows()));
    std::iota(out.begin(), out.end(), 0);
  } else if (!d.hetero.empty() || d.splits_nodes()) {
    out.assign(split.train.begin(), split.train.end());
  } else {
    for (const int64_t graph : split.train)
      for (int64_t node = d.first_node[graph]; node < d.first_node[graph + 1]; ++node)
        out.push_back(node);
  }
  return out;
}

// The edges of the graphs that train; of a single graph, all of them are seen.
std::vector<int64_t> training_edge_rows(const Dataset& d, const Split& split) {
  std::vector<int64_t> out;
  const auto add = [&](int64_t graph) {
    for (int64_t e = d.first_edge[graph]; e < d.first_edge[graph + 1]; ++e) out.push_back(e);
  };
  if (d.splits_nodes())
    add(0);
  else
    for (const int64_t graph : split.train) add(graph);
  return out;
}

// Columns of a table that are 0 or 1, be it for a text or as a number: rare ones would become
// large.
std::vector<bool> columns_to_leave(const std::vector<FeatureColumn>& columns,
                                   const Matrix<float>& x, const std::vector<int64_t>& rows) {
  std::vector<bool> out;
  for (const FeatureColumn& c : columns)
    out.insert(out.end(), c.is_text ? c.values.size() : 1, c.is_text);
  if (std::ssize(out) != x.columns) return std::vector<bool>(static_cast<size_t>(x.columns), false);
  for (size_t c = 0; c < out.size(); ++c)
    out[c] = out[c] || std::all_of(rows.begin(), rows.end(), [&](int64_t row) {
               const float v = x.at(row, static_cast<int64_t>(c));
               return v == 0 || v == 1;
             });
  return out;
}

FeatureScaling scaling_of(const Matrix<float>& x, const std::vector<int64_t>& rows,
                          const std::vector<bool>& left_alone) {
  const auto columns = static_cast<size_t>(x.columns);
  FeatureScaling out{std::vector<double>(columns, 0), std::vector<double>(columns, 1)};
  if (rows.empty()) return out;
  const auto count = static_cast<double>(rows.size());
  for (size_t c = 0; c < columns; ++c) {
    if (left_alone[c]) continue;
    double sum = 0;
    for (const int64_t row : rows) sum += x.at(row, static_cast<int64_t>(c));
    const double mean = sum / count;
    double squares = 0;
    for (const int64_t row : rows) {
      const double off = x.at(row, static_cast<int64_t>(c)) - mean;
      squares += off * off;
    }
    const double deviation = std::sqrt(squares / count);
    out.mean[c] = mean;
    // A column that is constant in training becomes 0 there, and stays finite elsewhere.
    if (deviation > 1e-9 * std::abs(mean)) out.deviation[c] = deviation;
  }
  return out;
}

// of: "float" or "float edge".
Matrix<float> scaled(const Matrix<float>& x, const FeatureScaling& scaling, const std::string& name,
                     const char* of = "float") {
  if (x.empty() || scaling.mean.empty()) return x;
  check_data(std::ssize(scaling.mean) == x.columns,
             "{} has {} {} features, but the model was trained on {}", name, x.columns, of,
             scaling.mean.size());
  std::vector<float> values(static_cast<size_t>(x.rows() * x.columns));
  for (int64_t i = 0; i < x.rows(); ++i)
    for (int64_t c = 0; c < x.columns; ++c)
      values[i * x.columns + c] =
          static_cast<float>((x.at(i, c) - scaling.mean[c]) / scaling.deviation[c]);
  return {std::move(values), x.columns};
}

bool any_is_number(const std::vector<FeatureColumn>& columns) {
  return std::any_of(columns.begin(), columns.end(),
                     [](const FeatureColumn& c) { return !c.is_text; });
}

}  // namespace

bool has_raw_numbers(const DatasetInfo& info) {
  return info.node_features == FeatureKind::kFloat && any_is_number(info.columns);
}

bool has_raw_edge_numbers(const DatasetInfo& info) {
  return info.edge_features == FeatureKind::kFloat && any_is_number(info.edge_columns);
}

bool has_float_features(const Dataset& d) {
  for (size_t t = 0; t < num_types(d); ++t)
    if (!floats_of(d, t).empty()) return true;
  return false;
}

std::vector<FeatureScaling> learn_scaling(const Dataset& d, const Split& split) {
  std::vector<FeatureScaling> out;
  for (size_t t = 0; t < num_types(d); ++t) {
    const Matrix<float>& x = floats_of(d, t);
    const std::vector<int64_t> rows = training_rows(d, split, t);
    out.push_back(x.empty() ? FeatureScaling{}
                            : scaling_of(x, rows, columns_to_leave(d.info.columns, x, rows)));
  }
  return out;
}

Dataset standardized(const Dataset& d, const std::vector<FeatureScaling>& scaling) {
  if (scaling.empty()) return d;
  check_data(scaling.size() == num_types(d),
             "{} has {} node types, but the model was trained on {}", d.info.name, num_types(d),
             scaling.size());
  Dataset out = d;
  if (d.hetero.empty()) {
    out.node_features.floats = scaled(d.node_features.floats, scaling[0], d.info.name);
    return out;
  }
  for (size_t t = 0; t < scaling.size(); ++t)
    out.hetero.features[t].floats = scaled(floats_of(d, t), scaling[t], d.info.name);
  return out;
}

std::vector<FeatureScaling> learn_edge_scaling(const Dataset& d, const Split& split) {
  const Matrix<float>& x = d.edge_features.floats;
  if (x.empty()) return {};
  const std::vector<int64_t> rows = training_edge_rows(d, split);
  return {scaling_of(x, rows, columns_to_leave(d.info.edge_columns, x, rows))};
}

Dataset standardized_edges(const Dataset& d, const std::vector<FeatureScaling>& scaling) {
  if (scaling.empty()) return d;
  Dataset out = d;
  out.edge_features.floats = scaled(d.edge_features.floats, scaling[0], d.info.name, "float edge");
  return out;
}

std::vector<std::string> columns_far_apart(const Dataset& d, const Split& split) {
  if (!d.hetero.empty() || d.node_features.floats.empty()) return {};
  const Matrix<float>& x = d.node_features.floats;
  std::vector<std::string> names;
  for (const FeatureColumn& c : d.info.columns) {
    if (!c.is_text) names.push_back(c.name);
    for (const std::string& value : c.values) names.push_back(c.name + "=" + value);
  }
  const bool named = std::ssize(names) == x.columns;
  const std::vector<int64_t> rows = training_rows(d, split, 0);
  std::vector<std::pair<double, int64_t>> sizes;  // the largest value of a column
  for (int64_t c = 0; c < x.columns; ++c) {
    double largest = 0;
    for (const int64_t row : rows) largest = std::max(largest, std::abs(double{x.at(row, c)}));
    if (largest > 0) sizes.emplace_back(largest, c);
  }
  std::sort(sizes.begin(), sizes.end());
  if (sizes.empty() || sizes.back().first <= kFarApart * sizes.front().first) return {};
  std::vector<std::string> out;
  for (const auto& [size, c] : {sizes.front(), sizes.back()})
    out.push_back(fmt::format("{} (up to {:.3g})", named ? names[c] : std::to_string(c), size));
  return out;
}

}  // namespace egc::data
