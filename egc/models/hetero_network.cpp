#include "egc/models/hetero_network.h"

#include "egc/core/error.h"
#include "egc/nn/conv_table.h"
#include "egc/ops/aggregate.h"
#include "egc/ops/norm_act.h"
#include "egc/ops/row_parts.h"

namespace egc::models {

HeteroNetwork::HeteroNetwork(const ModelConfig& c) : Network(c) {
  const bool encoded = c.encoder == Encoder::kLinear;
  const int64_t width = encoded ? c.hidden : c.features;
  for (size_t t = 0; t < c.schema.node_types.size(); ++t) {
    const std::string& type = c.schema.node_types[t];
    if (type == c.target_type) target_ = static_cast<int64_t>(t);
    const bool learned = c.embedded_nodes[t] > 0;
    embeddings_.push_back(
        learned ? add_parameter("embeddings." + type, {c.embedded_nodes[t], width}) : nullptr);
    encoders_.push_back(
        !learned && encoded
            ? add_module("encoders." + type, std::make_shared<nn::Linear>(c.features, width))
            : nullptr);
  }
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
    add_module(fmt::format("convs.{}", k), conv);
    convs_.push_back(std::dynamic_pointer_cast<nn::RelationalConv>(conv));
  }
}

void HeteroNetwork::reset_parameters(Rng& rng) {
  for (const auto& embedding : embeddings_)
    if (embedding) nn::glorot_uniform(embedding->value, rng);
  Network::reset_parameters(rng);
}

std::vector<Tensor> HeteroNetwork::encode(Tape& tape, const ModelInput& in) {
  const auto& types = config().schema.node_types;
  const auto& features = in.hetero_x;
  check(features.size() == types.size(), "network: features of {} node types are needed, got {}",
        types.size(), features.size());
  check(in.hetero_ids.empty() || in.hetero_ids.size() == types.size(),
        "network: ids of {} node types are needed, got {}", types.size(), in.hetero_ids.size());
  std::vector<Tensor> x;
  for (size_t t = 0; t < types.size(); ++t) {
    const bool learned = embeddings_[t] != nullptr;
    check(learned != features[t].defined(), "network: \"{}\" must {}", types[t],
          learned ? "have no features, its embeddings are learned" : "have features");
    if (!learned)
      x.push_back(encoders_[t] ? encoders_[t]->forward(tape, features[t]) : features[t]);
    else
      x.push_back(in.hetero_ids.empty()
                      ? embeddings_[t]->value
                      : ops::select_rows(tape, embeddings_[t]->value, in.hetero_ids[t]));
  }
  return x;
}

Tensor HeteroNetwork::forward(Tape& tape, const ModelInput& in) {
  const ModelConfig& c = config();
  std::vector<Tensor> x = encode(tape, in);
  for (size_t k = 0; k + 1 < convs_.size(); ++k) {
    x = convs_[k]->forward_hetero(tape, x, in.hetero);
    for (Tensor& t : x) t = ops::relu_dropout(tape, t, c.dropout_at.activation ? c.dropout : 0.0);
  }
  const Tensor scores = convs_.back()->forward_hetero(tape, x, in.hetero, target_)[target_];
  return ops::log_softmax(tape, scores, c.outputs);
}

}  // namespace egc::models
