#include "egc/core/huge_buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <unordered_map>

#include "egc/core/error.h"

namespace egc {
namespace {

constexpr size_t kPage = size_t{2} << 20;

class Pool {
 public:
  void* allocate(size_t bytes) {
    if (bytes > std::numeric_limits<size_t>::max() / 2)
      fail(ErrorKind::kSystem, "huge_allocate: {} bytes are more than an address space", bytes);
    const size_t size = std::max(kPage, (bytes + kPage - 1) / kPage * kPage);
    std::lock_guard lock(mutex_);
    // The smallest waiting block that is not more than a quarter too large.
    auto it = waiting_.lower_bound(size);
    if (it != waiting_.end() && it->first <= size + size / 4) {
      void* block = it->second;
      const size_t found = it->first;
      waiting_.erase(it);
      waiting_bytes_ -= found;
      return hand_out(block, found);
    }
    // Sizes that do not come again must not pile up: keep in all at most half more than was ever in
    // use. The half is for steps whose sizes differ, which would otherwise map anew every time.
    const size_t limit = peak_ + peak_ / 2;
    while (!waiting_.empty() && in_use_bytes_ + waiting_bytes_ + size > limit) release_largest();
    return hand_out(map(size), size);
  }

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
  void* hand_out(void* block, size_t size) {
    in_use_.emplace(block, size);
    in_use_bytes_ += size;
    peak_ = std::max(peak_, in_use_bytes_);
    return block;
  }

  // mmap aligns to 4 KB only: map one huge page more and give the ends back.
  static void* map(size_t size) {
    void* raw =
        mmap(nullptr, size + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED)
      fail(ErrorKind::kSystem, "out of memory: a block of {} MB was refused", size >> 20);
    const auto begin = reinterpret_cast<uintptr_t>(raw);
    const uintptr_t aligned = (begin + kPage - 1) / kPage * kPage;
    if (aligned > begin) munmap(raw, aligned - begin);
    if (const size_t tail = begin + kPage - aligned; tail > 0)
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

  std::mutex mutex_;
  std::multimap<size_t, void*> waiting_;  // by size
  std::unordered_map<void*, size_t> in_use_;
  size_t waiting_bytes_ = 0;
  size_t in_use_bytes_ = 0;
  size_t peak_ = 0;
};

// Never destroyed: tensors may outlive the statics of this file.
Pool& pool() {
  static Pool& instance = *new Pool;
  return instance;
}

}  // namespace

void* huge_allocate(size_t bytes) { return pool().allocate(bytes); }
void huge_free(void* block) noexcept { pool().free(block); }
void huge_trim() noexcept { pool().trim(); }
HugeBufferStats huge_buffer_stats() { return pool().stats(); }

}  // namespace egc
