// The parts of reading a raw directory; read_dataset.cpp puts them together.
#pragma once

#include <filesystem>
#include <string>

#include "egc/data/dataset.h"
#include "egc/data/dataset_info.h"

namespace egc::data {

// What is known before any table is read.
struct RawSource {
  std::filesystem::path dir;
  std::filesystem::path raw;  // dir/raw
  GivenInfo given;
};

// Where each graph begins among the nodes (or edges) of all, from a table of counts. A graph has at
// most as many nodes as 32-bit ids can name.
Array<int64_t> read_bounds(const std::filesystem::path& path, bool of_nodes);

// As the task says; without one, whether there is a graph-label.
bool labels_are_of_graphs(const RawSource& source);

// graph-label, node-label or node-label/<type>, as the task wants; fills labels, task, classes.
void read_labels(const RawSource& source, const std::filesystem::path& dir, int64_t rows,
                 Dataset& dataset);

// Types of nodes in folders (ogbn-mag's layout), or relation ids per edge.
bool is_hetero(const RawSource& source);
void read_hetero(const RawSource& source, Dataset& dataset);

}  // namespace egc::data
