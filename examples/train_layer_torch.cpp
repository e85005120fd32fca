// A network of one's own around EgcConv, trained with LibTorch's optimiser: which of two
// communities a node belongs to, from noisy features and the edges, half of the nodes unseen.
#include <egc/torch/egc_conv.h>
#include <egc/torch/graph.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>

#include <cstdio>

struct Net : torch::nn::Module {
  Net()
      : conv(register_module("conv", egc::torch::EgcConv(egc::nn::EgcConvOptions::egc_m(
                                         8, 32,
                                         {egc::Aggregator::kSymnorm, egc::Aggregator::kMax,
                                          egc::Aggregator::kStd})))),
        head(register_module("head", torch::nn::Linear(32, 2))) {}
  at::Tensor forward(const at::Tensor& x, const egc::Csr& graph) {
    return head(at::relu(conv(x, graph)));
  }
  egc::torch::EgcConv conv;
  torch::nn::Linear head;
};

int main() {
  constexpr int64_t kNodes = 1000;
  torch::manual_seed(0);
  const at::Tensor labels = at::arange(kNodes).remainder(2);
  const at::Tensor x = at::randn({kNodes, 8}) + 0.6 * labels.unsqueeze(1);
  // Ten neighbours of every node, two of them of the other community.
  const at::Tensor targets = at::arange(kNodes).repeat_interleave(10);
  const at::Tensor k = at::arange(1, 11).repeat({kNodes});
  const at::Tensor sources = (targets + 34 * k + k.gt(8).to(at::kLong)).remainder(kNodes);
  const egc::Csr graph = egc::torch::graph_from_edge_index(at::stack({sources, targets}), kNodes);

  Net net;
  torch::optim::Adam adam(net.parameters(), 0.01);
  const at::Tensor seen = at::arange(kNodes / 2);
  for (int step = 0; step < 60; ++step) {
    adam.zero_grad();
    const at::Tensor out = net.forward(x, graph).index_select(0, seen);
    const at::Tensor loss = at::cross_entropy_loss(out, labels.index_select(0, seen));
    loss.backward();
    adam.step();
    if (step % 20 == 0) std::printf("step %3d  loss %.3f\n", step, loss.item<double>());
  }
  const at::NoGradGuard no_grad;
  const at::Tensor right = net.forward(x, graph).argmax(1).eq(labels).slice(0, kNodes / 2);
  const double accuracy = right.to(at::kFloat).mean().item<double>();
  std::printf("accuracy on unseen nodes %.1f %%\n", 100 * accuracy);
  return accuracy > 0.85 ? 0 : 1;
}
