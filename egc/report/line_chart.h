// Curves over epochs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace egc::report {

struct Line {
  std::string name;
  std::string style;      // class of the page's style sheet
  std::vector<double> y;  // at x = 1, 2, ...; what is not finite leaves a gap
};
struct LineChart {
  std::string title;
  std::vector<Line> lines;
  int64_t marked = 0;  // an x to mark, from 1; 0: none
  std::string mark;    // what it is
  bool percent = false;
};
std::string to_svg(const LineChart& chart);

}  // namespace egc::report
