#include "egc/train/aggregator_penalty.h"

#include <cmath>
#include <vector>

#include "egc/nn/egc_conv.h"

namespace egc::train {
namespace {

// Calls f(aggregator, parameter, first, count) for every stretch of rows [h, a, :] of the combining
// weights and biases.
template <class F>
void for_each_stretch(const nn::EgcConv& conv, const F& f) {
  const auto& o = conv.options;
  const int64_t count = o.aggregators.size();
  for (const nn::ParameterPtr& p : {conv.comb_weight, conv.comb_bias}) {
    const int64_t stretch = p->value.size() / (o.heads * count);
    for (int64_t h = 0; h < o.heads; ++h)
      for (int64_t a = 0; a < count; ++a) f(a, *p, (h * count + a) * stretch, stretch);
  }
}

}  // namespace

void add_aggregator_penalty(models::Network& network, double strength) {
  const std::vector<nn::EgcConv*> convs = network.modules<nn::EgcConv>();
  if (convs.empty()) return;
  std::vector<double> squares(static_cast<size_t>(convs.front()->options.aggregators.size()), 0);
  for (const nn::EgcConv* conv : convs)
    for_each_stretch(*conv, [&](int64_t a, const nn::Parameter& p, int64_t first, int64_t n) {
      const float* x = p.value.data<float>() + first;
      for (int64_t i = 0; i < n; ++i)
        squares[static_cast<size_t>(a)] += static_cast<double>(x[i]) * x[i];
    });
  for (const nn::EgcConv* conv : convs)
    for_each_stretch(*conv, [&](int64_t a, const nn::Parameter& p, int64_t first, int64_t n) {
      if (!p.grad().defined()) return;
      const float* x = p.value.data<float>() + first;
      float* g = p.grad().data<float>() + first;
      const double norm = std::sqrt(squares[static_cast<size_t>(a)]);
      const auto scale = static_cast<float>(norm > 0 ? strength / norm : 0);
      for (int64_t i = 0; i < n; ++i) g[i] += scale * x[i];
    });
}

}  // namespace egc::train
