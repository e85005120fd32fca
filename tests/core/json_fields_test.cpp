// Typed fields from JSON: what is wrong is refused and named, nothing is guessed.
#include "egc/core/json_fields.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "egc/core/json_parse.h"
#include "tests/core/expect_error.h"

namespace egc {
namespace {

using Json = nlohmann::ordered_json;
using testing::expect_error;

constexpr const char* kWhere = "file.json";

Json parse(std::string_view text) { return parse_json<Json>(text, kWhere, ErrorKind::kUsage); }

std::string repeat(std::string_view text, size_t times) {
  std::string out;
  for (size_t k = 0; k < times; ++k) out += text;
  return out;
}

// The value of "key" in the text, read as the type of the result.
template <class Value>
Value read(std::string_view text) {
  const Json json = parse(text);
  JsonReader reader(json, kWhere);
  Value value{};
  EXPECT_TRUE(reader.read("key", value)) << text;
  reader.refuse_unknown();
  return value;
}

template <class Value>
void expect_refused(const std::string& value, const std::string& expected) {
  expect_error(ErrorKind::kUsage, {kWhere, "\"key\"", expected, value},
               [&] { read<Value>("{\"key\": " + value + "}"); });
}

// In a process of its own, so that a stack overflow is a failure here and not the end of all tests.
template <class F>
void expect_error_without_crash(F&& f) {
  const auto run = [&f] {
    try {
      f();
    } catch (const Error&) {
      std::_Exit(0);
    } catch (...) {
      std::_Exit(2);
    }
    std::_Exit(1);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "");
}

TEST(JsonParse, WhatIsNoJsonIsNamed) {
  for (const char* text : {"",
                           " ",
                           "\n",
                           "{",
                           "}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{'a':1}",
                           "{a:1}",
                           "{} {}",
                           "[1,]",
                           "nul",
                           "/**/{}",
                           "{\"a\":01}",
                           "{\"a\":+1}",
                           "{\"a\":.5}",
                           "{\"a\":NaN}",
                           "{\"a\":Infinity}",
                           "{\"a\":1e999}",
                           "{\"\xff\":1}",
                           "{\"a\":\"\\ud800\"}",
                           "{\"a\":\"\n\"}"})
    expect_error(ErrorKind::kUsage, {kWhere, "invalid JSON"}, [&] { parse(text); });
}

TEST(JsonParse, TheKindIsTheCallers) {
  expect_error(ErrorKind::kModel, {"there", "invalid JSON"},
               [] { parse_json<Json>("", "there", ErrorKind::kModel); });
  expect_error(ErrorKind::kData, {"there", "duplicate key \"a\""},
               [] { parse_json<Json>(R"({"a":1,"a":1})", "there", ErrorKind::kData); });
}

TEST(JsonParse, WhatComesAfterANulByteIsNotIgnored) {
  for (const std::string& text : {std::string("{}\0", 3), std::string("{}\0{\"a\":1}", 10),
                                  std::string("{\"a\0\":1}", 8), std::string("\0{}", 3)})
    expect_error(ErrorKind::kUsage, {kWhere}, [&] { parse(text); });
}

TEST(JsonParse, RepeatedKeysAreRefusedAtEveryDepth) {
  for (const char* text : {R"({"a":1,"a":1})", R"({"a":1,"b":2,"a":3})", R"({"b":{"a":1,"a":2}})",
                           R"({"b":[{"c":{}},{"a":null,"a":null}]})", R"([[{"a":1,"a":1}]])",
                           R"({"b":{"c":1},"d":{"c":1},"a":{},"a":[]})", R"({"a":1,"\u0061":2})"})
    expect_error(ErrorKind::kUsage, {kWhere, "duplicate key \"a\""}, [&] { parse(text); });
  expect_error(ErrorKind::kUsage, {kWhere, "duplicate key \"\""}, [] { parse(R"({"":1,"":2})"); });
}

TEST(JsonParse, TheSameKeyInDifferentObjectsIsFine) {
  const Json json = parse(R"({"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}],"c":{"a":1}})");
  EXPECT_EQ(json["b"][1]["a"], 2);
  EXPECT_EQ(json["a"]["a"]["a"], 1);
}

TEST(JsonParse, DeepNestingDoesNotExhaustTheStack) {
  expect_error_without_crash([] { parse(repeat("[", 1'000'000)); });
  expect_error_without_crash([] { parse(repeat("{\"a\":", 1'000'000)); });
  expect_error_without_crash([] {
    const Json json = parse(repeat("[", 1'000'000) + repeat("]", 1'000'000));
    JsonReader(json, kWhere);
  });
}

