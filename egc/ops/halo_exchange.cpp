#include "egc/ops/halo_exchange.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "egc/core/error.h"

namespace egc::ops {
namespace {

BatchGroup& group() {
  check(batch_group() != nullptr, "a partition of a graph needs a process group");
  return *batch_group();
}

std::vector<int64_t> bytes_of(std::span<const int64_t> rows, size_t row_bytes) {
  std::vector<int64_t> out;
  for (const int64_t n : rows) out.push_back(n * static_cast<int64_t>(row_bytes));
  return out;
}

size_t row_bytes(const Tensor& t) { return static_cast<size_t>(t.columns()) * size_of(t.dtype()); }

}  // namespace

HaloRows::HaloRows(const Halo& halo, const Tensor& own) {
  const size_t bytes = row_bytes(own);
  const int64_t others =
      std::accumulate(halo.num_received.begin(), halo.num_received.end(), int64_t{0});
  sent_ = Tensor::empty(std::ssize(halo.sent), own.columns(), own.dtype());
  rows_ = Tensor::empty(halo.owned + others, own.columns(), own.dtype());
  const auto* from = static_cast<const std::byte*>(own.raw());
  auto* to = static_cast<std::byte*>(sent_.raw());
  for (const int64_t row : halo.sent) {
    std::memcpy(to, from + static_cast<size_t>(row) * bytes, bytes);
    to += bytes;
  }
  auto* all = static_cast<std::byte*>(rows_.raw());
  exchange_ = group().begin_exchange(sent_.raw(), bytes_of(halo.num_sent, bytes),
                                     all + static_cast<size_t>(halo.owned) * bytes,
                                     bytes_of(halo.num_received, bytes));
  std::memcpy(all, from, static_cast<size_t>(halo.owned) * bytes);
}

void HaloRows::wait() { exchange_->wait(); }

Tensor return_halo(const Halo& halo, const Tensor& gradients) {
  const size_t bytes = row_bytes(gradients);
  const Tensor found = Tensor::empty(std::ssize(halo.sent), gradients.columns(), gradients.dtype());
  const auto* all = static_cast<const std::byte*>(gradients.raw());
  group()
      .begin_exchange(all + static_cast<size_t>(halo.owned) * bytes,
                      bytes_of(halo.num_received, bytes), found.raw(),
                      bytes_of(halo.num_sent, bytes))
      ->wait();
  const Tensor own = Tensor::empty(halo.owned, gradients.columns(), gradients.dtype());
  with_type(own.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const int64_t columns = own.columns();
    std::copy_n(gradients.data<T>(), own.size(), own.data<T>());
    const T* g = found.data<T>();
    for (const int64_t row : halo.sent) {
      T* to = own.data<T>() + row * columns;
      for (int64_t c = 0; c < columns; ++c) to[c] += *g++;
    }
  });
  return own;
}

}  // namespace egc::ops
