// Molecules as chemists draw them, where the numbers of a dataset's features say what they are.
#pragma once

#include "egc/data/dataset.h"
#include "egc/report/graph_picture.h"

namespace egc::app {

// Edges of a graph of the dataset, each once; of molecules also symbols of atoms and bonds. For
// small graphs: the memory it takes is quadratic.
void add_graph(report::GraphPicture& picture, const data::Dataset& dataset, int64_t graph);

}  // namespace egc::app
