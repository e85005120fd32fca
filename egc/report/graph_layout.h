// Where the nodes of a small graph stand on paper: distances there like the numbers of edges
// between them, by stress majorisation (Gansner, Koren and North, GD 2004). The same graph and
// start give the same picture.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace egc::report {

using Places = std::vector<std::pair<double, double>>;

// An edge is about 1 long; the widest direction lies flat. `start`: a rough idea of the places, one
// for every node, in any unit. Takes quadratic memory.
Places lay_out(const Places& start, const std::vector<std::pair<int64_t, int64_t>>& edges);

}  // namespace egc::report
