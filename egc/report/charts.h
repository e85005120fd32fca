// Charts as SVG, one of them as an HTML table. What is not finite is left out of all of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace egc::report {

// Curves: over epochs, or over numbers of their own.
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

// Measurements side by side: one group of bars for each name, one bar for each series.
struct BarChart {
  std::string title;
  std::string unit;                         // behind the numbers
  std::vector<std::string> names;           // of the groups
  std::vector<std::string> series;          // at most two
  std::vector<std::vector<double>> values;  // [series][name]; what is not finite has no bar
};
std::string to_svg(const BarChart& chart);

// How often values occur.
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

// Named points over two measures.
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

// Numbers over two choices, as a table whose cells are the more opaque the better they are.
struct HeatMap {
  std::string title;
  std::string row_name, column_name;  // what is chosen
  std::vector<std::string> rows, columns;
  std::vector<std::vector<double>> values;  // [row][column]; what is not finite stays empty
  bool lower_is_better = true;
};
std::string to_html(const HeatMap& map);

// Values over rows and columns as shades: the larger, the more opaque.
struct GridMap {
  std::string title;
  std::string row_name, column_name;        // what they are, along the sides
  std::vector<std::vector<double>> values;  // [row][column], not negative
};
std::string to_svg(const GridMap& map);

}  // namespace egc::report
