// EgcConv with features of edges as a module of LibTorch: numbers beside the engine's layer and
// finite differences, names, copies, errors.
#include <gtest/gtest.h>
#include <torch/serialize.h>

#include <sstream>

#include "egc/torch/autograd.h"
#include "egc/torch/composed.h"
#include "egc/torch/egc_conv.h"
#include "egc/torch/graph.h"
#include "tests/core/expect_error.h"
#include "tests/kernels/random_problem.h"
#include "tests/torch/tensors.h"

namespace egc {
namespace {

using nn::EgcConvOptions;
using testing::aggregator_set;
using testing::expect_error;
using testing::numeric_gradient;
using testing::relative_difference;
using torch::EgcConv;

constexpr int64_t kNodes = 7;

struct EdgeCase {
  at::Tensor edge_index =
      at::tensor({0, 1, 2, 3, 4, 5, 0, 2, 2, 1, 1, 2, 3, 4, 5, 0, 3, 2, 3, 2}, at::kLong)
          .view({2, 10});
  at::Tensor categories = at::stack(
      {at::arange(10, at::kLong).remainder(4), at::arange(10, at::kLong).remainder(3)}, 1);
  at::Tensor numbers = at::arange(20, at::kDouble).sin().view({10, 2});

  Csr graph(const nn::EdgeSchema& schema) const {
    return torch::graph_from_edge_index(edge_index, kNodes, {},
                                        {schema.categories.empty() ? at::Tensor() : categories,
                                         schema.numbers > 0 ? numbers : at::Tensor()});
  }
};

EgcConvOptions options_with(nn::EdgeSchema schema, bool relu) {
  EgcConvOptions o(3, 4);
  o.heads = o.bases = 2;
  o.aggregators = aggregator_set(127);
  o.edges = std::move(schema);
  o.relu_messages = relu;
  return o;
}

EgcConv random_layer(const EgcConvOptions& o) {
  EgcConv conv(o);
  conv->to(at::kDouble);
  const at::NoGradGuard no_grad;
  for (const at::Tensor& p : conv->parameters()) at::Tensor(p).normal_();
  return conv;
}

const nn::EdgeSchema kSchemas[] = {{{5, 3}, 0}, {{}, 2}, {{5, 3}, 2}};

TEST(EgcConvTorchEdges, AgreesWithTheEnginesLayer) {
  at::manual_seed(1);
  for (const nn::EdgeSchema& schema : kSchemas)
    for (const bool relu : {false, true}) {
      const EgcConvOptions o = options_with(schema, relu);
      const EgcConv conv = random_layer(o);
      nn::EgcConv engine(o);
      engine.to(DType::kF64);
      const auto own = conv->named_parameters();
      ASSERT_EQ(own.size(), engine.named_parameters().size());
      for (const auto& [name, p] : engine.named_parameters()) {
        ASSERT_NE(own.find(name), nullptr) << name;
        p->value.copy_from(
            torch::borrow("test", own[name]).reshaped(p->value.rows(), p->value.columns()));
      }
      const Csr graph = EdgeCase().graph(schema);
      const at::Tensor x = at::randn({kNodes, 3}, at::kDouble);
      Tape tape = Tape::inference();
      const Tensor y = engine.forward(tape, torch::borrow("test", x), graph);
      EXPECT_TRUE(at::equal(EgcConv(conv)(x, graph), torch::to_torch(y)));
    }
}

TEST(EgcConvTorchEdges, GradientsAreThoseOfFiniteDifferences) {
  at::manual_seed(2);
  for (const nn::EdgeSchema& schema : kSchemas) {
    EgcConv conv = random_layer(options_with(schema, true));
    const Csr graph = EdgeCase().graph(schema);
    const at::Tensor x = at::randn({kNodes, 3}, at::kDouble).requires_grad_();
    const at::Tensor r = at::randn({kNodes, 4}, at::kDouble);
    const auto run = [&] { return conv(x, graph); };
    (run() * r).sum().backward();
    EXPECT_LE(relative_difference(x.grad(), numeric_gradient(run, x, r)), 1e-5);
    for (const auto& p : conv->named_parameters())
      EXPECT_LE(relative_difference(p.value().grad(), numeric_gradient(run, p.value(), r)), 1e-5)
          << p.key();
  }
}

TEST(EgcConvTorchEdges, NamesCopiesAndFiles) {
  EgcConv conv = random_layer(options_with(kSchemas[2], true));
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto& p : conv->named_parameters())
    if (p.key().starts_with("edges.")) shapes[p.key()] = p.value().sizes().vec();
  EXPECT_EQ(shapes, (std::map<std::string, std::vector<int64_t>>{{"edges.table", {8, 4}},
                                                                 {"edges.self_edge", {4}},
                                                                 {"edges.lin.weight", {4, 2}},
                                                                 {"edges.lin.bias", {4}}}));
  const Csr graph = EdgeCase().graph(kSchemas[2]);
  const at::Tensor x = at::randn({kNodes, 3}, at::kDouble);
  const at::NoGradGuard no_grad;
  const at::Tensor y = conv(x, graph);
  EgcConv copy(std::dynamic_pointer_cast<torch::EgcConvImpl>(conv->clone()));
  EXPECT_TRUE(at::equal(copy(x, graph), y));
  std::stringstream file;
  ::torch::save(conv, file);
  EgcConv loaded = random_layer(options_with(kSchemas[2], true));
  ::torch::load(loaded, file);
  EXPECT_TRUE(at::equal(loaded(x, graph), y));
  std::stringstream printed;
  printed << conv;
  EXPECT_NE(printed.str().find("edges=2 categorical features"), std::string::npos) << printed.str();
}

TEST(EgcConvTorchEdges, BadInputIsNamed) {
  const EdgeCase edges;
  const at::Tensor x = at::ones({kNodes, 3}, at::kDouble);
  EgcConv conv = random_layer(options_with(kSchemas[0], true));
  EgcConv plain(3, 8);
  plain->to(at::kDouble);
  expect_error(ErrorKind::kUsage, {"options.edges must describe"},
               [&] { plain(x, edges.graph(kSchemas[0])); });
  expect_error(ErrorKind::kData, {"takes edges with 2 categorical features", "got 0"},
               [&] { conv(x, edges.graph({})); });
  expect_error(ErrorKind::kData, {"expected a category from 0 to 2, got 3"}, [&] {
    conv(x, torch::graph_from_edge_index(edges.edge_index, kNodes, {}, {edges.categories + 1, {}}));
  });
  torch::EgcConvTensors t{conv->bases_lin->weight, conv->comb_lin->weight, conv->comb_lin->bias,
                          conv->bias};
  expect_error(ErrorKind::kUsage, {"options.edges needs edges.table"},
               [&] { torch::egc_conv(conv->options, t, x, edges.graph(kSchemas[0])); });
  expect_error(ErrorKind::kUsage, {"composed_egc: features of edges are not supported"},
               [&] { torch::composed_egc(conv->options, t, x, edges.graph(kSchemas[0])); });
  const auto refused = [&](std::initializer_list<std::string> words, const torch::EdgeAttr& attr) {
    expect_error(ErrorKind::kUsage, words,
                 [&] { torch::graph_from_edge_index(edges.edge_index, kNodes, {}, attr); });
  };
  refused({"10 edges need categories of integers", "Double"}, {edges.numbers, {}});
  refused({"10 edges need numbers of floats", "Long"}, {{}, edges.categories});
  refused({"10 edges need numbers", "[3, 2]"}, {{}, edges.numbers.narrow(0, 0, 3)});
  refused({"constants"}, {{}, edges.numbers.clone().requires_grad_()});
  refused({"categories of edges must be from 0"}, {edges.categories - 1, {}});
  refused({"categories of edges must be from 0"}, {edges.categories + (int64_t{1} << 32), {}});
}

}  // namespace
}  // namespace egc
