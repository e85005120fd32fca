// Partitions of a dataset that is one large graph: nodes with features and labels, and their rows
// of the graph. Partitions can be stored as files, so no machine needs the complete graph.
#pragma once

#include <filesystem>
#include <string>

#include "egc/data/dataset.h"
#include "egc/graph/partition.h"

namespace egc::data {

// A partition of a dataset.
struct DatasetPart {
  Dataset dataset;    // nodes of this partition, splits in their numbering, no edges
  GraphPart share;    // of the graph as networks see it
  int64_t part = 0;   // number of this partition
  int64_t parts = 1;  // number of partitions
  std::string cut;    // identifier that all partitions of one cut share
};

// Whether a dataset is one graph with classes of its nodes, which can be partitioned.
bool can_be_cut(const Dataset& dataset);

// Node types and relations of the graph as networks see it; an ordinary graph has one of each.
HeteroSchema schema_of(const Dataset& dataset);

// The complete graph as networks see it.
struct WholeGraph {
  // Builds it from the dataset's edges.
  explicit WholeGraph(const Dataset& dataset);
  HeteroSchema schema;  // node types and relations
  HeteroGraph graph;    // their edges
};

// Cuts a partition out of a dataset. splits: splits of the complete dataset, with validation sets.
// part_of: the partition of every node, from partition().
DatasetPart cut_dataset(const Dataset& whole, const WholeGraph& graph,
                        std::span<const Split> splits, std::span<const int32_t> part_of,
                        int64_t parts, int64_t part);

// Sizes of a partition.
struct PartFacts {
  int64_t nodes = 0;          // own nodes
  int64_t edges = 0;          // to own nodes
  int64_t edges_cut = 0;      // of these, from other partitions
  int64_t rows_received = 0;  // rows of the halo that each layer receives, over all relations
  int64_t rows_sent = 0;      // rows that each layer sends
};
PartFacts facts_of(const HeteroGraph& part);  // the sizes of a partition

// Writes a directory with a file `part-<k>.safetensors` for each partition.
std::vector<PartFacts> write_parts(const std::filesystem::path& dir, const Dataset& whole,
                                   int64_t parts, PartitionMethod method);
bool is_parts_directory(const std::filesystem::path& dir);  // whether write_parts() wrote it
// Reads a partition. parts: expected number of partitions; 0: any. Throws kData if there is no such
// partition, kUsage if parts is 1.
DatasetPart read_part(const std::filesystem::path& dir, int64_t part, int64_t parts);

}  // namespace egc::data
