// Numbers over two choices, as a table whose cells are the more opaque the better they are.
#pragma once

#include <string>
#include <vector>

namespace egc::report {

struct HeatMap {
  std::string title;
  std::string row_name, column_name;  // what is chosen
  std::vector<std::string> rows, columns;
  std::vector<std::vector<double>> values;  // [row][column]; what is not finite stays empty
  bool lower_is_better = true;
};
std::string to_html(const HeatMap& map);

}  // namespace egc::report
