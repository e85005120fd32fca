#include "egc/models/block_norm.h"

#include "egc/ops/norm_act.h"

namespace egc::models {

BlockNorm::BlockNorm(const ModelConfig& config, int64_t channels) {
  if (config.norm == Norm::kBatch) batch_ = std::make_shared<nn::NormActResidual>(channels);
  if (config.norm == Norm::kLayer) layer_ = std::make_shared<nn::LayerNorm>(channels);
}

std::shared_ptr<nn::Module> BlockNorm::module() const {
  if (batch_) return batch_;
  return layer_;
}

Tensor BlockNorm::follow(Tape& tape, double dropout, const Tensor& residual,
                         const Rows& rows) const {
  // Layer norm needs whole rows, which the epilogue of a product does not see.
  if (layer_) return layer_->forward(tape, rows({}), dropout, residual);
  if (!tape.is_recording())
    return rows(batch_ ? batch_->fold(residual)
                       : ops::EpilogueTensors{{}, {}, /*relu=*/true, residual});
  const Tensor y = rows({});
  return batch_ ? batch_->forward(tape, y, dropout, residual)
                : ops::relu_dropout(tape, y, dropout, residual);
}

Tensor BlockNorm::norm(Tape& tape, const Tensor& x) const {
  if (layer_) return layer_->forward(tape, x, 0, {}, /*relu=*/false);
  return batch_ ? batch_->forward(tape, x, 0, {}, /*relu=*/false) : x;
}

}  // namespace egc::models
