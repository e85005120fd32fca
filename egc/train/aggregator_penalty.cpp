#include "egc/train/aggregator_penalty.h"

#include <cmath>
#include <vector>

#include "egc/nn/egc_conv.h"

namespace egc::train {
namespace {

// Calls f(aggregator, pointer to the first, count) for every stretch of rows [h, a, :] of the
// combining weights and biases, of parameters or of their gradients.
template <class F>
void for_each_stretch(const nn::EgcConvImpl& conv, const F& f) {
  const auto& o = conv.options;
  const int64_t count = o.aggregators.size();
  for (const at::Tensor* t : {&conv.comb_weight, &conv.comb_bias}) {
    const int64_t stretch = t->numel() / (o.heads * count);
    for (int64_t h = 0; h < o.heads; ++h)
      for (int64_t a = 0; a < count; ++a) f(a, *t, (h * count + a) * stretch, stretch);
  }
}

}  // namespace

// Plain loops: the weights are few, and ATen's sums depend on the number of threads.
void add_aggregator_penalty(models::Network& network, double strength) {
  std::vector<nn::EgcConvImpl*> convs;
  for (const auto& module : network.modules())
    if (auto* conv = dynamic_cast<nn::EgcConvImpl*>(module.get())) convs.push_back(conv);
  if (convs.empty()) return;
  std::vector<double> squares(static_cast<size_t>(convs.front()->options.aggregators.size()), 0);
  for (const nn::EgcConvImpl* conv : convs)
    for_each_stretch(*conv, [&](int64_t a, const at::Tensor& t, int64_t first, int64_t n) {
      const float* p = t.data_ptr<float>() + first;
      for (int64_t i = 0; i < n; ++i)
        squares[static_cast<size_t>(a)] += static_cast<double>(p[i]) * p[i];
    });
  for (const nn::EgcConvImpl* conv : convs)
    for_each_stretch(*conv, [&](int64_t a, const at::Tensor& t, int64_t first, int64_t n) {
      if (!t.grad().defined()) return;
      const float* p = t.data_ptr<float>() + first;
      float* g = t.grad().data_ptr<float>() + first;
      const double norm = std::sqrt(squares[static_cast<size_t>(a)]);
      const auto scale = static_cast<float>(norm > 0 ? strength / norm : 0);
      for (int64_t i = 0; i < n; ++i) g[i] += scale * p[i];
    });
}

}  // namespace egc::train
