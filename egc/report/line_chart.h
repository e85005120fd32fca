// Curves: over epochs, or over numbers of their own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace egc::report {

struct Line {
  std::string name;
  std::string style;      // class of the page's style sheet
  std::vector<double> y;  // what is not finite leaves a gap
};
struct LineChart {
  std::string title;
  std::vector<Line> lines;
  int64_t marked = 0;  // an epoch to mark, from 1; 0: none
  std::string mark;    // what it is
  bool percent = false;
  bool log = false;  // the y axis; what is not positive leaves a gap
  std::string y_name = {};
  std::string x_name = "epoch";
  std::vector<double> x = {};  // of the points, rising; empty: 1, 2, ...
};
// Pointing at the chart shows the numbers of that x.
std::string to_svg(const LineChart& chart);

}  // namespace egc::report
