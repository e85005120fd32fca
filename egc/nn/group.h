// A module that only holds others under a common name, such as "rel_lins.<relation>".
#pragma once

#include <torch/nn/module.h>

namespace egc::nn {

// Gives every parameter and buffer of `to` a copy of the one of the same name in `from`.
inline void copy_state(const torch::nn::Module& from, torch::nn::Module& to) {
  at::NoGradGuard no_grad;
  const auto copy = [](auto source, auto target) {
    for (auto& item : target) item.value().set_data(source[item.key()].detach().clone());
  };
  copy(from.named_parameters(), to.named_parameters());
  copy(from.named_buffers(), to.named_buffers());
}

// LibTorch's own Module copies nothing when the module around it is cloned.
class Group : public torch::nn::Module {
 private:
  void clone_(torch::nn::Module& other, const c10::optional<torch::Device>&) override {
    copy_state(other, *this);
  }
};

}  // namespace egc::nn
