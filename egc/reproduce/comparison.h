// Ours beside the paper's, and how the two compare.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "egc/core/statistics.h"
#include "egc/reproduce/records.h"

namespace egc::reproduce {

struct Line {
  const Cell* cell = nullptr;
  std::optional<Spread> ours;      // in the paper's unit
  std::optional<Printed> printed;  // the paper's
  std::string verdict;             // within the paper's spread, better, worse; or empty
};

// All lines of one dataset and figure.
struct TableBlock {
  std::string dataset;
  Figure figure;
  std::vector<Line> lines;
  std::string missing;            // why nothing could be run; empty where something could
  std::string used;               // the stand-in that was taken for the dataset, or empty
  std::optional<int64_t> epochs;  // at most, where that is not the paper's schedule

  // What makes ours another thing than the paper's; for people, or empty.
  std::string difference() const;
};

// A cell with its results.
struct FilledCell {
  const Cell* cell = nullptr;
  std::vector<nlohmann::ordered_json> results;
};

// In the order of the table. `missing`: by dataset.
std::vector<TableBlock> compare(const Table& table, const std::vector<FilledCell>& cells,
                                const std::map<std::string, std::string>& missing,
                                const Override& change);

std::string spell(const Figure& figure, const std::optional<Spread>& ours);
std::string spell(const Figure& figure, const std::optional<Printed>& printed);
// ours - the paper's; where the paper gives no spread, how many times the paper's.
std::string spell_difference(const Figure& figure, const Line& line);

// A line as every table shows it.
inline constexpr const char* kColumns[] = {"", "ours", "runs", "the paper", "difference", ""};
std::vector<std::string> columns_of(const TableBlock& group, const Line& line);

}  // namespace egc::reproduce
