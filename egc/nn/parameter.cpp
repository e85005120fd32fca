#include "egc/nn/parameter.h"

#include <ATen/ATen.h>

#include "egc/core/error.h"

namespace egc::nn {
namespace {

constexpr int64_t kNoBudget = -1;
thread_local int64_t budget = kNoBudget;

}  // namespace

at::Tensor new_parameter(at::IntArrayRef sizes) {
  int64_t elements = 1;
  bool fits = true;
  for (const int64_t extent : sizes)
    fits = fits && extent >= 0 && !__builtin_mul_overflow(elements, extent, &elements);
  check(fits || budget != kNoBudget, "a parameter cannot be [{}]", fmt::join(sizes, ", "));
  if (budget != kNoBudget) {
    if (!fits || elements > budget)
      fail(ErrorKind::kModel,
           "the configuration needs a parameter [{}], more than the {} values that are left",
           fmt::join(sizes, ", "), budget);
    budget -= elements;
  }
  return at::empty(sizes);
}

ParameterBudget::ParameterBudget(int64_t elements) { budget = elements; }
ParameterBudget::~ParameterBudget() { budget = kNoBudget; }

}  // namespace egc::nn
