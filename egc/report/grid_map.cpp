#include "egc/report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "egc/report/svg_frame.h"

namespace egc::report {

std::string to_svg(const GridMap& map) {
  double most = 0;
  for (const auto& row : map.values)
    for (const double v : row)
      if (std::isfinite(v)) most = std::max(most, v);
  const size_t rows = map.values.size();
  const size_t columns = rows == 0 ? 0 : map.values.front().size();
  constexpr double kSide = 24;  // for the names
  const double height = (kHeight - kSide) / static_cast<double>(std::max<size_t>(1, rows));
  const double width = (kWidth - kSide) / static_cast<double>(std::max<size_t>(1, columns));
  std::string out = open_svg(map.title);
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < columns; ++c) {
      const double v = map.values[r][c];
      if (!std::isfinite(v)) continue;
      out += fmt::format(
          "<rect class=\"train\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
          "opacity=\"{:.3f}\"><title>{:.3g}</title></rect>",
          kSide + width * static_cast<double>(c), height * static_cast<double>(r), width + 0.1,
          height + 0.1, most > 0 ? v / most : 0, v);
    }
  out += text_at(kWidth / 2, kHeight - 6, "middle", map.column_name);
  out += fmt::format("<g transform=\"translate(16 {}) rotate(-90)\">{}</g>", kHeight / 2,
                     text_at(0, 0, "middle", map.row_name));
  return out + "</svg></figure>\n";
}

}  // namespace egc::report
