#include "egc/report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "egc/report/svg_frame.h"

namespace egc::report {

std::string to_svg(const Histogram& chart) {
  constexpr size_t kBins = 40;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const auto& series : chart.series)
    for (const double v : series.values)
      if (std::isfinite(v)) {
        low = std::min(low, v);
        high = std::max(high, v);
      }
  if (low > high) return "";
  if (low == high) {  // one bar in the middle
    low -= 0.5;
    high += 0.5;
  }
  const double step = (high - low) / kBins;
  std::vector<int64_t> counts(chart.series.size() * kBins);
  for (size_t s = 0; s < chart.series.size(); ++s)
    for (const double v : chart.series[s].values)
      if (std::isfinite(v))
        ++counts[s * kBins + std::min(kBins - 1, static_cast<size_t>((v - low) / step))];
  const Axis x(low, high, Ends::kExact);
  const Axis y(0, static_cast<double>(*std::max_element(counts.begin(), counts.end())));
  std::string out = open_chart(chart.title, x, y, chart.x_name, "count");
  std::string legend;
  for (size_t s = 0; s < chart.series.size(); ++s) {
    for (size_t k = 0; k < kBins; ++k) {
      const int64_t count = counts[s * kBins + k];
      if (count == 0) continue;
      const double from = low + step * static_cast<double>(k);
      const double top = at_y(y, static_cast<double>(count));
      out += "<rect class=\"" + chart.series[s].style;
      draw(out, " bar\" x=\"@\" y=\"@\" width=\"@\" height=\"@\">",
           {at_x(x, from), top, (kWidth - kLeft - kRight) / kBins - 1, kHeight - kBottom - top});
      out += fmt::format("<title>{:.3g} to {:.3g}: {}</title></rect>\n", from, from + step, count);
    }
    if (!chart.series[s].name.empty())
      legend += legend_entry(chart.series[s].style, chart.series[s].name);
  }
  return out + "</svg><p class=\"legend\">" + legend + "</p></figure>\n";
}

}  // namespace egc::report
