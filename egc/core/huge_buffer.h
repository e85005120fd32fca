// Blocks of memory that are kept for reuse, large ones on huge pages.
//
// Why: gathering rows at random from 4 KB pages is bound by address translation, and the first
// touch of a fresh block (the kernel zeroes it) costs as much as a pass over the data. So blocks
// come from mmap with madvise(MADV_HUGEPAGE), and freed ones wait for the next request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "egc/core/error.h"

namespace egc {

// 64-byte aligned, uninitialised. Throws egc::Error (kSystem) when memory is out.
void* huge_allocate(size_t bytes);
void huge_free(void* block) noexcept;

// A buffer of any size, 64-byte aligned and uninitialised, on the pages that suit its size. What is
// larger than some kilobytes waits for reuse: allocators give it back to the system, and a training
// step would touch fresh pages again and again.
std::shared_ptr<void> make_buffer(size_t bytes);

// Gives all waiting blocks back to the system.
void huge_trim() noexcept;

struct HugeBufferStats {
  size_t in_use = 0;   // bytes handed out
  size_t waiting = 0;  // bytes kept for reuse
};
HugeBufferStats huge_buffer_stats();

struct HugeDeleter {
  void operator()(void* block) const noexcept { huge_free(block); }
};
template <class T>
using HugeArray = std::unique_ptr<T[], HugeDeleter>;

// For plain values; not initialised.
template <class T>
HugeArray<T> make_huge_array(int64_t count) {
  size_t bytes = 0;
  check(count >= 0 && !__builtin_mul_overflow(static_cast<size_t>(count), sizeof(T), &bytes),
        "make_huge_array: {} values are no size of an array", count);
  return HugeArray<T>(static_cast<T*>(huge_allocate(bytes)));
}

}  // namespace egc
