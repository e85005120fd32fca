// From records to tables.
#include "egc/reproduce/comparison.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "egc/reproduce/render.h"
#include "tests/core/expect_balanced.h"
#include "tests/core/expect_error.h"

namespace egc {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using namespace reproduce;  // NOLINT: everything here is about it
using testing::expect_balanced;
using testing::expect_error;

Table table() {
  return parse_table(R"({
    "title": "a <title>", "note": "n & m",
    "figures": [{"key": "test", "label": "accuracy, %", "scale": 100, "digits": 1,
                 "better": "higher"}],
    "cells": [
      {"dataset": "d", "row": "a", "config": "d/a", "paper": {"test": [50.0, 1.0]},
       "place": ["p", "1", "2"]},
      {"dataset": "d", "row": "b", "config": "d/a", "paper": {"test": [50.0, 1.0]},
       "change": {"model": {"heads": 2, "bases": null}}},
      {"dataset": "d", "row": "c", "config": "d/a"},
      {"dataset": "e", "row": "a", "config": "e/a", "paper": {"test": 7}}]})",
                     "t");
}

std::vector<Json> tests(std::initializer_list<double> values) {
  std::vector<Json> out;
  for (const double v : values) out.push_back({{"test", v}});
  return out;
}

std::vector<TableBlock> groups(const Table& t) {
  return compare(t,
                 {{&t.cells[0], tests({0.50, 0.52})},
                  {&t.cells[1], tests({0.45})},
                  {&t.cells[2], tests({0.9})},
                  {&t.cells[3], {}}},
                 {{"e", "e is not here"}}, {});
}

TEST(Comparison, MeansSpreadsAndVerdicts) {
  const Table t = table();
  const auto g = groups(t);
  ASSERT_EQ(g.size(), 2U);
  EXPECT_EQ(spell(g[0].figure, g[0].lines[0].ours), "51.0 ± 1.4");
  EXPECT_EQ(spell(g[0].figure, g[0].lines[0].printed), "50.0 ± 1.0");
  EXPECT_EQ(spell_difference(g[0].figure, g[0].lines[0]), "+1.0");
  EXPECT_EQ(g[0].lines[0].verdict, "within");
  EXPECT_EQ(spell(g[0].figure, g[0].lines[1].ours), "45.0");
  EXPECT_EQ(g[0].lines[1].verdict, "worse");
  EXPECT_EQ(g[0].lines[2].verdict, "");  // the paper has none
  EXPECT_EQ(g[1].missing, "e is not here");
  EXPECT_FALSE(g[1].lines[0].ours);
  const auto better = compare(t, {{&t.cells[0], tests({0.6})}}, {}, {});
  EXPECT_EQ(better[0].lines[0].verdict, "better");
}

TEST(Comparison, AScoreThatIsNoNumberMakesTheMeanNone) {
  const Table t = table();
  const auto g = compare(t, {{&t.cells[0], {{{"test", 0.5}}, {{"test", nullptr}}}}}, {}, {});
  const Line& line = g[0].lines[0];
  ASSERT_TRUE(line.ours);
  EXPECT_EQ(line.ours->count, 2);
  EXPECT_EQ(spell(g[0].figure, line.ours), "undefined");
  EXPECT_EQ(spell_difference(g[0].figure, line), "");
  EXPECT_EQ(line.verdict, "");
}

TEST(Comparison, EveryFormTellsWhatIsNotThePapers) {
  const Table t = table();
  Override change;
  change.epochs = 20;
  change.stand_ins = {{"d", "/data/mine"}};
  const auto g = compare(t, {{&t.cells[0], tests({0.5})}}, {}, change);
  for (const std::string& form : {to_text(t, g), to_markdown(t, g), to_html(t, g, {})})
    EXPECT_NE(form.find("on /data/mine instead, at most 20 epochs"), std::string::npos) << form;
  const Json line = Json::parse(to_json_lines(t, g));
  EXPECT_EQ(line.at("epochs"), 20);
  EXPECT_EQ(line.at("used"), "/data/mine");
  EXPECT_EQ(change.page_name(), "report-d-as-mine-20-epochs.html");
  EXPECT_EQ(Override{}.page_name(), "report.html");
}

TEST(Comparison, EveryFormSaysTheSame) {
  const Table t = table();
  const auto g = groups(t);
  const std::string text = to_text(t, g);
  const std::string markdown = to_markdown(t, g);
  const std::string html = to_html(t, g, g);
  for (const std::string& form : {text, markdown, html})
    for (const char* part :
         {"51.0 ± 1.4", "50.0 ± 1.0", "45.0", "+1.0", "within", "worse", "e is not here"})
      EXPECT_NE(form.find(part), std::string::npos) << part << " in " << form;
  expect_balanced(html);
  EXPECT_EQ(html.find("a <title>"), std::string::npos);
  EXPECT_NE(html.find("t: a &lt;title&gt;"), std::string::npos);
  std::istringstream lines(to_json_lines(t, g));
  std::vector<Json> parsed;
  for (std::string line; std::getline(lines, line);) parsed.push_back(Json::parse(line));
  ASSERT_EQ(parsed.size(), 4U);
  EXPECT_EQ(parsed[0]["row"], "a");
  EXPECT_EQ(parsed[0]["runs"], 2);
  EXPECT_NEAR(parsed[0]["mean"].get<double>(), 51, 1e-9);
  EXPECT_EQ(parsed[0]["verdict"], "within");
  EXPECT_EQ(parsed[3]["missing"], "e is not here");
  EXPECT_FALSE(parsed[3].contains("mean"));
}

