#include "egc/ops/halo_exchange.h"

#include <ATen/ATen.h>

#include "egc/core/error.h"
#include "egc/ops/tensor_buffer.h"

namespace egc::ops {
namespace {

BatchGroup& group() {
  check(batch_group() != nullptr, "a part of a graph needs the processes that have the others");
  return *batch_group();
}

at::Tensor sent_index(const Halo& halo) {
  return at::from_blob(const_cast<int64_t*>(halo.sent.data()), {std::ssize(halo.sent)}, at::kLong);
}

}  // namespace

HaloRows::HaloRows(const Halo& halo, const at::Tensor& own)
    : sent_(own.index_select(0, sent_index(halo))) {
  int64_t others = 0;
  for (const int64_t n : halo.num_received) others += n;
  rows_ = empty_buffer({halo.owned + others, own.size(1)}, own.options());
  exchange_ = group().begin_exchange(sent_, halo.num_sent, rows_.narrow(0, halo.owned, others),
                                     halo.num_received);
  rows_.narrow(0, 0, halo.owned).copy_(own);
}

void HaloRows::wait() { exchange_->wait(); }

at::Tensor return_halo(const Halo& halo, const at::Tensor& gradients) {
  const at::Tensor found =
      at::empty({std::ssize(halo.sent), gradients.size(1)}, gradients.options());
  const at::Tensor others = gradients.narrow(0, halo.owned, gradients.size(0) - halo.owned);
  group().begin_exchange(others, halo.num_received, found, halo.num_sent)->wait();
  at::Tensor own = gradients.narrow(0, 0, halo.owned);
  return own.index_add_(0, sent_index(halo), found);
}

}  // namespace egc::ops
