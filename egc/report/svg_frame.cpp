#include "egc/report/svg_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "egc/report/html.h"

namespace egc::report {

Axis::Axis(double from, double to) {
  if (!(to > from)) {
    const double around = from == 0 ? 1 : std::abs(from) * 0.1;
    from -= around;
    to += around;
  }
  const double rough = (to - from) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    step = factor * power;
    if (step >= rough) break;
  }
  low = std::floor(from / step) * step;
  high = std::ceil(to / step) * step;
}

std::string Axis::spell(double value) const {
  const int digits = std::clamp(static_cast<int>(-std::floor(std::log10(step) + 1e-9)), 0, 8);
  if (std::abs(value) < step * 1e-6) value = 0;
  if (std::abs(value) >= 1e6) return fmt::format("{:.3g}", value);
  return fmt::format("{:.{}f}", value, digits);
}

double at_x(const Axis& axis, double value) {
  return kLeft + axis.share(value) * (kWidth - kLeft - kRight);
}

double at_y(const Axis& axis, double value) {
  return kHeight - kBottom - axis.share(value) * (kHeight - kBottom - kTop);
}

std::string open_svg(const std::string& title, double height) {
  return fmt::format(
      "<figure><figcaption>{0}</figcaption><svg viewBox=\"0 0 {1} {2}\" role=\"img\" "
      "aria-label=\"{0}\">\n",
      escape_html(title), kWidth, height);
}

std::string grid(const Axis& y, const char* unit) {
  std::string out;
  const int ticks = static_cast<int>(std::lround((y.high - y.low) / y.step));
  for (int k = 0; k <= ticks; ++k) {
    const double value = y.low + k * y.step;
    out += fmt::format(
        "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/><text x=\"{3}\" "
        "y=\"{4:.1f}\" text-anchor=\"end\">{5}{6}</text>\n",
        kLeft, kWidth - kRight, at_y(y, value), kLeft - 6, at_y(y, value) + 4, y.spell(value),
        unit);
  }
  return out;
}

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y, anchor,
                     escape_html(text));
}

}  // namespace egc::report
