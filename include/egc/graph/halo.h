// What a part of a graph needs of the other parts. Its sources are its own nodes, then the nodes of
// others that edges come from, in order of the parts: the halo.
#pragma once

#include <cstdint>
#include <vector>

namespace egc {

struct Halo {
  int64_t owned = 0;              // sources of this part
  int64_t interior = 0;           // rows before this one have no source of another part
  bool rows_are_sources = false;  // row i is the node of source i

  std::vector<int64_t> sent;          // own sources that others need: of part 0, then of 1, ...
  std::vector<int64_t> num_sent;      // to each part
  std::vector<int64_t> num_received;  // from each part

  // Of every source in the whole graph, without added loops, and with them where rows are sources
  // (csr.h, source_degrees).
  std::vector<double> degree[2];
};

}  // namespace egc
