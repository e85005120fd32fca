#include "egc/ops/norm_act.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "egc/engine/norm_act.h"
#include "egc/graph/batch_group.h"
#include "egc/ops/normalize_rows.h"

namespace egc::ops {
namespace {

// The operator's constants; `scale` and `mean` are undefined without normalisation.
struct Saved {
  Tensor scale;
  Tensor shift;
  Tensor mean;
  Tensor inv_std;
  bool of_this_batch = false;
  int64_t rows_of_all = 0;
  int64_t first_row = 0;  // of this process among the rows of all
  bool relu = false;
  double drop = 0;
  uint64_t seed = 0;

  template <class T>
  kernels::NormAct<T> op() const {
    kernels::NormAct<T> out;
    out.scale = pointer<T>(scale);
    out.shift = pointer<T>(shift);
    out.relu = relu;
    out.drop = drop;
    out.seed = seed;
    out.first_row = first_row;
    return out;
  }
};

struct Inputs {
  Tensor x, weight, bias, residual;
};

// In order of the ranks: the same bits on all of them.
void add_sums_of_group(std::vector<double>& sums) {
  const std::vector<double> parts = batch_group()->gather(sums);
  std::fill(sums.begin(), sums.end(), 0.0);
  for (size_t k = 0; k < parts.size(); ++k) sums[k % sums.size()] += parts[k];
}

template <class T>
void backward(const Inputs& in, const Saved& saved, const Tensor& grad_y) {
  const int64_t rows = in.x.rows();
  const int64_t columns = in.x.columns();
  const bool normalised = saved.scale.defined();
  Tensor grad_x;
  if (in.x.gradient() != nullptr) grad_x = Tensor::empty(rows, columns, in.x.dtype());
  Tensor grad_weight;
  Tensor grad_bias;
  if (normalised) {
    grad_weight = Tensor::empty(1, columns, in.x.dtype());
    grad_bias = Tensor::empty(1, columns, in.x.dtype());
  }
  NormStatistics<T> statistics{pointer<T>(saved.mean), pointer<T>(saved.inv_std),
                               saved.of_this_batch};
  statistics.rows_of_all = saved.rows_of_all;
  if (saved.of_this_batch && batch_group() != nullptr) statistics.add_others = add_sums_of_group;
  norm_act_backward(saved.op<T>(), statistics, rows, columns, static_cast<const T*>(in.x.data<T>()),
                    static_cast<const T*>(grad_y.data<T>()), pointer<T>(grad_x),
                    pointer<T>(grad_weight), pointer<T>(grad_bias));
  if (grad_x.defined()) in.x.gradient()->add(grad_x);
  if (normalised && in.weight.gradient() != nullptr) in.weight.gradient()->add(grad_weight);
  if (normalised && in.bias.gradient() != nullptr) in.bias.gradient()->add(grad_bias);
  if (in.residual.defined() && in.residual.gradient() != nullptr)
    in.residual.gradient()->add(grad_y);
}

Tensor run(Tape& tape, const Inputs& in, const Saved& saved) {
  Tensor out = Tensor::empty(in.x.rows(), in.x.columns(), in.x.dtype());
  with_type(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    norm_act_forward(saved.op<T>(), out.rows(), out.columns(),
                     static_cast<const T*>(in.x.data<T>()),
                     static_cast<const T*>(pointer<T>(in.residual)), out.data<T>());
  });
  if (tape.wants({&in.x, &in.weight, &in.bias, &in.residual}))
    tape.record(out, {in.x, in.weight, in.bias, in.residual}, [in, saved](const Tensor& grad_y) {
      with_type(grad_y.dtype(), [&](auto zero) { backward<decltype(zero)>(in, saved, grad_y); });
    });
  return out;
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
SharedRows merge_statistics_of_group(int64_t rows, std::vector<double>& mean,
                                     std::vector<double>& variance) {
  const size_t columns = mean.size();
  std::vector<double> local = {static_cast<double>(rows)};
  local.insert(local.end(), mean.begin(), mean.end());
  local.insert(local.end(), variance.begin(), variance.end());
  const std::vector<double> parts = batch_group()->gather(local);
  SharedRows out;
  std::fill(mean.begin(), mean.end(), 0.0);
  std::vector<double> off(columns, 0.0);  // squared distances to the mean
  for (int rank = 0; rank < batch_group()->size(); ++rank) {
    const double* part = parts.data() + static_cast<size_t>(rank) * local.size();
    const double n = part[0];
    if (rank < batch_group()->rank()) out.before += static_cast<int64_t>(n);
    if (n == 0) continue;
    // The rule of Chan, Golub and LeVeque, as for the blocks of a matrix.
    const auto seen = static_cast<double>(out.all);
    for (size_t c = 0; c < columns; ++c) {
      const double delta = part[1 + c] - mean[c];
      mean[c] += delta * (n / (seen + n));
      off[c] += part[1 + columns + c] * n + delta * delta * (seen * n / (seen + n));
    }
    out.all += static_cast<int64_t>(n);
  }
  for (size_t c = 0; c < columns; ++c)
    variance[c] = off[c] / static_cast<double>(std::max<int64_t>(1, out.all));
  return out;
}

int64_t rows_before(int64_t rows) {
  const auto local = static_cast<double>(rows);
  const std::vector<double> parts = batch_group()->gather({&local, 1});
  double before = 0;
  for (int rank = 0; rank < batch_group()->rank(); ++rank) before += parts[rank];
  return static_cast<int64_t>(before);
}

template <class T>
void move_towards(const Tensor& running, const std::vector<double>& batch, double momentum,
                  double factor) {
  T* to = running.data<T>();
  for (size_t c = 0; c < batch.size(); ++c)
    to[c] = static_cast<T>((1 - momentum) * to[c] + momentum * factor * batch[c]);
}

template <class T>
std::vector<double> values_of(const Tensor& t) {
  return {t.data<T>(), t.data<T>() + t.size()};
}

// Statistics of the batch, and what the running ones become. False where the batch of all ranks has
// fewer than two rows, which have no variance.
template <class T>
bool take_batch_statistics(const Tensor& x, const BatchNormTensors& norm, Saved& saved,
                           std::vector<double>& mean, std::vector<double>& variance) {
  int64_t rows = x.rows();
  std::vector<T> local(2 * static_cast<size_t>(x.columns()));
  column_statistics(static_cast<const T*>(x.data<T>()), rows, x.columns(), local.data(),
                    local.data() + x.columns());
  mean.assign(local.begin(), local.begin() + x.columns());
  variance.assign(local.begin() + x.columns(), local.end());
  if (batch_group() != nullptr) {
    const SharedRows shared = merge_statistics_of_group(rows, mean, variance);
    saved.first_row = shared.before;
    saved.rows_of_all = rows = shared.all;
  }
  if (rows < 2) return false;
  const double unbiased = static_cast<double>(rows) / static_cast<double>(rows - 1);
  move_towards<T>(norm.running_mean, mean, norm.momentum, 1);
  move_towards<T>(norm.running_var, variance, norm.momentum, unbiased);
  return true;
}

// scale = weight / std, shift = bias - mean * scale.
template <class T>
void set_constants(const BatchNormTensors& norm, const std::vector<double>& mean,
                   const std::vector<double>& variance, Saved& saved) {
  const auto columns = static_cast<int64_t>(mean.size());
  const DType type = dtype_of<T>();
  for (Tensor* t : {&saved.mean, &saved.inv_std, &saved.scale, &saved.shift})
    *t = Tensor::empty(1, columns, type);
  const T* weight = norm.weight.data<T>();
  const T* bias = norm.bias.data<T>();
  for (int64_t c = 0; c < columns; ++c) {
    const T m = saved.mean.data<T>()[c] = static_cast<T>(mean[static_cast<size_t>(c)]);
    const T inverse = saved.inv_std.data<T>()[c] =
        static_cast<T>(1 / std::sqrt(variance[static_cast<size_t>(c)] + norm.eps));
    const T scale = saved.scale.data<T>()[c] = weight[c] * inverse;
    saved.shift.data<T>()[c] = bias[c] - m * scale;
  }
}

// Dropout of a matrix whose rows nobody has counted.
void draw_dropout(Tape& tape, Saved& saved, double p, int64_t rows) {
  saved.drop = p;
  saved.seed = tape.next_seed();
  if (batch_group() != nullptr) saved.first_row = rows_before(rows);
}

// Of a norm over the columns of its weight.
void check_norm(const BatchNormTensors& n) {
  expect_matrix("batch norm", "weight", n.weight, 1, kAnySize);
  const auto expect = [&](const char* what, const Tensor& t) {
    expect_matrix("batch norm", what, t, 1, n.weight.columns(), n.weight.dtype());
  };
  expect("bias", n.bias);
  expect("the running mean", n.running_mean);
  expect("the running variance", n.running_var);
}

}  // namespace

Tensor batch_norm_act(Tape& tape, const Tensor& x, const BatchNormTensors& norm, bool relu,
                      double dropout, const Tensor& residual) {
  check_norm(norm);
  expect_matrix("batch norm", "x", x, kAnySize, norm.weight.columns(), norm.weight.dtype());
  if (residual.defined())
    expect_matrix("batch norm", "the residual", residual, x.rows(), x.columns(), x.dtype());
  Saved saved;
  saved.relu = relu;
  saved.drop = tape.is_training() ? checked_probability(dropout) : 0.0;
  if (saved.drop > 0) saved.seed = tape.next_seed();
  with_type(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<double> mean;
    std::vector<double> variance;
    saved.of_this_batch =
        tape.is_training() && take_batch_statistics<T>(x, norm, saved, mean, variance);
    if (!saved.of_this_batch) {  // a single row is normalised as in inference
      mean = values_of<T>(norm.running_mean);
      variance = values_of<T>(norm.running_var);
    }
    set_constants<T>(norm, mean, variance, saved);
  });
  return run(tape, {x, norm.weight, norm.bias, residual}, saved);
}

