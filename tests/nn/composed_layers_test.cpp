// Layers composed of ATen calls, message by message, give the outputs and gradients of ours: the
// benchmarks compare what computes the same, and the layers have a second oracle.
#include "egc/nn/composed_layers.h"

#include <gtest/gtest.h>

#include "egc/graph/topologies.h"
#include "tests/core/expect_error.h"
#include "tests/kernels/random_problem.h"
#include "tests/ops/tensors.h"

namespace egc {
namespace {

using testing::relative_difference;

// The output, then the gradients of x and of every parameter.
std::vector<at::Tensor> results_of(const nn::ComposedLayer& layer, torch::nn::Module& module,
                                   const at::Tensor& input, const at::Tensor& upstream) {
  const at::Tensor x = input.clone().requires_grad_();
  module.zero_grad();
  const at::Tensor y = layer(x);
  y.backward(upstream);
  std::vector<at::Tensor> all = {y.detach(), x.grad()};
  for (const at::Tensor& p : module.parameters()) all.push_back(p.grad().clone());
  return all;
}

TEST(ComposedLayers, OutputsAndGradientsAreThoseOfTheLayers) {
  nn::ConvSpec spec;
  spec.in_channels = 8;
  spec.out_channels = 12;
  spec.heads = 4;
  spec.towers = 2;
  spec.mean_log_degree = 1.3;
  spec.activation = nn::WeightActivation::kSoftmax;
  torch::manual_seed(5);
  for (const Csr& graph : {testing::awkward_graph(), make_topology("arxiv-like", 1, 0.003)})
    for (const std::string_view name : nn::composed_layer_names()) {
      const auto conv = nn::make_conv(name, spec);
      const auto module = nn::as_module(conv);
      module->to(at::kDouble);
      const at::Tensor x = at::randn({graph.num_targets(), 8}, at::kDouble);
      const at::Tensor r = at::randn({graph.num_targets(), 12}, at::kDouble);
      const auto ours =
          results_of([&](const at::Tensor& in) { return conv->forward(in, graph); }, *module, x, r);
      const auto composed = results_of(nn::compose_layer(name, spec, conv, graph), *module, x, r);
      ASSERT_EQ(ours.size(), composed.size());
      for (size_t k = 0; k < ours.size(); ++k)
        EXPECT_LE(relative_difference(ours[k], composed[k]), 1e-9) << name << ", tensor " << k;
    }
}

TEST(ComposedLayers, WhatTheyCannotComputeIsRefused) {
  nn::ConvSpec spec;
  spec.in_channels = spec.out_channels = 8;
  const auto refused = [&](const char* name, const Csr& graph,
                           std::initializer_list<std::string> words) {
    testing::expect_error(ErrorKind::kUsage, words,
                          [&] { nn::compose_layer(name, spec, nn::make_conv(name, spec), graph); });
  };
  refused("gcn", testing::awkward_graph(), {"gcn", "gatv2", "egc-m"});
  refused("gat", testing::awkward_graph(true), {"weights"});
  refused("egc-s", Csr::from_edges(2, 3, std::vector<int64_t>{1}, std::vector<int64_t>{0}),
          {"the same nodes"});
}

}  // namespace
}  // namespace egc
