#include "egc/reproduce/render.h"

#include <fmt/format.h>

#include <algorithm>

namespace egc::reproduce {
namespace {

using Json = nlohmann::ordered_json;

std::string heading_of(const TableBlock& g) {
  std::string out = fmt::format("{}: {} ({} is better)", g.dataset, g.figure.label,
                                g.figure.lower_is_better ? "lower" : "higher");
  if (const std::string d = g.difference(); !d.empty()) out += ", " + d;
  return out;
}

// Of UTF-8 text: continuation bytes take no place.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

std::string to_text(const Table& table, const std::vector<TableBlock>& groups) {
  std::string out = fmt::format("{}: {}\n", table.name, table.title);
  if (!table.note.empty()) out += fmt::format("{}\n", table.note);
  for (const TableBlock& g : groups) {
    out += fmt::format("\n{}\n", heading_of(g));
    if (!g.missing.empty()) out += fmt::format("  {}\n", g.missing);
    std::vector<std::vector<std::string>> rows = {{std::begin(kColumns), std::end(kColumns)}};
    for (const Line& line : g.lines) rows.push_back(columns_of(g, line));
    std::vector<size_t> widths(std::size(kColumns), 0);
    for (const auto& row : rows)
      for (size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], width_of(row[k]));
    for (const auto& row : rows) {
      std::string text = " ";
      for (size_t k = 0; k < row.size(); ++k) {
        const std::string space(widths[k] - width_of(row[k]), ' ');
        const bool number = k >= 1 && k <= 4;
        text += " " + (number ? space + row[k] : row[k] + space) + " ";
      }
      text.erase(text.find_last_not_of(' ') + 1);
      out += text + "\n";
    }
  }
  return out;
}

std::string to_markdown(const Table& table, const std::vector<TableBlock>& groups) {
  std::string out = fmt::format("### {}: {}\n", table.name, table.title);
  if (!table.note.empty()) out += fmt::format("\n{}\n", table.note);
  for (const TableBlock& g : groups) {
    out += fmt::format("\n**{}**\n\n", heading_of(g));
    if (!g.missing.empty()) out += fmt::format("{}\n\n", g.missing);
    out += fmt::format("| {} |\n|{}\n", fmt::join(kColumns, " | "),
                       fmt::format("{0}|{0}|{0}|{0}|{0}|{0}|", "---"));
    for (const Line& line : g.lines)
      out += fmt::format("| {} |\n", fmt::join(columns_of(g, line), " | "));
  }
  return out;
}

std::string to_json_lines(const Table& table, const std::vector<TableBlock>& groups) {
  std::string out;
  for (const TableBlock& g : groups)
    for (const Line& line : g.lines) {
      Json json = {{"table", table.name},
                   {"dataset", g.dataset},
                   {"row", line.cell->row},
                   {"figure", g.figure.label},
                   {"runs", line.ours ? line.ours->count : 0}};
      if (!g.used.empty()) json["used"] = g.used;
      if (g.epochs) json["epochs"] = *g.epochs;
      if (line.ours) {
        json["mean"] = line.ours->mean;
        json["std"] = line.ours->deviation;
      }
      if (line.printed) {
        json["paper"] = line.printed->mean;
        if (line.printed->deviation) json["paper_std"] = *line.printed->deviation;
      }
      if (line.ours && line.printed) json["difference"] = line.ours->mean - line.printed->mean;
      if (!line.verdict.empty()) json["verdict"] = line.verdict;
      if (!g.missing.empty()) json["missing"] = g.missing;
      out += json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    }
  return out;
}

}  // namespace egc::reproduce
