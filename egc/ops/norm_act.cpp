#include "egc/ops/norm_act.h"

#include <ATen/ATen.h>

#include "egc/engine/norm_act.h"
#include "egc/ops/autograd.h"
#include "egc/ops/tensor_buffer.h"
#include "egc/ops/with_type.h"

namespace egc::ops {
namespace {

namespace ag = torch::autograd;

// The operator's constants as tensors; `scale` and `mean` are undefined without normalisation.
struct Saved {
  at::Tensor scale;
  at::Tensor shift;
  at::Tensor mean;
  at::Tensor inv_std;
  bool of_this_batch = false;
  bool relu = false;
  double drop = 0;
  uint64_t seed = 0;

  template <class T>
  kernels::NormAct<T> op() const {
    kernels::NormAct<T> out;
    if (scale.defined()) {
      out.scale = scale.data_ptr<T>();
      out.shift = shift.data_ptr<T>();
    }
    out.relu = relu;
    out.drop = drop;
    out.seed = seed;
    return out;
  }
};

struct NormActBackward : public ag::Node {
  ag::SavedVariable x;
  Saved saved;

  std::string name() const override { return "NormActBackward"; }
  void release_variables() override { x.reset_data(); }

  // Inputs: x, weight, bias, residual.
  ag::variable_list apply(ag::variable_list&& grads) override {
    refuse_double_backward("norm_act");
    if (!grads[0].defined()) return {at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
    const at::Tensor grad_y = grads[0].contiguous();
    const at::Tensor input = x.unpack();
    const int64_t rows = input.size(0);
    const int64_t columns = input.size(1);
    at::Tensor grad_x;
    at::Tensor grad_weight;
    at::Tensor grad_bias;
    if (task_should_compute_output(0)) grad_x = empty_buffer(input.sizes(), input.options());
    if (saved.scale.defined()) {
      grad_weight = at::empty({columns}, input.options());
      grad_bias = at::empty({columns}, input.options());
    }
    with_type(input.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto pointer = [](const at::Tensor& t) {
        return t.defined() ? t.data_ptr<T>() : nullptr;
      };
      norm_act_backward(saved.op<T>(),
                        {pointer(saved.mean), pointer(saved.inv_std), saved.of_this_batch}, rows,
                        columns, input.data_ptr<T>(), grad_y.data_ptr<T>(), pointer(grad_x),
                        pointer(grad_weight), pointer(grad_bias));
    });
    return {grad_x, grad_weight, grad_bias, grad_y};
  }
};

at::Tensor run(const at::Tensor& x, const Saved& saved, const at::Tensor& weight,
               const at::Tensor& bias, const at::Tensor& residual) {
  const at::Tensor input = x.contiguous();
  const at::Tensor added = residual.defined() ? residual.contiguous() : residual;
  at::Tensor out;
  {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    out = empty_buffer(x.sizes(), x.options());
    with_type(x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      norm_act_forward(saved.op<T>(), x.size(0), x.size(1),
                       static_cast<const T*>(input.data_ptr<T>()),
                       added.defined() ? static_cast<const T*>(added.data_ptr<T>()) : nullptr,
                       out.data_ptr<T>());
    });
  }
  const auto node =
      make_node<NormActBackward>({x, weight, bias, residual}, [&](NormActBackward& n) {
        n.x = ag::SavedVariable(input, false);
        n.saved = saved;
      });
  if (node) ag::set_history(out, node);
  return out;
}

void check_matrix(const char* operation, const at::Tensor& x) {
  check(x.dim() == 2 && x.is_cpu() &&
            (x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble),
        "{}: x must be a float32 or float64 CPU matrix, got [{}] {}", operation,
        fmt::join(x.sizes(), ", "), c10::toString(x.scalar_type()));
}

// The default generator decides, so torch::manual_seed governs dropout too.
uint64_t draw_seed() {
  return static_cast<uint64_t>(at::randint(INT64_MAX, {1}, at::kLong).item<int64_t>());
}

double checked_probability(double p) {
  check(p >= 0 && p < 1, "dropout: the probability must be in [0, 1), got {}", p);
  return p;
}

// Statistics of the batch, and what the running ones become.
void take_batch_statistics(const at::Tensor& x, const BatchNormTensors& norm, at::Tensor& mean,
                           at::Tensor& variance) {
  const int64_t rows = x.size(0);
  check(rows > 1, "batch norm: training needs at least two rows, got {}", rows);
  const at::Tensor input = x.contiguous();
  mean = at::empty({x.size(1)}, x.options());
  variance = at::empty({x.size(1)}, x.options());
  with_type(x.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    column_statistics(static_cast<const T*>(input.data_ptr<T>()), rows, x.size(1),
                      mean.data_ptr<T>(), variance.data_ptr<T>());
  });
  const double unbiased = static_cast<double>(rows) / static_cast<double>(rows - 1);
  at::Tensor(norm.running_mean).mul_(1 - norm.momentum).add_(mean, norm.momentum);
  at::Tensor(norm.running_var).mul_(1 - norm.momentum).add_(variance, norm.momentum * unbiased);
}

}  // namespace

