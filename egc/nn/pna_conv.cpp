#include "egc/nn/pna_conv.h"

#include <cmath>

#include "egc/ops/fused_aggregate.h"
#include "egc/ops/linear.h"

namespace egc::nn {
namespace {

constexpr int64_t kAggregators = 4;
constexpr int64_t kScalers = 3;
constexpr double kLeastVariance = 1e-5;

// PyTorch Geometric's rule: below the least variance the deviation is 0, without a gradient.
at::Tensor deviation(const at::Tensor& variance) {
  const at::Tensor root = variance.clamp_min(kLeastVariance).sqrt();
  return root.masked_fill(variance <= kLeastVariance, 0.0);
}

}  // namespace

double mean_log_degree(const std::vector<int64_t>& histogram) {
  double nodes = 0;
  double sum = 0;
  for (size_t d = 0; d < histogram.size(); ++d) {
    nodes += static_cast<double>(histogram[d]);
    sum += static_cast<double>(histogram[d]) * std::log(static_cast<double>(d) + 1);
  }
  check(nodes > 0 && sum > 0, "mean_log_degree: the histogram has no edges");
  return sum / nodes;
}

PnaConvImpl::PnaConvImpl(int64_t in_channels, int64_t out_channels, double mean_log_degree,
                         int64_t towers)
    : in_(in_channels), out_(out_channels), mean_log_degree_(mean_log_degree), num_towers_(towers) {
  check(mean_log_degree > 0, "PnaConv: mean_log_degree must be positive, got {}", mean_log_degree);
  reset();
}

void PnaConvImpl::reset() {
  towers_ = make_towers("PnaConv", in_, out_, num_towers_);
  // As in the original, messages keep the width of a tower's input.
  pre_nns = register_towers(*this, "pre_nns", num_towers_, 2 * towers_.in, towers_.in, true);
  post_nns = register_towers(*this, "post_nns", num_towers_,
                             (1 + kAggregators * kScalers) * towers_.in, towers_.out, true);
  lin = register_module("lin", Linear(out_, out_));
}

void PnaConvImpl::reset_parameters() {
  for (auto* list : {&pre_nns, &post_nns})
    for (Linear& l : *list) l->reset_parameters();
  lin->reset_parameters();
}

at::Tensor PnaConvImpl::forward(const at::Tensor& x, const Csr& graph,
                                const ops::EpilogueTensors& epilogue) {
  check_conv_input("PnaConv", x, graph, in_);
  const MessageParts parts = message_parts({num_towers_, towers_.in, towers_.in}, pre_nns, x);
  const at::Tensor degrees = in_degrees(graph, x.options());
  const at::Tensor aggregates = ops::aggregate(
      graph, {Aggregator::kMean, Aggregator::kMin, Aggregator::kMax, Aggregator::kVar},
      SelfLoops::kNone, parts.of_source);  // [N, 4 * in]
  const at::Tensor of_target = parts.of_target * degrees.clamp_max(1);
  const at::Tensor moved = aggregates.narrow(1, 0, 3 * in_).view({-1, 3, in_}) +
                           of_target.unsqueeze(1);  // mean, min, max
  const at::Tensor spread = deviation(aggregates.narrow(1, 3 * in_, in_));

  // One product for all scalers: columns [s, t, out]; the scalers are applied to the results, which
  // are a quarter of the size of the scaled aggregates. x and the bias come in unscaled.
  std::vector<at::Tensor> weights;
  std::vector<at::Tensor> biases;
  std::vector<ops::LinearTerm> terms;
  for (int64_t s = 0; s < kScalers; ++s)
    for (int64_t t = 0; t < num_towers_; ++t) {
      const at::Tensor& weight = post_nns[t]->weight;
      const int64_t out_column = s * out_ + t * towers_.out;
      const auto add = [&](int input, int64_t in_column, int64_t weight_block) {
        terms.push_back({input, in_column, static_cast<int>(weights.size()), out_column});
        weights.push_back(weight.narrow(1, weight_block * towers_.in, towers_.in));
      };
      if (s == 0) add(0, t * towers_.in, 0);
      for (int64_t a = 0; a < kAggregators; ++a) {
        const int64_t block = 1 + s * kAggregators + a;
        if (a < 3)
          add(1, a * in_ + t * towers_.in, block);
        else
          add(2, t * towers_.in, block);
      }
      biases.push_back(s == 0 ? post_nns[t]->bias : at::zeros_like(post_nns[t]->bias));
    }
  const at::Tensor scaled = ops::linear_sum({x, moved.reshape({-1, 3 * in_}), spread}, weights,
                                            terms, at::cat(biases), kScalers * out_);
  const at::Tensor amplification = (degrees + 1).log() / mean_log_degree_;
  const at::Tensor attenuation = mean_log_degree_ / (degrees.clamp_min(1) + 1).log();
  const at::Tensor updated = at::addcmul(
      at::addcmul(scaled.narrow(1, 0, out_), scaled.narrow(1, out_, out_), amplification),
      scaled.narrow(1, 2 * out_, out_), attenuation);
  return lin->forward(updated, epilogue);
}

}  // namespace egc::nn
