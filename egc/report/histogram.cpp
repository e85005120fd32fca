#include "egc/report/histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "egc/report/svg_frame.h"

namespace egc::report {

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

}  // namespace egc::report
