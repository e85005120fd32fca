#include "egc/data/loader.h"

#include <algorithm>

#include "egc/core/error.h"
#include "egc/data/shuffle.h"

namespace egc::data {

std::vector<int64_t> epoch_order(std::span<const int64_t> ids, uint64_t seed, int64_t epoch) {
  constexpr uint64_t kStream = 0x0DE5;
  std::vector<int64_t> out(ids.begin(), ids.end());
  Rng rng(seed, (static_cast<uint64_t>(epoch) << 16) + kStream);
  shuffle(out, rng);
  return out;
}

Loader::Loader(const GraphStore& store, std::span<const int64_t> ids, const LoaderOptions& options)
    : store_(store), options_(options), ids_(ids.begin(), ids.end()) {
  check(options.batch_size >= 1, "loader: the batch size must be at min_batch_size 1, got {}",
        options.batch_size);
  at_ = num_batches();  // nothing before begin()
}

int64_t Loader::num_batches() const {
  const auto size = static_cast<int64_t>(ids_.size());
  const int64_t full_batches = size / options_.batch_size;
  const int64_t rest = size % options_.batch_size;
  return rest == 0 || (full_batches > 0 && rest < options_.min_batch_size) ? full_batches
                                                                           : full_batches + 1;
}

void Loader::begin(int64_t epoch, int64_t first_batch) {
  check(first_batch >= 0 && first_batch <= num_batches(),
        "loader: the first batch must be in [0, {}], got {}", num_batches(), first_batch);
  producer_.reset();  // before what its thread uses changes
  order_ = options_.shuffle ? epoch_order(ids_, options_.seed, epoch) : ids_;
  at_ = first_batch;
  if (options_.prefetch > 0)
    producer_ = std::make_unique<Producer<GraphBatch>>([this] { return make(); },
                                                       static_cast<size_t>(options_.prefetch));
}

std::optional<GraphBatch> Loader::next() { return producer_ ? producer_->next() : make(); }

std::optional<GraphBatch> Loader::make() {
  if (at_ >= num_batches()) return std::nullopt;
  const int64_t begin = at_ * options_.batch_size;
  ++at_;
  const auto all = static_cast<int64_t>(order_.size());
  const int64_t size = at_ == num_batches() ? all - begin : options_.batch_size;
  const int64_t first = begin + size * options_.share / options_.shares;
  const int64_t last = begin + size * (options_.share + 1) / options_.shares;
  GraphBatch batch = store_.batch(
      std::span(order_).subspan(static_cast<size_t>(first), static_cast<size_t>(last - first)));
  // What the layers derive from a graph on first use, while nobody waits for it.
  if (options_.prefetch > 0) {
    batch.graphs.graph.transposed();
    batch.graphs.graph.target_scale<float>(/*add_loops=*/true);
  }
  return batch;
}

}  // namespace egc::data
