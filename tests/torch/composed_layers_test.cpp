// Layers composed of ATen calls, message by message, give the outputs and gradients of ours: the
// benchmarks compare what computes the same, and the layers have a second oracle.
#include <gtest/gtest.h>

#include "egc/graph/topologies.h"
#include "egc/torch/autograd.h"
#include "egc/torch/composed.h"
#include "tests/core/expect_error.h"
#include "tests/kernels/random_problem.h"
#include "tests/torch/tensors.h"

namespace egc {
namespace {

using testing::relative_difference;

TEST(ComposedLayers, OutputsAndGradientsAreThoseOfTheLayers) {
  nn::ConvSpec spec;
  spec.in_channels = 8;
  spec.out_channels = 12;
  spec.heads = 4;
  spec.towers = 2;
  spec.mean_log_degree = 1.3;
  spec.activation = WeightActivation::kSoftmax;
  at::manual_seed(5);
  Rng rng(5);
  for (const Csr& graph : {testing::awkward_graph(), make_topology("arxiv-like", 1, 0.003)})
    for (const std::string_view name : torch::composed_layer_names()) {
      const std::shared_ptr<nn::Conv> conv = nn::make_conv(name, spec);
      conv->to(DType::kF64);
      conv->reset_parameters(rng);
      const at::Tensor x = at::randn({graph.num_targets(), 8}, at::kDouble).requires_grad_();
      const at::Tensor r = at::randn({graph.num_targets(), 12}, at::kDouble);
      const auto compare = [&](const Tensor& ours, const at::Tensor& composed, const char* what) {
        EXPECT_LE(relative_difference(torch::to_torch(ours).view(composed.sizes()), composed), 1e-9)
            << name << ", " << what;
      };

      Tape tape = Tape::differentiation();
      const Tensor input = torch::borrow("test", x).with_gradient();
      const Tensor ours = conv->forward(tape, input, graph);
      tape.backward(ours, torch::borrow("test", r));
      const torch::ComposedLayer layer = torch::compose_layer(name, spec, *conv, graph);
      const at::Tensor composed = layer.forward(x);
      composed.backward(r);
      compare(ours, composed.detach(), "output");
      compare(input.gradient()->value(), x.grad(), "x");
      ASSERT_EQ(layer.parameters.size(), conv->named_parameters().size());
      for (const auto& [parameter, p] : conv->named_parameters())
        compare(p->grad(), layer.parameters.at(parameter).grad(), parameter.c_str());
    }
}

TEST(ComposedLayers, WhatTheyCannotComputeIsRefused) {
  nn::ConvSpec spec;
  spec.in_channels = spec.out_channels = 8;
  const auto refused = [&](const char* name, const Csr& graph,
                           std::initializer_list<std::string> words) {
    testing::expect_error(ErrorKind::kUsage, words, [&] {
      torch::compose_layer(name, spec, *nn::make_conv(name, spec), graph);
    });
  };
  refused("gcn", testing::awkward_graph(), {"gcn", "gatv2", "egc-m"});
  refused("gat", testing::awkward_graph(true), {"gat", "weights"});
  refused("egc-s", Csr::from_edges(2, 3, std::vector<int64_t>{1}, std::vector<int64_t>{0}),
          {"the same nodes"});
}

}  // namespace
}  // namespace egc
