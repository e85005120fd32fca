#include "egc/reproduce/paper_table.h"

#include <fnmatch.h>

#include <cmath>
#include <set>

#include "egc/core/json_fields.h"
#include "egc/core/json_parse.h"

namespace egc::reproduce {
namespace {

using Json = nlohmann::ordered_json;

void require(bool condition, const std::string& where, const char* what) {
  check(condition, "{}: {}", where, what);
}

std::vector<Json> list(JsonReader& reader, const char* key, const std::string& where) {
  Json json;
  reader.read(key, json);
  require(json.is_array() && !json.empty(), where,
          fmt::format("\"{}\" must be a non-empty list", key).c_str());
  return {json.begin(), json.end()};
}

Figure parse_figure(const Json& json, const std::string& where) {
  Figure f;
  JsonReader reader(json, where);
  std::string better = "lower";
  reader.read("key", f.key);
  reader.read("dataset", f.dataset);
  reader.read("label", f.label);
  reader.read("scale", f.scale);
  reader.read("digits", f.digits);
  reader.read("better", better);
  reader.refuse_unknown();
  require(!f.key.empty() && !f.label.empty(), where, "a figure needs a key and a label");
  require(std::isfinite(f.scale) && f.scale > 0, where, "the scale of a figure must be positive");
  require(f.digits >= 0 && f.digits <= 9, where, "digits of a figure must be from 0 to 9");
  require(better == "lower" || better == "higher", where, "better is \"lower\" or \"higher\"");
  f.lower_is_better = better == "lower";
  return f;
}

Cell parse_cell(const Json& json, const std::string& where) {
  Cell c;
  JsonReader reader(json, where);
  Json paper = Json::object();
  reader.read("dataset", c.dataset);
  reader.read("row", c.row);
  reader.read("config", c.config);
  reader.read("change", c.change);
  reader.read("place", c.place);
  reader.read("paper", paper);
  reader.refuse_unknown();
  // Both become names of directories.
  for (const std::string* name : {&c.dataset, &c.row})
    require(!name->empty() && (*name)[0] != '.' && name->find('/') == std::string::npos, where,
            "a cell needs a dataset and a row, names without a slash");
  require(c.place.empty() || c.place.size() == 3, where,
          "the place of a cell is a picture, a row and a column");
  require(c.change.is_null() || (c.change.is_object() && !c.config.empty()), where,
          "a change is an object, and changes a config");
  require(paper.is_object(), where, "\"paper\" must be an object");
  for (const auto& [key, value] : paper.items()) {
    Printed& printed = c.paper[key];
    const bool pair = value.is_array() && value.size() == 2;
    require(value.is_number() || (pair && value[0].is_number() && value[1].is_number()), where,
            "a figure of the paper is a number, or a mean and a deviation");
    printed.mean = pair ? value[0].get<double>() : value.get<double>();
    if (pair) printed.deviation = value[1].get<double>();
  }
  return c;
}

}  // namespace

const NamedTable<Measure>& measures() {
  static const NamedTable<Measure> table(
      "measure",
      {{"training", Measure::kTraining}, {"epoch", Measure::kEpoch}, {"fusion", Measure::kFusion}});
  return table;
}

Table parse_table(const std::string& text, const std::string& name) {
  const Json json = parse_json<Json>(text, name, ErrorKind::kUsage);
  Table t;
  t.name = name;
  JsonReader reader(json, name);
  std::string measure = "training";
  reader.read("title", t.title);
  reader.read("note", t.note);
  reader.read("measure", measure);
  try {
    t.measure = measures().at(measure);
  } catch (const Error& e) {
    fail(e.kind(), "{}: {}", name, e.what());
  }
  for (const Json& figure : list(reader, "figures", name))
    t.figures.push_back(parse_figure(figure, name));
  if (Json generated; reader.read("generated", generated)) {
    require(generated.is_object() && t.measure == Measure::kEpoch, name,
            "\"generated\" names datasets in the place of others, for measuring epochs");
    for (const auto& [dataset, instead] : generated.items()) {
      require(instead.is_string(), name, "\"generated\" has names of datasets");
      t.generated[dataset] = instead.get<std::string>();
    }
  }
  std::set<std::string> names;
  for (const Json& cell : list(reader, "cells", name)) {
    t.cells.push_back(parse_cell(cell, fmt::format("{}: cell {}", name, t.cells.size() + 1)));
    const Cell& c = t.cells.back();
    require(names.insert(c.name()).second, name, (c.name() + " is duplicated").c_str());
    require(t.measure == Measure::kFusion || !c.config.empty(), name,
            (c.name() + " needs a config").c_str());
  }
  reader.refuse_unknown();
  return t;
}

bool matches(const Cell& cell, const std::string& pattern) {
  return fnmatch(pattern.c_str(), cell.name().c_str(), 0) == 0;
}

}  // namespace egc::reproduce
