// Float features by the mean and the deviation of the training set: learned before training, kept
// with the model (DatasetInfo::scaling and edge_scaling), applied wherever it predicts.
#pragma once

#include <string>
#include <vector>

#include "egc/data/dataset.h"

namespace egc::data {

// Whether columns of numbers stand beside each other as their table had them: what is standardised
// unless the person says otherwise.
bool has_raw_numbers(const DatasetInfo& info);
bool has_raw_edge_numbers(const DatasetInfo& info);  // likewise of edges
bool has_float_features(const Dataset& dataset);

// The moments of the training set of a split (of types of nodes without labels: of all nodes), one
// entry a type. Of a table of one's own, columns of 0 and 1 stay as they are.
std::vector<FeatureScaling> learn_scaling(const Dataset& dataset, const Split& split);

// The dataset with its features scaled, where there is a scaling; throws kData where it is of other
// columns.
Dataset standardized(const Dataset& dataset, const std::vector<FeatureScaling>& scaling);

// Likewise of the float features of edges: by the edges of the training graphs, of a single graph
// by all. One entry, or none where there are no such features.
std::vector<FeatureScaling> learn_edge_scaling(const Dataset& dataset, const Split& split);
Dataset standardized_edges(const Dataset& dataset, const std::vector<FeatureScaling>& scaling);

// Columns whose values differ in size by more than this are worth a warning.
constexpr double kFarApart = 100;

// The names of such columns, the smaller and the larger; empty where there are none.
std::vector<std::string> columns_far_apart(const Dataset& dataset, const Split& split);

}  // namespace egc::data
