#include "egc/nn/pna_conv.h"

#include <cmath>

#include "egc/ops/fused_aggregate.h"
#include "egc/ops/linear.h"
#include "egc/ops/row_parts.h"

namespace egc::nn {
namespace {

constexpr int64_t kAggregators = 4;
constexpr int64_t kScalers = 3;

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
  const at::Tensor aggregates = ops::shift_aggregates(
      ops::aggregate(graph,
                     {Aggregator::kMean, Aggregator::kMin, Aggregator::kMax, Aggregator::kVar},
                     SelfLoops::kNone, parts.of_source),
      parts.of_target, degrees.clamp_max(1), kLeastVariance);  // [N, 4 * in]

  // One product for all scalers, columns [t, s, out]: the scalers are applied to the results, which
  // are a quarter of the size of the scaled aggregates. x and the bias come in unscaled.
  std::vector<at::Tensor> weights;
  std::vector<at::Tensor> biases;
  std::vector<ops::LinearTerm> terms;
  for (int64_t t = 0; t < num_towers_; ++t) {
    const auto block = [&](int64_t k) {
      return post_nns[t]->weight.narrow(1, k * towers_.in, towers_.in);
    };
    const auto add = [&](int input, int64_t in_column, const std::vector<at::Tensor>& by_scaler) {
      terms.push_back(
          {input, in_column, static_cast<int>(weights.size()), t * kScalers * towers_.out});
      weights.push_back(at::cat(by_scaler));
    };
    const at::Tensor none = at::zeros_like(block(0));
    add(0, t * towers_.in, {block(0), none, none});
    for (int64_t a = 0; a < kAggregators; ++a)
      add(1, a * in_ + t * towers_.in,
          {block(1 + a), block(1 + kAggregators + a), block(1 + 2 * kAggregators + a)});
    const at::Tensor& bias = post_nns[t]->bias;
    biases.insert(biases.end(), {bias, at::zeros_like(bias), at::zeros_like(bias)});
  }
  const at::Tensor scaled =
      ops::linear_sum({x, aggregates}, weights, terms, at::cat(biases), kScalers * out_);
  const at::Tensor amplification = (degrees + 1).log() / mean_log_degree_;
  const at::Tensor attenuation = mean_log_degree_ / (degrees.clamp_min(1) + 1).log();
  const at::Tensor updated = ops::sum_scaled_parts(
      scaled, at::cat({at::ones_like(degrees), amplification, attenuation}, 1), num_towers_);
  return lin->forward(updated, epilogue);
}

}  // namespace egc::nn
