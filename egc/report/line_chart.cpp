#include "egc/report/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "egc/report/html.h"
#include "egc/report/svg_frame.h"

namespace egc::report {
namespace {

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

}  // namespace egc::report
