#include "egc/models/hetero_network.h"

#include <torch/nn/init.h>

#include "egc/core/error.h"
#include "egc/nn/conv_table.h"
#include "egc/nn/group.h"
#include "egc/nn/parameter.h"
#include "egc/ops/norm_act.h"

namespace egc::models {

HeteroNetwork::HeteroNetwork(const ModelConfig& c) : Network(c) {
  const auto embeddings = register_module("embeddings", std::make_shared<nn::Group>());
  const bool encoded = c.encoder == Encoder::kLinear;
  const auto encoders =
      encoded ? register_module("encoders", std::make_shared<nn::Group>()) : nullptr;
  const int64_t width = encoded ? c.hidden : c.features;
  for (size_t t = 0; t < c.schema.node_types.size(); ++t) {
    if (c.schema.node_types[t] == c.target_type) target_ = static_cast<int64_t>(t);
    embeddings_.emplace_back();
    encoders_.emplace_back(nullptr);
    if (c.embedded_nodes[t] == 0) {
      if (encoded)
        encoders_.back() =
            encoders->register_module(c.schema.node_types[t], nn::Linear(c.features, width));
      continue;
    }
    embeddings_.back() = embeddings->register_parameter(
        c.schema.node_types[t], nn::new_parameter({c.embedded_nodes[t], width}));
    at::NoGradGuard no_grad;
    torch::nn::init::xavier_uniform_(embeddings_.back());
  }
  const auto list = register_module("convs", std::make_shared<nn::Group>());
  for (int64_t k = 0; k < c.layers; ++k) {
    const bool last = k + 1 == c.layers;
    nn::ConvSpec spec;
    spec.in_channels = k == 0 ? width : c.hidden;
    spec.out_channels = last ? c.outputs : c.hidden;
    spec.heads = c.heads;
    spec.bases = c.bases;
    spec.aggregators = c.aggregators;
    spec.schema = c.schema;
    const auto conv = nn::make_conv(last ? "rgcn" : c.model, spec);
    list->register_module(std::to_string(k), nn::as_module(conv));
    convs_.push_back(std::dynamic_pointer_cast<nn::RelationalConv>(conv));
  }
}

std::vector<at::Tensor> HeteroNetwork::encode(const ModelInput& in) {
  const auto& types = config().schema.node_types;
  const auto& features = in.hetero_x;
  check(features.size() == types.size(), "network: features of {} node types are needed, got {}",
        types.size(), features.size());
  check(in.hetero_ids.empty() || in.hetero_ids.size() == types.size(),
        "network: ids of {} node types are needed, got {}", types.size(), in.hetero_ids.size());
  std::vector<at::Tensor> x;
  for (size_t t = 0; t < types.size(); ++t) {
    const bool learned = embeddings_[t].defined();
    check(learned != features[t].defined(), "network: \"{}\" must {}", types[t],
          learned ? "have no features, its embeddings are learned" : "have features");
    if (!learned)
      x.push_back(encoders_[t].is_empty() ? features[t] : encoders_[t]->forward(features[t]));
    else
      x.push_back(in.hetero_ids.empty() ? embeddings_[t]
                                        : embeddings_[t].index_select(0, in.hetero_ids[t]));
  }
  return x;
}

at::Tensor HeteroNetwork::forward(const ModelInput& in) {
  const ModelConfig& c = config();
  std::vector<at::Tensor> x = encode(in);
  for (size_t k = 0; k + 1 < convs_.size(); ++k) {
    x = convs_[k]->forward_hetero(x, in.hetero);
    for (at::Tensor& t : x)
      t = ops::relu_dropout(t, c.dropout_at.activation ? c.dropout : 0.0, is_training());
  }
  return at::log_softmax(convs_.back()->forward_hetero(x, in.hetero, target_)[target_], 1);
}

}  // namespace egc::models
