// New parameters of the layers, uninitialised, within a budget where one is set: a model file's
// configuration must not make us allocate more than the file has.
#pragma once

#include <ATen/core/Tensor.h>

namespace egc::nn {

at::Tensor new_parameter(at::IntArrayRef sizes);

// While it lives, new_parameter of this thread throws ErrorKind::kModel beyond `elements` in all.
class ParameterBudget {
 public:
  explicit ParameterBudget(int64_t elements);
  ~ParameterBudget();
  ParameterBudget(const ParameterBudget&) = delete;
  ParameterBudget& operator=(const ParameterBudget&) = delete;
};

}  // namespace egc::nn
