// Measurements side by side: one group of bars for each name, one bar for each series.
#pragma once

#include <string>
#include <vector>

namespace egc::report {

struct BarChart {
  std::string title;
  std::string unit;                         // behind the numbers
  std::vector<std::string> names;           // of the groups
  std::vector<std::string> series;          // at most two
  std::vector<std::vector<double>> values;  // [series][name]; what is not finite has no bar
};
std::string to_svg(const BarChart& chart);

}  // namespace egc::report
