#include "egc/models/block_norm.h"

#include "egc/ops/norm_act.h"

namespace egc::models {

BlockNorm::BlockNorm(const ModelConfig& config, int64_t channels) {
  if (config.norm) batch_ = std::make_shared<nn::NormActResidual>(channels);
}

Tensor BlockNorm::follow(Tape& tape, double dropout, const Tensor& residual,
                         const Rows& rows) const {
  if (!tape.is_recording())
    return rows(batch_ ? batch_->fold(residual)
                       : ops::EpilogueTensors{{}, {}, /*relu=*/true, residual});
  const Tensor y = rows({});
  return batch_ ? batch_->forward(tape, y, dropout, residual)
                : ops::relu_dropout(tape, y, dropout, residual);
}

Tensor BlockNorm::norm(Tape& tape, const Tensor& x) const {
  return batch_ ? batch_->forward(tape, x, 0, {}, /*relu=*/false) : x;
}

}  // namespace egc::models
