#include "egc/app/paper_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "egc/app/shared_files.h"
#include "egc/core/error.h"
#include "egc/core/nearest_name.h"
#include "egc/core/text_file.h"

namespace egc::app {
namespace {

std::optional<reproduce::Table> find_table(const std::string& name) {
  const auto path = shared_file("tables/" + name + ".json");
  if (!path) return std::nullopt;
  return reproduce::parse_table(read_text_file(path->string(), ErrorKind::kUsage), name);
}

}  // namespace

std::vector<std::string> table_names() {
  std::vector<std::string> out;
  if (const auto dir = shared_file("tables"))
    for (const auto& entry : std::filesystem::directory_iterator(*dir))
      if (entry.path().extension() == ".json") out.push_back(entry.path().stem().string());
  std::sort(out.begin(), out.end());
  return out;
}

reproduce::Table read_table(const std::string& name) {
  const auto names = table_names();
  check(std::find(names.begin(), names.end(), name) != names.end(), "unknown table \"{}\"{}", name,
        spell_known(name, {names.begin(), names.end()}));
  return *find_table(name);
}

PaperFigures::PaperFigures(const std::string& table) : table_(find_table(table)) {}

std::optional<double> PaperFigures::of(const std::string& dataset, const std::string& row,
                                       const std::string& figure) const {
  if (table_)
    for (const reproduce::Cell& cell : table_->cells)
      if (cell.dataset == dataset && cell.row == row)
        if (const auto it = cell.paper.find(figure); it != cell.paper.end()) return it->second.mean;
  return std::nullopt;
}

}  // namespace egc::app
