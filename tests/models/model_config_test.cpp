// Configurations: every field survives JSON, and what makes no sense is refused with a reason.
#include "egc/models/model_config.h"
#include "egc/models/body.h"
#include "egc/nn/conv_table.h"
#include "egc/train/run_config.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/core/expect_error.h"

namespace egc {
namespace {

using models::check_config;
using models::DropoutAt;
using models::Encoder;
using models::ModelConfig;
using models::Norm;
using models::parse_model_config;
using models::Readout;
using models::Task;
using models::to_json;
using testing::expect_error;
using Json = nlohmann::ordered_json;
using Change = std::function<void(ModelConfig&)>;

constexpr const char* kWhere = "somewhere.json";
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

ModelConfig on_graphs() {
  ModelConfig c;
  c.hidden = 16;
  c.features = 3;
  return c;
}

ModelConfig on_nodes() {
  ModelConfig c = on_graphs();
  c.task = Task::kNodeClassification;
  c.outputs = 5;
  return c;
}

ModelConfig pna() {
  ModelConfig c = on_graphs();
  c.model = "pna";
  return c;
}

ModelConfig hetero() {
  ModelConfig c = on_graphs();
  c.task = Task::kNodeClassificationHetero;
  c.model = "regc";
  c.encoder = Encoder::kNone;
  c.schema = {{"author", "paper"}, {{"writes", 0, 1}, {"cites", 1, 1}}};
  c.target_type = "paper";
  c.embedded_nodes = {7, 0};
  return c;
}

Json json_of(const ModelConfig& config) { return Json::parse(to_json(config)); }

ModelConfig changed(ModelConfig config, const Change& change) {
  change(config);
  return config;
}

TEST(ModelConfig, TheExamplesAreGoodWhenNothingIsWrong) {
  for (const ModelConfig& c : {on_graphs(), on_nodes(), hetero()}) {
    EXPECT_NO_THROW(check_config(c));
    EXPECT_EQ(parse_model_config(to_json(c), kWhere), c);
  }
}

struct FieldChange {
  const char* field;  // its key in JSON
  ModelConfig base;
  Change change;
};

std::vector<FieldChange> field_changes() {
  return {
      {"task", on_graphs(), [](auto& c) { c.task = Task::kGraphClassification; }},
      {"task", on_graphs(), [](auto& c) { c.task = Task::kGraphBinary; }},
      {"task", on_graphs(), [](auto& c) { c.task = Task::kGraphSequence; }},
      {"task", on_graphs(), [](auto& c) { c.task = Task::kNodeClassification; }},
      {"model", on_graphs(), [](auto& c) { c.model = "ga-mlp"; }},
      {"hidden", on_graphs(), [](auto& c) { c.hidden = 1 << 24; }},
      {"layers", on_graphs(), [](auto& c) { c.layers = 1; }},
      {"outputs", on_graphs(), [](auto& c) { c.outputs = 9; }},
      {"encoder", on_nodes(),
       [](auto& c) {
         c.encoder = Encoder::kNone;
         c.residual = false;
       }},
      {"encoder", hetero(), [](auto& c) { c.encoder = Encoder::kLinear; }},
      {"encoder", on_graphs(),
       [](auto& c) {
         c.encoder = Encoder::kEmbedding;
         c.features = 0;
         c.categories = {4};
       }},
      {"encoder", on_graphs(),
       [](auto& c) {
         c.encoder = Encoder::kAtom;
         c.features = 0;
         c.categories = {1, 2};
       }},
      {"encoder", on_graphs(),
       [](auto& c) {
         c.encoder = Encoder::kAst;
         c.features = 0;
         c.categories = {3, 2, 1};
       }},
      {"features", on_graphs(), [](auto& c) { c.features = 1; }},
      {"categories", on_graphs(),
       [](auto& c) {
         c.encoder = Encoder::kAtom;
         c.features = 0;
         c.categories = {7, 1, 119};
       }},
      {"encode", on_graphs(),
       [](auto& c) {
         c.encode = {"rwse:20", "laplacian:8", "degree"};
       }},
      {"heads", on_graphs(), [](auto& c) { c.heads = 2; }},
      {"bases", on_graphs(), [](auto& c) { c.bases = 3; }},
      {"aggregators", on_graphs(),
       [](auto& c) {
         c.aggregators = AggregatorSet{Aggregator::kStd, Aggregator::kAdd,  Aggregator::kSymnorm,
                                       Aggregator::kMax, Aggregator::kMean, Aggregator::kVar,
                                       Aggregator::kMin};
       }},
      {"self_loops", on_graphs(), [](auto& c) { c.self_loops = SelfLoops::kNone; }},
      {"self_loops", on_graphs(), [](auto& c) { c.self_loops = SelfLoops::kAll; }},
      {"activation", on_graphs(), [](auto& c) { c.activation = nn::WeightActivation::kSoftmax; }},
      {"activation", on_graphs(), [](auto& c) { c.activation = nn::WeightActivation::kSigmoid; }},
      {"activation", on_graphs(), [](auto& c) { c.activation = nn::WeightActivation::kHardtanh; }},
      {"towers", pna(), [](auto& c) { c.towers = 2; }},
      // Neither has a short decimal form.
      {"mean_log_degree", pna(), [](auto& c) { c.mean_log_degree = std::log(3.0); }},
      {"mean_log_degree", pna(),
       [](auto& c) { c.mean_log_degree = std::numeric_limits<double>::denorm_min(); }},
      {"norm", on_graphs(), [](auto& c) { c.norm = Norm::kNone; }},
      {"norm", on_graphs(), [](auto& c) { c.norm = Norm::kLayer; }},
      {"residual", on_graphs(), [](auto& c) { c.residual = false; }},
      {"feed_forward", on_graphs(), [](auto& c) { c.feed_forward = 3; }},
      {"virtual_node", on_graphs(), [](auto& c) { c.virtual_node = true; }},
      {"dropout", on_graphs(), [](auto& c) { c.dropout = std::nextafter(1.0, 0.0); }},
      {"dropout_at", on_graphs(), [](auto& c) { c.dropout_at.encoder = true; }},
      {"dropout_at", on_graphs(), [](auto& c) { c.dropout_at.conv_input = true; }},
      {"dropout_at", on_graphs(), [](auto& c) { c.dropout_at.activation = true; }},
      {"dropout_at", on_graphs(), [](auto& c) { c.dropout_at.head = true; }},
      {"dropout_at", on_graphs(),
       [](auto& c) {
         c.dropout_at = {true, true, true, true};
       }},
      {"readout", on_graphs(), [](auto& c) { c.readout = Readout::kSum; }},
      {"readout", on_graphs(), [](auto& c) { c.readout = Readout::kMax; }},
      {"head_layers", on_graphs(), [](auto& c) { c.head_layers = 1; }},
      {"head_norm", on_graphs(), [](auto& c) { c.head_norm = false; }},
      {"norm_momentum", on_graphs(), [](auto& c) { c.norm_momentum = 0.25; }},
      {"edge_features", on_graphs(),
       [](auto& c) {
         c.edge_features = true;
         c.edge_numbers = 2;
       }},
      {"edge_categories", on_graphs(),
       [](auto& c) {
         c.edge_features = true;
         c.edge_categories = {4, 1 << 30};
       }},
      {"edge_numbers", on_graphs(),
       [](auto& c) {
         c.edge_features = true;
         c.edge_numbers = 7;
       }},
      {"message", on_graphs(),
       [](auto& c) {
         c.edge_features = true;
         c.edge_numbers = 1;
         c.message = models::Message::kIdentity;
       }},
      {"sequence_length", on_graphs(), [](auto& c) { c.sequence_length = 1; }},
      {"node_types", hetero(), [](auto& c) { c.schema.node_types[0] = "a\"quoted\"\\b"; }},
      {"relations", hetero(),
       [](auto& c) { std::swap(c.schema.relations[0].source, c.schema.relations[0].target); }},
      {"relations", hetero(), [](auto& c) { c.schema.relations.clear(); }},
      {"target_type", hetero(), [](auto& c) { c.target_type = "author"; }},
      {"embedded_nodes", hetero(),
       [](auto& c) {
         c.embedded_nodes = {0, int64_t{1} << 31};
       }},
  };
}

TEST(ModelConfig, EveryFieldComesBack) {
  std::set<std::string> seen;
  for (const FieldChange& f : field_changes()) {
    const ModelConfig config = changed(f.base, f.change);
    ASSERT_NE(config, f.base) << f.field;
    const std::string text = to_json(config);
    EXPECT_EQ(parse_model_config(text, kWhere), config) << text;
    EXPECT_EQ(to_json(parse_model_config(text, kWhere)), text);
    // The change is in that field of the text, so the key is what the table says.
    const Json now = json_of(config);
    const Json before = json_of(f.base);
    EXPECT_NE(now.value(f.field, Json()), before.value(f.field, Json())) << f.field;
    seen.insert(f.field);
  }
  // A field that is new and not in the table shows here.
  for (const ModelConfig& c : {on_graphs(), hetero()}) {
    const Json json = json_of(c);
    for (const auto& [key, value] : json.items()) EXPECT_TRUE(seen.contains(key)) << key;
  }
}

// Versions that knew batch norm alone wrote true and false, and read what this one writes.
TEST(ModelConfig, NormIsAWordOrASwitch) {
  const auto norm_of = [](const char* value) {
    return parse_model_config(fmt::format(R"({{"hidden":8,"features":2,"norm":{}}})", value),
                              kWhere)
        .norm;
  };
  for (const char* batch : {"true", "\"batch\""}) EXPECT_EQ(norm_of(batch), Norm::kBatch);
  for (const char* none : {"false", "\"none\""}) EXPECT_EQ(norm_of(none), Norm::kNone);
  EXPECT_EQ(norm_of("\"layer\""), Norm::kLayer);
  const auto written = [](Norm norm) {
    return json_of(changed(on_graphs(), [&](auto& c) { c.norm = norm; })).at("norm");
  };
  EXPECT_EQ(written(Norm::kBatch), Json(true));
  EXPECT_EQ(written(Norm::kNone), Json(false));
  EXPECT_EQ(written(Norm::kLayer), Json("layer"));
}

TEST(ModelConfig, WhatIsNotGivenHasItsDefault) {
  const ModelConfig c = parse_model_config(R"({"hidden":8,"features":2})", kWhere);
  ModelConfig expected;
  expected.hidden = 8;
  expected.features = 2;
  EXPECT_EQ(c, expected);
  EXPECT_EQ(c.model, "egc-s");
  EXPECT_EQ(c.dropout_at, DropoutAt{});
}

// Every option of every layer: taken, or refused with the options that it takes.
TEST(ModelConfig, OptionsThatALayerDoesNotTakeAreRefused) {
  const std::pair<const char*, Change> options[] = {
      {"heads", [](auto& c) { c.heads = 2; }},
      {"bases", [](auto& c) { c.bases = 2; }},
      {"aggregators", [](auto& c) { c.aggregators = AggregatorSet{Aggregator::kAdd}; }},
      {"self_loops", [](auto& c) { c.self_loops = SelfLoops::kNone; }},
      {"activation", [](auto& c) { c.activation = nn::WeightActivation::kSoftmax; }},
      {"towers", [](auto& c) { c.towers = 2; }},
      {"mean_log_degree", [](auto& c) { c.mean_log_degree = 2; }}};
  for (const nn::LayerDescriptor& layer : nn::layer_table())
    for (const auto& [name, change] : options) {
      ModelConfig c = on_graphs();
      c.model = layer.name;
      change(c);
      SCOPED_TRACE(fmt::format("{} {}", layer.name, name));
      if (layer.takes(name)) {
        EXPECT_EQ(parse_model_config(to_json(c), kWhere), c);
        continue;
      }
      for (const std::string_view taken : layer.options)
        expect_error(ErrorKind::kUsage, {kWhere, std::string(layer.name), name, std::string(taken)},
                     [&] { parse_model_config(to_json(c), kWhere); });
      expect_error(ErrorKind::kUsage, {name, "does not take"}, [&] { check_config(c); });
      // Files of versions that recorded them all the same.
      ModelConfig without = on_graphs();
      without.model = layer.name;
      EXPECT_EQ(parse_model_config(to_json(c), kWhere, models::UnsupportedOptions::kDrop), without);
    }
}

TEST(ModelConfig, TheTableOfOptionsHasEveryLayer) {
  std::set<std::string_view> known = {"ga-mlp"};
  for (const std::string_view name : nn::conv_names()) known.insert(name);
  std::set<std::string_view> listed;
  for (const nn::LayerDescriptor& layer : nn::layer_table()) listed.insert(layer.name);
  EXPECT_EQ(listed, known);
}

// Version 0.1 wrote its defaults for every layer; of EGC it meant what it wrote.
TEST(ModelConfig, RecordedDefaultsOfBeforeAreTheirs) {
  const auto read = [](const char* model) {
    return parse_model_config(
        fmt::format(R"({{"model":"{}","hidden":8,"features":2,"self_loops":"symnorm",)"
                    R"("activation":"identity","towers":4}})",
                    model),
        kWhere);
  };
  EXPECT_FALSE(read("gcn").self_loops || read("gcn").activation || read("gcn").towers);
  EXPECT_EQ(read("egc-m").self_loops, SelfLoops::kSymnorm);
  EXPECT_EQ(read("pna").towers, 4);
  EXPECT_EQ(
      models::conv_spec(parse_model_config(R"({"hidden":8,"features":2})", kWhere), 0).self_loops,
      SelfLoops::kAll);
}

TEST(ModelConfig, DropoutWhereThereIsNoneIsRefused) {
  ModelConfig c = on_nodes();
  c.dropout = 0.5;
  c.dropout_at.head = true;
  expect_error(ErrorKind::kUsage, {"has no dropout"}, [&] { check_config(c); });
  c = hetero();
  c.dropout = 0.5;
  c.dropout_at.conv_input = true;
  expect_error(ErrorKind::kUsage, {"activation"}, [&] { check_config(c); });
  c = on_graphs();
  c.model = "ga-mlp";
  c.norm = Norm::kNone;
  expect_error(ErrorKind::kUsage, {"ga-mlp"}, [&] { check_config(c); });
}

TEST(ModelConfig, EveryModelIsKnown) {
  for (const char* model : {"gcn", "gin", "sage", "gat", "gatv2", "mpnn-sum", "mpnn-max", "pna",
                            "egc-s", "egc-m", "egc", "rgcn", "regc", "mlp", "ga-mlp"})
    EXPECT_NO_THROW(check_config(changed(on_graphs(), [&](auto& c) { c.model = model; }))) << model;
}

TEST(ModelConfig, UnknownKeysAreListedWithTheKnown) {
  expect_error(
      ErrorKind::kUsage,
      {kWhere, "unknown key \"hiden\"",
       "known: task, model, hidden, layers, outputs, encoder, features, categories, edge_features, "
       "edge_categories, edge_numbers, encode, heads, bases, aggregators, self_loops, activation, "
       "message, towers, mean_log_degree, norm, norm_momentum, residual, feed_forward, "
       "virtual_node, dropout, dropout_at, readout, head_layers, head_norm, sequence_length, "
       "node_types, relations, target_type, embedded_nodes"},
      [] { parse_model_config(R"({"hidden":8,"features":2,"hiden":8})", kWhere); });
}

TEST(ModelConfig, RepeatedKeysAreRefused) {
  expect_error(ErrorKind::kUsage, {kWhere, "duplicate key \"hidden\""},
               [] { parse_model_config(R"({"hidden":8,"features":2,"hidden":8})", kWhere); });
}

TEST(ModelConfig, WhatIsNoObjectIsRefused) {
  for (const char* text : {"", "{", "[]", "null", "3", "\"x\"", "{} {}"})
    expect_error(ErrorKind::kUsage, {kWhere, "JSON"}, [&] { parse_model_config(text, kWhere); });
}

// One key of a good configuration replaced.
void expect_refused(const char* key, const Json& value, std::initializer_list<std::string> parts,
                    const ModelConfig& base = on_graphs()) {
  Json json = json_of(base);
  json[key] = value;
  SCOPED_TRACE(fmt::format("{}: {}", key, value.dump()));
  expect_error(ErrorKind::kUsage, parts, [&] { parse_model_config(json.dump(), kWhere); });
}

TEST(ModelConfig, WrongTypesNameTheKey) {
  for (const char* key : {"hidden", "layers", "outputs", "features", "towers", "sequence_length",
                          "heads", "bases", "feed_forward", "head_layers", "edge_numbers"})
    for (const Json& value : {Json("8"), Json(8.0), Json(nullptr), Json(true), Json::array({8}),
                              Json(uint64_t{1} << 63)})
      expect_refused(key, value, {kWhere, fmt::format("\"{}\"", key), "an integer", value.dump()});
  for (const char* key : {"mean_log_degree", "dropout", "norm_momentum"})
    for (const Json& value : {Json("0"), Json(nullptr), Json(false), Json::array({0.5})})
      expect_refused(key, value, {kWhere, fmt::format("\"{}\"", key), "number", value.dump()});
  for (const Json& value : {Json("true"), Json("Layer")})
    expect_refused("norm", value, {kWhere, "\"norm\"", "known: batch, layer, none"});
  for (const Json& value : {Json(nullptr), Json(1), Json::array({"layer"})})
    expect_refused("norm", value, {kWhere, "\"norm\"", "true or false, or a name", value.dump()});
  for (const char* key : {"residual", "virtual_node", "edge_features", "head_norm"})
    for (const Json& value : {Json("true"), Json(nullptr), Json(1)})
      expect_refused(key, value, {kWhere, fmt::format("\"{}\"", key), "true or false"});
  for (const char* key :
       {"task", "model", "encoder", "self_loops", "activation", "readout", "target_type"})
    for (const Json& value : {Json(1), Json(nullptr), Json::array({"mean"})})
      expect_refused(key, value, {kWhere, fmt::format("\"{}\"", key), "a string"});
  for (const char* key : {"aggregators", "dropout_at", "node_types"})
    for (const Json& value : {Json("mean"), Json(nullptr), Json::array({1})})
      expect_refused(key, value, {kWhere, fmt::format("\"{}\"", key), "list of strings"});
  for (const char* key : {"categories", "embedded_nodes"})
    for (const Json& value : {Json(1), Json(nullptr), Json::array({"1"}), Json::array({1.5})})
      expect_refused(key, value, {kWhere, fmt::format("\"{}\"", key), "list of integers"});
  for (const Json& value : {Json("r"), Json(nullptr), Json::array({"r", "author", "paper"})})
    expect_refused("relations", value, {kWhere, "\"relations\"", "list of lists of strings"},
                   hetero());
}

// Were it a negative number it would be something else than what was written.
TEST(ModelConfig, NumbersBeyond64BitsAreRefusedInLists) {
  for (const char* key : {"categories", "embedded_nodes"})
    expect_refused(key, Json::array({uint64_t{1} << 63}),
                   {kWhere, fmt::format("\"{}\"", key), "list of integers"});
}

TEST(ModelConfig, WrongNamesListTheKnown) {
  expect_refused("task", "regression",
                 {"unknown task \"regression\"",
                  "known: graph-regression, graph-classification, graph-binary, graph-sequence, "
                  "node-classification, node-classification-hetero"});
  expect_refused("model", "egcs",
                 {kWhere, "unknown model \"egcs\"",
                  "known: gcn, gin, sage, gat, gatv2, mpnn-sum, mpnn-max, pna, egc-s, egc-m, egc, "
                  "rgcn, regc, mlp, ga-mlp"});
  expect_refused("encoder", "Linear",
                 {"unknown encoder \"Linear\"", "known: none, linear, embedding, atom, ast"});
  expect_refused("self_loops", "", {"\"\"", "known: all, symnorm, none"});
  expect_refused("activation", "relu", {"\"relu\"", "known: identity, softmax, sigmoid, hardtanh"});
  expect_refused("readout", "min", {"unknown readout \"min\"", "known: mean, sum, max"});
  expect_refused("aggregators", {"mean", "mx"},
                 {"unknown aggregator \"mx\"", "known: add, mean, symnorm, max, min, var, std"});
  expect_refused("aggregators", Json::array(), {"at least one"});
  expect_refused("aggregators", {"mean", "mean"}, {"duplicate aggregator \"mean\""});
  expect_refused("aggregators", {"add", "sum"}, {"duplicate aggregator \"add\""});
  expect_refused(
      "dropout_at", {"head", "tail"},
      {kWhere, "\"dropout_at\"", "\"tail\"", "known: encoder, conv-input, activation, head"});
}

// Which of many files is wrong must be known for every mistake.
TEST(ModelConfig, WrongNamesNameThePlace) {
  for (const char* key : {"task", "encoder", "self_loops", "activation", "readout"})
    expect_refused(key, "nonsense", {kWhere, "nonsense"});
  expect_refused("aggregators", {"nonsense"}, {kWhere, "nonsense"});
  expect_refused("aggregators", Json::array(), {kWhere, "at least one"});
}

TEST(ModelConfig, RelationsAreChecked) {
  const auto refused = [](const char* relations, std::initializer_list<std::string> parts) {
    expect_refused("relations", Json::parse(relations), parts, hetero());
  };
  refused(R"([["writes","author"]])",
          {kWhere, "\"relations\"", "[name, source type, target type]"});
  refused(R"([["writes","author","paper","x"]])", {kWhere, "[name, source type, target type]"});
  refused("[[]]", {kWhere, "[name, source type, target type]"});
  refused(R"([["writes","author","papers"]])", {kWhere, "\"papers\"", "not in node_types"});
  refused(R"([["a","paper","paper"],["a","paper","author"]])",
          {kWhere, "duplicate relation \"a\""});
  refused(R"([["a.b","paper","paper"]])", {kWhere, "dot", "\"a.b\""});
  refused(R"([["","paper","paper"]])", {kWhere, "empty"});
}

TEST(ModelConfig, TheOrderOfKeysDoesNotMatter) {
  const Json json = json_of(hetero());
  std::vector<std::pair<std::string, Json>> items;
  for (const auto& [key, value] : json.items()) items.emplace_back(key, value);
  Json reversed = Json::object();
  for (auto it = items.rbegin(); it != items.rend(); ++it) reversed[it->first] = it->second;
  EXPECT_EQ(parse_model_config(reversed.dump(), kWhere), hetero());
}

struct Rule {
  const char* name;
  ModelConfig base;
  Change break_it;
  const char* part;
};

std::vector<Rule> rules() {
  const double nan = std::nan("");
  const auto categorical = [] {
    ModelConfig c = on_graphs();
    c.encoder = Encoder::kEmbedding;
    c.features = 0;
    c.categories = {3};
    return c;
  };
  const auto bare = [] {
    ModelConfig c = on_nodes();
    c.encoder = Encoder::kNone;
    c.residual = false;
    return c;
  };
  const auto ga_mlp = [] {
    ModelConfig c = on_graphs();
    c.model = "ga-mlp";
    return c;
  };
  return {
      {"Model", on_graphs(), [](auto& c) { c.model = ""; }, "unknown model \"\"; known: gcn"},
      {"Hidden", on_graphs(), [](auto& c) { c.hidden = 0; }, "hidden must be from 1 to"},
      {"HiddenLeast", on_graphs(), [](auto& c) { c.hidden = kMin; }, "from 1 to"},
      {"Layers", on_graphs(), [](auto& c) { c.layers = 0; }, "layers must be from 1 to"},
      {"Outputs", on_graphs(), [](auto& c) { c.outputs = -1; }, "outputs must be from 1 to"},
      {"Towers", pna(), [](auto& c) { c.towers = 0; }, "towers must be from 1 to"},
      {"SequenceLength", on_graphs(), [](auto& c) { c.sequence_length = 0; },
       "sequence_length must be from 1 to"},
      {"DropoutNegative", on_graphs(), [](auto& c) { c.dropout = -1e-9; },
       "dropout must be in [0, 1), got -1e-09"},
      {"DropoutOne", on_graphs(), [](auto& c) { c.dropout = 1; }, "dropout must be in [0, 1)"},
      {"DropoutNan", on_graphs(), [=](auto& c) { c.dropout = nan; }, "dropout must be in [0, 1)"},
      {"MeanLogDegreeZero", pna(), [](auto& c) { c.mean_log_degree = 0; },
       "mean_log_degree must be positive, got 0"},
      {"MeanLogDegreeNegative", pna(), [](auto& c) { c.mean_log_degree = -1; },
       "mean_log_degree must be positive, got -1"},
      {"MeanLogDegreeNan", pna(), [=](auto& c) { c.mean_log_degree = nan; },
       "mean_log_degree must be positive"},
      {"Heads", on_graphs(), [](auto& c) { c.heads = 0; }, "heads must be from 1 to"},
      {"HeadsLeast", on_graphs(), [](auto& c) { c.heads = kMin; }, "heads must be from 1 to"},
      {"Bases", on_graphs(), [](auto& c) { c.bases = -2; }, "bases must be from 1 to"},
      {"FloatsWithoutFeatures", on_graphs(), [](auto& c) { c.features = 0; },
       "needs float features only"},
      {"FloatsWithCategories", on_graphs(), [](auto& c) { c.categories = {1}; },
       "needs float features"},
      {"NoneWithoutFeatures", bare(), [](auto& c) { c.features = 0; }, "needs float features"},
      {"CategoriesMissing", categorical(), [](auto& c) { c.categories = {}; },
       "needs categorical features only"},
      {"CategoriesWithFeatures", categorical(), [](auto& c) { c.features = 3; },
       "needs categorical features"},
      {"AtomWithFeatures", categorical(),
       [](auto& c) {
         c.encoder = Encoder::kAtom;
         c.features = 1;
       },
       "needs categorical features"},
      {"AstWithoutCategories", categorical(),
       [](auto& c) {
         c.encoder = Encoder::kAst;
         c.categories = {};
       },
       "needs categorical features"},
      {"CategoriesZero", categorical(),
       [](auto& c) {
         c.categories = {3, 0};
       },
       "categories must be from 1 to"},
      {"CategoriesNegative", categorical(),
       [](auto& c) {
         c.categories = {-5, 3};
       },
       "categories must be from 1 to"},
      // the heterogeneous task
      {"NoTypes", hetero(), [](auto& c) { c.schema = {}; }, "at least one node type"},
      {"TypeTwice", hetero(), [](auto& c) { c.schema.node_types[1] = "author"; },
       "duplicate node type"},
      {"RelationOutside", hetero(), [](auto& c) { c.schema.relations[0].target = 2; },
       "must join node types 0 to 1"},
      {"HeteroModel", hetero(), [](auto& c) { c.model = "egc-s"; },
       "needs the model rgcn or regc, got egc-s"},
      {"HeteroGaMlp", hetero(), [](auto& c) { c.model = "ga-mlp"; }, "needs the model rgcn"},
      {"HeteroEncoder", hetero(),
       [](auto& c) {
         c.encoder = Encoder::kEmbedding;
         c.features = 0;
         c.categories = {4};
       },
       "needs the encoder \"linear\" or \"none\""},
      {"EmbeddedTooFew", hetero(), [](auto& c) { c.embedded_nodes = {1}; },
       "each of the 2 node types, got 1"},
      {"EmbeddedTooMany", hetero(),
       [](auto& c) {
         c.embedded_nodes = {1, 0, 0};
       },
       "each of the 2 node types, got 3"},
      {"EmbeddedNegative", hetero(),
       [](auto& c) {
         c.embedded_nodes = {0, -1};
       },
       "embedded_nodes must be from 0 to"},
      {"TargetUnknown", hetero(), [](auto& c) { c.target_type = "papers"; },
       "target_type \"papers\" is not in node_types"},
      {"TargetMissing", hetero(), [](auto& c) { c.target_type = ""; }, "target_type \"\""},
      {"TypesElsewhere", on_graphs(), [](auto& c) { c.schema.node_types = {"a"}; },
       "need the task node-classification-hetero"},
      {"RelationsElsewhere", on_graphs(),
       [](auto& c) {
         c.schema.relations = {{"a", 0, 0}};
       },
       "need the task node-classification-hetero"},
      {"TargetElsewhere", on_nodes(), [](auto& c) { c.target_type = std::string("a"); },
       "need the task node-classification-hetero"},
      {"EmbeddedElsewhere", on_nodes(), [](auto& c) { c.embedded_nodes = {0}; },
       "need the task node-classification-hetero"},
      // encoders and tasks
      {"GraphsWithoutEncoder", on_graphs(), [](auto& c) { c.encoder = Encoder::kNone; },
       "a graph-level task needs an encoder"},
      {"SequenceWithoutEncoder", on_graphs(),
       [](auto& c) {
         c.task = Task::kGraphSequence;
         c.encoder = Encoder::kNone;
       },
       "a graph-level task needs an encoder"},
      {"BareOutputs", bare(), [](auto& c) { c.outputs = 17; }, "at most hidden, got 17 and 16"},
      {"BareResidual", bare(), [](auto& c) { c.residual = true; }, "residual must be false"},
      {"EncodeUnknown", on_graphs(), [](auto& c) { c.encode = {"degre"}; },
       "unknown encoding \"degre\"; did you mean \"degree\"?"},
      {"EncodeSteps", on_graphs(), [](auto& c) { c.encode = {"rwse:0"}; },
       "encode takes \"rwse:K\" with a number K from 1 to 256"},
      {"EncodeTwice", on_graphs(),
       [](auto& c) {
         c.encode = {"rwse:2", "rwse:3"};
       },
       "encode names rwse twice"},
      {"EncodeBare", bare(), [](auto& c) { c.encode = {"degree"}; },
       "encode needs an encoder to be added to"},
      {"EncodeHetero", hetero(), [](auto& c) { c.encode = {"degree"}; },
       "encode needs graphs with a single node type"},
      {"GaMlpReadout", ga_mlp(), [](auto& c) { c.readout = Readout::kSum; },
       "ga-mlp needs a graph-level task"},
      {"GaMlpDropout", ga_mlp(),
       [](auto& c) {
         c.dropout = 0.1;
         c.dropout_at.head = true;
       },
       "ga-mlp has neither convolutions"},
      {"GaMlpNodes", ga_mlp(), [](auto& c) { c.task = Task::kNodeClassification; },
       "ga-mlp needs a graph-level task"},
      // edges
      {"EdgeSchemaWithoutEdges", on_graphs(), [](auto& c) { c.edge_numbers = 1; },
       "edge_categories and edge_numbers need edge_features"},
      {"EdgesWithoutSchema", on_graphs(), [](auto& c) { c.edge_features = true; },
       "edge_features needs edges with features"},
      {"EdgesOfGat", changed(on_graphs(), [](auto& c) { c.model = "gat"; }),
       [](auto& c) {
         c.edge_features = true;
         c.edge_numbers = 1;
       },
       "gat does not take edge features; layers that do: gcn, gin, mpnn-sum, mpnn-max, pna"},
      {"EdgeCategories", on_graphs(),
       [](auto& c) {
         c.edge_features = true;
         c.edge_categories = {4, 0};
       },
       "edge_categories must be from 1 to"},
      {"MessageWithoutEdges", on_graphs(), [](auto& c) { c.message = models::Message::kIdentity; },
       "message needs edge_features"},
      {"HeadNormOfOneLayer", on_graphs(),
       [](auto& c) {
         c.head_layers = 1;
         c.head_norm = false;
       },
       "head_norm false needs a head of several linear layers"},
      {"NormMomentum", on_graphs(), [](auto& c) { c.norm_momentum = 0; },
       "norm_momentum must be in (0, 1]"},
      // blocks and heads
      {"FeedForwardNegative", on_graphs(), [](auto& c) { c.feed_forward = -1; },
       "feed_forward must be from 0 to"},
      {"FeedForwardMost", on_graphs(), [](auto& c) { c.feed_forward = 1 << 24; },
       "feed_forward must be from 0 to"},
      {"FeedForwardHetero", hetero(), [](auto& c) { c.feed_forward = 2; },
       "feed_forward does not apply to networks for heterogeneous tasks"},
      {"FeedForwardGaMlp", ga_mlp(), [](auto& c) { c.feed_forward = 2; },
       "feed_forward does not apply to ga-mlp"},
      {"FeedForwardBare", bare(),
       [](auto& c) {
         c.layers = 1;
         c.feed_forward = 2;
       },
       "feed_forward needs an encoder or two layers"},
      {"LayerNormHetero", hetero(), [](auto& c) { c.norm = Norm::kLayer; },
       "norm \"layer\" does not apply to networks for heterogeneous tasks"},
      {"LayerNormGaMlp", ga_mlp(), [](auto& c) { c.norm = Norm::kLayer; },
       "ga-mlp always has batch norm"},
      {"LayerNormBare", bare(),
       [](auto& c) {
         c.layers = 1;
         c.norm = Norm::kLayer;
       },
       "norm \"layer\" needs an encoder or two layers"},
      {"VirtualNodeNodes", on_nodes(), [](auto& c) { c.virtual_node = true; },
       "virtual_node applies to graph-level tasks only, not to node-classification"},
      {"VirtualNodeHetero", hetero(), [](auto& c) { c.virtual_node = true; },
       "virtual_node applies to graph-level tasks only, not to node-classification-hetero"},
      {"VirtualNodeGaMlp", ga_mlp(), [](auto& c) { c.virtual_node = true; },
       "virtual_node does not apply to ga-mlp"},
      {"VirtualNodeLayers", on_graphs(),
       [](auto& c) {
         c.layers = 1;
         c.virtual_node = true;
       },
       "virtual_node needs two layers"},
      {"HeadLayersZero", on_graphs(), [](auto& c) { c.head_layers = 0; },
       "head_layers must be from 1 to 12, got 0"},
      {"HeadLayersMost", on_graphs(), [](auto& c) { c.head_layers = 13; },
       "head_layers must be from 1 to 12"},
      {"HeadLayersNodes", on_nodes(), [](auto& c) { c.head_layers = 2; },
       "head_layers does not apply to egc-s with the task node-classification"},
      {"HeadLayersGaMlp", ga_mlp(), [](auto& c) { c.head_layers = 2; },
       "head_layers does not apply to ga-mlp"},
      {"HeadLayersSequence", on_graphs(),
       [](auto& c) {
         c.task = Task::kGraphSequence;
         c.head_layers = 2;
       },
       "head_layers does not apply"},
      {"HeadDropout", on_graphs(),
       [](auto& c) {
         c.dropout = 0.1;
         c.dropout_at.head = true;
         c.head_layers = 1;
       },
       "a head with head_layers 1 has no dropout"},
  };
}

class ModelConfigRule : public ::testing::TestWithParam<Rule> {};

TEST_P(ModelConfigRule, IsChecked) {
  const Rule& rule = GetParam();
  ModelConfig config = rule.base;
  ASSERT_NO_THROW(check_config(config));
  rule.break_it(config);
  expect_error(ErrorKind::kUsage, {rule.part}, [&] { check_config(config); });
}

INSTANTIATE_TEST_SUITE_P(ModelConfig, ModelConfigRule, ::testing::ValuesIn(rules()),
                         [](const auto& info) { return std::string(info.param.name); });

void PrintTo(const Rule& rule, std::ostream* out) { *out << rule.name; }

TEST(ModelConfig, ParsingChecksAndNamesThePlace) {
  expect_refused("hidden", 0, {kWhere, "hidden", "from 1 to"});
  expect_refused("dropout", 1.0, {kWhere, "dropout must be in [0, 1)"});
  expect_refused("features", 0, {kWhere, "float features"});
  expect_refused("embedded_nodes", {1}, {kWhere, "node-classification-hetero"});
}

// JSON has no infinity: a model with it could be saved and never loaded.
TEST(ModelConfig, WhatJsonCannotWriteIsRefused) {
  const double infinity = std::numeric_limits<double>::infinity();
  expect_error(ErrorKind::kUsage, {"mean_log_degree"}, [&] {
    check_config(changed(on_graphs(), [&](auto& c) { c.mean_log_degree = infinity; }));
  });
}

TEST(ModelConfig, NamesThatAreNotUtf8AreAnErrorOfOurs) {
  const ModelConfig config =
      changed(hetero(), [](auto& c) { c.schema.node_types[0] = std::string("\xff"); });
  EXPECT_THROW(
      {
        check_config(config);
        to_json(config);
      },
      Error);
}

TEST(ModelConfig, DeepNestingDoesNotExhaustTheStack) {
  const std::string deep = "{\"hidden\":" + std::string(1'000'000, '[') +
                           std::string(1'000'000, ']') + ",\"features\":2}";
  // In a process of its own, so that an overflow is a failure here and not the end of all tests.
  const auto run = [&] {
    try {
      parse_model_config(deep, kWhere);
    } catch (const Error&) {
      std::_Exit(0);
    }
    std::_Exit(1);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "");
}

class ModelConfigFile : public ::testing::Test {
 protected:
  ModelConfigFile() {
    std::string name = ::testing::TempDir() + "/egc_config_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    directory_ = name;
    path_ = name + "/config.json";
  }
  ~ModelConfigFile() override { std::filesystem::remove_all(directory_); }

  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }

