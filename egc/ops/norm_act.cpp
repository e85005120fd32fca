#include "egc/ops/norm_act.h"

#include <ATen/ATen.h>

#include "egc/engine/norm_act.h"
#include "egc/ops/autograd.h"
#include "egc/ops/batch_group.h"
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
  int64_t rows_of_all = 0;
  int64_t first_row = 0;  // of this process among the rows of all
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
    out.first_row = first_row;
    return out;
  }
};

// In order of the ranks: the same bits on all of them.
void add_sums_of_group(std::vector<double>& sums) {
  const auto size = static_cast<int64_t>(sums.size());
  const at::Tensor mine = at::from_blob(sums.data(), {size}, at::kDouble).clone();
  std::fill(sums.begin(), sums.end(), 0.0);
  for (const at::Tensor& part : batch_group()->gather(mine))
    for (int64_t k = 0; k < size; ++k) sums[k] += part.data_ptr<double>()[k];
}

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
    const bool shared = saved.of_this_batch && batch_group() != nullptr;
    with_type(input.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const auto pointer = [](const at::Tensor& t) {
        return t.defined() ? t.data_ptr<T>() : nullptr;
      };
      NormStatistics<T> statistics{pointer(saved.mean), pointer(saved.inv_std),
                                   saved.of_this_batch};
      statistics.rows_of_all = saved.rows_of_all;
      if (shared) statistics.add_others = add_sums_of_group;
      norm_act_backward(saved.op<T>(), statistics, rows, columns, input.data_ptr<T>(),
                        grad_y.data_ptr<T>(), pointer(grad_x), pointer(grad_weight),
                        pointer(grad_bias));
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
      make_node<NormActBackward>("norm_act", {x, weight, bias, residual}, [&](NormActBackward& n) {
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

// How many rows the group has in all, and how many on ranks before this one.
struct SharedRows {
  int64_t all = 0;
  int64_t before = 0;
};

// Mean and biased variance of the rows of all ranks from those of each.
SharedRows merge_statistics_of_group(int64_t rows, at::Tensor& mean, at::Tensor& variance) {
  const int64_t columns = mean.size(0);
  const at::Tensor mine =
      at::cat({at::full({1}, rows, at::kDouble), mean.to(at::kDouble), variance.to(at::kDouble)});
  const std::vector<at::Tensor> parts = batch_group()->gather(mine);
  SharedRows out;
  at::Tensor total = at::zeros({columns}, at::kDouble);
  at::Tensor off = at::zeros({columns}, at::kDouble);  // squared distances to the mean
  for (size_t rank = 0; rank < parts.size(); ++rank) {
    const double n = parts[rank][0].item<double>();
    if (static_cast<int>(rank) < batch_group()->rank()) out.before += static_cast<int64_t>(n);
    if (n == 0) continue;
    // The rule of Chan, Golub and LeVeque, as for the blocks of a matrix.
    const auto seen = static_cast<double>(out.all);
    const at::Tensor delta = parts[rank].slice(0, 1, 1 + columns) - total;
    total += delta * (n / (seen + n));
    off += parts[rank].slice(0, 1 + columns) * n + delta * delta * (seen * n / (seen + n));
    out.all += static_cast<int64_t>(n);
  }
  mean = total.to(mean.scalar_type());
  variance = (off / static_cast<double>(std::max<int64_t>(1, out.all))).to(mean.scalar_type());
  return out;
}

int64_t rows_before(int64_t rows) {
  int64_t before = 0;
  const std::vector<at::Tensor> parts = batch_group()->gather(at::full({1}, rows, at::kLong));
  for (int rank = 0; rank < batch_group()->rank(); ++rank) before += parts[rank].item<int64_t>();
  return before;
}

// Statistics of the batch, and what the running ones become. False where the batch of all ranks has
// fewer than two rows, which have no variance.
bool take_batch_statistics(const at::Tensor& x, const BatchNormTensors& norm, Saved& saved,
                           at::Tensor& variance) {
  at::Tensor& mean = saved.mean;
  int64_t rows = x.size(0);
  const at::Tensor input = x.contiguous();
  mean = at::empty({x.size(1)}, x.options());
  variance = at::empty({x.size(1)}, x.options());
  with_type(x.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    column_statistics(static_cast<const T*>(input.data_ptr<T>()), rows, x.size(1),
                      mean.data_ptr<T>(), variance.data_ptr<T>());
  });
  if (batch_group() != nullptr) {
    const SharedRows shared = merge_statistics_of_group(rows, mean, variance);
    saved.first_row = shared.before;
    saved.rows_of_all = rows = shared.all;
  }
  if (rows < 2) return false;
  const double unbiased = static_cast<double>(rows) / static_cast<double>(rows - 1);
  at::Tensor(norm.running_mean).mul_(1 - norm.momentum).add_(mean, norm.momentum);
  at::Tensor(norm.running_var).mul_(1 - norm.momentum).add_(variance, norm.momentum * unbiased);
  return true;
}

// Dropout of a matrix whose rows nobody has counted.
void draw_dropout(Saved& saved, double p, int64_t rows) {
  saved.drop = p;
  saved.seed = draw_seed();
  if (batch_group() != nullptr) saved.first_row = rows_before(rows);
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
  {
    at::NoGradGuard no_grad;
    at::Tensor variance;
    saved.of_this_batch = training && take_batch_statistics(x, norm, saved, variance);
    if (!saved.of_this_batch) {  // a single row is normalised as in evaluation
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
  draw_dropout(saved, p, x.size(0));
  return run(x, saved, {}, {}, {});
}

at::Tensor relu_dropout(const at::Tensor& x, double p, bool training) {
  check_matrix("relu", x);
  Saved saved;
  saved.relu = true;
  if (training && checked_probability(p) > 0) draw_dropout(saved, p, x.size(0));
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
