#include "egc/c_api/call.h"

#include <cstdlib>
#include <cstring>

#include "egc/app/version.h"
#include "egc/core/hash64.h"
#include "egc/core/log.h"
#include "egc/core/parallel.h"

namespace egc::c_api {
namespace {

// Freed with the thread, whose last call it describes.
thread_local std::string t_last_error;

}  // namespace

egc_status fail_with(egc_status status, const char* sentence) noexcept {
  try {
    t_last_error = sentence;
  } catch (...) {  // no memory for the sentence: the status alone must do
    t_last_error.clear();
  }
  return status;
}

char* copy_of(const std::string& text) {
  auto* out = static_cast<char*>(std::malloc(text.size() + 1));
  if (out == nullptr) throw std::bad_alloc();
  std::memcpy(out, text.c_str(), text.size() + 1);
  return out;
}

}  // namespace egc::c_api

using egc::c_api::call;

int egc_api_version() { return EGC_API_VERSION; }

const char* egc_version() {
  static const std::string version = egc::app::version_with_revision();
  return version.c_str();
}

const char* egc_last_error() { return egc::c_api::t_last_error.c_str(); }

void egc_free(void* memory) { std::free(memory); }

void egc_set_log(egc_log_function log, void* user) {
  static_cast<void>(call([&] {
    if (log == nullptr) return egc::set_log_sink({});
    egc::set_log_sink([log, user](egc::LogLevel level, std::string_view message) {
      log(static_cast<int>(level), std::string(message).c_str(), user);
    });
  }));
}

int egc_num_threads() { return egc::num_threads(); }

egc_status egc_set_num_threads(int threads) {
  return call([&] { egc::set_num_threads(threads); });
}

egc_status egc_set_num_threads_here(int threads) {
  return call([&] { egc::set_num_threads_here(threads); });
}

void egc_set_parallel(egc_parallel run) { egc::set_parallel_runner(run); }

uint64_t egc_checksum(const void* bytes, size_t size) {
  // Of blocks, so that all threads can take part; short ones need none.
  constexpr size_t kBlock = size_t{1} << 20;
  if (size <= kBlock) return egc::hash64(bytes, size);
  uint64_t out = 0;
  static_cast<void>(call([&] {
    std::vector<uint64_t> blocks((size + kBlock - 1) / kBlock);
    egc::parallel_tasks(std::ssize(blocks), [&](int64_t k) {
      const size_t first = static_cast<size_t>(k) * kBlock;
      blocks[static_cast<size_t>(k)] =
          egc::hash64(static_cast<const char*>(bytes) + first, std::min(kBlock, size - first));
    });
    out = egc::hash64(blocks.data(), blocks.size() * sizeof(uint64_t));
  }));
  return out;
}
