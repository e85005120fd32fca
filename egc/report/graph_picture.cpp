#include "egc/report/graph_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "egc/report/html.h"
#include "egc/report/svg_frame.h"

namespace egc::report {
namespace {

constexpr double kMargin = 20;
constexpr double kLargestNode = 11;

struct Fit {
  double scale = 1;
  double left = 0, top = 0;  // of the picture, in the places' unit
  double height = 2 * kMargin;
  double radius = kLargestNode;
};

// Both directions are scaled alike, so that angles stay; nodes are so small that none overlap.
Fit fit(const std::vector<std::pair<double, double>>& places) {
  Fit out;
  if (places.empty()) return out;
  double right = out.left = places[0].first;
  double bottom = out.top = places[0].second;
  double nearest = 1e300;
  for (size_t k = 0; k < places.size(); ++k) {
    const auto [x, y] = places[k];
    out.left = std::min(out.left, x);
    right = std::max(right, x);
    out.top = std::min(out.top, y);
    bottom = std::max(bottom, y);
    for (size_t j = 0; j < k; ++j)
      if (const double d = std::hypot(x - places[j].first, y - places[j].second); d > 0)
        nearest = std::min(nearest, d);
  }
  constexpr double kLongestEdge = 60;  // two atoms need not fill the page
  const double width = std::max(right - out.left, 1e-9);
  const double height = std::max(bottom - out.top, 1e-9);
  out.scale = std::min(
      {(kWidth - 2 * kMargin) / width, (kWidth - 2 * kMargin) / height, kLongestEdge / nearest});
  out.left -= (kWidth / out.scale - width) / 2;
  out.top -= kMargin / out.scale;
  out.height = height * out.scale + 2 * kMargin;
  out.radius = std::clamp(0.45 * nearest * out.scale, 2.0, kLargestNode);
  return out;
}

}  // namespace

std::string to_svg(const GraphPicture& p) {
  const Fit f = fit(p.places);
  const auto x = [&](size_t k) { return (p.places[k].first - f.left) * f.scale; };
  const auto y = [&](size_t k) { return (p.places[k].second - f.top) * f.scale; };
  std::string out = open_svg(p.title, f.height);
  for (size_t e = 0; e < p.edges.size(); ++e) {
    const auto a = static_cast<size_t>(p.edges[e].first);
    const auto b = static_cast<size_t>(p.edges[e].second);
    const int bond = e < p.bonds.size() ? p.bonds[e] : 1;
    const bool aromatic = bond == GraphPicture::kAromatic;
    const int lines = aromatic ? 2 : std::clamp(bond, 1, 3);
    const double length = std::max(std::hypot(x(b) - x(a), y(b) - y(a)), 1e-9);
    for (int k = 0; k < lines; ++k) {
      const double aside = 0.45 * f.radius * (k - 0.5 * (lines - 1)) / length;
      const double dx = aside * (y(a) - y(b));
      const double dy = aside * (x(b) - x(a));
      out += aromatic && k == 1 ? "<line class=\"edge dashed\"" : "<line class=\"edge\"";
      draw(out, " x1=\"@\" y1=\"@\" x2=\"@\" y2=\"@\"/>",
           {x(a) + dx, y(a) + dy, x(b) + dx, y(b) + dy});
    }
  }
  for (size_t k = 0; k < p.places.size(); ++k) {
    out += fmt::format("<g><title>{}</title><circle class=\"kind{}",
                       k < p.notes.size() ? escape_html(p.notes[k]) : "", p.kinds[k]);
    draw(out, "\" cx=\"@\" cy=\"@\" r=\"@\"/>", {x(k), y(k), f.radius});
    if (k < p.symbols.size() && f.radius > 4) {
      // Long symbols are set smaller, to stay within the node.
      const double letters = std::max(1.4, 0.8 * static_cast<double>(p.symbols[k].size()));
      const double size = 1.9 * f.radius / letters;
      draw(out, "<text class=\"symbol\" x=\"@\" y=\"@\" style=\"font-size:@px\">",
           {x(k), y(k) + 0.36 * size, size});
      out += escape_html(p.symbols[k]) + "</text>";
    }
    out += "</g>\n";
  }
  out += "</svg><p class=\"legend\">";
  for (size_t k = 0; k < p.kind_names.size(); ++k)
    out += legend_entry(fmt::format("kind{}", k), p.kind_names[k]);
  return out + "</p></figure>\n";
}

}  // namespace egc::report
