#include "egc/report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "egc/report/html.h"
#include "egc/report/svg_frame.h"

namespace egc::report {
namespace {

class Drawing {
 public:
  explicit Drawing(const LineChart& chart)
      : chart_(chart), points_(chart.x), x_(0, 1), y_(range()) {
    if (chart.x.empty())
      for (size_t k = 0; k < count_; ++k) points_.push_back(static_cast<double>(k + 1));
    x_ = Axis(points_.front(), points_.back(), Ends::kExact);
    if (chart.x.empty()) x_.step = std::max(x_.step, 1.0);  // there is no half epoch
  }

  std::string svg() const {
    const char* unit = chart_.percent ? " %" : "";
    std::string out = open_chart(chart_.title, x_, y_, chart_.x_name, chart_.y_name, unit);
    const bool marked = chart_.marked >= 1 && chart_.marked <= static_cast<int64_t>(count_);
    if (marked) {
      const double x = place(static_cast<size_t>(chart_.marked) - 1);
      draw(out, "<line class=\"mark\" x1=\"@\" x2=\"@\" y1=\"@\" y2=\"@\"/>\n",
           {x, x, kTop, kHeight - kBottom});
    }
    for (const Line& line : chart_.lines) add_line(out, line);
    // Each strip has its numbers; of a long run one in a few, to keep the page small.
    const size_t stride = count_ / 200 + 1;
    for (size_t k = 0; k < count_; k += stride) add_strip(out, k, stride, unit);
    out += "</svg><p class=\"legend\">";
    if (chart_.lines.size() > 1)  // of one the title tells
      for (const Line& line : chart_.lines) out += legend_entry(line.style, line.name);
    if (marked) out += legend_entry("mark", chart_.mark);
    return out + "</p></figure>\n";
  }

 private:
  bool is_shown(double value) const { return std::isfinite(value) && (value > 0 || !chart_.log); }
  double place(size_t k) const { return at_x(x_, points_[k]); }

  // Of all values; counts them, too.
  Axis range() {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    count_ = std::max<size_t>(1, chart_.x.size());
    for (const Line& line : chart_.lines) {
      if (chart_.x.empty()) count_ = std::max(count_, line.y.size());
      for (const double value : line.y) {
        if (!is_shown(value)) continue;
        low = std::min(low, value);
        high = std::max(high, value);
      }
    }
    if (low > high) low = high = chart_.log ? 1 : 0;  // nothing to draw
    return {low, high, chart_.log ? Ends::kLog : Ends::kRound};
  }

  // Broken where there is no number; a number alone is a dot.
  void add_line(std::string& out, const Line& line) const {
    std::string dots;
    out += "<path class=\"line " + line.style + "\" d=\"";
    bool pen_down = false;
    for (size_t k = 0; k < std::min(count_, line.y.size()); ++k) {
      if (!is_shown(line.y[k])) {
        pen_down = false;
        continue;
      }
      const double y = at_y(y_, line.y[k]);
      draw(out, pen_down ? "L@ @" : "M@ @", {place(k), y});
      if (!pen_down && (k + 1 >= line.y.size() || !is_shown(line.y[k + 1]))) {
        dots += "<circle class=\"" + line.style;
        draw(dots, "\" cx=\"@\" cy=\"@\" r=\"3\"/>", {place(k), y});
      }
      pen_down = true;
    }
    out += "\"/>" + dots + "\n";
  }

  void add_strip(std::string& out, size_t k, size_t stride, const char* unit) const {
    std::string numbers = fmt::format("{} {:.4g}", chart_.x_name, points_[k]);
    const size_t bare = numbers.size();
    for (const Line& line : chart_.lines)
      if (k < line.y.size() && is_shown(line.y[k]))
        numbers += fmt::format("\n{}: {:.4g}{}", line.name, line.y[k], unit);
    if (numbers.size() == bare) return;
    const size_t next = k + stride;
    const double left = k == 0 ? kLeft : (place(k) + place(k - stride)) / 2;
    const double right = next < count_ ? (place(k) + place(next)) / 2 : kWidth - kRight;
    draw(out, "<rect class=\"hit\" x=\"@\" y=\"@\" width=\"@\" height=\"@\"><title>",
         {left, kTop, right - left, kHeight - kBottom - kTop});
    out += escape_html(numbers) + "</title></rect>\n";
  }

  const LineChart& chart_;
  std::vector<double> points_;
  size_t count_ = 1;
  Axis x_, y_;
};

}  // namespace

std::string to_svg(const LineChart& chart) { return Drawing(chart).svg(); }

}  // namespace egc::report
