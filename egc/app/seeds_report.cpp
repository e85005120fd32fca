// The page over the runs of several seeds: scores, curves of validation, links to each run's own.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "egc/app/begin_runs.h"
#include "egc/core/atomic_file.h"
#include "egc/core/error.h"
#include "egc/core/statistics.h"
#include "egc/core/text_file.h"
#include "egc/report/charts.h"
#include "egc/report/html.h"
#include "egc/report/spell.h"

namespace egc::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// The scores of validation, epoch by epoch; empty where they cannot be read.
std::vector<double> validation_curve(const fs::path& run, double scale) {
  std::vector<double> out;
  std::string text;
  try {
    text = read_text_file((run / "metrics.jsonl").string(), ErrorKind::kSystem);
  } catch (const Error&) {
    return out;
  }
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const Json line = Json::parse(text.substr(at, end - at), nullptr, /*allow_exceptions=*/false);
    const auto valid = line.is_object() ? line.find("valid") : line.end();
    if (line.is_object() && valid != line.end())
      out.push_back(valid->is_number() ? scale * valid->get<double>() : std::nan(""));
    at = end + 1;
  }
  return out;
}

}  // namespace

void write_seeds_report(const std::string& dir, const std::vector<std::string>& runs,
                        const std::vector<TrainOutcome>& outcomes) {
  const TrainOutcome& first = outcomes.front();
  std::vector<double> tests;
  std::vector<double> valids;
  std::string rows;
  for (size_t k = 0; k < outcomes.size(); ++k) {
    const TrainOutcome& r = outcomes[k];
    tests.push_back(r.test);
    valids.push_back(r.valid);
    const std::string name = fs::path(runs[k]).filename().string();
    rows += fmt::format(
        "<tr><th><a href=\"{0}/report.html\">{0}</a></th><td>{1}</td><td>{2}</td><td>{3}</td>"
        "<td>{4}</td><td>{5}</td></tr>\n",
        report::escape_html(name), r.epochs, r.best_epoch,
        report::escape_html(report::spell_score(r.metric, r.valid)),
        report::escape_html(report::spell_score(r.metric, r.test)), report::spell_time(r.seconds));
  }
  const auto spell_spread = [&](const std::vector<double>& scores) {
    const auto [mean, deviation, count] = spread_of(scores);
    return report::escape_html(report::spell_score(first.metric, mean, deviation));
  };
  rows += fmt::format(
      "<tr><th>mean ± standard "
      "deviation</th><td></td><td></td><td>{}</td><td>{}</td><td></td></tr>\n",
      spell_spread(valids), spell_spread(tests));
  report::LineChart chart;
  chart.title = "Validation: " + first.metric;
  chart.y_name = first.metric;
  chart.percent = first.metric != "mae";
  for (size_t k = 0; k < runs.size(); ++k)
    chart.lines.push_back({fs::path(runs[k]).filename().string(), k % 2 == 0 ? "valid" : "train",
                           validation_curve(runs[k], chart.percent ? 100 : 1)});
  write_whole_file(
      fs::path(dir) / "report.html",
      report::html_page(
          fmt::format("{} on {}, {} seeds", first.model, first.dataset, outcomes.size()),
          fmt::format("<p>{} parameters</p>\n<div class=\"scroll\"><table><tr><th>run</th>"
                      "<th>epochs</th><th>best epoch</th><th>validation {}</th><th>test {}</th>"
                      "<th>time</th></tr>\n{}</table></div>\n<div class=\"charts\">\n{}</div>\n",
                      first.parameters, report::escape_html(first.metric),
                      report::escape_html(first.metric), rows, report::to_svg(chart))));
}

}  // namespace egc::app
