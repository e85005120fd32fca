// Named points over two measures.
#pragma once

#include <string>
#include <vector>

namespace egc::report {

struct Point {
  std::string name;
  double x = 0;
  double y = 0;
};
struct Scatter {
  std::string title;
  std::string x_name;
  std::vector<Point> points;  // what is not finite is left out
};
std::string to_svg(const Scatter& chart);

}  // namespace egc::report
