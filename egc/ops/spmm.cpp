#include "egc/ops/spmm.h"

#include <ATen/ATen.h>

#include "egc/engine/spmm.h"
#include "egc/ops/autograd.h"
#include "egc/ops/tensor_buffer.h"
#include "egc/ops/with_type.h"

namespace egc::ops {
namespace {

namespace ag = torch::autograd;

at::Tensor multiply(const Csr& graph, const at::Tensor& x) {
  at::AutoDispatchBelowADInplaceOrView below_autograd;
  const at::Tensor input = x.contiguous();
  const at::Tensor out = empty_buffer({graph.num_targets(), x.size(1)}, x.options());
  with_type(x.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    egc::spmm(graph, input.data_ptr<T>(), x.size(1), out.data_ptr<T>());
  });
  return out;
}

struct SpmmBackward : public ag::Node {
  Csr graph;
  std::string name() const override { return "SpmmBackward"; }
  ag::variable_list apply(ag::variable_list&& grads) override {
    if (!grads[0].defined()) return {at::Tensor()};
    return {spmm(graph.transposed(), grads[0])};  // differentiable again
  }
};

}  // namespace

at::Tensor spmm(const Csr& graph, const at::Tensor& x) {
  check(x.dim() == 2 && x.size(0) == graph.num_sources() && x.is_cpu() &&
            (x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble),
        "spmm: x must be a float32 or float64 CPU tensor [{}, columns], got [{}] {}",
        graph.num_sources(), fmt::join(x.sizes(), ", "), c10::toString(x.scalar_type()));
  at::Tensor out = multiply(graph, x);
  const auto node = make_node<SpmmBackward>("spmm", {x}, [&](SpmmBackward& n) { n.graph = graph; });
  if (node) ag::set_history(out, node);
  return out;
}

}  // namespace egc::ops
