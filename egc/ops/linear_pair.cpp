#include "egc/ops/linear_pair.h"

#include <ATen/ATen.h>

#include "egc/ops/autograd.h"
#include "egc/ops/blocked_gemm.h"
#include "egc/ops/column_sum.h"
#include "egc/ops/tensor_buffer.h"
#include "egc/ops/with_type.h"

namespace egc::ops {
namespace {

namespace ag = torch::autograd;

// The rows of theta in the order of the layout's columns: slice, basis, column within the slice.
at::Tensor theta_by_slice(const at::Tensor& theta, const SliceLayout& layout) {
  if (layout.num_slices() <= 1) return theta;
  std::vector<at::Tensor> parts;
  for (int64_t s = 0; s < layout.num_slices(); ++s)
    for (int64_t b = 0; b < layout.bases; ++b)
      parts.push_back(theta.narrow(0, b * layout.head_width + layout.first(s), layout.width(s)));
  return at::cat(parts, 0);
}

// The inverse, for the gradient.
at::Tensor theta_from_slices(const at::Tensor& by_slice, const SliceLayout& layout) {
  if (layout.num_slices() <= 1) return by_slice;
  at::Tensor theta = at::empty_like(by_slice);
  int64_t row = 0;
  for (int64_t s = 0; s < layout.num_slices(); ++s)
    for (int64_t b = 0; b < layout.bases; ++b) {
      theta.narrow(0, b * layout.head_width + layout.first(s), layout.width(s))
          .copy_(by_slice.narrow(0, row, layout.width(s)));
      row += layout.width(s);
    }
  return theta;
}

// A matrix [N, columns] that some rows of the stacked weight matrix produce: a slice of the bases,
// or the weights.
struct Part {
  at::Tensor matrix;
  at::Tensor weight;  // [columns, F]
};

std::vector<Part> make_parts(const at::Tensor& bases, const at::Tensor& weights,
                             const at::Tensor& theta, const at::Tensor& phi,
                             const SliceLayout& layout) {
  const int64_t rows = weights.size(0);
  const at::Tensor flat = bases.view(-1);
  std::vector<Part> parts;
  for (int64_t s = 0; s < layout.num_slices(); ++s) {
    const int64_t columns = layout.row_stride(s);
    const int64_t begin = layout.bases * layout.first(s);
    parts.push_back({flat.narrow(0, rows * begin, rows * columns).view({rows, columns}),
                     theta.narrow(0, begin, columns)});
  }
  parts.push_back({weights, phi});
  return parts;
}

struct LinearPairBackward : public ag::Node {
  ag::SavedVariable x;
  ag::SavedVariable theta;  // by slice
  ag::SavedVariable phi;
  SliceLayout layout;
  bool has_bias = false;

  std::string name() const override { return "LinearPairBackward"; }

  void release_variables() override {
    x.reset_data();
    theta.reset_data();
    phi.reset_data();
  }

  ag::variable_list apply(ag::variable_list&& grads) override;
};

ag::variable_list LinearPairBackward::apply(ag::variable_list&& grads) {
  refuse_double_backward("linear_pair");
  const at::Tensor input = x.unpack();
  const at::Tensor theta_rows = theta.unpack();
  const at::Tensor phi_rows = phi.unpack();
  const int64_t rows = input.size(0);
  const int64_t features = input.size(1);
  const auto defined = [&](const at::Tensor& g, int64_t columns) {
    return g.defined() ? g.contiguous() : at::zeros({rows, columns}, input.options());
  };
  const at::Tensor grad_bases = defined(grads[0], theta_rows.size(0));
  const at::Tensor grad_weights = defined(grads[1], phi_rows.size(0));
  const std::vector<Part> parts =
      make_parts(grad_bases, grad_weights, theta_rows, phi_rows, layout);
  at::Tensor grad_x;
  if (task_should_compute_output(0)) grad_x = empty_buffer({rows, features}, input.options());
  std::vector<GemmGradTerm> terms;
  for (const Part& part : parts)
    terms.push_back({input, part.weight, part.matrix, grad_x, !terms.empty()});
  std::vector<at::Tensor> grad_weight_rows = blocked_gemm_backward(rows, terms);
  const at::Tensor grad_phi = grad_weight_rows.back();
  grad_weight_rows.pop_back();
  const at::Tensor grad_theta = theta_from_slices(at::cat(grad_weight_rows, 0), layout);

  at::Tensor grad_bias;
  if (has_bias) {
    grad_bias = at::empty({phi_rows.size(0)}, input.options());
    with_type(input.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      column_sum(grad_weights.data_ptr<T>(), rows, phi_rows.size(0), grad_bias.data_ptr<T>());
    });
  }
  return {grad_x, grad_theta, grad_phi, grad_bias};
}

}  // namespace

std::pair<at::Tensor, at::Tensor> linear_pair(const at::Tensor& x, const at::Tensor& theta,
                                              const at::Tensor& phi, const at::Tensor& phi_bias,
                                              const SliceLayout& layout) {
  check(x.dim() == 2 && x.size(1) == theta.size(1), "linear_pair: x must be [N, {}], got [{}]",
        theta.size(1), fmt::join(x.sizes(), ", "));
  check(x.scalar_type() == theta.scalar_type(), "linear_pair: x must be {}, got {}",
        c10::toString(theta.scalar_type()), c10::toString(x.scalar_type()));
  const at::Tensor input = x.contiguous();
  const int64_t rows = x.size(0);
  at::Tensor bases;
  at::Tensor weights;
  at::Tensor theta_rows;
  {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    bases = empty_buffer({rows, theta.size(0)}, x.options());
    weights = empty_buffer({rows, phi.size(0)}, x.options());
    theta_rows = theta_by_slice(theta, layout);
    const std::vector<Part> parts = make_parts(bases, weights, theta_rows, phi, layout);
    std::vector<GemmTerm> terms;
    for (const Part& part : parts) terms.push_back({input, part.weight, part.matrix, {}});
    terms.back().bias = phi_bias;
    blocked_gemm(rows, terms);
  }
  const auto node = make_node<LinearPairBackward>("linear_pair", {x, theta, phi, phi_bias},
                                                  [&](LinearPairBackward& n) {
                                                    n.x = ag::SavedVariable(input, false);
                                                    n.theta = ag::SavedVariable(theta_rows, false);
                                                    n.phi = ag::SavedVariable(phi, false);
                                                    n.layout = layout;
                                                    n.has_bias = phi_bias.defined();
                                                  });
  if (node) {
    ag::set_history(bases, node);
    ag::set_history(weights, node);
  }
  return {bases, weights};
}

}  // namespace egc::ops
