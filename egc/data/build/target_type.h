// A graph with several types of nodes seen as one with a single type.
#pragma once

#include "egc/data/dataset.h"

namespace egc::data {

// The nodes that have labels and the edges among them, of all relations: of MAG, its papers and
// their citations.
Dataset only_target_type(const Dataset& dataset);

}  // namespace egc::data
