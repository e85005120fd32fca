#include "egc/train/html_report.h"

#include <fmt/format.h>

#include <cmath>

#include "egc/train/svg_chart.h"

namespace egc::train {
namespace {

constexpr const char* kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { --text: #1b1f24; --soft: #57606a; --back: #ffffff; --card: #f4f6f8; --grid: #d8dee4;
        --one: #0b62c4; --two: #b4530a; --mark: #1a7f37; color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --soft: #9aa5b1; --back: #0d1117; --card: #161b22; --grid: #30363d;
          --one: #6cb6ff; --two: #f0a35e; --mark: #57ab5a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 60rem; background: var(--back); color: var(--text);
       font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: .5rem 0 1rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem; margin: 0; }
dl div { background: var(--card); border-radius: .5rem; padding: .6rem .8rem; }
dt { color: var(--soft); font-size: .85rem; } dd { margin: 0; font-size: 1.2rem; font-weight: 600; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem; }
figure { margin: 0; background: var(--card); border-radius: .5rem; padding: .75rem; }
figcaption { font-weight: 600; }
svg { width: 100%; height: auto; display: block; }
svg text { fill: var(--soft); font-size: 15px; }
.grid { stroke: var(--grid); } .line { fill: none; stroke-width: 2.5; stroke-linejoin: round; }
path.train { stroke: var(--one); } path.valid { stroke: var(--two); }
circle.train, rect.train { fill: var(--one); } circle.valid { fill: var(--two); }
line.mark { stroke: var(--mark); stroke-width: 2; stroke-dasharray: 6 4; }
.legend { margin: .25rem 0 0; color: var(--soft); font-size: .9rem; }
.legend span { margin-right: 1rem; } .legend span::before { content: "\25A0\00A0"; }
.legend .train::before { color: var(--one); } .legend .valid::before { color: var(--two); }
.legend .mark::before { color: var(--mark); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .5rem; text-align: right; border: 1px solid var(--grid); }
th { color: var(--soft); font-weight: 500; } pre { background: var(--card); border-radius: .5rem;
  padding: .75rem; overflow-x: auto; font-size: .85rem; }
</style>
)";

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
  std::string out = kHead;
  out += fmt::format("<title>{0}</title></head><body>\n<h1>{0}</h1>\n<dl>\n", escape_html(r.title));
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
    out += histogram_svg("Errors on the test part: predicted − true", r.errors);
  out += "</div>\n";
  constexpr size_t kMostClasses = 60;
  if (!r.confusion.empty() && r.confusion.size() <= kMostClasses) out += confusion_table(r);
  out +=
      fmt::format("<h2>Configuration</h2>\n<pre>{}</pre>\n</body></html>\n", escape_html(r.config));
  return out;
}

}  // namespace egc::train
