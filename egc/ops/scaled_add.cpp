#include "egc/ops/scaled_add.h"

#include <ATen/ATen.h>

#include "egc/core/parallel.h"
#include "egc/graph/row_split.h"
#include "egc/ops/autograd.h"
#include "egc/ops/tensor_buffer.h"
#include "egc/ops/with_type.h"

namespace egc::ops {
namespace {

namespace ag = torch::autograd;

constexpr int64_t kBlock = 1 << 14;  // elements of a partial sum

struct ScaledAddBackward : public ag::Node {
  ag::SavedVariable x;
  ag::SavedVariable eps;

  std::string name() const override { return "ScaledAddBackward"; }
  void release_variables() override {
    x.reset_data();
    eps.reset_data();
  }

  ag::variable_list apply(ag::variable_list&& grads) override {
    refuse_double_backward("scaled_add");
    if (!grads[0].defined()) return {at::Tensor(), at::Tensor(), at::Tensor()};
    const at::Tensor grad = grads[0].contiguous();
    const at::Tensor input = x.unpack();
    const at::Tensor e = eps.unpack();
    const at::Tensor grad_eps = at::empty_like(e);
    with_type(grad.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto blocks = split_evenly(grad.numel(), kBlock);
      std::vector<double> partial(blocks.size(), 0.0);
      const T* g = grad.data_ptr<T>();
      const T* v = input.data_ptr<T>();
      parallel_tasks(static_cast<int64_t>(blocks.size()), [&](int64_t b) {
        for (int64_t k = blocks[b].begin; k < blocks[b].end; ++k)
          partial[b] += static_cast<double>(g[k]) * static_cast<double>(v[k]);
      });
      double total = 0;
      for (const double p : partial) total += p;
      *grad_eps.data_ptr<T>() = static_cast<T>(total);
    });
    const at::Tensor factor = 1 + e;
    at::Tensor grad_x = empty_buffer(grad.sizes(), grad.options());
    at::mul_out(grad_x, grad, factor);
    return {grad, grad_x, grad_eps};
  }
};

}  // namespace

at::Tensor scaled_add(const at::Tensor& a, const at::Tensor& x, const at::Tensor& eps) {
  check(a.sizes() == x.sizes() && eps.numel() == 1 && a.is_cpu(),
        "scaled_add: a and x must have one shape and eps one value, got [{}], [{}] and [{}]",
        fmt::join(a.sizes(), ", "), fmt::join(x.sizes(), ", "), fmt::join(eps.sizes(), ", "));
  const at::Tensor input = x.contiguous();
  at::Tensor out;
  {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    out = empty_buffer(a.sizes(), a.options());
    at::addcmul_out(out, a, input, 1 + eps);
  }
  const auto node =
      make_node<ScaledAddBackward>("scaled_add", {a, x, eps}, [&](ScaledAddBackward& n) {
        n.x = ag::SavedVariable(input, false);
        n.eps = ag::SavedVariable(eps, false);
      });
  if (node) ag::set_history(out, node);
  return out;
}

}  // namespace egc::ops
