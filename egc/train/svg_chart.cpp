#include "egc/train/svg_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace egc::train {
namespace {

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

  Axis(double from, double to) {
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
  double share(double value) const { return (value - low) / (high - low); }
  std::string spell(double value) const {
    const int digits = std::clamp(static_cast<int>(-std::floor(std::log10(step) + 1e-9)), 0, 8);
    if (std::abs(value) < step * 1e-6) value = 0;
    if (std::abs(value) >= 1e6) return fmt::format("{:.3g}", value);
    return fmt::format("{:.{}f}", value, digits);
  }
};

double at_y(const Axis& axis, double value) {
  return kHeight - kBottom - axis.share(value) * (kHeight - kBottom - kTop);
}

std::string open_svg(const std::string& title) {
  return fmt::format(
      "<figure><figcaption>{0}</figcaption><svg viewBox=\"0 0 {1} {2}\" role=\"img\" "
      "aria-label=\"{0}\">\n",
      escape_html(title), kWidth, kHeight);
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

// The line of one series, broken where there is no number; a number alone is a dot.
std::string draw(const Line& line, const Axis& y, const std::vector<double>& x) {
  std::string path;
  std::string dots;
  bool pen_down = false;
  for (size_t k = 0; k < line.y.size(); ++k) {
    if (!std::isfinite(line.y[k])) {
      pen_down = false;
      continue;
    }
    path += fmt::format("{}{:.1f} {:.1f}", pen_down ? "L" : "M", x[k], at_y(y, line.y[k]));
    const bool next = k + 1 < line.y.size() && std::isfinite(line.y[k + 1]);
    if (!pen_down && !next)
      dots += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"/>", line.style,
                          x[k], at_y(y, line.y[k]));
    pen_down = true;
  }
  return fmt::format("<path class=\"line {}\" d=\"{}\"/>{}\n", line.style, path, dots);
}

}  // namespace

std::string escape_html(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string to_svg(const LineChart& chart) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  size_t count = 1;
  for (const Line& line : chart.lines) {
    count = std::max(count, line.y.size());
    for (const double value : line.y) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (low > high) low = high = 0;  // nothing to draw
  const Axis y(low, high);
  std::vector<double> x;
  for (size_t k = 0; k < count; ++k)
    x.push_back(kLeft +
                (kWidth - kLeft - kRight) *
                    (count == 1 ? 0.5 : static_cast<double>(k) / static_cast<double>(count - 1)));
  std::string out = open_svg(chart.title) + grid(y, chart.percent ? " %" : "");
  if (chart.marked >= 1 && chart.marked <= static_cast<int64_t>(count))
    out += fmt::format(
        "<line class=\"mark\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" "
        "y2=\"{2}\"><title>{3}</title>"
        "</line>\n",
        x[static_cast<size_t>(chart.marked) - 1], kTop, kHeight - kBottom, escape_html(chart.mark));
  for (const Line& line : chart.lines) out += draw(line, y, x);
  out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"{}\">1</text>", x.front(),
                     kHeight - 14, count == 1 ? "middle" : "start");
  if (count > 1)
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"end\">epoch {}</text>", x.back(),
                       kHeight - 14, count);
  out += "</svg><p class=\"legend\">";
  for (const Line& line : chart.lines)
    out += fmt::format("<span class=\"{}\">{}</span> ", line.style, escape_html(line.name));
  if (chart.marked > 0)
    out += fmt::format("<span class=\"mark\">{}</span>", escape_html(chart.mark));
  return out + "</p></figure>\n";
}

std::string histogram_svg(const std::string& title, std::span<const float> values) {
  constexpr size_t kBins = 40;
  std::vector<float> finite;
  for (const float v : values)
    if (std::isfinite(v)) finite.push_back(v);
  if (finite.empty()) return "";
  const auto [least, most] = std::minmax_element(finite.begin(), finite.end());
  const double low = *least;
  const double width = std::max((static_cast<double>(*most) - low) / kBins, 1e-12);
  std::vector<int64_t> counts(kBins, 0);
  for (const float v : finite)
    ++counts[std::min(kBins - 1, static_cast<size_t>((static_cast<double>(v) - low) / width))];
  const Axis y(0, static_cast<double>(*std::max_element(counts.begin(), counts.end())));
  const double bar = (kWidth - kLeft - kRight) / kBins;
  std::string out = open_svg(title) + grid(y, "");
  for (size_t k = 0; k < kBins; ++k) {
    const double top = at_y(y, static_cast<double>(counts[k]));
    out += fmt::format(
        "<rect class=\"train\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\">"
        "<title>{:.3g} to {:.3g}: {}</title></rect>\n",
        kLeft + bar * static_cast<double>(k), top, bar - 1, kHeight - kBottom - top,
        low + width * static_cast<double>(k), low + width * static_cast<double>(k + 1), counts[k]);
  }
  for (const double share : {0.0, 0.5, 1.0})
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"{}\">{:.3g}</text>",
                       kLeft + share * (kWidth - kLeft - kRight), kHeight - 14,
                       share == 0   ? "start"
                       : share == 1 ? "end"
                                    : "middle",
                       low + share * width * kBins);
  return out + "</svg></figure>\n";
}

}  // namespace egc::train
