// Encoder, body, readout (tasks on graphs), head.
#pragma once

#include "egc/models/body.h"
#include "egc/models/encoder.h"
#include "egc/models/head.h"
#include "egc/models/network.h"

namespace egc::models {

class HomogeneousNetwork : public Network {
 public:
  explicit HomogeneousNetwork(const ModelConfig& config);
  Tensor forward(Tape& tape, const ModelInput& input) override;
  void hook_layers(LayerHook hook) { body_->hook_layers(std::move(hook)); }

 private:
  std::shared_ptr<EncoderModule> encoder_;    // "encoder", may be null
  std::shared_ptr<EncodingModule> encoding_;  // "encoding", may be null
  std::shared_ptr<Body> body_;                // "body"
  std::shared_ptr<Head> head_;                // "head"
};

}  // namespace egc::models
