// A small graph: nodes as dots coloured by kind, edges as lines.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace egc::report {

struct GraphPicture {
  std::string title;
  std::vector<std::pair<double, double>> places;  // of the nodes, in any unit
  std::vector<std::pair<int64_t, int64_t>> edges;
  std::vector<int64_t> kinds;           // of the nodes, below kind_names.size(), at most 7
  std::vector<std::string> kind_names;  // for the legend
  std::vector<std::string> notes;       // shown when one points at a node; or empty
};
std::string to_svg(const GraphPicture& picture);

}  // namespace egc::report
