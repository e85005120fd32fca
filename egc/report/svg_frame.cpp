#include "egc/report/svg_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "egc/report/html.h"

namespace egc::report {

Axis::Axis(double from, double to, Ends ends) : log(ends == Ends::kLog) {
  if (log) {
    low = std::floor(std::log10(from) + 1e-9);
    high = std::ceil(std::log10(to) - 1e-9);
    if (!(high > low)) {
      low -= 1;
      high += 1;
    }
    step = std::ceil((high - low) / 6);
    return;
  }
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
  const bool exact = ends == Ends::kExact;
  low = exact ? from : std::floor(from / step) * step;
  high = exact ? to : std::ceil(to / step) * step;
}

double Axis::share(double value) const {
  return ((log ? std::log10(value) : value) - low) / (high - low);
}

std::vector<double> Axis::ticks() const {
  std::vector<double> out;
  const double last = std::floor(high / step + 1e-6);
  for (double k = std::ceil(low / step - 1e-6); k <= last; ++k) {
    const double value = log ? std::pow(10, k * step) : k * step;
    out.push_back(value);
    if (log && high - low <= 2 && k < last) {  // within few decades also 2 and 5
      out.push_back(2 * value);
      out.push_back(5 * value);
    }
  }
  return out;
}

std::string Axis::spell(double tick) const {
  if (log) return fmt::format("{:.3g}", tick);
  const int digits = std::clamp(static_cast<int>(-std::floor(std::log10(step) + 1e-9)), 0, 8);
  if (std::abs(tick) < step * 1e-6) tick = 0;
  if (std::abs(tick) >= 1e6) return fmt::format("{:.3g}", tick);
  return fmt::format("{:.{}f}", tick, digits);
}

double at_x(const Axis& axis, double value) {
  return kLeft + axis.share(value) * (kWidth - kLeft - kRight);
}

double at_y(const Axis& axis, double value) {
  return kHeight - kBottom - axis.share(value) * (kHeight - kBottom - kTop);
}

void draw(std::string& out, const char* markup, std::initializer_list<double> numbers) {
  const double* next = numbers.begin();
  for (; *markup != 0; ++markup) {
    if (*markup != '@') {
      out += *markup;
      continue;
    }
    out += fmt::format("{:.1f}", *next++);
    if (out.ends_with(".0")) out.resize(out.size() - 2);
  }
}

std::string open_svg(const std::string& title, double height) {
  return fmt::format(
      "<figure><figcaption>{0}</figcaption><svg viewBox=\"0 0 {1} {2:.0f}\" role=\"img\" "
      "aria-label=\"{0}\">\n",
      escape_html(title), kWidth, height);
}

std::string open_chart(const std::string& title, const Axis& x, const Axis& y,
                       const std::string& x_name, const std::string& y_name, const char* unit) {
  std::string out = open_svg(title);
  for (const double value : y.ticks()) {
    const double at = at_y(y, value);
    draw(out, "<line class=\"grid\" x1=\"@\" x2=\"@\" y1=\"@\" y2=\"@\"/>",
         {kLeft, kWidth - kRight, at, at});
    out += text_at(kLeft - 8, at + 4, "end", y.spell(value) + unit);
  }
  constexpr double kFloor = kHeight - kBottom;
  for (const double value : x.ticks()) {
    const double at = at_x(x, value);
    draw(out, "<line class=\"axis\" x1=\"@\" x2=\"@\" y1=\"@\" y2=\"@\"/>",
         {at, at, kFloor, kFloor + 5});
    out += text_at(at, kFloor + 20, "middle", x.spell(value));
  }
  draw(out, "<path class=\"axis\" d=\"M@ @V@H@\"/>\n", {kLeft, kTop, kFloor, kWidth - kRight});
  out += text_at((kLeft + kWidth - kRight) / 2, kHeight - 6, "middle", x_name);
  return out + text_at(4, 14, "start", y_name) + "\n";
}

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  std::string out;
  draw(out, "<text x=\"@\" y=\"@\" text-anchor=\"", {x, y});
  return out + anchor + "\">" + escape_html(text) + "</text>";
}

std::string legend_entry(const std::string& style, const std::string& name) {
  return "<span class=\"" + style + "\">" + escape_html(name) + "</span> ";
}

}  // namespace egc::report
