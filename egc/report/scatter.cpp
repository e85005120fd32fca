#include "egc/report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "egc/report/html.h"
#include "egc/report/svg_frame.h"

namespace egc::report {

std::string to_svg(const Scatter& chart) {
  std::vector<Point> points;
  for (const Point& p : chart.points)
    if (std::isfinite(p.x) && std::isfinite(p.y)) points.push_back(p);
  if (points.empty()) return "";
  const auto range = [&](double Point::*member) {
    const auto [low, high] =
        std::minmax_element(points.begin(), points.end(),
                            [&](const Point& a, const Point& b) { return a.*member < b.*member; });
    return Axis((*low).*member, (*high).*member);
  };
  const Axis x = range(&Point::x);
  const Axis y = range(&Point::y);
  std::string out = open_chart(chart.title, x, y, chart.x_name, "");
  for (const Point& p : points) {
    const bool right = x.share(p.x) > 0.8;  // the name would leave the picture
    draw(out, "<circle class=\"train\" cx=\"@\" cy=\"@\" r=\"5\"/>", {at_x(x, p.x), at_y(y, p.y)});
    out +=
        text_at(at_x(x, p.x) + (right ? -8 : 8), at_y(y, p.y) + 4, right ? "end" : "start", p.name);
    out += "\n";
  }
  return out + "</svg></figure>\n";
}

}  // namespace egc::report
