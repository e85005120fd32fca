// What all charts share: the drawing area, an axis of round numbers, the figure around it.
#pragma once

#include <string>

namespace egc::report {

constexpr double kWidth = 640;
constexpr double kHeight = 300;
constexpr double kLeft = 64;
constexpr double kRight = 12;
constexpr double kTop = 16;
constexpr double kBottom = 34;

// About five round numbers that cover [low, high].
struct Axis {
  double low = 0;
  double high = 1;
  double step = 0.2;

  Axis(double from, double to);
  double share(double value) const { return (value - low) / (high - low); }
  std::string spell(double value) const;
};

double at_x(const Axis& axis, double value);
double at_y(const Axis& axis, double value);

// Ends with "</svg>", what else the figure has, and "</figure>".
std::string open_svg(const std::string& title, double height = kHeight);
// Horizontal lines with their numbers.
std::string grid(const Axis& y, const char* unit);
std::string text_at(double x, double y, const char* anchor, const std::string& text);

}  // namespace egc::report
