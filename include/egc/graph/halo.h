// The nodes of other partitions that a partition needs. Its graph's sources are its own nodes,
// followed by the halo: the nodes of other partitions that edges come from, by partition.
#pragma once

#include <cstdint>
#include <vector>

namespace egc {

// Which rows a partition sends to the others and receives from them.
struct Halo {
  int64_t owned = 0;              // sources of this partition
  int64_t interior = 0;           // rows before this one have own sources only
  bool rows_are_sources = false;  // whether row i is the node of source i

  std::vector<int64_t> sent;  // own sources that others need: those for partition 0, then 1, ...
  std::vector<int64_t> num_sent;      // [partitions], rows to each one
  std::vector<int64_t> num_received;  // [partitions], rows from each one

  // Degree of every source in the complete graph: [0] without added self-loops, [1] with them where
  // rows are sources (Csr::source_degrees).
  std::vector<double> degree[2];
};

}  // namespace egc
