// Names and shapes of other implementations: what has no place here is refused, not lost.
#include "egc/exchange/states.h"

#include <gtest/gtest.h>

#include "tests/core/expect_error.h"
#include "tests/tensor/arrays.h"

namespace egc {
namespace {

using exchange::network_state;
using models::Encoder;
using models::ModelConfig;
using testing::expect_error;
using testing::full_array;
using testing::ones;

ModelConfig config_for(const std::string& model, Encoder encoder = Encoder::kLinear) {
  ModelConfig c;
  c.model = model;
  c.hidden = 8;
  c.encoder = encoder;
  if (encoder == Encoder::kLinear)
    c.features = 3;
  else
    c.categories = {2, 3};
  return c;
}

std::vector<std::string> names_of(const State& state) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : state) names.push_back(name);
  return names;
}

void expect_refused(const State& foreign, const std::string& part = "",
                    const ModelConfig& config = config_for("gcn")) {
  expect_error(ErrorKind::kModel, {part}, [&] { network_state(config, foreign); });
}

TEST(ForeignState, KnownNamesFindTheirPlaces) {
  const NdArray t = ones({2, 2});
  const State foreign = {{"embedding.weight", t},
                         {"graph_layers.0.0.bias", t},
                         {"graph_layers.0.1.running_mean", t},
                         {"graph_layers.1.1.lin.weight", t},  // after a dropout
                         {"graph_layers.1.2.weight", t},
                         {"mlp.0.weight", t},
                         {"mlp.1.running_mean", t},
                         {"mlp.1.weight", t},
                         {"mlp.4.weight", t},
                         {"mlp.4.bias", t}};
  EXPECT_EQ(names_of(network_state(config_for("gcn"), foreign)),
            (std::vector<std::string>{"body.blocks.0.conv.bias", "body.blocks.0.norm.running_mean",
                                      "body.blocks.1.conv.lin.weight", "body.blocks.1.norm.weight",
                                      "encoder.lin.weight", "head.mlp.linears.0.bias",
                                      "head.mlp.linears.0.weight", "head.mlp.linears.1.bias",
                                      "head.mlp.linears.1.weight", "head.mlp.norms.0.running_mean",
                                      "head.mlp.norms.0.weight"}));
  EXPECT_EQ(names_of(network_state(config_for("gcn"), {{"convs.2.bias", t},
                                                       {"bns.2.running_var", t},
                                                       {"out.bias", t},
                                                       {"graph_pred_linear_list.4.bias", t}})),
            (std::vector<std::string>{"body.blocks.2.conv.bias", "body.blocks.2.norm.running_var",
                                      "head.lin.bias", "head.positions.4.bias"}));
  EXPECT_TRUE(network_state(config_for("gcn"), {}).empty());
}

// PyTorch Geometric's example of EGC: wrapped batch norms, Linears without a bias before a norm.
TEST(ForeignState, WrappersAndHeadsWithoutBias) {
  const NdArray t = ones({2, 2});
  const State wrapped = {{"module.encoder.weight", t},        {"module.convs.0.bias", t},
                         {"module.norms.0.module.weight", t}, {"module.mlp.0.weight", t},
                         {"module.mlp.1.running_mean", t},    {"module.mlp.1.weight", ones({2})},
                         {"module.mlp.3.weight", t},          {"module.mlp.3.bias", t}};
  const ModelConfig config = config_for("gcn");
  const State state = network_state(config, exchange::without_wrappers(wrapped));
  EXPECT_EQ(names_of(state),
            (std::vector<std::string>{"body.blocks.0.conv.bias", "body.blocks.0.norm.weight",
                                      "encoder.lin.weight", "head.mlp.linears.0.bias",
                                      "head.mlp.linears.0.weight", "head.mlp.linears.1.bias",
                                      "head.mlp.linears.1.weight", "head.mlp.norms.0.running_mean",
                                      "head.mlp.norms.0.weight"}));
  EXPECT_TRUE(state.at("head.mlp.linears.0.bias").equals(full_array({2}, 0)));
  // The last Linear's bias is missing where others have one: nothing is made up.
  State damaged = exchange::without_wrappers(wrapped);
  damaged["mlp.0.bias"] = ones({2});
  damaged.erase("mlp.3.bias");
  EXPECT_FALSE(network_state(config, damaged).contains("head.mlp.linears.1.bias"));
}

TEST(ForeignState, AllUnknownNamesAreListed) {
  expect_refused({{"a.b", ones({1})}, {"c.d", ones({1})}}, "\"a.b\", \"c.d\"");
}

TEST(ForeignState, TablesLieInTheOrderOfTheirNumbers) {
  State foreign;
  for (const int k : {0, 2, 10})
    foreign[fmt::format("node_encoder.atom_embedding_list.{}.weight", k)] = full_array({1, 2}, k);
  const State state = network_state(config_for("gcn", Encoder::kAtom), foreign);
  // As texts, "10" would come before "2".
  EXPECT_TRUE(state.at("encoder.weight")
                  .equals(NdArray::concat(
                      {full_array({1, 2}, 0), full_array({1, 2}, 2), full_array({1, 2}, 10)})));
}