  void expect_refused(std::initializer_list<std::string> parts) const {
    expect_error(ErrorKind::kUsage, parts, [&] { train::read_model_config(path_); });
    expect_error(ErrorKind::kUsage, {path_}, [&] { train::read_model_config(path_); });
  }

  std::string directory_;
  std::string path_;
};

TEST_F(ModelConfigFile, TheModelOfAFileIsRead) {
  for (const ModelConfig& c : {on_graphs(), hetero()}) {
    write(R"({"dataset":"zinc","train":{"lr":1},"model":)" + to_json(c) + "}");
    EXPECT_EQ(train::read_model_config(path_), c);
    write("{\"model\":" + to_json(c) + "}\n");
    EXPECT_EQ(train::read_model_config(path_), c);
  }
}

TEST_F(ModelConfigFile, AShippedOneIsRead) {
  const ModelConfig c =
      train::read_model_config(std::string(EGC_SOURCE_DIR) + "/configs/rmag/regc.json");
  EXPECT_EQ(c.task, Task::kNodeClassificationHetero);
  EXPECT_EQ(c.aggregators, (AggregatorSet{Aggregator::kMean, Aggregator::kMax}));
  EXPECT_EQ(c.schema.relations.at(3),
            (HeteroSchema::Relation{"paper_has_topic_field_of_study", 3, 1}));
  EXPECT_EQ(c.dropout_at, (DropoutAt{false, false, true, false}));
}

TEST_F(ModelConfigFile, AMissingFileIsNamed) { expect_refused({"cannot open"}); }

TEST_F(ModelConfigFile, ADirectoryIsRefused) {
  expect_error(ErrorKind::kUsage, {directory_}, [&] { train::read_model_config(directory_); });
}

TEST_F(ModelConfigFile, BadTextIsNamed) {
  for (const char* text : {"", "{", "{\"model\":{}", "\xff\xfe{}"}) {
    write(text);
    expect_refused({"invalid JSON"});
  }
  write("[]");
  expect_refused({"expected a JSON object, got array"});
}

TEST_F(ModelConfigFile, TheModelMustBeThere) {
  for (const char* text : {"{}", R"({"dataset":"zinc","train":{}})", R"({"Model":{}})"}) {
    write(text);
    expect_refused({"\"model\" is missing"});
  }
  write(R"({"model":"egc-s"})");
  expect_refused({": model", "expected a JSON object, got string"});
  write(R"({"model":null})");
  expect_refused({": model", "expected a JSON object, got null"});
}

TEST_F(ModelConfigFile, UnknownKeysAreListedWithTheKnown) {
  write("{\"model\":" + to_json(on_graphs()) + ",\"training\":{}}");
  expect_refused({"unknown key \"training\"", "known: model, dataset, train"});
  write(R"({"model":{"hidden":8,"features":2,"dataset":"zinc"}})");
  expect_refused({": model: unknown key \"dataset\"", "known: task, model, hidden"});
}

TEST_F(ModelConfigFile, RepeatedKeysAreRefused) {
  write(R"({"model":{"hidden":8,"features":2},"model":{"hidden":8,"features":2}})");
  expect_refused({"duplicate key \"model\""});
  write(R"({"model":{"hidden":8,"features":2,"features":2}})");
  expect_refused({"duplicate key \"features\""});
}

TEST_F(ModelConfigFile, RulesAreChecked) {
  write(R"({"model":{"hidden":8}})");
  expect_refused({": model", "float features"});
}

}  // namespace
}  // namespace egc
