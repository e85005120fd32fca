// The tables that come with the program, and what is refused of others.
#include "egc/reproduce/paper_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "egc/core/text_file.h"
#include "tests/core/expect_error.h"

namespace egc {
namespace {

namespace fs = std::filesystem;
using reproduce::Cell;
using reproduce::Table;
using testing::expect_error;

std::vector<Table> shipped() {
  std::vector<Table> out;
  for (const auto& entry : fs::directory_iterator(EGC_SOURCE_DIR "/tables"))
    out.push_back(reproduce::parse_table(read_text_file(entry.path().string(), ErrorKind::kSystem),
                                         entry.path().stem().string()));
  return out;
}

TEST(PaperTables, AreAllThere) {
  std::map<std::string, size_t> cells;
  for (const Table& t : shipped()) cells[t.name] = t.cells.size();
  const std::map<std::string, size_t> expected = {
      {"main", 50},          {"mag", 7},           {"heads-bases", 50},       {"activation", 8},
      {"aggregators", 13},   {"ga-mlp", 5},        {"sampling", 16},          {"fusion", 20},
      {"latency-arxiv", 10}, {"latency-code", 10}, {"accuracy-normalised", 3}};
  EXPECT_EQ(cells, expected);
}

TEST(PaperTables, CellsOfOneNameAreOne) {
  // They share a directory of runs.
  std::map<std::string, const Cell*> seen;
  const auto tables = shipped();
  for (const Table& t : tables) {
    if (t.measure != reproduce::Measure::kTraining) continue;
    for (const Cell& c : t.cells) {
      const auto [it, fresh] = seen.emplace(c.name(), &c);
      EXPECT_EQ(it->second->config, c.config) << t.name << " " << c.name();
      EXPECT_EQ(it->second->change, c.change) << t.name << " " << c.name();
    }
  }
}

TEST(PaperTables, EveryCellHasAConfigurationAndAFigure) {
  for (const Table& t : shipped())
    for (const Cell& c : t.cells) {
      const bool needed = !c.config.empty();
      EXPECT_TRUE(!needed || fs::exists(EGC_SOURCE_DIR "/configs/" + c.config + ".json"))
          << c.config;
      bool has_figure = false;
      for (const auto& f : t.figures)
        has_figure = has_figure || f.dataset.empty() || f.dataset == c.dataset;
      EXPECT_TRUE(has_figure) << t.name << " " << c.name();
      for (const auto& [key, printed] : c.paper) EXPECT_TRUE(std::isfinite(printed.mean));
    }
}

TEST(PaperTables, SomePrintedFigures) {
  int found = 0;
  for (const Table& t : shipped())
    for (const Cell& c : t.cells) {
      if (t.name == "main" && c.name() == "zinc/egc-m") {
        EXPECT_EQ(c.paper.at("test").mean, 0.281);
        EXPECT_EQ(c.paper.at("test").deviation, 0.007);
        ++found;
      }
      if (t.name == "latency-arxiv" && c.row == "gat") {
        EXPECT_EQ(c.paper.at("train_peak_mb").mean, 10841);
        ++found;
      }
      if (t.name == "fusion" && c.name() == "reddit-like/fused") {
        EXPECT_EQ(c.paper.at("ms_median").mean, 38630);
        ++found;
      }
    }
  EXPECT_EQ(found, 3);
}

TEST(PaperTables, PatternsChooseCells) {
  Cell c;
  c.dataset = "zinc";
  c.row = "egc-m";
  for (const char* yes : {"zinc/egc-m", "zinc/*", "*/egc-m", "*"})
    EXPECT_TRUE(reproduce::matches(c, yes)) << yes;
  for (const char* no : {"zinc", "egc-m", "zinc/egc", "molhiv/*", ""})
    EXPECT_FALSE(reproduce::matches(c, no)) << no;
}

TEST(PaperTables, SayWhatIsWrong) {
  const auto parse = [](const std::string& text) { reproduce::parse_table(text, "mine"); };
  const std::string figures = R"("figures": [{"key": "test", "label": "MAE"}])";
  const auto cells = [&](const std::string& list) {
    return "{" + figures + R"(, "cells": [)" + list + "]}";
  };
  const std::string good = R"({"dataset": "zinc", "row": "a", "config": "zinc/a"})";
  EXPECT_NO_THROW(parse(cells(good)));
  const std::pair<std::string, const char*> bad[] = {
      {"[]", "mine"},
      {"{", "invalid JSON"},
      {"{" + figures + "}", "\"cells\" must be a non-empty list"},
      {R"({"cells": [)" + good + "]}", "\"figures\" must be a non-empty list"},
      {cells(""), "\"cells\" must be a non-empty list"},
      {cells(good + "," + good), "zinc/a is duplicated"},
      {cells(R"({"dataset": "zinc", "row": "a"})"), "zinc/a needs a config"},
      {cells(R"({"row": "a", "config": "zinc/a"})"), "names without a slash"},
      {cells(R"({"dataset": "..", "row": "a", "config": "zinc/a"})"), "names without a slash"},
      {cells(R"({"dataset": "a/b", "row": "a", "config": "zinc/a"})"), "names without a slash"},
      {cells(R"({"dataset": "z", "row": "a", "config": "c", "place": ["1"]})"), "place"},
      {cells(R"({"dataset": "z", "row": "a", "config": "c", "change": 1})"), "change"},
      {cells(R"({"dataset": "z", "row": "a", "config": "c", "paper": {"test": "x"}})"), "number"},
      {cells(R"({"dataset": "z", "row": "a", "config": "c", "paper": 3})"), "object"},
      {cells(R"({"dataset": "z", "row": "a", "config": "c", "seed": 3})"), "seed"},
      {R"({"measure": "guess", )" + figures + R"(, "cells": [)" + good + "]}", "unknown measure"},
      {R"({"generated": {"zinc": "molecules"}, )" + figures + R"(, "cells": [)" + good + "]}",
       "for measuring epochs"},
      {R"({"measure": "epoch", "generated": {"zinc": 1}, )" + figures + R"(, "cells": [)" + good +
           "]}",
       "names of datasets"},
      {R"({"figures": [{"key": "test"}], "cells": [)" + good + "]}", "a key and a label"},
      {R"({"figures": [{"key": "t", "label": "t", "digits": 99}], "cells": [)" + good + "]}",
       "from 0 to 9"},
      {R"({"figures": [{"key": "t", "label": "t", "better": "much"}], "cells": [)" + good + "]}",
       "lower"},
  };
  for (const auto& [text, expected] : bad)
    expect_error(ErrorKind::kUsage, {expected, "mine"}, [&, t = text] { parse(t); });
}

}  // namespace
}  // namespace egc
