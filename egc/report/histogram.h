// How often values occur.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace egc::report {

struct Histogram {
  struct Values {
    std::string name;               // for the legend; of one series it may be empty
    std::string style;              // class of the page's style sheet
    std::span<const float> values;  // what is not finite is left out
  };
  std::string title;
  std::string x_name;
  std::vector<Values> series;
};
// Counts in equal steps between the least and the largest; "" where there is nothing to count.
std::string to_svg(const Histogram& chart);

}  // namespace egc::report
