#include "egc/reproduce/comparison.h"

#include <algorithm>
#include <cmath>

namespace egc::reproduce {
namespace {

using Json = nlohmann::ordered_json;

std::vector<double> values_of(const FilledCell& cell, const Figure& figure) {
  std::vector<double> out;
  for (const Json& result : cell.results)
    if (const auto it = result.find(figure.key); it != result.end())
      // A score that became no number is written as null, and makes the mean none.
      out.push_back(it->is_number() ? figure.scale * it->get<double>() : std::nan(""));
  return out;
}

std::string verdict_of(const Figure& figure, const Line& line) {
  if (!line.ours || !line.printed || !line.printed->deviation) return "";
  const double difference = line.ours->mean - line.printed->mean;
  if (std::isnan(difference)) return "";
  // As printed, both: a difference below the last digit is none.
  const double digit = 0.5 * std::pow(10.0, -static_cast<double>(figure.digits));
  if (std::abs(difference) <= *line.printed->deviation + digit) return "within";
  return (difference < 0) == figure.lower_is_better ? "better" : "worse";
}

}  // namespace

std::vector<TableBlock> compare(const Table& table, const std::vector<FilledCell>& cells,
                                const std::map<std::string, std::string>& missing,
                                const Override& change) {
  std::vector<std::string> datasets;
  for (const FilledCell& c : cells)
    if (std::find(datasets.begin(), datasets.end(), c.cell->dataset) == datasets.end())
      datasets.push_back(c.cell->dataset);
  std::vector<TableBlock> out;
  for (const std::string& dataset : datasets)
    for (const Figure& figure : table.figures) {
      if (!figure.dataset.empty() && figure.dataset != dataset) continue;
      TableBlock group{dataset, figure, {}, {}, {}, {}};
      if (table.measure == Measure::kTraining) group.epochs = change.epochs;
      if (const auto it = missing.find(dataset); it != missing.end()) group.missing = it->second;
      if (const auto it = change.stand_ins.find(dataset); it != change.stand_ins.end())
        group.used = it->second;
      for (const FilledCell& filled : cells) {
        if (filled.cell->dataset != dataset) continue;
        Line line;
        line.cell = filled.cell;
        const std::vector<double> values = values_of(filled, figure);
        if (!values.empty()) line.ours = spread_of(values);
        if (const auto it = filled.cell->paper.find(figure.key); it != filled.cell->paper.end())
          line.printed = it->second;
        line.verdict = verdict_of(figure, line);
        group.lines.push_back(line);
      }
      out.push_back(std::move(group));
    }
  return out;
}

std::string TableBlock::difference() const {
  std::string out;
  if (!used.empty()) out = fmt::format("on {} instead", used);
  if (epochs) out += fmt::format("{}at most {} epochs", out.empty() ? "" : ", ", *epochs);
  return out;
}

std::string spell(const Figure& f, const std::optional<Spread>& ours) {
  if (!ours) return "";
  if (std::isnan(ours->mean)) return "undefined";
  return ours->count < 2
             ? fmt::format("{:.{}f}", ours->mean, f.digits)
             : fmt::format("{:.{}f} ± {:.{}f}", ours->mean, f.digits, ours->deviation, f.digits);
}

std::string spell(const Figure& f, const std::optional<Printed>& printed) {
  if (!printed) return "";
  return printed->deviation ? fmt::format("{:.{}f} ± {:.{}f}", printed->mean, f.digits,
                                          *printed->deviation, f.digits)
                            : fmt::format("{:.{}f}", printed->mean, f.digits);
}

std::string spell_difference(const Figure& f, const Line& line) {
  if (!line.ours || !line.printed || std::isnan(line.ours->mean)) return "";
  if (line.printed->deviation)
    return fmt::format("{:+.{}f}", line.ours->mean - line.printed->mean, f.digits);
  return line.printed->mean == 0
             ? ""
             : fmt::format("{:.2f} times", line.ours->mean / line.printed->mean);
}

std::vector<std::string> columns_of(const TableBlock& g, const Line& line) {
  return {line.cell->row,
          line.ours ? spell(g.figure, line.ours) : "-",
          line.ours ? fmt::format("{}", line.ours->count) : "0",
          spell(g.figure, line.printed),
          spell_difference(g.figure, line),
          line.verdict.empty()       ? ""
          : line.verdict == "within" ? "within the paper's spread"
                                     : line.verdict};
}

}  // namespace egc::reproduce
