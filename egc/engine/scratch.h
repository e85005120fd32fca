// Scratch memory of the calling thread, kept between calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace egc {

// At least `count` values of T, 64-byte aligned, zero where never written. Valid until the next
// call from the same thread.
template <class T>
T* thread_scratch(int64_t count) {
  struct Free {
    void operator()(void* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  thread_local std::unique_ptr<T, Free> block;
  thread_local int64_t size = 0;
  if (size < count) {
    block.reset(new (std::align_val_t{64}) T[static_cast<size_t>(count)]());
    size = count;
  }
  return block.get();
}

}  // namespace egc