TEST(ForeignState, UnknownNamesAreRefused) {
  for (const char* name : {"",
                           ".",
                           "..",
                           "weight",
                           "convs",
                           "convs.0",
                           "bns.0",
                           "mlp",
                           "mlp.0",
                           "mlp.0.weight.x",
                           "graph_layers",
                           "graph_layers.0",
                           "graph_layers.0.0",
                           "graph_pred_linear_list.0",
                           "graph_pred_linear_list.0.weight.x",
                           "Embedding.weight",
                           " mlp.0.weight",
                           "convs2.0.bias",
                           "encoders.weight",
                           "body.blocks.0.conv.bias"})
    expect_refused({{name, ones({1})}}, fmt::format("\"{}\"", name));
}

constexpr const char* kBadIndices[] = {"x",   "",     "-1",         "+1",
                                       " 1",  "1 ",   "1x",         "0x1",
                                       "1e1", "\xff", "2147483648", "99999999999999999999"};

void expect_indices_refused(std::initializer_list<const char*> names) {
  for (const char* index : kBadIndices)
    for (const char* name : names) {
      const std::string full = fmt::format(fmt::runtime(name), index);
      SCOPED_TRACE(full);
      expect_refused({{full, ones({1})}});
    }
}

TEST(ForeignState, BadIndicesAreRefused) {
  expect_indices_refused(
      {"mlp.{}.weight", "graph_layers.0.{}.bias", "encoder.atom_embedding_list.{}.weight"});
}

TEST(ForeignState, BadNumbersOfLayersAreRefused) {
  expect_indices_refused({"graph_layers.{}.0.bias", "convs.{}.bias", "bns.{}.weight",
                          "graph_pred_linear_list.{}.weight"});
}

// One of the two would be lost.
TEST(ForeignState, TwoTensorsForOnePlaceAreRefused) {
  const NdArray t = ones({1});
  expect_refused({{"embedding.weight", t}, {"embed.weight", t}});
  expect_refused({{"convs.0.bias", t}, {"graph_layers.0.0.bias", t}});
  expect_refused({{"bns.0.bias", t}, {"graph_layers.0.1.bias", t}, {"graph_layers.0.0.bias", t}});
  expect_refused({{"out.weight", t}, {"out.x.weight", t}});
  expect_refused({{"mlp.0.weight", t}, {"mlp.00.weight", t}});
  expect_refused({{"a.atom_embedding_list.1.weight", t}, {"b.atom_embedding_list.1.weight", t}});
}

// Shapes that cannot be put together are an error of ours.
TEST(ForeignState, ShapesThatDoNotFitAreRefused) {
  const auto refused = [](const ModelConfig& config, const State& foreign) {
    try {
      network_state(config, foreign);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kModel) << e.what();
    } catch (const std::exception& e) {
      ADD_FAILURE() << "another exception: " << std::string(e.what()).substr(0, 200);
    }
  };
  ModelConfig egc = config_for("egc-s");
  egc.heads = 2;
  egc.bases = 2;
  const NdArray basis = ones({3, 4});
  const State good = {{"convs.0.bases_weight.0", basis},
                      {"convs.0.bases_weight.1", basis},
                      {"convs.0.comb_weights.weight", ones({4, 3})},
                      {"convs.0.comb_weights.bias", ones({4})}};
  EXPECT_EQ(network_state(egc, good).at("body.blocks.0.conv.bases_lin.weight").shape(),
            (std::vector<int64_t>{8, 3}));
  const auto with = [&](const char* name, const NdArray& tensor) {
    State state = good;
    state[std::string("convs.0.") + name] = tensor;
    return state;
  };
  State lacking = good;
  lacking.erase("convs.0.bases_weight.1");
  refused(egc, lacking);
  refused(egc, with("comb_weights.weight", ones({5, 3})));
  refused(egc, with("comb_weights.bias", ones({})));
  refused(egc, with("bases_weight.1", ones({2, 4})));
  refused(egc, with("bases_weight.1", ones({2, 4, 3})));
  refused(egc, with("bases_weight.1", ones({})));

  refused(config_for("gat"), {{"convs.0.lin_dst.weight", ones({2, 2})}});
  refused(config_for("gat"), {{"convs.0.lin_dst.weight", ones({2, 2})},
                              {"convs.0.lin_src.weight", full_array({2, 2}, 0)}});

  const ModelConfig atom = config_for("gcn", Encoder::kAtom);
  refused(atom, {{"a.atom_embedding_list.0.weight", ones({2, 2})},
                 {"a.atom_embedding_list.1.weight", ones({2, 3})}});
  refused(atom, {{"a.atom_embedding_list.0.weight", ones({})}});
}

// A network whose constant differs would scale every aggregate wrongly, and silently.
TEST(ForeignState, TheDegreesConstantMustBeTheConfigurations) {
  models::ModelConfig config;
  config.model = "pna";
  config.task = models::Task::kNodeClassification;
  config.hidden = 8;
  config.features = 4;
  config.mean_log_degree = 2.0;
  const std::string name = "convs.0.aggr_module.avg_deg_log";
  EXPECT_NO_THROW(exchange::network_state(config, {{name, full_array({1}, 2.00001)}}));
  testing::expect_error(ErrorKind::kModel, {"mean_log_degree", "2.5"}, [&] {
    exchange::network_state(config, {{name, full_array({1}, 2.5)}});
  });
}

}  // namespace
}  // namespace egc
