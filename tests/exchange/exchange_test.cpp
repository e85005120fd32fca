// Models from and for other implementations: what goes out comes back, what shapes tell is found,
// what they do not tell is asked for.
#include <gtest/gtest.h>

#include "egc/exchange/infer_config.h"
#include "egc/exchange/states.h"
#include "egc/train/run_config.h"
#include "tests/core/expect_error.h"
#include "tests/models/network_inputs.h"
#include "tests/tensor/arrays.h"

namespace egc {
namespace {

using exchange::ConfigHints;
using models::ModelConfig;
using testing::expect_error;
using testing::expect_same_state;
using testing::ones;

ModelConfig config_of(const std::string& name) {
  return train::read_model_config(std::string(EGC_SOURCE_DIR) + "/configs/" + name + ".json");
}

State state_of(const ModelConfig& config) { return testing::new_network(config)->state(); }

// Every network of the release.
const char* const kNetworks[] = {
    "zinc/egc-s",   "zinc/egc-m",   "zinc/gatv2",      "cifar10/egc-s",   "cifar10/egc-m",
    "molhiv/egc-s", "molhiv/egc-m", "molhiv/gcn",      "molhiv/gat",      "molhiv/gatv2",
    "molhiv/gin",   "molhiv/sage",  "molhiv/mpnn-sum", "molhiv/mpnn-max", "code2/egc-s",
    "code2/gcn",    "arxiv/egc-s",  "arxiv/egc-m",     "arxiv/gat",       "arxiv/sage"};

TEST(AuthorsState, GoesOutAndComesBack) {
  for (const char* name : kNetworks) {
    const ModelConfig config = config_of(name);
    const State own = state_of(config);
    const State back = exchange::network_state(config, exchange::authors_state(config, own));
    SCOPED_TRACE(name);
    expect_same_state(back, own);
  }
}

TEST(AuthorsState, HasTheNamesOfTheRelease) {
  const ModelConfig cifar = config_of("cifar10/egc-m");
  const State state = exchange::authors_state(cifar, state_of(cifar));
  for (const char* name : {"embedding.weight", "embedding.bias", "graph_layers.0.1.bases_weight.3",
                           "graph_layers.3.1.comb_weights.bias", "graph_layers.2.2.running_var",
                           "mlp.4.weight", "mlp.5.num_batches_tracked", "mlp.8.bias"})
    EXPECT_TRUE(state.contains(name)) << name;
  const ModelConfig code = config_of("code2/egc-s");
  const State words = exchange::authors_state(code, state_of(code));
  for (const char* name : {"embedding.attribute_encoder.weight", "token_predictors.4.bias"})
    EXPECT_TRUE(words.contains(name)) << name;
}

TEST(AuthorsState, RefusesWhatTheReleaseDoesNotHave) {
  for (const char* name : {"arxiv/pna", "zinc/ga-mlp"})
    expect_error(ErrorKind::kUsage, {config_of(name).model},
                 [&] { exchange::authors_state(config_of(name), state_of(config_of(name))); });
}

TEST(AuthorsState, RefusesBlocksThatTheReleaseDoesNotHave) {
  const auto refused = [](const auto& change, const std::string& part) {
    ModelConfig c = config_of("zinc/egc-m");
    change(c);
    expect_error(ErrorKind::kUsage, {"cannot export", part},
                 [&] { exchange::authors_state(c, state_of(c)); });
  };
  refused([](ModelConfig& c) { c.feed_forward = 2; }, "feed_forward 2");
  refused([](ModelConfig& c) { c.head_layers = 2; }, "head_layers 2");
  refused([](ModelConfig& c) { c.virtual_node = true; }, "virtual_node");
  refused([](ModelConfig& c) { c.norm = models::Norm::kLayer; }, "norm \"layer\"");
}

TEST(InferConfig, FindsTheNetworksOfTheRelease) {
  for (const char* name : kNetworks) {
    const ModelConfig want = config_of(name);
    ConfigHints hints;
    if (want.model == "egc-m") hints.aggregators = want.aggregators;
    if (want.model.starts_with("mpnn")) hints.model = want.model;
    const ModelConfig got =
        exchange::infer_config(exchange::authors_state(want, state_of(want)), hints);
    EXPECT_EQ(got.task, want.task) << name;
    EXPECT_EQ(got.model, want.model) << name;
    EXPECT_EQ(got.hidden, want.hidden) << name;
    EXPECT_EQ(got.layers, want.layers) << name;
    EXPECT_EQ(got.outputs, want.outputs) << name;
    EXPECT_EQ(got.categories, want.categories) << name;
    EXPECT_EQ(got.features, want.features) << name;
    EXPECT_EQ(got.self_loops, want.self_loops) << name;
    EXPECT_EQ(got.dropout_at.conv_input, want.dropout_at.conv_input) << name;
    // The same parameters: heads, bases and everything else that has a shape.
    models::make_network(got)->load_state(state_of(want), name);
  }
}

TEST(InferConfig, ReadsPyTorchGeometricsForm) {
  // Their layer has all bases in one matrix; the names of the network around it are the authors'.
  const ModelConfig want = config_of("zinc/egc-m");
  State pyg;
  for (const auto& [name, tensor] : state_of(want)) {
    std::string there = name;
    if (name.starts_with("body.blocks.")) {
      const size_t dot = name.find('.', 12);
      const bool conv = name.compare(dot + 1, 5, "conv.") == 0;
      there = "graph_layers." + name.substr(12, dot - 12) + (conv ? ".0" : ".1") +
              name.substr(name.find('.', dot + 1));
    } else if (name == "encoder.weight") {
      there = "embedding.weight";
    } else if (name.starts_with("head.mlp.linears.")) {
      there = "mlp." + std::to_string(4 * (name[17] - '0')) + name.substr(18);
    } else if (name.starts_with("head.mlp.norms.")) {
      there = "mlp." + std::to_string(4 * (name[15] - '0') + 1) + name.substr(16);
    }
    pyg[there] = tensor;
  }
  ConfigHints hints;
  hints.aggregators = want.aggregators;
  expect_error(ErrorKind::kModel, {"--heads"}, [&] { exchange::infer_config(pyg, hints); });
  hints.heads = 4;
  const ModelConfig got = exchange::infer_config(pyg, hints);
  EXPECT_EQ(got.bases, 4);
  EXPECT_EQ(got.self_loops, SelfLoops::kAll);
  const auto network = models::make_network(got);
  network->load_state(exchange::network_state(got, pyg), "");
  expect_same_state(network->state(), state_of(want));
}

TEST(InferConfig, AsksForWhatShapesDoNotTell) {
  const auto refuse = [](const char* name, const ConfigHints& hints,
                         std::initializer_list<std::string> parts) {
    const ModelConfig config = config_of(name);
    const State state = exchange::authors_state(config, state_of(config));
    expect_error(ErrorKind::kModel, parts, [&] { exchange::infer_config(state, hints); });
  };
  refuse("zinc/egc-m", {}, {"3 aggregators", "--aggregators"});
  refuse("molhiv/mpnn-sum", {}, {"mpnn-sum and mpnn-max", "--model"});
  ConfigHints two;
  two.aggregators = AggregatorSet{Aggregator::kAdd, Aggregator::kMax};
  refuse("zinc/egc-m", two, {"3 aggregators, but --aggregators has 2"});
  ConfigHints other;
  other.model = "gin";
  refuse("molhiv/gcn", other, {"that of gcn, not of gin"});
  for (const State& state : {State{}, State{{"weight", ones({2, 2})}},
                             State{{"convs.0.bias", ones({2})}, {"embed.weight", ones({4, 4})}},
                             State{{"convs.0.comb_weights.weight", ones({2})},
                                   {"embed.weight", ones({4, 4})},
                                   {"out.weight", ones({2, 4})}}})
    expect_error(ErrorKind::kModel, {"the state dict has no"},
                 [&] { exchange::infer_config(state, {}); });
}

}  // namespace
}  // namespace egc