// Weight and bias are applied to the normalized rows, as those of a batch norm whose statistics are
// constants: mean 0, deviation 1.
Tensor layer_norm_act(Tape& tape, const Tensor& x, const LayerNormTensors& norm, bool relu,
                      double dropout, const Tensor& residual) {
  expect_matrix("layer norm", "weight", norm.weight, 1, kAnySize);
  expect_matrix("layer norm", "bias", norm.bias, 1, norm.weight.columns(), norm.weight.dtype());
  expect_matrix("layer norm", "x", x, kAnySize, norm.weight.columns(), norm.weight.dtype());
  if (residual.defined())
    expect_matrix("layer norm", "the residual", residual, x.rows(), x.columns(), x.dtype());
  Saved saved;
  saved.scale = norm.weight.detached();
  saved.shift = norm.bias.detached();
  saved.mean = Tensor::zeros(1, x.columns(), x.dtype());
  saved.inv_std = Tensor::full(1, x.columns(), x.dtype(), 1);
  saved.relu = relu;
  if (tape.is_training() && checked_probability(dropout) > 0)
    draw_dropout(tape, saved, dropout, x.rows());
  return run(tape, {normalize_rows(tape, x, norm.eps), norm.weight, norm.bias, residual}, saved);
}

EpilogueTensors fold_batch_norm(const BatchNormTensors& norm, bool relu, const Tensor& residual) {
  check_norm(norm);
  Saved saved;
  with_type(norm.weight.dtype(), [&](auto zero) {
    using T = decltype(zero);
    set_constants<T>(norm, values_of<T>(norm.running_mean), values_of<T>(norm.running_var), saved);
  });
  return {saved.scale, saved.shift, relu, residual};
}

