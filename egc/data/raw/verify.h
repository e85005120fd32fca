// A dataset against what was published of it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "egc/data/dataset.h"
#include "egc/data/dataset_table.h"

namespace egc::data {

// Graphs, nodes, edges and split sizes against the published ones; empty: they agree.
std::vector<std::string> differences_from_published(const Dataset& dataset,
                                                    const Published& published);

}  // namespace egc::data
