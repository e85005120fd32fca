#include "egc/train/html_report.h"

#include <fmt/format.h>

#include <cmath>

#include "egc/report/charts.h"
#include "egc/report/html.h"
#include "egc/train/metrics.h"

namespace egc::train {
namespace {

using report::cards;
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
      "<h2>Confusion matrix</h2><p class=\"legend\">rows: true, columns: predicted; test "
      "set</p><div class=\"scroll\"><table><tr><th></th>";
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

std::string training_curves(const Report& r) {
  report::LineChart chart;
  chart.title = "Loss";
  chart.lines = {{"training set", "train", column(r.history, &EpochRecord::train_loss)},
                 {"validation set", "valid", column(r.history, &EpochRecord::valid_loss)}};
  chart.marked = r.best_epoch;
  chart.mark = fmt::format("best epoch, {}", r.best_epoch);
  std::string out = to_svg(chart);
  chart.title = "Validation: " + r.metric;
  chart.y_name = r.metric;
  chart.lines = {
      {"validation set", "valid", column(r.history, &EpochRecord::valid, r.percent ? 100 : 1)}};
  chart.percent = r.percent;
  out += to_svg(chart);
  chart.title = "Learning rate (log scale)";
  chart.y_name = "learning rate";
  chart.lines = {{"learning rate", "train", column(r.history, &EpochRecord::lr)}};
  chart.percent = false;
  chart.log = true;
  chart.marked = 0;
  return out + to_svg(chart);
}

// How well scores tell positives from negatives.
std::string score_charts(const Predictions::BinaryScores& scores) {
  std::string out;
  if (!scores.positives.empty() && !scores.negatives.empty()) {
    constexpr int64_t kPoints = 101;
    report::LineChart roc;
    roc.title = "ROC curve, test set";
    roc.x_name = "false positive rate, %";
    roc.y_name = "true positive rate";
    roc.percent = true;
    roc.lines = {{"chance", "mark", {}},
                 {"network", "train", roc_curve(scores.positives, scores.negatives, kPoints)}};
    for (int64_t k = 0; k < kPoints; ++k) {
      roc.x.push_back(static_cast<double>(k));
      roc.lines[1].y[static_cast<size_t>(k)] *= 100;
    }
    roc.lines[0].y = roc.x;
    out = to_svg(roc);
  }
  return out + to_svg(report::Histogram{"Scores, test set",
                                        "predicted probability",
                                        {{"labelled negative", "train", scores.negatives},
                                         {"labelled positive", "valid", scores.positives}}});
}

}  // namespace

std::string to_html(const Report& r) {
  std::string out = cards(r.facts) + "<h2>Training</h2>\n<div class=\"charts\">\n";
  out += training_curves(r) + "</div>\n";
  const std::string charts =
      score_charts(r.scores) +
      to_svg(report::Histogram{"Errors, test set", "predicted − true", {{"", "train", r.errors}}});
  if (!charts.empty())
    out += "<h2>Predictions</h2>\n<div class=\"charts\">\n" + charts + "</div>\n";
  constexpr size_t kMaxClasses = 60;
  if (!r.confusion.empty() && r.confusion.size() <= kMaxClasses) out += confusion_table(r);
  if (!r.sizes.empty()) out += "<h2>Dataset</h2>\n" + cards(r.sizes);
  out += fmt::format(
      "<h2>Reproduce this run</h2>\n<pre>{}</pre>\n<p class=\"legend\">egc "
      "{}</p>\n<details><summary>Complete configuration, defaults "
      "included</summary><pre>{}</pre></details>\n",
      escape_html(r.command), escape_html(r.version), escape_html(r.config));
  return report::html_page(r.title, out);
}

}  // namespace egc::train
