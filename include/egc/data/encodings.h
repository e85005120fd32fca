// Encodings of the nodes of a dataset (graph/node_encodings.h), for networks that read them.
#pragma once

#include <string>
#include <vector>

#include "egc/data/dataset.h"
#include "egc/graph/node_encodings.h"

namespace egc::data {

// Throws kUsage unless the encodings of ModelConfig::encode can be computed: graphs must have one
// node type and be complete, and those with a Laplacian at most kMaxLaplacianNodes nodes. A
// partition may have its encodings already.
void check_can_encode(const Dataset& dataset, const std::vector<std::string>& names);

// The dataset with these encodings, of its graphs as networks see them. Those of a dataset that was
// read from a directory are cached there. Unchanged if `names` is empty.
Dataset with_encodings(const Dataset& dataset, const std::vector<std::string>& names);

}  // namespace egc::data
