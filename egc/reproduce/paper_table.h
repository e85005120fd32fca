// A table of the paper as data: its cells, how each is made, and the figures printed there. The
// files are tables/<name>.json.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "egc/core/named_table.h"

namespace egc::reproduce {

// What fills a cell.
enum class Measure {
  kTraining,  // `egc train`, once for each seed
  kEpoch,     // `egc bench epoch`
  kFusion     // `egc bench fusion`: all rows of a dataset, which is a topology, at once
};
const NamedTable<Measure>& measures();

// A number that cells have. What programs say times `scale` is what the paper prints.
struct Figure {
  std::string key;      // in the program's output
  std::string dataset;  // of this one only; empty: of all
  std::string label;
  double scale = 1;
  int64_t digits = 0;  // behind the point
  bool lower_is_better = true;
};

struct Printed {
  double mean = 0;
  std::optional<double> deviation;
};

struct Cell {
  std::string dataset;
  std::string row;
  std::string config;             // below configs/, without .json; empty: none is needed
  nlohmann::ordered_json change;  // a merge patch (RFC 7386) of that configuration; null: none
  std::map<std::string, Printed> paper;  // by the figure's key
  std::vector<std::string> place;        // in a picture: which one, row, column; or empty

  std::string name() const { return dataset + "/" + row; }
};

struct Table {
  std::string name;
  std::string title;
  std::string note;  // what a reader must know; may be empty
  Measure measure = Measure::kTraining;
  std::vector<Figure> figures;
  std::vector<Cell> cells;
  // Of benchmarks: what is generated where the dataset is not here, by dataset.
  std::map<std::string, std::string> generated;
};

// Throws kUsage with what is wrong.
Table parse_table(const std::string& text, const std::string& name);

// Whether a pattern such as "zinc/egc-m" or "zinc/*" means the cell.
bool matches(const Cell& cell, const std::string& pattern);

}  // namespace egc::reproduce
