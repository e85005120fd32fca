// Schemas and graphs of several types are checked before they are used; so is the readout's graph.
#include "egc/graph/hetero_graph.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "egc/graph/batch.h"
#include "tests/core/expect_error.h"

namespace egc {
namespace {

using testing::expect_error;
using Ids = std::vector<int64_t>;

HeteroSchema schema() { return {{"author", "paper"}, {{"writes", 0, 1}, {"cites", 1, 1}}}; }

// Three authors, two papers.
HeteroGraph graph() {
  return {{3, 2},
          {Csr::from_edges(2, 3, Ids{0, 1, 2}, Ids{0, 1, 1}), Csr::from_edges(2, Ids{0}, Ids{1})}};
}

void expect_bad_schema(const std::function<void(HeteroSchema&)>& spoil,
                       std::initializer_list<std::string> parts) {
  HeteroSchema bad = schema();
  spoil(bad);
  expect_error(ErrorKind::kUsage, parts, [&] { check_schema(bad); });
}

void expect_bad_graph(const std::function<void(HeteroGraph&)>& spoil,
                      std::initializer_list<std::string> parts) {
  HeteroGraph bad = graph();
  spoil(bad);
  expect_error(ErrorKind::kUsage, parts, [&] { check_hetero_graph(schema(), bad); });
}

TEST(HeteroSchema, GoodOnesPass) {
  EXPECT_NO_THROW(check_schema(schema()));
  EXPECT_NO_THROW(check_schema(HeteroSchema::homogeneous()));
  EXPECT_NO_THROW(check_schema({{"alone"}, {}}));
  // A type and a relation may share a name.
  EXPECT_NO_THROW(check_schema({{"cites"}, {{"cites", 0, 0}}}));
}

TEST(HeteroSchema, ComparesByValue) {
  EXPECT_EQ(schema(), schema());
  HeteroSchema other = schema();
  other.relations[1].source = 0;
  EXPECT_NE(other, schema());
}

TEST(HeteroSchema, TypesAreChecked) {
  expect_bad_schema([](auto& s) { s = {}; }, {"at least one node type"});
  expect_bad_schema([](auto& s) { s.node_types.clear(); }, {"at least one node type"});
  expect_bad_schema([](auto& s) { s.node_types[1] = ""; }, {"node type", "empty", "\"\""});
  expect_bad_schema([](auto& s) { s.node_types[0] = "a.b"; }, {"node type", "dot", "\"a.b\""});
  expect_bad_schema([](auto& s) { s.node_types[0] = std::string("."); }, {"node type", "dot"});
  expect_bad_schema([](auto& s) { s.node_types[1] = "author"; },
                    {"node type", "duplicate node type \"author\""});
}

TEST(HeteroSchema, RelationsAreChecked) {
  expect_bad_schema([](auto& s) { s.relations[0].name = ""; }, {"relation", "empty"});
  expect_bad_schema([](auto& s) { s.relations[1].name = "cites."; }, {"relation", "\"cites.\""});
  expect_bad_schema([](auto& s) { s.relations[1].name = "writes"; },
                    {"relation", "duplicate relation \"writes\""});
  for (const int64_t bad : {int64_t{-1}, int64_t{2}, std::numeric_limits<int64_t>::max(),
                            std::numeric_limits<int64_t>::min()}) {
    expect_bad_schema([&](auto& s) { s.relations[0].source = bad; },
                      {"\"writes\"", "0 to 1", std::to_string(bad)});
    expect_bad_schema([&](auto& s) { s.relations[0].target = bad; },
                      {"\"writes\"", "0 to 1", std::to_string(bad)});
  }
}

TEST(HeteroGraph, GoodOnesPass) {
  EXPECT_NO_THROW(check_hetero_graph(schema(), graph()));
  EXPECT_NO_THROW(check_hetero_graph({{"alone"}, {}}, {{5}, {}}));
  const Csr nothing;
  EXPECT_NO_THROW(check_hetero_graph(schema(), {{0, 0}, {nothing, nothing}}));
  EXPECT_NO_THROW(
      check_hetero_graph(HeteroSchema::homogeneous(), HeteroGraph::homogeneous(nothing)));
}

TEST(HeteroGraph, AnOrdinaryGraphIsOneTypeAndOneRelation) {
  const HeteroGraph one = HeteroGraph::homogeneous(Csr::from_edges(4, Ids{0}, Ids{3}));
  EXPECT_EQ(one.num_nodes, Ids{4});
  ASSERT_EQ(one.relations.size(), 1U);
  EXPECT_EQ(one.relations[0].num_edges(), 1);
  EXPECT_NO_THROW(check_hetero_graph(HeteroSchema::homogeneous(), one));
}

TEST(HeteroGraph, SizesMustFit) {
  expect_bad_graph([](auto& g) { g.num_nodes.pop_back(); }, {"2 node types", "got 1"});
  expect_bad_graph([](auto& g) { g.num_nodes.push_back(0); }, {"2 node types", "got 3"});
  expect_bad_graph([](auto& g) { g.relations.pop_back(); }, {"2 relations", "got 1"});
  expect_bad_graph([](auto& g) { g.relations.emplace_back(); }, {"2 relations", "got 3"});
  expect_bad_graph([](auto& g) { g = {}; }, {"2 node types", "got 0"});
  expect_bad_graph([](auto& g) { g.num_nodes[0] = 4; },
                   {"\"writes\"", "4 sources to 2 targets", "3 and 2"});
  expect_bad_graph([](auto& g) { std::swap(g.relations[0], g.relations[1]); }, {"\"writes\""});
  // Rows are the targets: the transposed relation is another one.
  expect_bad_graph([](auto& g) { g.relations[0] = g.relations[0].transposed(); },
                   {"\"writes\"", "3 sources to 2 targets", "got 2 and 3"});
  // What fits the first relation but not the second.
  expect_bad_graph([](auto& g) { g.relations[1] = Csr::from_edges(3, 2, Ids{}, Ids{}); },
                   {"\"cites\"", "2 sources to 2 targets", "got 2 and 3"});
}

TEST(HeteroGraph, RelationsKnowWhetherTheyLeadToOtherNodes) {
  const HeteroSchema s = schema();
  const Ids as_many = {2, 2};
  const HeteroGraph good{as_many,
                         {relation_from_edges(s.relations[0], as_many, Ids{0, 0}, Ids{0, 1}),
                          relation_from_edges(s.relations[1], as_many, Ids{0}, Ids{1})}};
  EXPECT_FALSE(good.relations[0].rows_are_sources());
  EXPECT_TRUE(good.relations[1].rows_are_sources());
  EXPECT_NO_THROW(check_hetero_graph(s, good));
  HeteroGraph bad = good;
  bad.relations[0] = Csr::from_edges(2, Ids{0}, Ids{1});
  expect_error(ErrorKind::kUsage, {"\"writes\"", "other nodes"},
               [&] { check_hetero_graph(s, bad); });
  bad = good;
  bad.relations[1] = Csr::from_edges(2, 2, Ids{0}, Ids{1});
  expect_error(ErrorKind::kUsage, {"\"cites\"", "the same nodes"},
               [&] { check_hetero_graph(s, bad); });
}

TEST(HeteroGraph, NumbersOfNodesAreNotNegative) {
  expect_error(ErrorKind::kUsage, {"-1"}, [] { check_hetero_graph({{"alone"}, {}}, {{-1}, {}}); });
}

template <class T>
std::vector<T> copy(std::span<const T> values) {
  return {values.begin(), values.end()};
}

TEST(PoolGraph, TargetsAreGraphsAndSourcesTheirNodes) {
  const Csr pool = pool_graph(Ids{0, 2, 5});
  EXPECT_EQ(pool.num_targets(), 2);
  EXPECT_EQ(pool.num_sources(), 5);
  EXPECT_EQ(copy(pool.offsets()), (Ids{0, 2, 5}));
  EXPECT_EQ(copy(pool.sources()), (std::vector<int32_t>{0, 1, 2, 3, 4}));
  EXPECT_TRUE(pool.weights().empty());
}

TEST(PoolGraph, EmptyGraphsKeepTheirPlace) {
  const Csr pool = pool_graph(Ids{0, 0, 2, 2, 3, 3});
  EXPECT_EQ(pool.num_targets(), 5);
  EXPECT_EQ(copy(pool.offsets()), (Ids{0, 0, 2, 2, 3, 3}));
  const Csr empty = pool_graph(Ids{0, 0, 0});
  EXPECT_EQ(empty.num_targets(), 2);
  EXPECT_EQ(empty.num_sources(), 0);
  EXPECT_EQ(empty.num_edges(), 0);
}

TEST(PoolGraph, NoGraphs) {
  const Csr pool = pool_graph(Ids{0});
  EXPECT_EQ(pool.num_targets(), 0);
  EXPECT_EQ(pool.num_sources(), 0);
}

TEST(PoolGraph, ThatOfABatchFitsIt) {
  const Batch batch = make_batch(std::vector{Csr::from_edges(3, Ids{0}, Ids{1}), Csr()});
  const Csr pool = pool_graph(batch.first_node);
  EXPECT_EQ(pool.num_targets(), batch.num_graphs());
  EXPECT_EQ(pool.num_sources(), batch.graph.num_targets());
}

TEST(PoolGraph, BadInputIsRefused) {
  expect_error(ErrorKind::kUsage, {"pool_graph", "begin with 0"}, [] { pool_graph({}); });
  for (const int64_t first : {int64_t{1}, int64_t{-1}, std::numeric_limits<int64_t>::max()})
    expect_error(ErrorKind::kUsage, {"pool_graph", "begin with 0"}, [&] {
      pool_graph(Ids{first, 2});
    });
  expect_error(ErrorKind::kUsage, {"pool_graph", "2147483648"}, [] {
    pool_graph(Ids{0, int64_t{1} << 31});
  });
  expect_error(ErrorKind::kUsage, {"pool_graph"}, [] {
    pool_graph(Ids{0, std::numeric_limits<int64_t>::max()});
  });
}

TEST(PoolGraph, WhatDoesNotRiseIsRefused) {
  const int64_t huge = std::numeric_limits<int64_t>::max();
  const int64_t least = std::numeric_limits<int64_t>::min();
  for (const Ids& bad : {Ids{0, -1}, Ids{0, least}, Ids{0, 5, 3}, Ids{0, -1, 3}, Ids{0, 3, 2, 4},
                         Ids{0, huge, 3}, Ids{0, least, 3}, Ids{0, 3, 0}})
    EXPECT_THROW(pool_graph(bad), Error) << fmt::format("{}", fmt::join(bad, ", "));
}

}  // namespace
}  // namespace egc
