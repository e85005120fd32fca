#include "egc/models/feed_forward.h"

#include "egc/ops/norm_act.h"
#include "egc/ops/row_parts.h"

namespace egc::models {

FeedForward::FeedForward(const ModelConfig& c)
    : dropout_(c.dropout_at.activation ? c.dropout : 0.0),
      wide_(add_module("linears.0",
                       std::make_shared<nn::Linear>(c.hidden, c.feed_forward * c.hidden))),
      narrow_(add_module("linears.1",
                         std::make_shared<nn::Linear>(c.feed_forward * c.hidden, c.hidden))),
      norm_(c, c.hidden) {
  if (const auto module = norm_.module()) add_module("norm", module);
}

Tensor FeedForward::forward(Tape& tape, const Tensor& x) const {
  Tensor sum;
  if (tape.is_recording()) {
    const Tensor inner = ops::relu_dropout(tape, wide_->forward(tape, x), dropout_);
    sum = ops::add(tape, {narrow_->forward(tape, inner), x});
  } else {
    const Tensor inner = wide_->forward(tape, x, {{}, {}, true, {}});
    sum = narrow_->forward(tape, inner, {{}, {}, false, x});
  }
  return norm_.norm(tape, sum);
}

}  // namespace egc::models