Tensor dropout(Tape& tape, const Tensor& x, double p) {
  if (!tape.is_training() || checked_probability(p) == 0) return x;
  expect_matrix("dropout", "x", x);
  Saved saved;
  draw_dropout(tape, saved, p, x.rows());
  return run(tape, {x, {}, {}, {}}, saved);
}

Tensor relu_dropout(Tape& tape, const Tensor& x, double p, const Tensor& residual) {
  expect_matrix("relu", "x", x);
  if (residual.defined())
    expect_matrix("relu", "the residual", residual, x.rows(), x.columns(), x.dtype());
  Saved saved;
  saved.relu = true;
  if (tape.is_training() && checked_probability(p) > 0) draw_dropout(tape, saved, p, x.rows());
  return run(tape, {x, {}, {}, residual}, saved);
}

Tensor apply_epilogue(const Tensor& y, const EpilogueTensors& epilogue) {
  if (epilogue.empty()) return y;
  expect_matrix("epilogue", "y", y);
  Tensor out = Tensor::empty(y.rows(), y.columns(), y.dtype());
  with_type(y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Epilogue<T> e =
        borrow<T>(epilogue, y.rows(), y.columns(), /*recorded=*/y.gradient() != nullptr);
    norm_act_forward(e.op, y.rows(), y.columns(), static_cast<const T*>(y.data<T>()), e.residual,
                     out.data<T>());
  });
  return out;
}

}  // namespace egc::ops
