// Leaves LibTorch's default generator as it was: for networks whose first values are thrown away.
#pragma once

#include <ATen/Context.h>

namespace egc::models {

class KeepGenerator {
 public:
  KeepGenerator() : generator_(at::globalContext().defaultGenerator(at::kCPU)) {
    state_ = generator_.get_state();
  }
  ~KeepGenerator() { generator_.set_state(state_); }
  KeepGenerator(const KeepGenerator&) = delete;
  KeepGenerator& operator=(const KeepGenerator&) = delete;

 private:
  at::Generator generator_;
  at::Tensor state_;
};

}  // namespace egc::models
