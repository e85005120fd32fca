#include "egc/models/body.h"

#include "egc/core/error.h"
#include "egc/core/log.h"
#include "egc/nn/group.h"
#include "egc/ops/fused_aggregate.h"
#include "egc/ops/norm_act.h"

namespace egc::models {
nn::ConvSpec conv_spec(const ModelConfig& c, int64_t layer) {
  nn::ConvSpec spec;
  spec.in_channels = layer == 0 && c.encoder == Encoder::kNone ? c.features : c.hidden;
  spec.out_channels = c.hidden;
  spec.heads = c.heads;
  // The paper's rule: the last attention layer has one head of full width.
  if ((c.model == "gat" || c.model == "gatv2") && layer + 1 == c.layers) spec.heads = 1;
  spec.bases = c.bases;
  spec.aggregators = c.aggregators;
  spec.self_loops = c.self_loops.value_or(spec.self_loops);
  spec.activation = c.activation.value_or(spec.activation);
  spec.towers = c.towers.value_or(spec.towers);
  spec.mean_log_degree = c.mean_log_degree.value_or(spec.mean_log_degree);
  return spec;
}

ConvBody::ConvBody(const ModelConfig& config) : config_(config) {
  if (config_.model == "pna" && !config_.mean_log_degree)
    log_warning(
        "pna: mean_log_degree is not set, 1 is used; it should be that of the training set");
  const auto list = register_module("blocks", std::make_shared<nn::Group>());
  for (int64_t k = 0; k < config_.layers; ++k) {
    const auto inner = list->register_module(std::to_string(k), std::make_shared<nn::Group>());
    Block block;
    block.conv = nn::make_conv(config_.model, conv_spec(config_, k));
    inner->register_module("conv", nn::as_module(block.conv));
    block.bare = config_.encoder == Encoder::kNone && k + 1 == config_.layers;
    if (config_.norm && !block.bare)
      block.norm = inner->register_module("norm", nn::BatchNorm(config_.hidden));
    blocks_.push_back(std::move(block));
  }
}

at::Tensor ConvBody::run(Block& block, const at::Tensor& x, const Csr& graph) {
  if (watch_) watch_(*block.conv, x, graph);
  if (block.bare) return block.conv->forward(x, graph);
  const at::Tensor residual = config_.residual ? x : at::Tensor();
  if (!is_training() && !at::GradMode::is_enabled())
    return block.conv->forward(
        x, graph,
        config_.norm ? block.norm->fold(residual) : ops::EpilogueTensors{{}, {}, true, residual});
  const double before = config_.dropout_at.conv_input ? config_.dropout : 0.0;
  const double after = config_.dropout_at.activation ? config_.dropout : 0.0;
  const at::Tensor y = block.conv->forward(ops::dropout(x, before, is_training()), graph);
  if (config_.norm) return block.norm->forward(y, after, residual);
  const at::Tensor activated = ops::relu_dropout(y, after, is_training());
  return config_.residual ? activated + x : activated;
}

at::Tensor ConvBody::forward(at::Tensor x, const Csr& graph) {
  for (Block& block : blocks_) x = run(block, x, graph);
  return x;
}

GaMlpBody::GaMlpBody(const ModelConfig& config) : config_(config) {
  const auto linears = register_module("linears", std::make_shared<nn::Group>());
  const auto norms = register_module("norms", std::make_shared<nn::Group>());
  const int64_t sizes[] = {(config_.layers + 1) * config_.hidden, config_.hidden,
                           config_.hidden / 2};
  check(sizes[2] >= 1, "ga-mlp: hidden must be at least 2, got {}", config_.hidden);
  for (int k = 0; k < 2; ++k) {
    linears_.push_back(
        linears->register_module(std::to_string(k), nn::Linear(sizes[k], sizes[k + 1])));
    norms_.push_back(norms->register_module(std::to_string(k), nn::BatchNorm(sizes[k + 1])));
  }
}

at::Tensor GaMlpBody::forward(at::Tensor x, const Csr& graph) {
  const AggregatorSet diffusion = config_.aggregators.value_or(AggregatorSet{Aggregator::kSymnorm});
  const SelfLoops loops = diffusion.has(Aggregator::kSymnorm) ? SelfLoops::kAll : SelfLoops::kNone;
  std::vector<at::Tensor> powers = {x};
  for (int64_t k = 0; k < config_.layers; ++k)
    powers.push_back(ops::aggregate(graph, diffusion, loops, powers.back()));
  x = at::cat(powers, 1);
  const double dropout = config_.dropout_at.activation ? config_.dropout : 0.0;
  for (size_t k = 0; k < linears_.size(); ++k)
    x = norms_[k]->forward(linears_[k]->forward(x), dropout, {});
  return x;
}

std::shared_ptr<Body> make_body(const ModelConfig& config) {
  if (config.model == "ga-mlp") return std::make_shared<GaMlpBody>(config);
  return std::make_shared<ConvBody>(config);
}

}  // namespace egc::models