TEST(Comparison, APageHasOnlyTablesWithResults) {
  const Table t = table();
  const std::string html = to_html(t, groups(t), {});
  EXPECT_EQ(html.find("<h2>e: "), std::string::npos) << html;
  EXPECT_NE(html.find("<h2>Nothing measured yet</h2>"), std::string::npos);
  const std::string nothing = to_html(t, compare(t, {{&t.cells[0], {}}}, {}, {}), {});
  expect_balanced(nothing);
  EXPECT_EQ(nothing.find("<table>"), std::string::npos) << nothing;
}

class RecordsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::temp_directory_path() / fmt::format("egc_records_{}", getpid());
    fs::remove_all(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }
  fs::path dir_;
};

TEST_F(RecordsTest, AConfigurationIsPatchedAndNeverReplaced) {
  const Table t = table();
  const Json file = {{"model", {{"heads", 8}, {"bases", 4}}}, {"train", {{"lr", 1}}}};
  const Json b = config_of(t, t.cells[1], file, {});
  EXPECT_EQ(b, (Json{{"model", {{"heads", 2}}}, {"train", {{"lr", 1}}}, {"dataset", "d"}}));
  Override change;
  change.epochs = 3;
  change.stand_ins["d"] = "/x/mine";
  const Json changed = config_of(t, t.cells[0], file, change);
  EXPECT_EQ(changed["train"]["epochs"], 3);
  EXPECT_EQ(changed["dataset"], "/x/mine");
  const CellDirectory cell(dir_, t, t.cells[1], {});
  EXPECT_EQ(cell.path(), dir_ / "d" / "b");
  cell.write_config(b);
  cell.write_config(b);
  const Json other_heads = config_of(t, t.cells[0], file, {});
  expect_error(ErrorKind::kUsage, {"config.json", "another configuration"},
               [&] { cell.write_config(other_heads); });
  expect_error(ErrorKind::kUsage, {"config.json", "another configuration"},
               [&] { cell.check_config(other_heads); });
  EXPECT_NO_THROW(cell.check_config(b));
  // Another budget, andifferent dataset: another cell.
  EXPECT_EQ(CellDirectory(dir_, t, t.cells[1], change).path(), dir_ / "mine" / "b-3-epochs");
  // Andifferent dataset of the same name is refused, also where results are only read.
  Override other;
  other.stand_ins["d"] = "/elsewhere/d";
  const CellDirectory same_place(dir_, t, t.cells[1], other);
  EXPECT_EQ(same_place.path(), cell.path());
  expect_error(ErrorKind::kUsage, {"was run on", "/elsewhere/d"},
               [&] { same_place.check_config(config_of(t, t.cells[1], file, other)); });
}

TEST_F(RecordsTest, SeedsOfDifferentDataAreNotAveraged) {
  const Table t = table();
  const CellDirectory cell(dir_, t, t.cells[0], {});
  fs::create_directories(cell.path());
  const auto write = [&](uint64_t seed, const char* checksum) {
    std::ofstream(cell.record(seed)) << Json{
        {"config", {{"about", {{"dataset_checksum", checksum}}}}}, {"result", {{"test", 0.5}}}};
  };
  write(0, "aa");
  write(1, "aa");
  EXPECT_EQ(results_of(cell, t, t.cells[0], 0, 2).size(), 2U);
  write(2, "bb");
  EXPECT_EQ(results_of(cell, t, t.cells[0], 0, 2).size(), 2U);
  expect_error(ErrorKind::kData, {"seed-2.json", "different data"},
               [&] { results_of(cell, t, t.cells[0], 0, 3); });
}

TEST_F(RecordsTest, ResultsAreThoseOfTheSeedsThatAreThere) {
  const Table t = table();
  const CellDirectory cell(dir_, t, t.cells[0], {});
  fs::create_directories(cell.path());
  const auto write = [](const fs::path& path, const std::string& text) {
    std::ofstream(path) << text;
  };
  write(cell.record(0), R"({"result": {"test": 0.5}})");
  write(cell.record(2), R"({"result": {"test": 0.7}})");
  EXPECT_EQ(results_of(cell, t, t.cells[0], 0, 3).size(), 2U);
  EXPECT_EQ(results_of(cell, t, t.cells[0], 1, 1).size(), 0U);
  EXPECT_EQ(results_of(cell, t, t.cells[0], 2, 1)[0]["test"], 0.7);
  EXPECT_EQ(results_of(cell, t, t.cells[0], 0, {}).size(), 2U);  // all
  for (const char* bad : {"", "{", "[]", "{}", R"({"result": 3})"}) {
    write(cell.record(0), bad);
    expect_error(ErrorKind::kData, {"seed-0.json"}, [&] { results_of(cell, t, t.cells[0], 0, 1); });
  }
}

}  // namespace
}  // namespace egc
