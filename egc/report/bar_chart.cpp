#include "egc/report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "egc/report/html.h"
#include "egc/report/svg_frame.h"

namespace egc::report {

// Bars lie, so that names stay readable on a phone.
std::string to_svg(const BarChart& chart) {
  constexpr double kBar = 16;
  constexpr double kGap = 10;
  constexpr double kNames = 110;
  constexpr double kNumbers = 90;
  constexpr const char* kStyles[] = {"train", "valid"};
  const size_t series = std::min(chart.series.size(), std::size(kStyles));
  double most = 0;
  for (size_t s = 0; s < series; ++s)
    for (const double v : chart.values[s])
      if (std::isfinite(v)) most = std::max(most, v);
  const double group = kBar * static_cast<double>(series) + kGap;
  const double scale = most > 0 ? (kWidth - kNames - kNumbers) / most : 0;
  std::string out = open_svg(chart.title, group * static_cast<double>(chart.names.size()) + kGap);
  for (size_t n = 0; n < chart.names.size(); ++n) {
    const double top = kGap + group * static_cast<double>(n);
    out += text_at(kNames - 8, top + group / 2, "end", chart.names[n]);
    for (size_t s = 0; s < series; ++s) {
      const double value = chart.values[s][n];
      if (!std::isfinite(value)) continue;
      const double y = top + kBar * static_cast<double>(s);
      const double width = std::max(0.0, value * scale);
      out += std::string("<rect class=\"") + kStyles[s];
      draw(out, "\" x=\"@\" y=\"@\" width=\"@\" height=\"@\"/>", {kNames, y, width, kBar - 2});
      out += text_at(kNames + width + 6, y + kBar - 4, "start",
                     fmt::format("{:.4g} {}", value, chart.unit));
    }
    out += "\n";
  }
  out += "</svg><p class=\"legend\">";
  for (size_t s = 0; series > 1 && s < series; ++s)  // of one the title tells
    out += legend_entry(kStyles[s], chart.series[s]);
  return out + "</p></figure>\n";
}

}  // namespace egc::report
