#include "egc/report/graph_picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "egc/report/html.h"
#include "egc/report/svg_frame.h"

namespace egc::report {
namespace {

// From the range of values to the picture, with a margin for the dots.
class Scale {
 public:
  Scale(double low, double high, double size) : low_(low), span_(high - low), size_(size) {}
  double operator()(double v) const {
    constexpr double kMargin = 14;
    const double share = span_ > 0 ? (v - low_) / span_ : 0.5;
    return kMargin + share * (size_ - 2 * kMargin);
  }

 private:
  double low_, span_, size_;
};

}  // namespace

std::string to_svg(const GraphPicture& p) {
  double bounds[4] = {0, 0, 0, 0};
  for (size_t k = 0; k < p.places.size(); ++k) {
    const auto [x, y] = p.places[k];
    bounds[0] = k == 0 ? x : std::min(bounds[0], x);
    bounds[1] = k == 0 ? x : std::max(bounds[1], x);
    bounds[2] = k == 0 ? y : std::min(bounds[2], y);
    bounds[3] = k == 0 ? y : std::max(bounds[3], y);
  }
  const Scale to_x(bounds[0], bounds[1], kWidth);
  const Scale to_y(bounds[2], bounds[3], kHeight);
  std::string out = open_svg(p.title);
  for (const auto& [a, b] : p.edges) {
    const auto& from = p.places[static_cast<size_t>(a)];
    const auto& to = p.places[static_cast<size_t>(b)];
    out += fmt::format(
        "<line class=\"edge\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>",
        to_x(from.first), to_y(from.second), to_x(to.first), to_y(to.second));
  }
  for (size_t k = 0; k < p.places.size(); ++k)
    out += fmt::format(
        "<circle class=\"kind{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"8\"><title>{}</title></circle>\n",
        p.kinds[k], to_x(p.places[k].first), to_y(p.places[k].second),
        k < p.notes.size() ? escape_html(p.notes[k]) : "");
  out += "</svg><p class=\"legend\">";
  for (size_t k = 0; k < p.kind_names.size(); ++k)
    out += fmt::format("<span class=\"kind{}\">{}</span> ", k, escape_html(p.kind_names[k]));
  return out + "</p></figure>\n";
}

}  // namespace egc::report
