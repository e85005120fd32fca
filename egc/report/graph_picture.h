// A small graph: nodes as dots coloured by kind, edges as lines; molecules with symbols and bonds.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace egc::report {

struct GraphPicture {
  std::string title;
  std::vector<std::pair<double, double>> places;  // of the nodes, in any unit, y upwards or not
  std::vector<std::pair<int64_t, int64_t>> edges;
  std::vector<int64_t> kinds;           // of the nodes, below kind_names.size(), at most 7
  std::vector<std::string> kind_names;  // for the legend
  std::vector<std::string> notes;       // shown when one points at a node; or empty
  std::vector<std::string> symbols;     // written into the nodes; or empty
  std::vector<int> bonds;               // of the edges: 1 to 3 lines, kAromatic; or empty

  static constexpr int kAromatic = 4;  // a line and a dashed one
};
std::string to_svg(const GraphPicture& picture);

}  // namespace egc::report
