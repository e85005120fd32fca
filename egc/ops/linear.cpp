#include "egc/ops/linear.h"

#include <ATen/ATen.h>

#include "egc/ops/autograd.h"
#include "egc/ops/blocked_gemm.h"
#include "egc/ops/column_sum.h"
#include "egc/ops/tensor_buffer.h"
#include "egc/ops/with_type.h"

namespace egc::ops {
namespace {

namespace ag = torch::autograd;

struct LinearSumBackward : public ag::Node {
  std::vector<ag::SavedVariable> inputs;
  std::vector<ag::SavedVariable> weights;
  std::vector<LinearTerm> terms;
  bool has_bias = false;

  std::string name() const override { return "LinearSumBackward"; }

  void release_variables() override {
    for (auto& v : inputs) v.reset_data();
    for (auto& v : weights) v.reset_data();
  }

  ag::variable_list apply(ag::variable_list&& grads) override {
    refuse_double_backward("linear");
    const size_t num_inputs = inputs.size();
    ag::variable_list out(num_inputs + weights.size() + 1);
    if (!grads[0].defined()) return out;
    const at::Tensor grad_y = grads[0].contiguous();
    const int64_t rows = grad_y.size(0);
    std::vector<at::Tensor> x;
    std::vector<at::Tensor> w;
    for (auto& v : inputs) x.push_back(v.unpack());
    for (auto& v : weights) w.push_back(v.unpack());
    // An input's columns that no term reads have gradient 0; the others are written by the first
    // term that reads them.
    for (size_t k = 0; k < num_inputs; ++k)
      if (task_should_compute_output(k)) {
        out[k] = empty_buffer(x[k].sizes(), x[k].options());
        int64_t covered = 0;
        for (size_t t = 0; t < terms.size(); ++t)
          if (terms[t].input == static_cast<int>(k) && !reads_before(t))
            covered += w[terms[t].weight].size(1);
        if (covered < x[k].size(1)) out[k].zero_();
      }
    std::vector<GemmGradTerm> grad_terms;
    for (size_t t = 0; t < terms.size(); ++t) {
      const LinearTerm& term = terms[t];
      const at::Tensor& weight = w[term.weight];
      const int64_t in = weight.size(1);
      grad_terms.push_back(
          {x[term.input].narrow(1, term.in_column, in), weight,
           grad_y.narrow(1, term.out_column, weight.size(0)),
           out[term.input].defined() ? out[term.input].narrow(1, term.in_column, in) : at::Tensor(),
           reads_before(t)});
    }
    const std::vector<at::Tensor> grad_w = blocked_gemm_backward(rows, grad_terms);
    for (size_t t = 0; t < terms.size(); ++t) {
      at::Tensor& sum = out[num_inputs + terms[t].weight];
      sum = sum.defined() ? sum + grad_w[t] : grad_w[t];
    }
    if (has_bias) {
      at::Tensor& grad_bias = out.back();
      grad_bias = at::empty({grad_y.size(1)}, grad_y.options());
      with_type(grad_y.scalar_type(), [&](auto zero) {
        using T = decltype(zero);
        column_sum(grad_y.data_ptr<T>(), rows, grad_y.size(1), grad_bias.data_ptr<T>());
      });
    }
    return out;
  }

  // Whether an earlier term reads the same columns.
  bool reads_before(size_t t) const {
    for (size_t s = 0; s < t; ++s)
      if (terms[s].input == terms[t].input && terms[s].in_column == terms[t].in_column) return true;
    return false;
  }
};

}  // namespace

at::Tensor linear_sum(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& weights,
                      const std::vector<LinearTerm>& terms, const at::Tensor& bias,
                      int64_t out_columns, const EpilogueTensors& epilogue) {
  const int64_t rows = inputs.at(0).size(0);
  const auto type = weights.at(0).scalar_type();
  check(type == at::kFloat || type == at::kDouble, "linear: weights must be float32 or float64");
  for (const at::Tensor& x : inputs)
    check(x.dim() == 2 && x.size(0) == rows && x.scalar_type() == type && x.is_cpu(),
          "linear: x must be a {} CPU matrix of {} rows, got [{}] {}", c10::toString(type), rows,
          fmt::join(x.sizes(), ", "), c10::toString(x.scalar_type()));
  for (const LinearTerm& t : terms) {
    const at::Tensor& w = weights.at(t.weight);
    check(t.in_column + w.size(1) <= inputs.at(t.input).size(1) &&
              t.out_column + w.size(0) <= out_columns,
          "linear: weight [{}] does not fit x [{}]", fmt::join(w.sizes(), ", "),
          fmt::join(inputs.at(t.input).sizes(), ", "));
  }
  check(!bias.defined() || (bias.dim() == 1 && bias.size(0) == out_columns),
        "linear: bias must be [{}]", out_columns);
  std::vector<at::Tensor> x;
  for (const at::Tensor& input : inputs) x.push_back(input.contiguous());
  at::Tensor out;
  ag::variable_list differentiable = inputs;
  differentiable.insert(differentiable.end(), weights.begin(), weights.end());
  differentiable.push_back(bias);
  const auto node =
      make_node<LinearSumBackward>("linear_sum", differentiable, [&](LinearSumBackward& n) {
        for (const at::Tensor& t : x) n.inputs.emplace_back(t, false);
        for (const at::Tensor& t : weights) n.weights.emplace_back(t, false);
        n.terms = terms;
        n.has_bias = bias.defined();
      });
  {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    out = empty_buffer({rows, out_columns}, x[0].options());
    std::vector<GemmTerm> gemms;
    for (size_t t = 0; t < terms.size(); ++t) {
      const at::Tensor& w = weights[terms[t].weight];
      const bool again = t > 0 && terms[t - 1].out_column == terms[t].out_column;
      gemms.push_back({x[terms[t].input].narrow(1, terms[t].in_column, w.size(1)), w,
                       out.narrow(1, terms[t].out_column, w.size(0)),
                       bias.defined() ? bias.narrow(0, terms[t].out_column, w.size(0)) : bias,
                       again});
    }
    with_type(type, [&](auto zero) {
      using T = decltype(zero);
      const Epilogue<T> last = borrow<T>(epilogue, rows, out_columns, node != nullptr);
      if (last.empty()) return blocked_gemm(rows, gemms);
      blocked_gemm(rows, gemms, [&](RowRange range) {
        last.apply(range, out_columns, 0, out_columns, out.data_ptr<T>());
      });
    });
  }
  if (node) ag::set_history(out, node);
  return out;
}

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                  const EpilogueTensors& epilogue) {
  check(x.dim() == 2 && x.size(1) == weight.size(1), "linear: x must be [N, {}], got [{}]",
        weight.size(1), fmt::join(x.sizes(), ", "));
  return linear_sum({x}, {weight}, {LinearTerm{}}, bias, weight.size(0), epilogue);
}

}  // namespace egc::ops
