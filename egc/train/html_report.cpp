#include "egc/train/html_report.h"

#include <fmt/format.h>

#include <cmath>

#include "egc/report/histogram.h"
#include "egc/report/html.h"
#include "egc/report/line_chart.h"

namespace egc::train {
namespace {

using report::escape_html;
using report::to_svg;

std::vector<double> column(const std::vector<EpochRecord>& history, double EpochRecord::*member,
                           double scale = 1) {
  std::vector<double> out;
  for (const EpochRecord& r : history) out.push_back(scale * r.*member);
  return out;
}

// Rows are true classes; a cell is the more opaque the larger its share of the row.
std::string confusion_table(const Report& r) {
  const size_t classes = r.confusion.size();
  const auto name = [&](size_t k) {
    return escape_html(k < r.class_names.size() ? r.class_names[k] : std::to_string(k));
  };
  std::string out =
      "<h2>Which classes are taken for which</h2><p class=\"legend\">rows: true, columns: "
      "predicted; test part</p><div class=\"scroll\"><table><tr><th></th>";
  for (size_t k = 0; k < classes; ++k) out += fmt::format("<th>{}</th>", name(k));
  out += "</tr>\n";
  for (size_t t = 0; t < classes; ++t) {
    int64_t total = 0;
    for (const int64_t n : r.confusion[t]) total += n;
    out += fmt::format("<tr><th>{}</th>", name(t));
    for (size_t p = 0; p < classes; ++p) {
      const double share =
          total == 0 ? 0 : static_cast<double>(r.confusion[t][p]) / static_cast<double>(total);
      out += fmt::format(
          "<td style=\"background:color-mix(in srgb, var(--{}) {:.0f}%, transparent)\">{}</td>",
          t == p ? "mark" : "two", 60 * share, r.confusion[t][p]);
    }
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

}  // namespace

std::string to_html(const Report& r) {
  std::string out = "<dl>\n";
  for (const auto& [name, value] : r.facts)
    out +=
        fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape_html(name), escape_html(value));
  out += "</dl>\n<h2>Curves</h2>\n<div class=\"charts\">\n";
  const std::string best = fmt::format("best epoch, {}", r.best_epoch);
  out += to_svg({"Loss",
                 {{"train", "train", column(r.history, &EpochRecord::train_loss)},
                  {"valid", "valid", column(r.history, &EpochRecord::valid_loss)}},
                 r.best_epoch,
                 best,
                 false});
  out += to_svg({"Validation: " + r.metric,
                 {{"valid", "valid", column(r.history, &EpochRecord::valid, r.percent ? 100 : 1)}},
                 r.best_epoch,
                 best,
                 r.percent});
  std::vector<double> lr = column(r.history, &EpochRecord::lr);
  for (double& v : lr) v = std::log10(v);
  out +=
      to_svg({"Learning rate, as a power of ten", {{"learning rate", "train", lr}}, 0, "", false});
  if (!r.errors.empty())
    out += report::histogram_svg("Errors on the test part: predicted − true", r.errors);
  out += "</div>\n";
  constexpr size_t kMostClasses = 60;
  if (!r.confusion.empty() && r.confusion.size() <= kMostClasses) out += confusion_table(r);
  out += fmt::format("<h2>Configuration</h2>\n<pre>{}</pre>\n", escape_html(r.config));
  return report::html_page(r.title, out);
}

}  // namespace egc::train
