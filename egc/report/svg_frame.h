// What all charts share: the drawing area, axes with ticks, the figure around it.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

namespace egc::report {

// In units of the drawing, which are about pixels in one of two columns.
constexpr double kWidth = 480;
constexpr double kHeight = 300;
constexpr double kLeft = 76;
constexpr double kRight = 20;
constexpr double kTop = 30;
constexpr double kBottom = 46;

// kRound: covers the values with round numbers. kExact: begins and ends with them. kLog: powers of
// ten, of positive values.
enum class Ends { kRound, kExact, kLog };

struct Axis {
  double low = 0;  // of kLog: exponents
  double high = 1;
  double step = 0.2;
  bool log = false;

  Axis(double from, double to, Ends ends = Ends::kRound);
  double share(double value) const;
  std::vector<double> ticks() const;  // about five
  std::string spell(double tick) const;
};

double at_x(const Axis& axis, double value);
double at_y(const Axis& axis, double value);

// Appends the markup with a number, to a tenth, for every '@'. Charts are made of hundreds of such
// pieces: one function with a plain list keeps the library small.
void draw(std::string& out, const char* markup, std::initializer_list<double> numbers);

// Ends with "</svg>", what else the figure has, and "</figure>".
std::string open_svg(const std::string& title, double height = kHeight);
// The figure with both axes: lines, numbers and names.
std::string open_chart(const std::string& title, const Axis& x, const Axis& y,
                       const std::string& x_name, const std::string& y_name, const char* unit = "");
std::string text_at(double x, double y, const char* anchor, const std::string& text);
// What a colour means, below a drawing.
std::string legend_entry(const std::string& style, const std::string& name);

}  // namespace egc::report