at::Tensor batch_norm_act(const at::Tensor& x, const BatchNormTensors& norm, bool training,
                          bool relu, double dropout, const at::Tensor& residual) {
  check_matrix("batch norm", x);
  check(x.size(1) == norm.weight.size(0) && x.scalar_type() == norm.weight.scalar_type(),
        "batch norm: x must be [N, {}] {}, got [{}] {}", norm.weight.size(0),
        c10::toString(norm.weight.scalar_type()), fmt::join(x.sizes(), ", "),
        c10::toString(x.scalar_type()));
  check(!residual.defined() || (residual.sizes() == x.sizes() && residual.dtype() == x.dtype()),
        "batch norm: the residual must be as x, [{}], got [{}]", fmt::join(x.sizes(), ", "),
        residual.defined() ? fmt::format("{}", fmt::join(residual.sizes(), ", ")) : "");
  Saved saved;
  saved.relu = relu;
  saved.drop = training ? checked_probability(dropout) : 0.0;
  if (saved.drop > 0) saved.seed = draw_seed();
  saved.of_this_batch = training;
  {
    at::NoGradGuard no_grad;
    at::Tensor variance;
    if (training) {
      take_batch_statistics(x, norm, saved.mean, variance);
    } else {
      saved.mean = norm.running_mean.clone();
      variance = norm.running_var;
    }
    saved.inv_std = at::rsqrt(variance + norm.eps);
    saved.scale = norm.weight * saved.inv_std;
    saved.shift = norm.bias - saved.mean * saved.scale;
  }
  return run(x, saved, norm.weight, norm.bias, residual);
}

at::Tensor dropout(const at::Tensor& x, double p, bool training) {
  if (!training || checked_probability(p) == 0) return x;
  check_matrix("dropout", x);
  Saved saved;
  saved.drop = p;
  saved.seed = draw_seed();
  return run(x, saved, {}, {}, {});
}

at::Tensor relu_dropout(const at::Tensor& x, double p, bool training) {
  check_matrix("relu", x);
  Saved saved;
  saved.relu = true;
  saved.drop = training ? checked_probability(p) : 0.0;
  if (saved.drop > 0) saved.seed = draw_seed();
  return run(x, saved, {}, {}, {});
}

at::Tensor apply_epilogue(const at::Tensor& y, const EpilogueTensors& epilogue) {
  if (epilogue.empty()) return y;
  check_matrix("epilogue", y);
  const at::Tensor input = y.contiguous();
  at::Tensor out = empty_buffer(y.sizes(), y.options());
  with_type(y.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    const Epilogue<T> e = borrow<T>(epilogue, y.size(0), y.size(1), y.requires_grad());
    norm_act_forward(e.op, y.size(0), y.size(1), static_cast<const T*>(input.data_ptr<T>()),
                     e.residual, out.data_ptr<T>());
  });
  return out;
}

}  // namespace egc::ops
