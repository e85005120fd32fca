// What stands between encoder and readout: from [N, width] to [N, width].
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "egc/graph/csr.h"
#include "egc/models/block_norm.h"
#include "egc/models/feed_forward.h"
#include "egc/models/model_config.h"
#include "egc/models/virtual_node.h"
#include "egc/nn/batch_norm.h"
#include "egc/nn/conv_table.h"
#include "egc/nn/linear.h"

namespace egc::models {

// Called with every layer and what it reads, while a network runs: for looking into it.
using LayerHook = std::function<void(nn::Conv& conv, const Tensor& x, const Csr& graph)>;

// What a body reads beside the features of the nodes.
struct BodyGraph {
  const Csr& graph;
  std::span<const int64_t> first_node;  // of tasks on graphs
};

class Body : public nn::Module {
 public:
  // Until it is called with nothing.
  void hook_layers(LayerHook hook) { hook_ = std::move(hook); }
  virtual Tensor forward(Tape& tape, Tensor x, const BodyGraph& in) = 0;
  virtual int64_t out_width() const = 0;

 protected:
  LayerHook hook_;
};

// Layers of one kind: [dropout, conv, norm, ReLU, dropout, + residual] each, and a feed-forward
// sublayer and a virtual node where there are any. In inference all that follows a conv is folded
// into it. Without an encoder the last layer's result is the network's, so nothing follows it.
class ConvBody : public Body {
 public:
  explicit ConvBody(const ModelConfig& config);
  Tensor forward(Tape& tape, Tensor x, const BodyGraph& in) override;
  int64_t out_width() const override { return config_.hidden; }

 private:
  struct Block {
    std::shared_ptr<nn::Conv> conv;  // "blocks.k.conv"
    BlockNorm norm;                  // "blocks.k.norm"
    bool bare = false;               // nothing follows
    // "blocks.k.feed_forward"; null without
    std::shared_ptr<FeedForward> feed_forward;
  };
  Tensor run(Tape& tape, Block& block, const Tensor& x, const Csr& graph);

  ModelConfig config_;
  std::vector<Block> blocks_;
  std::shared_ptr<VirtualNode> virtual_node_;  // "virtual_node"; null without
};

// GA-MLP: the powers S^k x for k = 0 ... layers read side by side, then twice Linear, batch norm,
// ReLU. The MLP's last Linear is the network's head: the mean over nodes may be taken before it.
// S: symmetrically normalised with self-loops, or with aggregators = add the plain adjacency.
class GaMlpBody : public Body {
 public:
  explicit GaMlpBody(const ModelConfig& config);
  Tensor forward(Tape& tape, Tensor x, const BodyGraph& in) override;
  int64_t out_width() const override { return config_.hidden / 2; }

 private:
  ModelConfig config_;
  std::vector<nn::LinearPtr> linears_;         // "linears.k"
  std::vector<nn::NormActResidualPtr> norms_;  // "norms.k"
};

std::shared_ptr<Body> make_body(const ModelConfig& config);

// What the layers of a ConvBody are made from.
nn::ConvSpec conv_spec(const ModelConfig& config, int64_t layer);

}  // namespace egc::models