TEST(JsonReader, OnlyAnObjectHasFields) {
  for (const auto& [text, type] :
       std::vector<std::pair<std::string, std::string>>{{"[]", "array"},
                                                        {"null", "null"},
                                                        {"1", "number"},
                                                        {"\"x\"", "string"},
                                                        {"true", "bool"}})
    expect_error(ErrorKind::kUsage, {kWhere, "expected a JSON object", type}, [&, t = text] {
      const Json json = parse(t);
      JsonReader(json, kWhere);
    });
}

TEST(JsonReader, EveryTypeReads) {
  EXPECT_TRUE(read<bool>(R"({"key":true})"));
  EXPECT_FALSE(read<bool>(R"({"key":false})"));
  EXPECT_EQ(read<int64_t>(R"({"key":-7})"), -7);
  EXPECT_EQ(read<double>(R"({"key":0.25})"), 0.25);
  EXPECT_EQ(read<double>(R"({"key":3})"), 3.0);
  EXPECT_EQ(read<std::string>(R"({"key":"a\u00e9\n"})"), "a\xc3\xa9\n");
  EXPECT_EQ(read<std::vector<int64_t>>(R"({"key":[3,-1,0]})"), (std::vector<int64_t>{3, -1, 0}));
  EXPECT_EQ(read<std::vector<std::string>>(R"({"key":["b","a",""]})"),
            (std::vector<std::string>{"b", "a", ""}));
  EXPECT_EQ(read<std::vector<std::vector<std::string>>>(R"({"key":[["a"],[],["b","c"]]})"),
            (std::vector<std::vector<std::string>>{{"a"}, {}, {"b", "c"}}));
  EXPECT_EQ(read<Json>(R"({"key":{"x":[1]}})"), parse(R"({"x":[1]})"));
}

TEST(JsonReader, EmptyListsReplaceWhatWasThere) {
  const Json json = parse(R"({"a":[],"b":[],"c":[]})");
  JsonReader reader(json, kWhere);
  std::vector<int64_t> a = {1};
  std::vector<std::string> b = {"x"};
  std::vector<std::vector<std::string>> c = {{"x"}};
  EXPECT_TRUE(reader.read("a", a) && reader.read("b", b) && reader.read("c", c));
  EXPECT_TRUE(a.empty() && b.empty() && c.empty());
}

