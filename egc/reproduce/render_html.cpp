#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "egc/report/charts.h"
#include "egc/report/html.h"
#include "egc/reproduce/render.h"

namespace egc::reproduce {
namespace {

using report::escape_html;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double ours_of(const Line& line) { return line.ours ? line.ours->mean : kNone; }
double printed_of(const Line& line) { return line.printed ? line.printed->mean : kNone; }

std::string table_of(const TableBlock& g) {
  std::string out = "<div class=\"scroll\"><table><tr>";
  for (const char* name : kColumns) out += fmt::format("<th>{}</th>", name);
  out += "</tr>\n";
  for (const Line& line : g.lines) {
    out += "<tr>";
    for (const std::string& text : columns_of(g, line))
      out += fmt::format("<td>{}</td>", escape_html(text));
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

// Each picture that cells have a place in, of ours and of the paper's.
std::string heat_maps(const TableBlock& g) {
  std::vector<std::string> pictures;
  const auto add = [](std::vector<std::string>& to, const std::string& name) {
    if (std::find(to.begin(), to.end(), name) == to.end()) to.push_back(name);
  };
  for (const Line& line : g.lines)
    if (!line.cell->place.empty()) add(pictures, line.cell->place[0]);
  std::string out;
  for (const std::string& picture : pictures) {
    report::HeatMap map;
    map.row_name = "heads";
    map.column_name = "bases";
    map.lower_is_better = g.figure.lower_is_better;
    for (const Line& line : g.lines) {
      if (line.cell->place.empty() || line.cell->place[0] != picture) continue;
      add(map.rows, line.cell->place[1]);
      add(map.columns, line.cell->place[2]);
    }
    for (const bool printed : {false, true}) {
      map.title = fmt::format("{}, {}", picture, printed ? "the paper" : "ours");
      map.values.assign(map.rows.size(), std::vector<double>(map.columns.size(), kNone));
      for (const Line& line : g.lines) {
        if (line.cell->place.empty() || line.cell->place[0] != picture) continue;
        const auto at = [](const std::vector<std::string>& in, const std::string& name) {
          return std::find(in.begin(), in.end(), name) - in.begin();
        };
        map.values[at(map.rows, line.cell->place[1])][at(map.columns, line.cell->place[2])] =
            printed ? printed_of(line) : ours_of(line);
      }
      const auto has_number = [](const std::vector<double>& row) {
        return std::any_of(row.begin(), row.end(), [](double v) { return std::isfinite(v); });
      };
      if (std::any_of(map.values.begin(), map.values.end(), has_number))
        out += report::to_html(map);
    }
  }
  return out;
}

std::string bars(const TableBlock& g) {
  report::BarChart chart;
  chart.title = g.figure.label;
  chart.series = {"ours", "the paper, on its machine"};
  chart.values.resize(2);
  bool any = false;
  for (const Line& line : g.lines) {
    chart.names.push_back(line.cell->row);
    chart.values[0].push_back(ours_of(line));
    chart.values[1].push_back(printed_of(line));
    any = any || line.ours;
  }
  return any ? report::to_svg(chart) : "";
}

// Scores of the main table over the memory of this one: ours where there are, else the paper's.
std::string score_against_memory(const std::vector<TableBlock>& groups,
                                 const std::vector<TableBlock>& scores) {
  std::string out;
  for (const TableBlock& memory : groups) {
    if (memory.figure.key != "train_peak_mb") continue;
    for (const TableBlock& score : scores) {
      if (score.dataset != memory.dataset) continue;
      report::Scatter chart;
      chart.title = fmt::format("{} versus memory, {}", score.figure.label, memory.dataset);
      chart.x_name = memory.figure.label;
      for (const Line& m : memory.lines)
        for (const Line& s : score.lines)
          if (s.cell->row == m.cell->row && m.ours)
            chart.points.push_back({s.ours ? s.cell->row : s.cell->row + " (score: the paper)",
                                    ours_of(m), s.ours ? ours_of(s) : printed_of(s)});
      out += report::to_svg(chart);
    }
  }
  return out;
}

}  // namespace

std::string to_html(const Table& table, const std::vector<TableBlock>& groups,
                    const std::vector<TableBlock>& scores) {
  std::string out;
  if (!table.note.empty()) out += fmt::format("<p>{}</p>\n", escape_html(table.note));
  std::string empty;
  for (const TableBlock& g : groups) {
    if (std::none_of(g.lines.begin(), g.lines.end(), [](const Line& line) { return line.ours; })) {
      empty +=
          fmt::format("<li>{}: {}{}</li>\n", escape_html(g.dataset), escape_html(g.figure.label),
                      g.missing.empty() ? "" : ". " + escape_html(g.missing));
      continue;
    }
    const std::string difference = g.difference();
    out += fmt::format("<h2>{}: {}</h2>\n<p class=\"legend\">{} is better{}</p>\n",
                       escape_html(g.dataset), escape_html(g.figure.label),
                       g.figure.lower_is_better ? "lower" : "higher",
                       difference.empty() ? "" : escape_html("; " + difference));
    if (!g.missing.empty()) out += fmt::format("<p>{}</p>\n", escape_html(g.missing));
    out += table_of(g);
    out += fmt::format("<div class=\"charts\">{}</div>\n",
                       table.measure == Measure::kTraining ? heat_maps(g) : bars(g));
  }
  out += score_against_memory(groups, scores);
  if (!empty.empty()) out += "<h2>Nothing measured yet</h2>\n<ul>\n" + empty + "</ul>\n";
  return report::html_page(fmt::format("{}: {}", table.name, table.title), out);
}

}  // namespace egc::reproduce
