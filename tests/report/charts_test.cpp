// Charts are well formed and show every number, whatever the numbers are.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "egc/report/charts.h"
#include "egc/report/graph_layout.h"
#include "egc/report/graph_picture.h"
#include "egc/report/html.h"
#include "egc/report/svg_frame.h"
#include "tests/core/expect_balanced.h"

namespace egc {
namespace {

using testing::expect_balanced;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

void expect_drawn(const std::string& html) {
  expect_balanced(html);
  EXPECT_EQ(html.find("nan"), std::string::npos) << html;
  EXPECT_EQ(html.find("inf"), std::string::npos) << html;
}

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Charts, LinesWithGapsAndConstants) {
  for (const std::vector<double>& y : std::vector<std::vector<double>>{{},
                                                                       {1},
                                                                       {2, 2, 2},
                                                                       {0, 0},
                                                                       {kNan},
                                                                       {kNan, 1, kNan, 2, 3, kInf},
                                                                       {-1e300, 1e300},
                                                                       {1e-12, 2e-12}})
    expect_drawn(report::to_svg(report::LineChart{"t", {{"line", "train", y}}, 0, "", false}));
}

TEST(Charts, AxesHaveRoundTicks) {
  using report::Axis;
  using report::Ends;
  EXPECT_EQ(Axis(0, 1).ticks(), (std::vector<double>{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}));
  const Axis exact(1, 23, Ends::kExact);
  EXPECT_EQ(exact.ticks(), (std::vector<double>{5, 10, 15, 20}));
  EXPECT_EQ(exact.share(1), 0);
  EXPECT_EQ(exact.share(23), 1);
  const Axis log(1e-5, 1e-3, Ends::kLog);
  EXPECT_EQ(log.spell(log.ticks().front()), "1e-05");
  EXPECT_EQ(log.spell(log.ticks().back()), "0.001");
  EXPECT_NEAR(log.share(1e-4), 0.5, 1e-12);
  const Axis one(1e-3, 1e-3, Ends::kLog);  // one learning rate, in the middle
  EXPECT_NEAR(one.share(1e-3), 0.5, 1e-12);
}

TEST(Charts, LinesHaveAxesAndNumbersToPointAt) {
  report::LineChart chart;
  chart.lines = {{"training set", "train", {0.5, kNan, 0.125}}};
  chart.y_name = "Loss";
  const std::string svg = report::to_svg(chart);
  expect_drawn(svg);
  EXPECT_NE(svg.find(">Loss</text>"), std::string::npos) << svg;
  EXPECT_NE(svg.find(">epoch</text>"), std::string::npos);
  EXPECT_NE(svg.find("<title>epoch 3\ntraining set: 0.125</title>"), std::string::npos);
  EXPECT_EQ(count(svg, "class=\"hit\""), 2U);
  chart.lines[0].y = {1e-3, 0, -1, kInf, 1e-4};
  chart.log = true;
  expect_drawn(report::to_svg(chart));
  EXPECT_EQ(count(report::to_svg(chart), "class=\"hit\""), 2U);
  chart.lines[0].y.assign(5000, 0.25);
  EXPECT_LT(report::to_svg(chart).size(), 150'000U);
}

TEST(Charts, AHistogramCountsEverything) {
  EXPECT_EQ(report::to_svg(report::Histogram{"t", "x", {{"", "train", {}}}}), "");
  const std::vector<float> values = {-1, 0, 0, 0, 1, std::numeric_limits<float>::quiet_NaN()};
  const std::string svg = report::to_svg(report::Histogram{"t", "x", {{"", "train", values}}});
  expect_drawn(svg);
  int64_t total = 0;
  for (size_t at = svg.find(": "); at != std::string::npos; at = svg.find(": ", at + 1))
    total += std::atoll(svg.c_str() + at + 2);
  EXPECT_EQ(total, 5);
}

TEST(Charts, BarsHaveTheColoursOfTheirLegend) {
  const std::string svg =
      report::to_svg(report::BarChart{"t", "ms", {"a"}, {"ours", "theirs"}, {{1}, {2}}});
  const std::string style = report::html_page("t", "");
  for (const char* name : {"train", "valid"}) {
    EXPECT_NE(svg.find(fmt::format("class=\"{}\"", name)), std::string::npos) << svg;
    EXPECT_NE(style.find(fmt::format("rect.{} {{ fill", name)), std::string::npos) << name;
  }
}

TEST(Charts, BarsOfEveryFiniteNumber) {
  report::BarChart chart{"t <x>", "ms", {"a", "b & c"}, {"ours", "theirs"}, {{1, kNan}, {0, 2.5}}};
  const std::string svg = report::to_svg(chart);
  expect_drawn(svg);
  EXPECT_EQ(count(svg, "<rect"), 3U);
  EXPECT_NE(svg.find("2.5 ms"), std::string::npos);
  EXPECT_NE(svg.find("b &amp; c"), std::string::npos);
  expect_drawn(report::to_svg(report::BarChart{}));
}

TEST(Charts, AHeatMapHasACellForEveryNumber) {
  report::HeatMap map{"t", "heads", "bases", {"1", "2"}, {"4", "8"}, {{0.5, kNan}, {0.25, 1}}};
  const std::string html = report::to_html(map);
  expect_drawn(html);
  EXPECT_NE(html.find("70%, transparent)\">0.250"), std::string::npos) << html;  // the best
  EXPECT_NE(html.find(" 0%, transparent)\">1.000"), std::string::npos);
  EXPECT_EQ(count(html, "<td></td>"), 1U);
  map.lower_is_better = false;
  EXPECT_NE(report::to_html(map).find("70%, transparent)\">1.000"), std::string::npos);
  map.values = {{1, 1}, {1, 1}};
  expect_drawn(report::to_html(map));
}

TEST(Charts, AGraphHasItsNodesAndEdges) {
  report::GraphPicture p;
  p.title = "t";
  p.places = {{0, 0}, {1, 2}, {1, 2}};
  p.edges = {{0, 1}, {2, 1}};
  p.kinds = {0, 1, 0};
  p.kind_names = {"add", "a<b"};
  p.notes = {"n & m"};
  const std::string svg = report::to_svg(p);
  expect_drawn(svg);
  EXPECT_EQ(count(svg, "<circle"), 3U);
  EXPECT_EQ(count(svg, "<line"), 2U);
  EXPECT_NE(svg.find("n &amp; m"), std::string::npos);
  expect_drawn(report::to_svg(report::GraphPicture{}));
}

TEST(Charts, AMoleculeHasSymbolsAndBonds) {
  report::GraphPicture p;
  p.places = {{0, 0}, {1, 0}, {2, 0}};
  p.edges = {{0, 1}, {1, 2}};
  p.bonds = {2, report::GraphPicture::kAromatic};
  p.kinds = {0, 0, 0};
  p.symbols = {"C", "NH3+", "O"};
  const std::string svg = report::to_svg(p);
  expect_drawn(svg);
  EXPECT_EQ(count(svg, "<line"), 4U);
  EXPECT_EQ(count(svg, "dashed"), 1U);
  EXPECT_NE(svg.find(">NH3+</text>"), std::string::npos);
}

// All nodes begin at one place; the layout must tell them apart.
TEST(GraphLayout, KeepsNeighboursNearAndOthersApart) {
  const std::vector<std::pair<int64_t, int64_t>> hexagon = {{0, 1}, {1, 2}, {2, 3}, {3, 4},
                                                            {4, 5}, {5, 0}, {0, 6}, {0, 7}};
  for (const bool spread : {false, true}) {
    report::Places start(9);  // the last has no neighbour
    for (size_t k = 0; spread && k < start.size(); ++k)
      start[k] = {std::cos(static_cast<double>(k)), std::sin(static_cast<double>(k))};
    const report::Places at = report::lay_out(start, hexagon);
    EXPECT_EQ(at, report::lay_out(start, hexagon));
    const auto distance = [&](size_t a, size_t b) {
      return std::hypot(at[a].first - at[b].first, at[a].second - at[b].second);
    };
    for (const auto& [a, b] : hexagon) {
      const double d = distance(static_cast<size_t>(a), static_cast<size_t>(b));
      EXPECT_GT(d, 0.6);
      EXPECT_LT(d, 1.6);
    }
    for (size_t a = 0; a < at.size(); ++a)
      for (size_t b = 0; b < a; ++b) EXPECT_GT(distance(a, b), 0.6) << a << " " << b;
  }
  EXPECT_EQ(report::lay_out({}, {}).size(), 0U);
  EXPECT_EQ(report::lay_out({{3, 4}}, {}).size(), 1U);
}

TEST(Charts, AGridShadesEveryFiniteNumber) {
  const std::string svg = report::to_svg(report::GridMap{"t", "r", "c", {{0, 2}, {kNan, 1}}});
  expect_drawn(svg);
  EXPECT_EQ(count(svg, "<rect"), 3U);
  EXPECT_NE(svg.find("opacity=\"1.000\"><title>2<"), std::string::npos);
  EXPECT_NE(svg.find("opacity=\"0.500\"><title>1<"), std::string::npos);
  expect_drawn(report::to_svg(report::GridMap{"t", "r", "c", {}}));
}

TEST(Charts, PointsAreNamed) {
  const std::string svg =
      report::to_svg(report::Scatter{"t", "MB", {{"a<b", 1, 2}, {"c", kNan, 1}, {"d", 5, 2}}});
  expect_drawn(svg);
  EXPECT_EQ(count(svg, "<circle"), 2U);
  EXPECT_NE(svg.find("a&lt;b"), std::string::npos);
  EXPECT_EQ(report::to_svg(report::Scatter{}), "");
}

}  // namespace
}  // namespace egc
