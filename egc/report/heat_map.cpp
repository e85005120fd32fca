#include "egc/report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "egc/report/html.h"

namespace egc::report {

std::string to_html(const HeatMap& map) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const auto& row : map.values)
    for (const double v : row) {
      if (!std::isfinite(v)) continue;
      low = std::min(low, v);
      high = std::max(high, v);
    }
  std::string out = fmt::format(
      "<figure><figcaption>{}</figcaption><div class=\"scroll\"><table><tr><th>{} \\ {}</th>",
      escape_html(map.title), escape_html(map.row_name), escape_html(map.column_name));
  for (const std::string& name : map.columns) out += fmt::format("<th>{}</th>", escape_html(name));
  out += "</tr>\n";
  for (size_t r = 0; r < map.rows.size(); ++r) {
    out += fmt::format("<tr><th>{}</th>", escape_html(map.rows[r]));
    for (const double v : map.values[r]) {
      if (!std::isfinite(v)) {
        out += "<td></td>";
        continue;
      }
      const double share = high > low ? (v - low) / (high - low) : 0.5;
      out += fmt::format(
          "<td style=\"background:color-mix(in srgb, var(--mark) {:.0f}%, transparent)\">{:.3f}"
          "</td>",
          70 * (map.lower_is_better ? 1 - share : share), v);
    }
    out += "</tr>\n";
  }
  return out + "</table></div></figure>\n";
}

}  // namespace egc::report
