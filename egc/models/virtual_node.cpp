#include "egc/models/virtual_node.h"

#include "egc/ops/aggregate.h"
#include "egc/ops/row_parts.h"

namespace egc::models {

VirtualNode::VirtualNode(const ModelConfig& c)
    : dropout_(c.dropout_at.activation ? c.dropout : 0.0),
      residual_(c.residual),
      embedding_(add_parameter("embedding", {c.hidden})) {
  const int64_t sizes[] = {c.hidden, 2 * c.hidden, c.hidden};
  for (int64_t k = 0; k + 1 < c.layers; ++k) {
    Update update;
    for (int j = 0; j < 2; ++j) {
      update.linears[j] = add_module(fmt::format("updates.{}.linears.{}", k, j),
                                     std::make_shared<nn::Linear>(sizes[j], sizes[j + 1]));
      update.norms[j] = BlockNorm(c, sizes[j + 1]);
      if (const auto module = update.norms[j].module())
        add_module(fmt::format("updates.{}.norms.{}", k, j), module);
    }
    updates_.push_back(std::move(update));
  }
}

void VirtualNode::reset_parameters(Rng& rng) {
  Module::reset_parameters(rng);
  embedding_->value.fill(0);
}

Tensor VirtualNode::start(Tape& tape, const Csr& pool) const {
  const std::vector<int64_t> first(static_cast<size_t>(pool.num_targets()), 0);
  return ops::select_rows(tape, embedding_->value, first);
}

Tensor VirtualNode::spread(Tape& tape, const Tensor& x, const Tensor& state,
                           const Csr& pool) const {
  return ops::add(tape, {x, ops::spmm(tape, pool.transposed(), state)});
}

Tensor VirtualNode::update(Tape& tape, int64_t k, const Tensor& x, const Tensor& state,
                           const Csr& pool) const {
  const Update& update = updates_[static_cast<size_t>(k)];
  const Tensor sum = ops::add(tape, {ops::spmm(tape, pool, x), state});
  const auto stage = [&](int j, const Tensor& in, double dropout, const Tensor& residual) {
    return update.norms[j].follow(tape, dropout, residual, [&](const ops::EpilogueTensors& e) {
      return update.linears[j]->forward(tape, in, e);
    });
  };
  return stage(1, stage(0, sum, 0, {}), dropout_, residual_ ? state : Tensor());
}

}  // namespace egc::models
