// What one of several processes has of one large graph: its nodes with their features and labels,
// and its rows of the graph. Parts can be kept as files, so that no machine needs the whole.
#pragma once

#include <filesystem>
#include <string>

#include "egc/data/dataset.h"
#include "egc/graph/partition.h"

namespace egc::data {

struct DatasetPart {
  Dataset dataset;  // nodes of this part alone, splits in their numbers, no edges
  GraphPart share;  // of the graph as networks see it
  int64_t part = 0;
  int64_t parts = 1;
  std::string cut;  // the same for all parts that fit together
};

// Whether a dataset is one graph with classes of its nodes, which can be cut.
bool can_be_cut(const Dataset& dataset);

// Of the graph as networks see it, one type of nodes as a special case of many.
HeteroSchema schema_of(const Dataset& dataset);

// What is cut.
struct WholeGraph {
  explicit WholeGraph(const Dataset& dataset);
  HeteroSchema schema;
  HeteroGraph graph;
};

// splits: of the whole, those that are divided among the parts, with their validation sets.
DatasetPart cut_dataset(const Dataset& whole, const WholeGraph& graph,
                        std::span<const Split> splits, std::span<const int32_t> part_of,
                        int64_t parts, int64_t part);

struct PartFacts {
  int64_t nodes = 0;
  int64_t edges = 0;
  int64_t edges_cut = 0;      // of these, from other parts
  int64_t rows_received = 0;  // by each layer: nodes of others that edges come from, by relation
  int64_t rows_sent = 0;
};
PartFacts facts_of(const HeteroGraph& part);

// A directory of parts: part-<k>.safetensors for each.
std::vector<PartFacts> write_parts(const std::filesystem::path& dir, const Dataset& whole,
                                   int64_t parts, PartitionMethod method);
bool is_parts_directory(const std::filesystem::path& dir);
// `parts`: of how many; 0: any number. Throws kData where there is no such part, kUsage for one
// process alone.
DatasetPart read_part(const std::filesystem::path& dir, int64_t part, int64_t parts);

}  // namespace egc::data
