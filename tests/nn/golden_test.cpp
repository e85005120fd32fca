// Every layer against numbers of PyTorch Geometric and of the authors' release, through every
// instruction set.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "egc/kernels/target.h"
#include "egc/nn/conv_table.h"
#include "egc/nn/regc_conv.h"
#include "egc/nn/rgcn_conv.h"
#include "tests/nn/golden_files.h"

namespace egc {
namespace {

using testing::golden_files;
using testing::golden_files_are_ours;
using testing::golden_name;
using testing::relative_difference;
using testing::tensors_under;

using Metadata = std::map<std::string, std::string>;

std::string layer_of(const Metadata& meta) {
  const auto it = meta.find("layer");
  return it == meta.end() || it->second.starts_with("egc") ? "egc" : it->second;
}

nn::ConvSpec spec_of(const Metadata& meta) {
  nn::ConvSpec s;
  s.in_channels = std::stoll(meta.at("in_channels"));
  s.out_channels = std::stoll(meta.at("out_channels"));
  const std::string layer = layer_of(meta);
  if (meta.contains("heads")) s.heads = std::stoll(meta.at("heads"));
  if (meta.contains("bases")) s.bases = std::stoll(meta.at("bases"));
  if (meta.contains("towers")) s.towers = std::stoll(meta.at("towers"));
  if (meta.contains("aggregators") && layer != "pna")
    s.aggregators = parse_aggregators(nlohmann::json::parse(meta.at("aggregators")));
  if (meta.contains("self_loops")) {
    const std::string& loops = meta.at("self_loops");
    s.self_loops = loops == "symnorm only" ? SelfLoops::kSymnorm : parse_self_loops(loops);
  }
  if (meta.contains("activation"))
    s.activation = nn::parse_weight_activation(meta.at("activation"));
  if (meta.contains("degree_histogram")) {
    // PyTorch Geometric computes this constant in float32 even in a float64 layer.
    const std::vector<float> histogram = nlohmann::json::parse(meta.at("degree_histogram"));
    const at::Tensor nodes = at::tensor(histogram);
    const at::Tensor logs = (at::arange(nodes.size(0), at::kFloat) + 1).log();
    s.mean_log_degree = ((logs * nodes).sum() / nodes.sum()).item<double>();
  }
  return s;
}

nn::ForeignShape weighting(const nn::ConvSpec& s) {
  return {s.heads.value_or(1), s.bases.value_or(1), s.aggregators ? s.aggregators->size() : 1};
}

class GoldenTest : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenTest, OutputAndGradients) {
  const SafetensorsFile file(GetParam());
  const std::string layer = layer_of(file.metadata());
  const nn::ConvSpec spec = spec_of(file.metadata());
  const nn::State params = tensors_under(file, "param.");
  // The authors' symmetric normalisation was computed in float32.
  const bool coarse =
      params.contains("bases_weight.0") && spec.aggregators->has(Aggregator::kSymnorm);
  const double tolerance = coarse ? 1e-6 : 1e-9;
  const auto get = [&](const char* name) { return nn::to_tensor(file.at(name)); };
  const Csr graph = testing::graph_of(get("in.edge_index"), get("in.x").size(0));

