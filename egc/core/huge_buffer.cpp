#include "egc/core/huge_buffer.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <unordered_map>

#include "egc/core/error.h"

namespace egc {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kUnit = size_t{64} << 10;  // of blocks on small pages

// Blocks of whole units.
class BlockPool {
 public:
  explicit BlockPool(size_t unit) : unit_(unit) {}

  void* allocate(size_t bytes) {
    if (bytes > std::numeric_limits<size_t>::max() / 2)
      fail(ErrorKind::kSystem, "huge_allocate: {} bytes exceed the address space", bytes);
    const size_t size = std::max(unit_, (bytes + unit_ - 1) / unit_ * unit_);
    std::lock_guard lock(mutex_);
    if (void* block = take_waiting(size, size + size / 4)) return block;
    // Sizes that do not come again must not pile up: keep in all at most a quarter more than was
    // ever in use. Where steps differ in size, a block twice as large is better than fresh pages.
    const size_t limit = peak_ + peak_ / 4;
    if (in_use_bytes_ + waiting_bytes_ + size > limit)
      if (void* block = take_waiting(size, 2 * size)) return block;
    while (!waiting_.empty() && in_use_bytes_ + waiting_bytes_ + size > limit) release_largest();
    void* block = map_unit(size);
    if (block == nullptr && !waiting_.empty()) {  // what waits may be what is missing
      while (!waiting_.empty()) release_largest();
      block = map_unit(size);
    }
    if (block == nullptr)
      fail(ErrorKind::kSystem, "out of memory: cannot allocate {} MB", size >> 20);
    return hand_out(block, size);
  }

  // Around a fork: the child must not find the pool in the middle of a change.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

  void free(void* block) noexcept {
    std::lock_guard lock(mutex_);
    const auto it = in_use_.find(block);
    if (it == in_use_.end()) return;
    in_use_bytes_ -= it->second;
    waiting_bytes_ += it->second;
    waiting_.emplace(it->second, block);
    in_use_.erase(it);
  }

  void trim() noexcept {
    std::lock_guard lock(mutex_);
    while (!waiting_.empty()) release_largest();
    peak_ = in_use_bytes_;
  }

  HugeBufferStats stats() {
    std::lock_guard lock(mutex_);
    return {in_use_bytes_, waiting_bytes_};
  }

 private:
  // The smallest waiting block of at least `size` and at most `most`; null where there is none.
  void* take_waiting(size_t size, size_t most) {
    const auto it = waiting_.lower_bound(size);
    if (it == waiting_.end() || it->first > most) return nullptr;
    const auto [found, block] = *it;
    waiting_.erase(it);
    waiting_bytes_ -= found;
    return hand_out(block, found);
  }

  void* hand_out(void* block, size_t size) {
    in_use_.emplace(block, size);
    in_use_bytes_ += size;
    peak_ = std::max(peak_, in_use_bytes_);
    return block;
  }

  // Null where the system refuses.
  void* map_unit(size_t size) const { return unit_ == kHugePage ? map_huge(size) : map(size); }

  static void* map(size_t size) {
    void* block = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block == MAP_FAILED ? nullptr : block;
  }

  // mmap aligns to 4 KB only: map one huge page more and give the ends back.
  static void* map_huge(size_t size) {
    void* raw = map(size + kHugePage);
    if (raw == nullptr) return nullptr;
    const auto begin = reinterpret_cast<uintptr_t>(raw);
    const uintptr_t aligned = (begin + kHugePage - 1) / kHugePage * kHugePage;
    if (aligned > begin) munmap(raw, aligned - begin);
    if (const size_t tail = begin + kHugePage - aligned; tail > 0)
      munmap(reinterpret_cast<void*>(aligned + size), tail);
    void* block = reinterpret_cast<void*>(aligned);
    madvise(block, size, MADV_HUGEPAGE);  // a hint: without huge pages it is only slower
    return block;
  }

  void release_largest() {
    const auto it = std::prev(waiting_.end());
    munmap(it->second, it->first);
    waiting_bytes_ -= it->first;
    waiting_.erase(it);
  }

  const size_t unit_;
  std::mutex mutex_;
  std::multimap<size_t, void*> waiting_;  // by size
  std::unordered_map<void*, size_t> in_use_;
  size_t waiting_bytes_ = 0;
  size_t in_use_bytes_ = 0;
  size_t peak_ = 0;
};

struct Pools {
  BlockPool huge{kHugePage};
  BlockPool small{kUnit};
};

// Never destroyed: tensors may outlive the statics of this file.
Pools& pools() {
  static Pools& instance = []() -> Pools& {
    pthread_atfork(
        [] {
          pools().huge.lock();
          pools().small.lock();
        },
        [] {
          pools().small.unlock();
          pools().huge.unlock();
        },
        [] {
          pools().small.unlock();
          pools().huge.unlock();
        });
    return *new Pools;
  }();
  return instance;
}
BlockPool& huge_pool() { return pools().huge; }
BlockPool& small_pool() { return pools().small; }

constexpr std::align_val_t kLine{64};

}  // namespace

void* huge_allocate(size_t bytes) { return huge_pool().allocate(bytes); }
void huge_free(void* block) noexcept { huge_pool().free(block); }
void huge_trim() noexcept {
  huge_pool().trim();
  small_pool().trim();
}
HugeBufferStats huge_buffer_stats() { return huge_pool().stats(); }

std::shared_ptr<void> make_buffer(size_t bytes) {
  if (bytes >= kHugePage / 2) return {huge_allocate(bytes), huge_free};
  if (bytes >= kUnit)
    return {small_pool().allocate(bytes), [](void* block) { small_pool().free(block); }};
  return {::operator new(std::max<size_t>(bytes, 64), kLine),
          [](void* block) { ::operator delete(block, kLine); }};
}

}  // namespace egc
