// Whether a dataset has the features and weights of edges that a network was trained on. Beside
// check_fits() of inference, which knows the features of nodes from the network itself.
#pragma once

#include <string>

#include "egc/data/dataset.h"

namespace egc::data {

// Throws kData with what was expected and found; `where` begins the message. For networks that read
// features of edges: kind, number of columns, columns of the table and categories must be those of
// `trained`. A dataset without edges fits. columns: of float features, where `trained` does not
// tell; -1: not known.
void check_edge_schema(const DatasetInfo& trained, const Dataset& given, const std::string& where,
                       int64_t columns = -1);

// Throws kData where only one of the two has weights of edges. For all networks: a layer uses the
// weights that it finds.
void check_edge_weights(const DatasetInfo& trained, const Dataset& given, const std::string& where);

}  // namespace egc::data
