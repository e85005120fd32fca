// Names at the edge: lookups, aliases, and errors that list what is known.
#include "egc/core/named_table.h"

#include <gtest/gtest.h>

#include "egc/kernels/aggregator.h"
#include "tests/core/expect_error.h"

namespace egc {
namespace {

using testing::expect_error;

NamedTable<int> colours() {
  return NamedTable<int>("colour", {{"red", 1}, {"green", 2}, {"crimson", 1}});
}

TEST(NamedTable, FindsNamesAndAliases) {
  EXPECT_EQ(colours().at("red"), 1);
  EXPECT_EQ(colours().at("green"), 2);
  EXPECT_EQ(colours().at("crimson"), 1);
}

TEST(NamedTable, FirstNameOfAValueWins) {
  EXPECT_EQ(colours().name_of(1), "red");
  EXPECT_EQ(colours().name_of(2), "green");
}

TEST(NamedTable, KeepsTheOrderOfItsNames) {
  EXPECT_EQ(colours().names(), (std::vector<std::string_view>{"red", "green", "crimson"}));
}

TEST(NamedTable, UnknownNameListsTheKnown) {
  expect_error(ErrorKind::kUsage, {"unknown colour \"rad\"", "known: red, green, crimson"},
               [] { colours().at("rad"); });
}

TEST(NamedTable, NamesMustMatchWhole) {
  const std::string with_nul("red\0", 4);
  for (const std::string& name : {std::string(), std::string("re"), std::string("reds"),
                                  std::string("Red"), std::string(" red"), with_nul})
    expect_error(ErrorKind::kUsage, {"unknown colour"}, [&] { colours().at(name); });
}

TEST(NamedTable, BracesInANameAreNotAFormat) {
  expect_error(ErrorKind::kUsage, {"\"{}{0}%s\""}, [] { colours().at("{}{0}%s"); });
}

TEST(NamedTable, ValueWithoutANameIsRefused) {
  expect_error(ErrorKind::kUsage, {"colour"}, [] { colours().name_of(3); });
}

TEST(Aggregator, EveryNameReadsBack) {
  const std::vector<std::string> names = {"add", "mean", "symnorm", "max", "min", "var", "std"};
  const AggregatorSet all = parse_aggregators(names);
  ASSERT_EQ(all.size(), kNumAggregators);
  for (int k = 0; k < all.size(); ++k) {
    EXPECT_EQ(static_cast<int>(all[k]), k);
    EXPECT_EQ(name_of(all[k]), names[k]);
  }
}

TEST(Aggregator, SumIsAnAliasOfAdd) {
  EXPECT_EQ(parse_aggregator("sum"), Aggregator::kAdd);
  EXPECT_EQ(name_of(parse_aggregator("sum")), "add");
}

TEST(Aggregator, UnknownListsTheKnown) {
  expect_error(ErrorKind::kUsage,
               {"unknown aggregator \"maxx\"", "add, mean, symnorm, max, min, var, std"}, [] {
                 parse_aggregators({"add", "maxx"});
               });
  expect_error(ErrorKind::kUsage, {"unknown aggregator \"\""}, [] { parse_aggregators({""}); });
}

TEST(Aggregator, OutOfRangeHasNoName) {
  expect_error(ErrorKind::kUsage, {"aggregator"},
               [] { (void)name_of(static_cast<Aggregator>(kNumAggregators)); });
}

TEST(AggregatorSet, KeepsTheGivenOrder) {
  const AggregatorSet set = parse_aggregators({"std", "add", "max"});
  EXPECT_EQ(std::vector<Aggregator>(set.begin(), set.end()),
            (std::vector<Aggregator>{Aggregator::kStd, Aggregator::kAdd, Aggregator::kMax}));
  EXPECT_TRUE(set.has(Aggregator::kMax));
  EXPECT_FALSE(set.has(Aggregator::kMin));
}

TEST(AggregatorSet, OrderMatters) {
  EXPECT_EQ(parse_aggregators({"sum", "max"}), parse_aggregators({"add", "max"}));
  EXPECT_NE(parse_aggregators({"max", "add"}), parse_aggregators({"add", "max"}));
}

TEST(AggregatorSet, DuplicateIsRefused) {
  expect_error(ErrorKind::kUsage, {"\"max\"", "duplicate"}, [] {
    parse_aggregators({"max", "add", "max"});
  });
}

TEST(AggregatorSet, AliasIsADuplicate) {
  expect_error(ErrorKind::kUsage, {"\"add\"", "duplicate"}, [] {
    parse_aggregators({"add", "sum"});
  });
}

TEST(AggregatorSet, EmptyIsRefused) {
  expect_error(ErrorKind::kUsage, {"at least one"}, [] { parse_aggregators({}); });
}

TEST(SelfLoops, NamesReadBackAndUnknownListsTheKnown) {
  for (const SelfLoops mode : {SelfLoops::kAll, SelfLoops::kSymnorm, SelfLoops::kNone})
    EXPECT_EQ(parse_self_loops(name_of(mode)), mode);
  expect_error(ErrorKind::kUsage, {"unknown self-loop mode \"some\"", "all, symnorm, none"},
               [] { parse_self_loops("some"); });
}

}  // namespace
}  // namespace egc
