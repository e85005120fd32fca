// Stands in for egc/core/producer.h under fuzzing: makes each thing when it is asked for. A thread
// for every file would take most of the time, and what it covers would be a matter of luck.
#pragma once

#include <functional>
#include <optional>

#include "egc/core/parallel.h"

namespace egc {

template <class T>
class Producer {
 public:
  Producer(std::function<std::optional<T>()> make, size_t /*ahead*/) : make_(std::move(make)) {}
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  std::optional<T> next() {
    std::optional<T> out;
    if (!done_) parallel_tasks(1, [&](int64_t) { out = make_(); });
    done_ = !out;
    return out;
  }

 private:
  std::function<std::optional<T>()> make_;
  bool done_ = false;
};

}  // namespace egc
