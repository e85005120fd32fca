// Tables of one's own: what stands in them becomes nodes, edges, features, labels and graphs; what
// is wrong is named with file and line.
#include "egc/data/build/build_csv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "egc/data/formats/text_table.h"
#include "tests/core/expect_error.h"
#include "tests/data/dataset_files.h"

namespace egc::data {
namespace {

using testing::DatasetFiles;
using testing::difference;
using testing::expect_error;
using testing::to_vector;
using Words = std::vector<std::string>;
using Ints = std::vector<int32_t>;
using Floats = std::vector<float>;

class TableOfText : public ::testing::Test {
 protected:
  std::vector<Words> rows(const std::string& text, const std::string& name = "t.csv") const {
    files_.write(name, text);
    TextTable table(files_.path(name));
    std::vector<Words> out = {table.columns()};
    Words fields;
    while (table.next(fields)) out.push_back(fields);
    return out;
  }
  DatasetFiles files_;
};

TEST_F(TableOfText, FormsOfTables) {
  const std::vector<Words> want = {{"a", "b"}, {"1", "x"}, {"2", ""}};
  const std::string plain = "a,b\n1,x\n2,\n";
  EXPECT_EQ(rows(plain), want);
  EXPECT_EQ(rows("a,b\r\n1,x\r\n2,\r\n"), want);
  EXPECT_EQ(rows("a\tb\n1\tx\n2\t\n"), want);
  EXPECT_EQ(rows("\"a\",\"b\"\n\"1\",x\n\"2\",\"\"\n"), want);
  EXPECT_EQ(rows("a,b\n1,x\n2,"), want);          // no last line end
  EXPECT_EQ(rows("a,b\n\n1,x\n\n2,\n\n"), want);  // empty lines
  EXPECT_EQ(rows(testing::gzip(plain), "t.csv.gz"), want);
  EXPECT_EQ(rows("\xEF\xBB\xBF" + plain), want);  // a spreadsheet's byte order mark
}

TEST_F(TableOfText, QuotedFields) {
  EXPECT_EQ(rows("a,b\n\"x, y\",\"say \"\"hi\"\"\"\n"),
            (std::vector<Words>{{"a", "b"}, {"x, y", "say \"hi\""}}));
  EXPECT_EQ(rows("a\tb\n\"x\ty\"\t2\n"), (std::vector<Words>{{"a", "b"}, {"x\ty", "2"}}))
      << "the separator is the header's";
}

TEST_F(TableOfText, LineNumbersCountEmptyLines) {
  files_.write("t.csv", "a\n\n1\n");
  TextTable table(files_.path("t.csv"));
  Words fields;
  ASSERT_TRUE(table.next(fields));
  EXPECT_EQ(table.line_number(), 3);
  EXPECT_EQ(table.where(), files_.path("t.csv").string() + ":3");
  EXPECT_EQ(table.column("a"), 0U);
  expect_error(ErrorKind::kUsage, {"t.csv", "\"b\"", "columns: a"}, [&] { table.column("b"); });
}

TEST_F(TableOfText, BrokenTablesAreRefused) {
  const std::pair<const char*, const char*> wrong[] = {{"", "header row"},
                                                       {"\na,b\n", "header row"},
                                                       {"a,,c\n", "t.csv:1"},
                                                       {"a,b,a\n", "t.csv:1"},
                                                       {"a,b\n1\n", "t.csv:2"},
                                                       {"a,b\n1,2\n1,2,3\n", "t.csv:3"},
                                                       {"a,b\n\"1,2\n", "t.csv:2"},
                                                       {"a,b\n\"1\"x,2\n", "t.csv:2"},
                                                       {"a,b\n1,\"two\nlines\"\n", "t.csv:2"}};
  for (const auto& [text, reason] : wrong)
    expect_error(ErrorKind::kData, {"t.csv", reason}, [&] { rows(text); });
}

TEST(ParseField, NumbersAndMissingValues) {
  double v = 0;
  for (const auto& [text, want] : {std::pair{"1", 1.0},
                                   {"-2.5", -2.5},
                                   {"+3", 3.0},
                                   {" 4 ", 4.0},
                                   {"1e3", 1000.0},
                                   {".5", 0.5},
                                   {"-0", 0.0}}) {
    EXPECT_TRUE(parse_field(text, v)) << text;
    EXPECT_EQ(v, want) << text;
  }
  for (const char* text :
       {"", "nan", "NaN", "NA", "null", "  ", "n/a", "N/A", "#N/A", "None", "NULL", "nil", "?", "-",
        "inf", "-inf", "+Inf", "Infinity", "-infinity"}) {
    EXPECT_TRUE(parse_field(text, v)) << text;
    EXPECT_TRUE(std::isnan(v)) << text;
  }
  for (const char* text :
       {"x", "1x", "1 2", "0x10", "1,5", "1e999", "+", "--1", "+-1", "12,34", ",123", "1,2345",
        "1,,234", "1,234,", "1234,567", "1.5,000", "a,123", "infinite", "naan"})
    EXPECT_FALSE(parse_field(text, v)) << text;
  for (const auto& [text, want] :
       {std::pair{"1,234", 1234.0}, {"-12,345,678.5", -12345678.5}, {"+999,000", 999000.0}}) {
    EXPECT_TRUE(parse_field(text, v)) << text;
    EXPECT_EQ(v, want) << text;
  }
}

// Ten people, of whom two are in doubt.
constexpr const char* kNodes =
    "id,age,team,class\n"
    "ann,30,red,10\nbob,,blue,2\n\"c, d\",40,red,10\neve,20,,2\nfay,30,red,\n"
    "gus,30,blue,2\nhal,30,red,10\nida,30,blue,2\njan,30,red,10\nkim,30,blue,2\n";
constexpr const char* kEdges = "source,target\nann,bob\nbob,\"c, d\"\nkim,ann\nann,ann\n";

class BuildCsv : public ::testing::Test {
 protected:
  BuildCsv() {
    files_.write("nodes.csv", kNodes);
    files_.write("edges.csv", kEdges);
    options_.nodes = files_.path("nodes.csv");
    options_.edges = files_.path("edges.csv");
    options_.label = "class";
    options_.name = "mine";
    options_.fractions = {0.4, 0.3, 0.3};
  }
  // Three graphs; ids are unique only within each.
  void use_graphs() {
    files_.write("nodes.csv", "id,g,x\n1,b,0.5\n2,b,1.5\n1,a,2.5\n2,c,3.5\n1,c,4.5\n3,b,5.5\n");
    files_.write("edges.csv", "g,source,target\nb,1,2\nc,2,1\nb,3,1\n");
    files_.write("graphs.csv", "g,class\na,yes\nb,no\nc,yes\nunused,no\n");
    options_.graphs = files_.path("graphs.csv");
    options_.graph_id = "g";
    options_.fractions = {0.34, 0.33, 0.33};
  }

