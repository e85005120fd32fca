// Encodings of nodes in files beside the cache of their dataset, one for each encoding.
//
// A file has the checksum of all that the encoding is a function of: the edges as stored and the
// rules of what networks see. So it is stale whenever one of them changes. Stale and damaged files
// are ignored and rewritten.
#pragma once

#include <optional>
#include <string>

#include "egc/data/dataset.h"
#include "egc/data/training_edges.h"
#include "egc/graph/node_encodings.h"

namespace egc::data {

// What encodings of a dataset depend on.
std::string encoding_key(const Dataset& dataset, const EdgeRules& rules);

// [nodes, columns]; nothing if there is no valid file with this key.
std::optional<Matrix<float>> load_encoding(const Dataset& dataset, const NodeEncoding& encoding,
                                           const std::string& key);
// Failures are logged, not thrown.
void store_encoding(const Dataset& dataset, const NodeEncoding& encoding, const std::string& key,
                    const Matrix<float>& values);

}  // namespace egc::data
