#include "egc/models/body.h"

#include "egc/core/error.h"
#include "egc/core/log.h"
#include "egc/graph/batch.h"
#include "egc/nn/conv_table.h"
#include "egc/ops/aggregate.h"
#include "egc/ops/linear.h"
#include "egc/ops/norm_act.h"

namespace egc::models {

nn::ConvSpec conv_spec(const ModelConfig& c, int64_t layer) {
  nn::ConvSpec spec;
  spec.in_channels = layer == 0 && c.encoder == Encoder::kNone ? c.features : c.hidden;
  spec.out_channels = c.hidden;
  spec.heads = c.heads;
  if (nn::layer_descriptor(c.model).last_has_one_head && layer + 1 == c.layers) spec.heads = 1;
  spec.bases = c.bases;
  spec.aggregators = c.aggregators;
  spec.self_loops = c.self_loops.value_or(spec.self_loops);
  spec.activation = c.activation.value_or(spec.activation);
  spec.towers = c.towers.value_or(spec.towers);
  spec.mean_log_degree = c.mean_log_degree.value_or(spec.mean_log_degree);
  spec.edges = {c.edge_categories, c.edge_numbers};
  spec.relu_messages = c.edge_features && c.message.value_or(Message::kRelu) == Message::kRelu;
  return spec;
}

ConvBody::ConvBody(const ModelConfig& config) : config_(config) {
  if (nn::layer_descriptor(config_.model).takes("mean_log_degree") && !config_.mean_log_degree)
    log_warning("pna: mean_log_degree is not set; using 1 instead of the training set's");
  for (int64_t k = 0; k < config_.layers; ++k) {
    const std::string name = fmt::format("blocks.{}", k);
    Block block;
    block.conv = add_module(name + ".conv", nn::make_conv(config_.model, conv_spec(config_, k)));
    block.bare = config_.encoder == Encoder::kNone && k + 1 == config_.layers;
    if (!block.bare) {
      block.norm = BlockNorm(config_, config_.hidden);
      if (const auto norm = block.norm.module()) add_module(name + ".norm", norm);
      if (config_.feed_forward > 0)
        block.feed_forward =
            add_module(name + ".feed_forward", std::make_shared<FeedForward>(config_));
    }
    blocks_.push_back(std::move(block));
  }
  if (config_.virtual_node)
    virtual_node_ = add_module("virtual_node", std::make_shared<VirtualNode>(config_));
}

Tensor ConvBody::run(Tape& tape, Block& block, const Tensor& x, const Csr& graph) {
  if (hook_) hook_(*block.conv, x, graph);
  if (block.bare) return block.conv->forward(tape, x, graph);
  const double before = config_.dropout_at.conv_input ? config_.dropout : 0.0;
  const double after = config_.dropout_at.activation ? config_.dropout : 0.0;
  const Tensor y = block.norm.follow(
      tape, after, config_.residual ? x : Tensor(), [&](const ops::EpilogueTensors& epilogue) {
        return block.conv->forward(tape, ops::dropout(tape, x, before), graph, epilogue);
      });
  return block.feed_forward ? block.feed_forward->forward(tape, y) : y;
}

Tensor ConvBody::forward(Tape& tape, Tensor x, const BodyGraph& in) {
  if (!virtual_node_) {
    for (Block& block : blocks_) x = run(tape, block, x, in.graph);
    return x;
  }
  const Csr pool = pool_graph(in.first_node);
  Tensor state = virtual_node_->start(tape, pool);
  for (int64_t k = 0; k < config_.layers; ++k) {
    x = virtual_node_->spread(tape, x, state, pool);
    if (k + 1 < config_.layers) state = virtual_node_->update(tape, k, x, state, pool);
    x = run(tape, blocks_[static_cast<size_t>(k)], x, in.graph);
  }
  return x;
}

GaMlpBody::GaMlpBody(const ModelConfig& config) : config_(config) {
  const int64_t sizes[] = {(config_.layers + 1) * config_.hidden, config_.hidden,
                           config_.hidden / 2};
  check(sizes[2] >= 1, "ga-mlp: hidden must be at least 2, got {}", config_.hidden);
  for (int k = 0; k < 2; ++k)
    linears_.push_back(add_module(fmt::format("linears.{}", k),
                                  std::make_shared<nn::Linear>(sizes[k], sizes[k + 1])));
  for (int k = 0; k < 2; ++k)
    norms_.push_back(add_module(fmt::format("norms.{}", k),
                                std::make_shared<nn::NormActResidual>(sizes[k + 1])));
}

Tensor GaMlpBody::forward(Tape& tape, Tensor x, const BodyGraph& in) {
  const AggregatorSet diffusion = config_.aggregators.value_or(AggregatorSet{Aggregator::kSymnorm});
  const SelfLoops loops = diffusion.has(Aggregator::kSymnorm) ? SelfLoops::kAll : SelfLoops::kNone;
  const int64_t width = config_.hidden;
  std::vector<Tensor> powers = {x};
  std::vector<ops::LinearTerm> terms;
  for (int64_t k = 0; k <= config_.layers; ++k) {
    if (k > 0) powers.push_back(ops::aggregate(tape, in.graph, diffusion, loops, powers.back()));
    ops::LinearTerm term;
    term.input = static_cast<int>(k);
    term.weight_column = k * width;
    term.columns = width;
    terms.push_back(term);
  }
  const double dropout = config_.dropout_at.activation ? config_.dropout : 0.0;
  x = ops::linear_sum(tape, powers, {linears_[0]->weight->value}, terms, linears_[0]->bias_value(),
                      width);
  x = norms_[0]->forward(tape, x, dropout, {});
  return norms_[1]->forward(tape, linears_[1]->forward(tape, x), dropout, {});
}

std::shared_ptr<Body> make_body(const ModelConfig& config) {
  if (config.model == "ga-mlp") return std::make_shared<GaMlpBody>(config);
  return std::make_shared<ConvBody>(config);
}

}  // namespace egc::models
