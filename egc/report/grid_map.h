// Values over rows and columns as shades: the larger, the more opaque.
#pragma once

#include <string>
#include <vector>

namespace egc::report {

struct GridMap {
  std::string title;
  std::string row_name, column_name;        // what they are, along the sides
  std::vector<std::vector<double>> values;  // [row][column], not negative
};
std::string to_svg(const GridMap& map);

}  // namespace egc::report