  const auto conv = nn::make_conv(layer, spec);
  const auto module = nn::as_module(conv);
  module->to(at::kDouble);
  nn::load_state(*module, nn::conv_state(layer, weighting(spec), params), "golden");
  const nn::State grads = nn::conv_state(layer, weighting(spec), tensors_under(file, "grad."));
  for (const std::string& target : kernels::available_targets()) {
    kernels::force_target(target);
    module->zero_grad();
    const at::Tensor x = get("in.x").requires_grad_();
    const at::Tensor y = conv->forward(x, graph);
    EXPECT_LE(relative_difference(y, get("out.y")), tolerance) << target;
    (y * get("in.upstream")).sum().backward();
    EXPECT_LE(relative_difference(x.grad(), grads.at("x")), tolerance) << target;
    for (const auto& p : module->named_parameters())
      EXPECT_LE(relative_difference(p.value().grad(), grads.at(p.key())), tolerance)
          << target << " " << p.key();
    at::NoGradGuard no_grad;  // the inference path is another
    EXPECT_LE(relative_difference(conv->forward(x, graph), get("out.y")), tolerance) << target;
  }
  kernels::force_target("");
}

INSTANTIATE_TEST_SUITE_P(Layers, GoldenTest,
                         ::testing::ValuesIn(golden_files({"egc_", "gcn_", "gin_", "sage_", "gat_",
                                                           "gatv2_", "mpnn_", "pna_"})),
                         [](const auto& info) { return golden_name(info.param); });

class GoldenHeteroTest : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenHeteroTest, OutputAndGradients) {
  const SafetensorsFile file(GetParam());
  const Metadata& meta = file.metadata();
  nn::ConvSpec spec = spec_of(meta);
  const std::vector<std::string> types = nlohmann::json::parse(meta.at("node_types"));
  const std::vector<std::string> relations = nlohmann::json::parse(meta.at("relations"));
  spec.schema.node_types = types;
  spec.schema.relations.clear();
  HeteroGraph graph;
  std::vector<at::Tensor> x;
  for (const std::string& type : types) {
    x.push_back(nn::to_tensor(file.at("in.x." + type)).requires_grad_());
    graph.num_nodes.push_back(x.back().size(0));
  }
  // A relation's name begins with its source and ends with its target.
  for (const std::string& r : relations) {
    HeteroSchema::Relation relation{r, -1, -1};
    for (size_t t = 0; t < types.size(); ++t) {
      if (r.starts_with(types[t] + "_")) relation.source = static_cast<int64_t>(t);
      if (r.ends_with("_" + types[t])) relation.target = static_cast<int64_t>(t);
    }
    spec.schema.relations.push_back(relation);
    const at::Tensor edges = nn::to_tensor(file.at("in.edge_index." + r));
    const auto n = static_cast<size_t>(edges.size(1));
    graph.relations.push_back(relation_from_edges(relation, graph.num_nodes,
                                                  {edges[0].data_ptr<int64_t>(), n},
                                                  {edges[1].data_ptr<int64_t>(), n}));
  }
  const std::string layer = meta.at("layer");
  const auto conv = nn::make_conv(layer, spec);
  const auto module = nn::as_module(conv);
  module->to(at::kDouble);
  nn::load_state(*module, nn::conv_state(layer, weighting(spec), tensors_under(file, "param.")),
                 "golden");
  const auto y = std::dynamic_pointer_cast<nn::RelationalConv>(conv)->forward_hetero(x, graph);
  at::Tensor total;
  for (size_t t = 0; t < types.size(); ++t) {
    EXPECT_LE(relative_difference(y[t], nn::to_tensor(file.at("out.y." + types[t]))), 1e-9);
    const at::Tensor part = (y[t] * nn::to_tensor(file.at("in.upstream." + types[t]))).sum();
    total = total.defined() ? total + part : part;
  }
  total.backward();
  const nn::State grads = nn::conv_state(layer, weighting(spec), tensors_under(file, "grad."));
  for (size_t t = 0; t < types.size(); ++t)
    EXPECT_LE(relative_difference(x[t].grad(), grads.at("x." + types[t])), 1e-9) << types[t];
  for (const auto& p : module->named_parameters())
    EXPECT_LE(relative_difference(p.value().grad(), grads.at(p.key())), 1e-9) << p.key();
}

INSTANTIATE_TEST_SUITE_P(Layers, GoldenHeteroTest,
                         ::testing::ValuesIn(golden_files({"rgcn_", "regc_"})),
                         [](const auto& info) { return golden_name(info.param); });

// Other files may be of one kind only.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GoldenTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GoldenHeteroTest);

// An empty directory must not pass as "all golden tests pass".
TEST(GoldenFiles, AreThere) {
  EXPECT_GE(golden_files().size(), 1U);
  if (!golden_files_are_ours()) return;
  EXPECT_GE(golden_files({"egc_"}).size(), 119U);
  EXPECT_GE(golden_files({"gcn_", "gin_", "sage_", "gat_", "gatv2_", "mpnn_", "pna_"}).size(), 24U);
  EXPECT_EQ(golden_files({"rgcn_", "regc_"}).size(), 2U);
}

}  // namespace
}  // namespace egc