  DatasetFiles files_;
  CsvOptions options_;
};

TEST_F(BuildCsv, NodesEdgesFeaturesAndLabels) {
  const CsvDataset built = build_csv(options_);
  const Dataset& d = built.dataset;
  EXPECT_EQ(d.info.name, "mine");
  EXPECT_EQ(d.info.task, Task::kNodeClassification);
  EXPECT_FALSE(d.info.undirected);
  EXPECT_EQ(d.num_graphs(), 1);
  EXPECT_EQ(d.num_nodes(), 10);
  EXPECT_EQ(to_vector(d.edges.values), (Ints{0, 1, 1, 2, 9, 0, 0, 0}));
  // age, with the mean where it is missing; then team: blue, red.
  ASSERT_EQ(d.node_features.floats.columns, 3);
  EXPECT_EQ(to_vector(d.node_features.floats.row(0)), (Floats{30, 0, 1}));
  EXPECT_EQ(to_vector(d.node_features.floats.row(1)), (Floats{30, 1, 0}));
  EXPECT_EQ(to_vector(d.node_features.floats.row(3)), (Floats{20, 0, 0}));
  const auto& columns = d.info.columns;
  ASSERT_EQ(columns.size(), 2U);
  EXPECT_EQ(columns[0].name, "age");
  EXPECT_EQ(built.gaps[0].missing, 1);
  EXPECT_EQ(columns[0].mean, 30);
  EXPECT_EQ(columns[1].values, (Words{"blue", "red"}));
  EXPECT_EQ(built.gaps[1].missing, 1);
  // Classes 2 and 10 in the order of numbers; one label is missing.
  EXPECT_EQ(built.classes, (Words{"2", "10"}));
  EXPECT_EQ(built.missing_labels, 1);
  EXPECT_EQ(to_vector(d.labels.classes), (Ints{1, 0, 1, 0, -1, 0, 1, 0, 1, 0}));
  EXPECT_EQ(d.info.class_names, built.classes);
  EXPECT_EQ(parse_info(to_json(d.info), "here").info, d.info);
}

TEST_F(BuildCsv, MoreRowsAreReadAsTheFirstWere) {
  const CsvDataset first = build_csv(options_);
  CsvOptions more = options_;
  more.like = &first.dataset.info;
  more.label = "";
  // The same rows: the same features, and nothing is known of labels.
  const CsvDataset same = build_csv(more);
  EXPECT_EQ(to_vector(same.dataset.node_features.floats.values),
            to_vector(first.dataset.node_features.floats.values));
  EXPECT_EQ(to_vector(same.dataset.labels.classes), Ints(10, -1));
  EXPECT_EQ(same.dataset.info.num_classes, first.dataset.info.num_classes);
  // Other rows: unknown text is no value, missing numbers are the first table's mean.
  files_.write("nodes.csv", "team,extra,id,age\ngreen,1,x,\nred,2,y,7\n");
  files_.write("edges.csv", "source,target\nx,y\n");
  const CsvDataset other = build_csv(more);
  EXPECT_EQ(to_vector(other.dataset.node_features.floats.row(0)), (Floats{30, 0, 0}));
  EXPECT_EQ(to_vector(other.dataset.node_features.floats.row(1)), (Floats{7, 0, 1}));
  EXPECT_EQ(other.gaps[1].unknown, 1);
  EXPECT_EQ(other.nodes, (Words{"x", "y"}));
  // Text where numbers were, and a column that is not there.
  files_.write("nodes.csv", "team,id,age\nred,x,old\nred,y,\n");
  EXPECT_FLOAT_EQ(build_csv(more).dataset.node_features.floats.at(0, 0), 30);
  files_.write("nodes.csv", "team,id,age\nred,x,old\nred,y,young\n");
  expect_error(ErrorKind::kData, {"nodes.csv:2", "\"age\"", "a number", "old"},
               [&] { build_csv(more); });
  files_.write("nodes.csv", "team,id\nred,x\nred,y\n");
  expect_error(ErrorKind::kData, {"nodes.csv", "\"age\"", "team, id"}, [&] { build_csv(more); });
}

TEST_F(BuildCsv, SplitsHaveOnlyWhatIsLabelled) {
  const Dataset d = build_csv(options_).dataset;
  const Split& s = d.splits.at(0);
  EXPECT_EQ(s.train.size() + s.valid.size() + s.test.size(), 9);
  for (const auto* part : {&s.train, &s.valid, &s.test})
    for (const int64_t id : *part) EXPECT_NE(id, 4);
  EXPECT_EQ(difference(d, build_csv(options_).dataset), "");
  options_.seed = 1;
  EXPECT_NE(difference(d, build_csv(options_).dataset), "");
}

TEST_F(BuildCsv, EmbeddedTextIgnoredColumnsAndUndirected) {
  options_.text = TextFeatures::kEmbed;
  options_.ignore = {"age"};
  options_.undirected = true;
  const CsvDataset built = build_csv(options_);
  EXPECT_TRUE(built.dataset.info.undirected);
  EXPECT_EQ(built.dataset.info.categories, std::vector<int64_t>{3});  // blue, red, missing
  EXPECT_EQ(to_vector(built.dataset.node_features.categories.values),
            (Ints{1, 0, 1, 2, 1, 0, 1, 0, 1, 0}));
  options_.ignore = {"age", "team"};
  options_.text = TextFeatures::kOneHot;
  EXPECT_EQ(build_csv(options_).dataset.info.node_features, FeatureKind::kNone);
}

TEST_F(BuildCsv, OtherNamesTabsAndTextLabels) {
  files_.write("nodes.csv",
               "kind\tperson\r\nz\tp1\r\na\tp2\r\nz\tp3\r\na\tp4\r\nz\tp5\r\na\tp6\r\n");
  files_.write("edges.csv", "from\tto\tweight\np1\tp2\t7\np6\tp1\t8\n");
  options_.label = "kind";
  options_.id = "person";
  const CsvDataset built = build_csv(options_);
  EXPECT_EQ(built.classes, (Words{"a", "z"}));
  EXPECT_EQ(to_vector(built.dataset.labels.classes), (Ints{1, 0, 1, 0, 1, 0}));
  EXPECT_EQ(to_vector(built.dataset.edges.values), (Ints{0, 1, 5, 0}));
}

TEST_F(BuildCsv, SourceAndTargetMayStandAnywhere) {
  files_.write("edges.csv", "when,target,source\n2020,bob,ann\n");
  EXPECT_EQ(to_vector(build_csv(options_).dataset.edges.values), (Ints{0, 1}));
}

TEST_F(BuildCsv, GraphsWithATableOfLabels) {
  use_graphs();
  const CsvDataset built = build_csv(options_);
  const Dataset& d = built.dataset;
  EXPECT_EQ(d.info.task, Task::kGraphClassification);
  // In the order of first appearance: b, a, c.
  EXPECT_EQ(to_vector(d.first_node), (std::vector<int64_t>{0, 3, 4, 6}));
  EXPECT_EQ(to_vector(d.first_edge), (std::vector<int64_t>{0, 2, 2, 3}));
  EXPECT_EQ(to_vector(d.edges.values), (Ints{0, 1, 2, 0, 0, 1}));
  EXPECT_EQ(to_vector(d.node_features.floats.values), (Floats{0.5, 1.5, 5.5, 2.5, 3.5, 4.5}));
  EXPECT_EQ(built.classes, (Words{"no", "yes"}));
  EXPECT_EQ(to_vector(d.labels.classes), (Ints{0, 1, 1}));
}

TEST_F(BuildCsv, LabelsOfGraphsBesideTheNodes) {
  files_.write("nodes.csv", "id,g,y\n1,a,0.5\n2,a,0.5\n3,b,-1\n4,c,2.25\n");
  files_.write("edges.csv", "source,target\n1,2\n");
  options_.graph_id = "g";
  options_.label = "y";
  options_.fractions = {0.34, 0.33, 0.33};
  const Dataset d = build_csv(options_).dataset;
  EXPECT_EQ(d.info.task, Task::kGraphRegression);
  EXPECT_EQ(d.info.metric, Metric::kMae);
  EXPECT_EQ(to_vector(d.labels.values.values), (Floats{0.5, -1, 2.25}));
  // A label that differs within a graph is one of nodes.
  files_.write("nodes.csv", "id,g,y\n1,a,p\n2,a,q\n3,b,p\n4,c,q\n");
  const Dataset of_nodes = build_csv(options_).dataset;
  EXPECT_EQ(of_nodes.info.task, Task::kNodeClassification);
  EXPECT_EQ(to_vector(of_nodes.labels.classes), (Ints{0, 1, 0, 1}));
  EXPECT_EQ(of_nodes.num_items(), 3);
}

TEST_F(BuildCsv, TasksThatAreAskedFor) {
  use_graphs();
  files_.write("graphs.csv", "g,class\na,1\nb,0\nc,1\n");
  options_.task = Task::kGraphBinary;
  const Dataset d = build_csv(options_).dataset;
  EXPECT_EQ(d.info.metric, Metric::kRocAuc);
  EXPECT_EQ(to_vector(d.labels.values.values), (Floats{0, 1, 1}));
  options_.task = Task::kGraphSequence;
  expect_error(ErrorKind::kUsage, {"graph-sequence"}, [&] { build_csv(options_); });
}

struct Wrong {
  const char* file;
  const char* text;
  ErrorKind kind;
  const char* where;
  const char* reason;
};

TEST_F(BuildCsv, WrongTablesAreRefusedWithFileAndLine) {
  const Wrong wrong[] = {
      {"edges.csv", "source,target\nann,zoe\n", ErrorKind::kData, "edges.csv:2", "\"zoe\""},
      {"edges.csv", "source,target\nann,bob\n,bob\n", ErrorKind::kData, "edges.csv:3", "source"},
      {"edges.csv", "source,target\nann\n", ErrorKind::kData, "edges.csv:2", "2 fields"},
      {"edges.csv", "source,target\nann,bob,1\n", ErrorKind::kData, "edges.csv:2", "2 fields"},
      {"edges.csv", "source,target\n\"ann,bob\n", ErrorKind::kData, "edges.csv:2", "quoted"},
      {"edges.csv", "source\nann\n", ErrorKind::kData, "edges.csv", "two columns"},
      {"edges.csv", "", ErrorKind::kData, "edges.csv", "header row"},
      {"edges.csv", "ann,bob\nbob,kim\n", ErrorKind::kData, "edges.csv:1", "header row"},
      {"nodes.csv", "id,class\na,st\xe9\n", ErrorKind::kData, "nodes.csv:2", "UTF-8"},
      {"nodes.csv", "id,class\na,x\nb,y\na,x\n", ErrorKind::kData, "nodes.csv:4", "line 2"},
      {"nodes.csv", "id,class\na,x\n,y\n", ErrorKind::kData, "nodes.csv:3", "missing node id"},
      {"nodes.csv", "id,class\n", ErrorKind::kData, "nodes.csv", "no rows"},
      {"nodes.csv", "id,class,id\na,x,a\n", ErrorKind::kData, "nodes.csv:1", "duplicate column"},
      {"nodes.csv", "id,,class\na,x,a\n", ErrorKind::kData, "nodes.csv:1", "no name"},
      {"nodes.csv", "id,kind\na,x\n", ErrorKind::kUsage, "nodes.csv", "\"class\""},
      {"nodes.csv", "class,x\na,1\nb,2\n", ErrorKind::kUsage, "nodes.csv", "both the id"},
  };
  for (const Wrong& w : wrong) {
    SCOPED_TRACE(w.text);
    files_.write("nodes.csv", kNodes);
    files_.write("edges.csv", kEdges);
    files_.write(w.file, w.text);
    expect_error(w.kind, {w.where, w.reason}, [&] { build_csv(options_); });
  }
  files_.remove("nodes.csv");
  expect_error(ErrorKind::kData, {"nodes.csv"}, [&] { build_csv(options_); });
}

TEST_F(BuildCsv, WrongGraphsAreRefusedWithFileAndLine) {
  const Wrong wrong[] = {
      {"edges.csv", "g,source,target\nb,1,9\n", ErrorKind::kData, "edges.csv:2", "\"9\""},
      {"edges.csv", "g,source,target\nz,1,2\n", ErrorKind::kData, "edges.csv:2", "\"1\""},
      {"edges.csv", "g,source,target\na,1,2\n", ErrorKind::kData, "edges.csv:2", "\"2\""},
      {"nodes.csv", "id,g,x\n1,,5\n", ErrorKind::kData, "nodes.csv:2", "missing graph id"},
      {"nodes.csv", "id,g,x\n1,b,5\n1,b,6\n", ErrorKind::kData, "nodes.csv:3", "line 2"},
      {"graphs.csv", "g,class\na,yes\nb,no\n", ErrorKind::kData, "graphs.csv", "\"c\""},
      {"graphs.csv", "g,class\na,x\nb,y\nb,y\nc,x\n", ErrorKind::kData, "graphs.csv:4", "\"b\""},
      {"graphs.csv", "class\nyes\n", ErrorKind::kUsage, "graphs.csv", "\"g\""},
      {"graphs.csv", "g,class\na,x\nb,x\nc,x\n", ErrorKind::kData, "class", "two classes"},
  };
  for (const Wrong& w : wrong) {
    SCOPED_TRACE(w.text);
    use_graphs();
    files_.write(w.file, w.text);
    expect_error(w.kind, {w.where, w.reason}, [&] { build_csv(options_); });
  }
  // Without a graph id on the edges, ids are one for all, and no edge joins two graphs.
  files_.write("nodes.csv", "id,g,x\n1,a,5\n2,b,6\n3,c,7\n");
  files_.write("edges.csv", "source,target\n1,2\n");
  files_.write("graphs.csv", "g,class\na,yes\nb,no\nc,yes\n");
  expect_error(ErrorKind::kData, {"edges.csv:2", "\"a\" and \"b\""}, [&] { build_csv(options_); });
  files_.write("edges.csv", "source,target\n1,1\n");
  options_.task = Task::kGraphRegression;
  expect_error(ErrorKind::kData, {"graphs.csv:2", "\"yes\""}, [&] { build_csv(options_); });
  files_.write("graphs.csv", "g,class\na,0\nb,2\nc,1\n");
  options_.task = Task::kGraphBinary;
  expect_error(ErrorKind::kData, {"graphs.csv:3", "0 or 1"}, [&] { build_csv(options_); });
  options_.graph_id = "";
  expect_error(ErrorKind::kUsage, {"needs --graph-id"}, [&] { build_csv(options_); });
}

TEST_F(BuildCsv, WrongOptionsAreRefused) {
  auto o = options_;
  o.ignore = {"nothing"};
  expect_error(ErrorKind::kUsage, {"\"nothing\"", "id, age, team, class"}, [&] { build_csv(o); });
  o = options_;
  o.id = "nothing";
  expect_error(ErrorKind::kUsage, {"\"nothing\""}, [&] { build_csv(o); });
  o = options_;
  o.fractions = {0.5, 0.1, 0.1};
  expect_error(ErrorKind::kUsage, {"add up to 1"}, [&] { build_csv(o); });
  files_.write("nodes.csv", "id,x,class\na,1.5,p\nb,2.5,q\nc,3,p\n");
  files_.write("edges.csv", "source,target\na,b\n");
  o = options_;
  o.text = TextFeatures::kEmbed;
  expect_error(ErrorKind::kUsage, {"\"x\"", "fractional"}, [&] { build_csv(o); });
  std::string many = "id,name,class\n";
  for (int k = 0; k < 1002; ++k) many += fmt::format("{0},name {0},{1}\n", k, k % 2);
  files_.write("nodes.csv", many);
  files_.write("edges.csv", "source,target\n0,1\n");
  o = options_;
  o.columns = {{"name", ColumnKind::kCategory}};
  expect_error(ErrorKind::kData, {"\"name\"", "1002"}, [&] { build_csv(o); });
  o.text = TextFeatures::kEmbed;
  EXPECT_EQ(build_csv(o).dataset.info.categories, std::vector<int64_t>{1003});
  o.columns = {{"class", ColumnKind::kCategory}};
  expect_error(ErrorKind::kUsage, {"--column class", "known: name"}, [&] { build_csv(o); });
  o = options_;
  o.columns = {{"x", ColumnKind::kNumber}};
  expect_error(ErrorKind::kUsage, {"--column x", "known: name"}, [&] { build_csv(o); });
}

// What becomes of a column of 12 cells, beside what is said of it.
struct MessyColumn {
  const char* what;
  std::vector<const char*> cells;  // the rest is repeated
  const char* plan;                // kind, missing, categories
  const char* notice;              // part of a sentence; "": none is said
};

const MessyColumn kMessy[] = {
    {"numbers", {"1", "2.5", "-3", "1e3"}, "number 0", ""},
    {"signs and blanks", {"+1", " 2 ", "3"}, "number 0", ""},
    {"thousands", {"\"1,234\"", "\"12,000\"", "7"}, "number 0", ""},
    {"whole numbers", {"1990", "2001", "2010"}, "number 0", ""},
    {"0 and 1", {"0", "1"}, "number 0", ""},
    {"empty cells", {"1", "", "3"}, "number 4", ""},
    {"n/a", {"1", "n/a", "3", "N/A"}, "number 6", ""},
    {"NA and #N/A", {"NA", "2", "#N/A", "4"}, "number 6", ""},
    {"None and NULL", {"None", "2", "NULL", "null"}, "ignore 9", "all its values are the same"},
    {"? and -", {"?", "2", "-", "5"}, "number 6", ""},
    {"inf", {"inf", "2", "-inf", "3"}, "number 6", ""},
    {"one odd cell",
     {"abc", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"},
     "number 1",
     "line 2 \"abc\""},
    {"a unit in one cell",
     {"1", "2", "3", "4 kg", "5", "6", "7", "8", "9", "1", "2", "3"},
     "number 1",
     "line 5 \"4 kg\""},
    {"two odd cells",
     {"abc", "1", "2", "x", "4", "5", "6", "7", "8", "9", "10", "11"},
     "ignore 0",
     "all its values are distinct texts"},
    {"texts", {"red", "blue"}, "category 0 2", ""},
    {"texts in different cases", {"Red", "red"}, "category 0 2", ""},
    {"texts and missing", {"red", "", "blue", "?"}, "category 6 2", ""},
    {"half numbers, half texts", {"1", "a", "2", "b"}, "category 0 4", ""},
    {"quoted texts with commas", {"\"a, b\"", "\"c, d\""}, "category 0 2", ""},
    {"yes and no", {"yes", "no", "no"}, "category 0 2", ""},
    {"letters beyond ASCII", {"Zürich", "Genève"}, "category 0 2", ""},
    {"names",
     {"ann", "bob", "cid", "dan", "eve", "fay", "gus", "hal", "ida", "jan", "kim", "lea"},
     "ignore 0",
     "all its values are distinct texts"},
    {"constant number", {"7"}, "ignore 0", "all its values are the same"},
    {"constant text", {"x"}, "ignore 0", "all its values are the same"},
    {"a text or nothing", {"x", ""}, "category 6 1", ""},
    {"nothing", {""}, "ignore 12", "it has no values"},
    {"only missing words", {"NA", "?"}, "ignore 12", "it has no values"},
    {"dates", {"2020-01-01", "2020-01-02"}, "category 0 2", ""},
};

TEST_F(BuildCsv, WhatBecomesOfMessyColumns) {
  for (const MessyColumn& m : kMessy) {
    SCOPED_TRACE(m.what);
    std::string table = "id,x,class\n";
    for (size_t k = 0; k < 12; ++k)
      table += fmt::format("n{},{},{}\n", k, m.cells[k % m.cells.size()], k % 2 == 0 ? "a" : "b");
    files_.write("nodes.csv", table);
    files_.write("edges.csv", "source,target\nn0,n1\n");
    const CsvDataset built = build_csv(options_);
    ASSERT_EQ(built.plan.size(), 1U);
    const ColumnPlan& c = built.plan[0];
    std::string plan =
        fmt::format("{} {}", column_kinds().name_of(c.kind), c.missing + std::ssize(c.odd_rows));
    if (c.kind == ColumnKind::kCategory) plan += fmt::format(" {}", c.categories);
    EXPECT_EQ(plan, m.plan);
    EXPECT_EQ(built.dataset.info.columns.size(), c.kind == ColumnKind::kIgnore ? 0U : 1U);
    if (std::string_view(m.notice).empty()) {
      EXPECT_TRUE(built.notices.empty()) << built.notices[0];
    } else {
      ASSERT_EQ(built.notices.size(), 1U);
      EXPECT_NE(built.notices[0].find(m.notice), std::string::npos) << built.notices[0];
      EXPECT_NE(built.notices[0].find("\"x\""), std::string::npos) << built.notices[0];
    }
    // What is ignored goes along into predictions, what is used does not.
    const bool extra = std::any_of(built.extra.begin(), built.extra.end(),
                                   [](const ExtraColumn& e) { return e.name == "x"; });
    EXPECT_EQ(extra, c.kind == ColumnKind::kIgnore);
    for (const float v : built.dataset.node_features.floats.values) EXPECT_TRUE(std::isfinite(v));
  }
}

TEST_F(BuildCsv, OneOddCellOfManyIsListedWithItsLine) {
  std::string table = "id,age,class\n";
  for (int k = 0; k < 600; ++k)
    table +=
        fmt::format("n{},{},{}\n", k, k == 417 ? "unknown" : std::to_string(20 + k % 50), k % 2);
  files_.write("nodes.csv", table);
  files_.write("edges.csv", "source,target\nn0,n1\n");
  const CsvDataset built = build_csv(options_);
  EXPECT_EQ(built.plan[0].kind, ColumnKind::kNumber);
  ASSERT_EQ(built.notices.size(), 1U);
  EXPECT_NE(built.notices[0].find("1 of 600 values"), std::string::npos) << built.notices[0];
  EXPECT_NE(built.notices[0].find("line 419 \"unknown\""), std::string::npos) << built.notices[0];
  EXPECT_EQ(built.gaps[0].missing, 1);
  EXPECT_FLOAT_EQ(built.dataset.node_features.floats.at(417, 0),
                  static_cast<float>(built.dataset.info.columns[0].mean));
}

TEST_F(BuildCsv, KindsThatAreAskedFor) {
  std::string table = "id,zip,code,class\n";
  for (int k = 0; k < 12; ++k) table += fmt::format("n{},{},x{},{}\n", k, 8000 + k % 3, k, k % 2);
  files_.write("nodes.csv", table);
  files_.write("edges.csv", "source,target\nn0,n1\n");
  options_.columns = {{"zip", ColumnKind::kCategory}, {"code", ColumnKind::kCategory}};
  const Dataset d = build_csv(options_).dataset;
  EXPECT_EQ(d.info.columns[0].values, (Words{"8000", "8001", "8002"}));
  EXPECT_EQ(d.info.columns[1].values.size(), 12U);
  options_.columns = {{"zip", ColumnKind::kIgnore}, {"code", ColumnKind::kNumber}};
  expect_error(ErrorKind::kData, {"\"code\"", "no number"}, [&] { build_csv(options_); });
  options_.columns.erase("code");
  const CsvDataset without = build_csv(options_);
  EXPECT_TRUE(without.dataset.info.columns.empty());
  EXPECT_EQ(without.notices.size(), 1U) << "what was asked for needs no notice";
}

TEST_F(BuildCsv, ASplitColumnIsTheSplit) {
  std::string table = "id,x,split,class\n";
  for (int k = 0; k < 12; ++k)
    table += fmt::format("n{},{},{},{}\n", k, k,
                         k < 6    ? "Train"
                         : k < 8  ? "val"
                         : k < 11 ? "test"
                                  : "",
                         k % 2);
  files_.write("nodes.csv", table);
  files_.write("edges.csv", "source,target\nn0,n1\n");
  const CsvDataset built = build_csv(options_);
  const Split& s = built.dataset.splits.at(0);
  EXPECT_EQ(built.split_column, "split");
  EXPECT_EQ(to_vector(s.train), (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(to_vector(s.valid), (std::vector<int64_t>{6, 7}));
  EXPECT_EQ(to_vector(s.test), (std::vector<int64_t>{8, 9, 10}));
  EXPECT_EQ(built.dataset.info.columns.size(), 1U) << "it is no feature";
  // A column of that name with other values is one, unless it is asked for.
  files_.write("nodes.csv", "id,split,class\na,hair,1\nb,nail,0\nc,hair,1\nd,nail,0\n");
  files_.write("edges.csv", "source,target\na,b\n");
  const CsvDataset other = build_csv(options_);
  EXPECT_EQ(other.split_column, "");
  EXPECT_EQ(other.dataset.info.columns.at(0).name, "split");
  ASSERT_EQ(other.notices.size(), 1U);
  EXPECT_NE(other.notices[0].find("nodes.csv:2"), std::string::npos) << other.notices[0];
  // One without a test set is none; what is ignored is left alone.
  files_.write("nodes.csv", "id,split,class\na,train,1\nb,valid,0\nc,train,1\nd,train,0\n");
  EXPECT_EQ(build_csv(options_).split_column, "");
  files_.write("nodes.csv", "id,split,class\na,train,1\nb,test,0\nc,train,1\nd,train,0\n");
  EXPECT_EQ(build_csv(options_).split_column, "split");
  options_.ignore = {"split"};
  EXPECT_EQ(build_csv(options_).split_column, "");
  options_.ignore = {};
  files_.write("nodes.csv", "id,split,class\na,hair,1\nb,nail,0\nc,hair,1\nd,nail,0\n");
  options_.split = "split";
  expect_error(ErrorKind::kData, {"nodes.csv:2", "\"hair\"", "train, valid or test"},
               [&] { build_csv(options_); });
  options_.split = "nothing";
  expect_error(ErrorKind::kUsage, {"\"nothing\"", "id, split, class"},
               [&] { build_csv(options_); });
}

TEST_F(BuildCsv, NodesWithoutEdgesAndAnIndexWithoutAName) {
  files_.write("nodes.csv", ",x,class\n0,1,p\n1,2,q\n2,3,p\n3,4,q\n");
  files_.write("edges.csv", "source,target\n");
  const CsvDataset built = build_csv(options_);
  EXPECT_EQ(built.dataset.num_edges(), 0);
  EXPECT_EQ(built.id_column, "id");
  EXPECT_EQ(built.nodes, (Words{"0", "1", "2", "3"}));
}

TEST_F(BuildCsv, LargeWholeNumbersAreDifferentClasses) {
  files_.write("nodes.csv",
               "id,x,class\na,1,900000000000000001\nb,2,900000000000000002\n"
               "c,3,900000000000000001\nd,4,900000000000000003\n");
  files_.write("edges.csv", "source,target\na,b\n");
  EXPECT_EQ(build_csv(options_).classes.size(), 3U);
}

TEST_F(BuildCsv, TheLabelOfGraphsIsNoFeatureOfNodes) {
  use_graphs();
  files_.write("nodes.csv",
               "id,g,x,class\n1,b,5,no\n1,a,6,yes\n2,b,7,no\n1,c,8,yes\n2,c,8,yes\n3,b,9,no\n");
  EXPECT_EQ(build_csv(options_).dataset.info.columns.size(), 1U);
}

TEST_F(BuildCsv, NumbersThatDifferByLittleAreSaid) {
  std::string table = "id,when,class\n";
  for (int k = 0; k < 12; ++k) table += fmt::format("n{},{},{}\n", k, 1700000000 + 30 * k, k % 2);
  files_.write("nodes.csv", table);
  files_.write("edges.csv", "source,target\nn0,n1\n");
  const CsvDataset built = build_csv(options_);
  ASSERT_EQ(built.notices.size(), 1U);
  EXPECT_NE(built.notices[0].find("subtract a constant"), std::string::npos) << built.notices[0];
}

TEST_F(BuildCsv, SemicolonsAndDecimalCommas) {
  std::string table = "id;x;class\n";
  for (int k = 0; k < 12; ++k) table += fmt::format("n{};{},5;{}\n", k, k, k % 2);
  files_.write("nodes.csv", table);
  files_.write("edges.csv", "source;target\nn0;n1\n");
  const Dataset d = build_csv(options_).dataset;
  EXPECT_FLOAT_EQ(d.node_features.floats.at(3, 0), 3.5F);
  EXPECT_EQ(d.num_edges(), 1);
}

TEST_F(BuildCsv, OddCellsOfMoreRowsCountAsMissing) {
  std::string table = "id,x,class\n";
  for (int k = 0; k < 12; ++k) table += fmt::format("n{},{},{}\n", k, k, k % 2);
  files_.write("nodes.csv", table);
  files_.write("edges.csv", "source,target\nn0,n1\n");
  const CsvDataset first = build_csv(options_);
  CsvOptions more = options_;
  more.like = &first.dataset.info;
  more.label = "";
  files_.write("nodes.csv", [&] {
    std::string text = table;
    return text.replace(text.find("n4,4,"), 5, "n4,four,");
  }());
  const CsvDataset second = build_csv(more);
  EXPECT_FLOAT_EQ(second.dataset.node_features.floats.at(4, 0), 5.5F);
  ASSERT_EQ(second.notices.size(), 1U);
  EXPECT_NE(second.notices[0].find("line 6 \"four\""), std::string::npos) << second.notices[0];
  // The label of the new rows is no feature; it goes along.
  ASSERT_EQ(second.extra.size(), 1U);
  EXPECT_EQ(second.extra[0].name, "class");
  EXPECT_EQ(second.extra[0].values.size(), 12U);
}

TEST_F(BuildCsv, EdgeColumnsAreNamedBothOrTheFirstTwo) {
  files_.write("nodes.csv", "id,x,class\na,1,p\nb,2,q\nc,3,p\nd,4,q\n");
  for (const std::string header :
       {"source,w,target", "w,target,source", "u,v,source", "from,to,w"}) {
    std::string row = "a,b,5";  // u, v, ...
    if (header == "source,w,target") row = "a,5,b";
    if (header == "w,target,source") row = "5,b,a";
    files_.write("edges.csv", header + "\n" + row + "\n");
    const Dataset d = build_csv(options_).dataset;
    EXPECT_EQ(to_vector(d.edges.values), (Ints{0, 1})) << header;
  }
}

TEST_F(BuildCsv, NearlyAsManyClassesAsLabelsAreMentioned) {
  files_.write("edges.csv", "source,target\n1,2\n");
  for (const int64_t classes : {10, 11, 20}) {
    std::string nodes = "id,x,class\n";
    for (int k = 0; k < 60; ++k) nodes += fmt::format("{0},{0}.5,{1}\n", k, 100 + k % classes);
    files_.write("nodes.csv", nodes);
    EXPECT_TRUE(build_csv(options_).notices.empty()) << classes;
  }
  std::string nodes = "id,x,class\n";
  for (int k = 0; k < 60; ++k) nodes += fmt::format("{0},{0}.5,{1}\n", k, 100 + k);
  files_.write("nodes.csv", nodes);
  const CsvDataset built = build_csv(options_);
  ASSERT_EQ(built.notices.size(), 1U);
  EXPECT_NE(built.notices[0].find("60 classes for 60 labelled nodes"), std::string::npos)
      << built.notices[0];
  options_.task = Task::kNodeClassification;
  EXPECT_TRUE(build_csv(options_).notices.empty()) << "what was asked for needs no notice";
}

TEST_F(BuildCsv, NumbersOfLabelsAreComparedAsNumbers) {
  files_.write("edges.csv", "source,target\na,b\n");
  files_.write("nodes.csv", "id,x,class\na,1,1\nb,2,1.0\nc,3, 1\nd,4,0\n");
  const CsvDataset built = build_csv(options_);
  EXPECT_EQ(built.classes, (Words{"0", "1"}));
  EXPECT_EQ(to_vector(built.dataset.labels.classes), (Ints{1, 1, 1, 0}));
  EXPECT_EQ(built.dataset.info.class_names, built.classes);
  files_.write("nodes.csv", "id,x,class\na,1,0.5\nb,2,1.5\nc,3,2.5\nd,4,0\n");
  expect_error(ErrorKind::kData, {"\"class\"", "fractional"}, [&] { build_csv(options_); });
}

}  // namespace
}  // namespace egc::data
