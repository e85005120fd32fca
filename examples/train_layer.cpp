// A network of one's own around EgcConv: which of two communities a node belongs to, from noisy
// features and the edges, half of the nodes unseen.
#include <egc/egc.hpp>

#include <cmath>
#include <cstdio>
#include <random>

struct Net : egc::nn::Module {
  Net() {
    using egc::Aggregator;
    conv =
        add_module("conv", std::make_shared<egc::nn::EgcConv>(egc::nn::EgcConvOptions::egc_m(
                               8, 32, {Aggregator::kSymnorm, Aggregator::kMax, Aggregator::kStd})));
    head = add_module("head", std::make_shared<egc::nn::Linear>(32, 2));
  }
  egc::Tensor forward(egc::Tape& tape, const egc::Tensor& x, const egc::Csr& graph) {
    const egc::Tensor hidden = conv->forward(tape, x, graph);
    return head->forward(tape, egc::ops::relu_dropout(tape, hidden, /*p=*/0.1));
  }
  std::shared_ptr<egc::nn::EgcConv> conv;
  std::shared_ptr<egc::nn::Linear> head;
};

int main() {
  constexpr int64_t kNodes = 1000, kSeen = kNodes / 2;
  egc::Rng rng(/*seed=*/0);
  std::normal_distribution<float> noise;
  const auto label_of = [](int64_t node) { return node % 2; };
  const egc::Tensor x = egc::Tensor::empty(kNodes, 8, egc::DType::kF32);
  for (int64_t k = 0; k < x.size(); ++k)
    x.data<float>()[k] = noise(rng) + 0.6F * static_cast<float>(label_of(k / 8));
  std::vector<int64_t> source, target;
  for (int64_t i = 0; i < kNodes; ++i)
    for (int64_t k = 1; k <= 10; ++k) {  // ten neighbours, two of them of the other community
      source.push_back((i + 2 * k * 17 + (k > 8 ? 1 : 0)) % kNodes);
      target.push_back(i);
    }
  const egc::Csr graph = egc::Csr::from_edges(kNodes, source, target);

  Net net;
  net.reset_parameters(rng);
  egc::train::Adam adam(net.parameters(), {});
  for (uint64_t step = 0; step < 60; ++step) {
    egc::Tape tape = egc::Tape::training(step);
    const egc::Tensor y = net.forward(tape, x, graph);
    // Cross entropy of the nodes seen, and its gradient: probabilities minus the truth.
    const egc::Tensor gradient = egc::Tensor::zeros(kNodes, 2, egc::DType::kF32);
    double loss = 0;
    for (int64_t i = 0; i < kSeen; ++i) {
      const float* scores = y.data<float>() + 2 * i;
      const double other = 1 / (1 + std::exp(scores[label_of(i)] - scores[1 - label_of(i)]));
      loss -= std::log(1 - other) / kSeen;
      gradient.data<float>()[2 * i + label_of(i)] = static_cast<float>(-other / kSeen);
      gradient.data<float>()[2 * i + 1 - label_of(i)] = static_cast<float>(other / kSeen);
    }
    tape.backward(y, gradient);
    adam.step(/*lr=*/0.01);
    if (step % 20 == 0) std::printf("step %3d  loss %.3f\n", static_cast<int>(step), loss);
  }
  egc::Tape tape = egc::Tape::inference();
  const egc::Tensor y = net.forward(tape, x, graph);
  int64_t right = 0;
  for (int64_t i = kSeen; i < kNodes; ++i)
    right += y.item(i, label_of(i)) > y.item(i, 1 - label_of(i)) ? 1 : 0;
  const double accuracy = static_cast<double>(right) / (kNodes - kSeen);
  std::printf("accuracy on unseen nodes %.1f %%\n", 100 * accuracy);
  return accuracy > 0.85 ? 0 : 1;
}
