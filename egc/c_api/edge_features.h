// A caller's features of edges, checked and copied.
#pragma once

#include <span>

#include "egc/egc.h"
#include "egc/graph/edge_features.h"

namespace egc::c_api {

// Throws unless they are features of num_edges edges.
EdgeFeatures edge_features_of(const egc_edge_features& given, int64_t num_edges);
// The number of categories of each column.
std::span<const int64_t> category_counts(const egc_edge_features& given);

}  // namespace egc::c_api