TEST(JsonReader, TheLimitsOf64BitsRead) {
  EXPECT_EQ(read<int64_t>(R"({"key":9223372036854775807})"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(read<int64_t>(R"({"key":-9223372036854775808})"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(read<std::vector<int64_t>>(R"({"key":[9223372036854775807,-9223372036854775808]})"),
            (std::vector<int64_t>{std::numeric_limits<int64_t>::max(),
                                  std::numeric_limits<int64_t>::min()}));
}

TEST(JsonReader, IntegersBeyond64BitsAreRefused) {
  expect_refused<int64_t>("9223372036854775808", "must be an integer");
  expect_refused<int64_t>("18446744073709551615", "must be an integer");
  // Beyond 64 bits JSON has only floating point numbers, printed as such.
  for (const char* huge : {"18446744073709551616", "-9223372036854775809", "1e30"})
    expect_error(ErrorKind::kUsage, {kWhere, "\"key\"", "must be an integer"},
                 [&] { read<int64_t>(std::string(R"({"key":)") + huge + "}"); });
}

// As negative numbers they would be something else than what was written.
TEST(JsonReader, IntegersBeyond64BitsAreRefusedInListsToo) {
  expect_refused<std::vector<int64_t>>("[9223372036854775808]", "must be a list of integers");
  expect_refused<std::vector<int64_t>>("[1,18446744073709551615]", "must be a list of integers");
}

TEST(JsonReader, WrongTypesNameTheKeyAndWhatCame) {
  for (const char* value : {"0", "1", "\"true\"", "null", "[]", "{}", "[true]"})
    expect_refused<bool>(value, "must be true or false");
  for (const char* value : {"1.0", "0.5", "\"1\"", "null", "true", "[1]", "{}"})
    expect_refused<int64_t>(value, "must be an integer");
  for (const char* value : {"\"1.0\"", "null", "true", "[1.0]", "{}"})
    expect_refused<double>(value, "must be a number");
  for (const char* value : {"1", "null", "true", "[\"x\"]", "{}"})
    expect_refused<std::string>(value, "must be a string");
  for (const char* value :
       {"1", "null", "\"1\"", "[1.0]", "[1,\"2\"]", "[[1]]", "[null]", "[true]", "{}", "{\"0\":1}"})
    expect_refused<std::vector<int64_t>>(value, "must be a list of integers");
  for (const char* value : {"1", "null", "\"x\"", "[1]", "[\"x\",null]", "[[\"x\"]]", "{}"})
    expect_refused<std::vector<std::string>>(value, "must be a list of strings");
  for (const char* value : {"1", "null", "[\"x\"]", "[[\"x\"],\"y\"]", "[[1]]", "[[[\"x\"]]]",
                            "[{}]", "[null]", "{}", "{\"0\":[\"x\"]}"})
    expect_refused<std::vector<std::vector<std::string>>>(value,
                                                          "must be a list of lists of strings");
}

TEST(JsonReader, AWrongTypeLeavesTheFieldAlone) {
  const Json json = parse(R"({"a":"x","b":[1,"x"]})");
  JsonReader reader(json, kWhere);
  int64_t a = 7;
  std::vector<int64_t> b = {7};
  EXPECT_THROW(reader.read("a", a), Error);
  EXPECT_THROW(reader.read("b", b), Error);
  EXPECT_EQ(a, 7);
  EXPECT_EQ(b, std::vector<int64_t>{7});
}

TEST(JsonReader, WhatIsNotThereKeepsItsValue) {
  const Json json = parse("{}");
  JsonReader reader(json, kWhere);
  int64_t number = 7;
  std::optional<double> maybe = 0.5;
  std::optional<std::string> nothing;
  EXPECT_FALSE(reader.read("a", number));
  reader(ConfigField{"a"}, number);
  reader(ConfigField{"b"}, maybe);
  reader(ConfigField{"c"}, nothing);
  EXPECT_EQ(number, 7);
  EXPECT_EQ(maybe, 0.5);
  EXPECT_EQ(nothing, std::nullopt);
  EXPECT_NO_THROW(reader.refuse_unknown());
}

TEST(JsonReader, OptionalFieldsTakeWhatIsThere) {
  const Json json = parse(R"({"a":3,"b":null})");
  JsonReader reader(json, kWhere);
  std::optional<int64_t> a;
  std::optional<int64_t> b;
  reader(ConfigField{"a"}, a);
  EXPECT_EQ(a, 3);
  expect_error(ErrorKind::kUsage, {"\"b\"", "an integer", "null"},
               [&] { reader(ConfigField{"b"}, b); });
}

TEST(JsonReader, KeysOfEarlierVersionsAreRead) {
  const ConfigField field{"monitor", "", "", "watch"};
  for (const char* text : {R"({"monitor":"loss"})", R"({"watch":"loss"})"}) {
    const Json json = parse(text);
    JsonReader reader(json, kWhere);
    std::string value;
    reader(field, value);
    EXPECT_EQ(value, "loss") << text;
    EXPECT_NO_THROW(reader.refuse_unknown());
  }
  const Json both = parse(R"({"monitor":"loss","watch":"mae"})");
  JsonReader reader(both, kWhere);
  std::string value;
  reader(field, value);
  EXPECT_EQ(value, "loss");
  expect_error(ErrorKind::kUsage, {"unknown key \"watch\"", "monitor"},
               [&] { reader.refuse_unknown(); });
}

TEST(JsonReader, UnknownKeysAreListedWithTheKnown) {
  const Json json = parse(R"({"a":1,"hiden":2})");
  JsonReader reader(json, kWhere);
  int64_t value = 0;
  for (const char* key : {"a", "hidden", "a", "layers"}) reader.read(key, value);
  expect_error(ErrorKind::kUsage,
               {kWhere, "unknown key \"hiden\"; did you mean \"hidden\"? known: a, hidden, layers"},
               [&] { reader.refuse_unknown(); });
}

TEST(JsonReader, NamesAreComparedWhole) {
  for (const char* key : {"", "ke", "key ", "Key", "keys", "key\\u0000"}) {
    const Json json = parse(std::string("{\"") + key + "\":1}");
    JsonReader reader(json, kWhere);
    int64_t value = 0;
    EXPECT_FALSE(reader.read("key", value)) << key;
    expect_error(ErrorKind::kUsage, {"unknown key"}, [&] { reader.refuse_unknown(); });
  }
}

TEST(JsonReader, KeysOfInnerObjectsAreNoConcernOfTheOuter) {
  const Json json = parse(R"({"inner":{"key":1}})");
  JsonReader reader(json, kWhere);
  Json inner;
  int64_t value = 0;
  EXPECT_FALSE(reader.read("key", value));
  EXPECT_TRUE(reader.read("inner", inner));
  EXPECT_NO_THROW(reader.refuse_unknown());
}

// A value of the wrong type is copied and printed; neither may recurse without bound.
TEST(JsonReader, DeepNestingInAFieldDoesNotExhaustTheStack) {
  const std::string deep = "{\"key\":" + repeat("[", 1'000'000) + repeat("]", 1'000'000) + "}";
  expect_error_without_crash([&] { read<int64_t>(deep); });
  expect_error_without_crash([&] { read<std::vector<std::vector<std::string>>>(deep); });
}

TEST(JsonReader, FailAtNamesPlaceAndKey) {
  const Json json = parse("{}");
  const JsonReader reader(json, kWhere);
  expect_error(ErrorKind::kUsage, {"file.json: \"key\" must be 3, got 4"},
               [&] { reader.fail_at("key", "must be {}, got {}", 3, 4); });
}

}  // namespace
}  // namespace egc
