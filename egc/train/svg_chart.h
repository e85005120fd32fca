// Small charts as SVG, for a page whose style sheet has the colours (html_report.cpp).
#pragma once

#include <span>
#include <string>
#include <vector>

namespace egc::train {

std::string escape_html(const std::string& text);

struct Line {
  std::string name;
  std::string style;      // class of the style sheet
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

// Counts of values in equal steps between the least and the largest.
std::string histogram_svg(const std::string& title, std::span<const float> values);

}  // namespace egc::train
