// Every layer against numbers of PyTorch Geometric and of the authors' release, through every
// instruction set.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "egc/kernels/target.h"
#include "egc/nn/conv_table.h"
#include "egc/nn/foreign_names.h"
#include "egc/nn/relational_conv.h"
#include "tests/nn/golden_files.h"
#include "tests/tensor/tensors.h"

namespace egc {
namespace {

using testing::close;
using testing::golden_files;
using testing::golden_files_are_ours;
using testing::golden_name;
using testing::tensors_under;

using Metadata = std::map<std::string, std::string>;

std::string layer_of(const Metadata& meta) {
  const auto it = meta.find("layer");
  return it == meta.end() || it->second.starts_with("egc") ? "egc" : it->second;
}

nn::ConvSpec spec_of(const Metadata& meta) {
  nn::ConvSpec s;
  if (meta.contains("in_channels")) {
    s.in_channels = std::stoll(meta.at("in_channels"));
    s.out_channels = std::stoll(meta.at("out_channels"));
  }
  const std::string layer = layer_of(meta);
  if (meta.contains("message")) s.relu_messages = meta.at("message") == "relu";
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
    float nodes = 0;
    double logs = 0;
    for (size_t degree = 0; degree < histogram.size(); ++degree) {
      nodes += histogram[degree];
      logs += histogram[degree] * std::log(static_cast<float>(degree + 1));
    }
    s.mean_log_degree = static_cast<float>(logs) / nodes;
  }
  return s;
}

nn::ForeignShape weighting(const nn::ConvSpec& s) {
  return {s.heads.value_or(1), s.bases.value_or(1), s.aggregators ? s.aggregators->size() : 1};
}

Tensor tensor_at(const SafetensorsFile& file, const std::string& name) {
  return NdArray(file.at(name)).to_tensor(DType::kF64);
}

// A parameter or its gradient from a file, which may have it under another shape.
Tensor shaped_as(const Tensor& like, const NdArray& values) {
  return values.to_tensor(DType::kF64).reshaped(like.rows(), like.columns());
}

// In float64, with the file's parameters.
std::shared_ptr<nn::Conv> layer_with(const std::string& layer, const nn::ConvSpec& spec,
                                     const State& params) {
  auto conv = nn::make_conv(layer, spec);
  conv->to(DType::kF64);
  conv->load_state(nn::conv_state(layer, weighting(spec), params), "golden");
  return conv;
}

class GoldenTest : public ::testing::TestWithParam<std::string> {
 protected:
  void TearDown() override { kernels::force_target(""); }
};

TEST_P(GoldenTest, OutputAndGradients) {
  const SafetensorsFile file(GetParam());
  const std::string layer = layer_of(file.metadata());
  const nn::ConvSpec spec = spec_of(file.metadata());
  const State params = tensors_under(file, "param.");
  // The authors' symmetric normalisation was computed in float32.
  const bool coarse =
      params.contains("bases_weight.0") && spec.aggregators->has(Aggregator::kSymnorm);
  const double tolerance = coarse ? 1e-6 : 1e-9;
  const Tensor x = tensor_at(file, "in.x").with_gradient();
  const Tensor want = tensor_at(file, "out.y");
  const Csr graph = testing::graph_of(NdArray(file.at("in.edge_index")), x.rows());
  const auto conv = layer_with(layer, spec, params);
  const State grads = nn::conv_state(layer, weighting(spec), tensors_under(file, "grad."));
  for (const std::string& target : kernels::available_targets()) {
    kernels::force_target(target);
    Tape tape = Tape::training(0);
    const Tensor y = conv->forward(tape, x, graph);
    EXPECT_TRUE(close(y, want, tolerance)) << target;
    tape.backward(y, tensor_at(file, "in.upstream"));
    EXPECT_TRUE(close(x.gradient()->take(), shaped_as(x, grads.at("x")), tolerance)) << target;
    for (const auto& [name, p] : conv->named_parameters())
      EXPECT_TRUE(
          close(p->value.gradient()->take(), shaped_as(p->value, grads.at(name)), tolerance))
          << target << " " << name;
    Tape inference = Tape::inference();  // another path
    EXPECT_TRUE(close(conv->forward(inference, x, graph), want, tolerance)) << target;
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, GoldenTest,
                         ::testing::ValuesIn(golden_files({"egc_authors_", "egc_pyg_", "gcn_",
                                                           "gin_", "sage_", "gat_", "gatv2_",
                                                           "mpnn_", "pna_"})),
                         [](const auto& info) { return golden_name(info.param); });

// EGC with edge features. The files name the encoder's parameters otherwise.
std::string edge_name(std::string name) {
  if (name == "edge_table") return "edges.table";
  if (name == "self_edge") return "edges.self_edge";
  if (name.starts_with("edge_lin.")) return "edges.lin." + name.substr(9);
  return name;
}

State edge_names(const State& from) {
  State out;
  for (const auto& [name, values] : from) out.emplace(edge_name(name), values);
  return out;
}

// With the features of edges.
Csr edge_graph(const SafetensorsFile& file, int64_t nodes, nn::EdgeSchema& schema) {
  EdgeFeatures features;
  const NdArray attr(file.at("in.edge_attr"));
  if (file.metadata().at("edge_features") == "categorical") {
    const auto types = attr.values<int64_t>();
    schema.categories = {NdArray(file.at("param.edge_table")).to_tensor(DType::kF64).rows()};
    features.type.assign(types.begin(), types.end());
    features.types =
        std::make_shared<const EdgeTypes>(EdgeTypes::of_one_feature(schema.categories[0]));
  } else {
    const Tensor values = attr.to_tensor(DType::kF64);
    features.columns = schema.numbers = values.columns();
    features.exact.assign(values.data<double>(), values.data<double>() + values.size());
  }
  const NdArray edge_index(file.at("in.edge_index"));
  const auto ends = edge_index.values<int64_t>();
  const size_t edges = ends.size() / 2;
  return Csr::from_edges(nodes, ends.first(edges), ends.last(edges), {}, features);
}

class GoldenEdgeTest : public GoldenTest {};

TEST_P(GoldenEdgeTest, OutputAndGradients) {
  const SafetensorsFile file(GetParam());
  nn::ConvSpec spec = spec_of(file.metadata());
  const Tensor x = tensor_at(file, "in.x").with_gradient();
  const Tensor want = tensor_at(file, "out.y");
  spec.in_channels = x.columns();
  spec.out_channels = want.columns();
  const Csr graph = edge_graph(file, x.rows(), spec.edges);
  const State params = edge_names(tensors_under(file, "param."));
  const State grads = edge_names(tensors_under(file, "grad."));
  const auto conv = nn::make_conv("egc", spec);
  conv->to(DType::kF64);
  conv->load_state(params, "golden");
  for (const std::string& target : kernels::available_targets()) {
    kernels::force_target(target);
    Tape tape = Tape::training(0);
    const Tensor y = conv->forward(tape, x, graph);
    EXPECT_TRUE(close(y, want, 1e-9)) << target;
    tape.backward(y, tensor_at(file, "in.upstream"));
    EXPECT_TRUE(close(x.gradient()->take(), shaped_as(x, grads.at("x")), 1e-9)) << target;
    for (const auto& [name, p] : conv->named_parameters())
      EXPECT_TRUE(close(p->value.gradient()->take(), shaped_as(p->value, grads.at(name)), 1e-9))
          << target << " " << name;
    Tape inference = Tape::inference();
    EXPECT_TRUE(close(conv->forward(inference, x, graph), want, 1e-9)) << target;
  }
}

INSTANTIATE_TEST_SUITE_P(Edges, GoldenEdgeTest, ::testing::ValuesIn(golden_files({"egc_edge_"})),
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
  std::vector<Tensor> x;
  for (const std::string& type : types) {
    x.push_back(tensor_at(file, "in.x." + type).with_gradient());
    graph.num_nodes.push_back(x.back().rows());
  }
  // A relation's name begins with its source and ends with its target.
  for (const std::string& r : relations) {
    HeteroSchema::Relation relation{r, -1, -1};
    for (size_t t = 0; t < types.size(); ++t) {
      if (r.starts_with(types[t] + "_")) relation.source = static_cast<int64_t>(t);
      if (r.ends_with("_" + types[t])) relation.target = static_cast<int64_t>(t);
    }
    spec.schema.relations.push_back(relation);
    const NdArray edges(file.at("in.edge_index." + r));
    const auto ends = edges.values<int64_t>();
    const size_t n = ends.size() / 2;
    graph.relations.push_back(
        relation_from_edges(relation, graph.num_nodes, ends.first(n), ends.last(n)));
  }
  const std::string layer = meta.at("layer");
  const auto conv = layer_with(layer, spec, tensors_under(file, "param."));
  const State grads = nn::conv_state(layer, weighting(spec), tensors_under(file, "grad."));
  auto& relational = dynamic_cast<nn::RelationalConv&>(*conv);
  // A pass goes backwards from one output: the gradients of the types' outputs add up.
  for (size_t t = 0; t < types.size(); ++t) {
    Tape tape = Tape::training(0);
    const std::vector<Tensor> y = relational.forward_hetero(tape, x, graph);
    EXPECT_TRUE(close(y[t], tensor_at(file, "out.y." + types[t]), 1e-9)) << types[t];
    tape.backward(y[t], tensor_at(file, "in.upstream." + types[t]));
    Tape inference = Tape::inference();
    const Tensor only = relational.forward_hetero(inference, x, graph, static_cast<int64_t>(t))[t];
    EXPECT_TRUE(close(only, tensor_at(file, "out.y." + types[t]), 1e-9)) << types[t];
  }
  for (size_t t = 0; t < types.size(); ++t)
    EXPECT_TRUE(close(x[t].gradient()->value(), shaped_as(x[t], grads.at("x." + types[t])), 1e-9))
        << types[t];
  for (const auto& [name, p] : conv->named_parameters())
    EXPECT_TRUE(close(p->grad(), shaped_as(p->value, grads.at(name)), 1e-9)) << name;
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
  EXPECT_GE(golden_files({"egc_authors_", "egc_pyg_"}).size(), 119U);
  EXPECT_GE(golden_files({"gcn_", "gin_", "sage_", "gat_", "gatv2_", "mpnn_", "pna_"}).size(), 24U);
  EXPECT_EQ(golden_files({"rgcn_", "regc_"}).size(), 2U);
  EXPECT_EQ(golden_files({"egc_edge_"}).size(), 48U);
}

}  // namespace
}  // namespace egc
