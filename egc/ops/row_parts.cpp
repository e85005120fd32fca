#include "egc/ops/row_parts.h"

#include <ATen/ATen.h>

#include <cmath>

#include "egc/core/parallel.h"
#include "egc/core/work_clock.h"
#include "egc/graph/row_split.h"
#include "egc/ops/autograd.h"
#include "egc/ops/tensor_buffer.h"
#include "egc/ops/with_type.h"

namespace egc::ops {
namespace {

namespace ag = torch::autograd;

template <class F>
void for_each_row(int64_t rows, F&& f) {
  const WorkTimer timer(Work::kKernels);
  const auto blocks = split_evenly(rows, 512);
  parallel_tasks(static_cast<int64_t>(blocks.size()), [&](int64_t b) {
    for (int64_t i = blocks[b].begin; i < blocks[b].end; ++i) f(i);
  });
}

at::Tensor like(const at::Tensor& t, int64_t columns) {
  return empty_buffer({t.size(0), columns}, t.options());
}

struct AddScaledRowsBackward : public ag::Node {
  at::Tensor scale;
  std::string name() const override { return "AddScaledRowsBackward"; }
  ag::variable_list apply(ag::variable_list&& grads) override {
    refuse_double_backward("add_scaled_rows");
    if (!grads[0].defined()) return {at::Tensor(), at::Tensor()};
    const at::Tensor grad = grads[0].contiguous();
    const int64_t columns = grad.size(1);
    const at::Tensor grad_x = like(grad, columns);
    with_type(grad.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const T* g = grad.data_ptr<T>();
      const T* s = scale.data_ptr<T>();
      T* out = grad_x.data_ptr<T>();
      for_each_row(grad.size(0), [&](int64_t i) {
        for (int64_t c = i * columns; c < (i + 1) * columns; ++c) out[c] = s[i] * g[c];
      });
    });
    return {grad, grad_x};
  }
};

struct SumScaledPartsBackward : public ag::Node {
  at::Tensor scale;
  int64_t towers = 1;
  std::string name() const override { return "SumScaledPartsBackward"; }
  ag::variable_list apply(ag::variable_list&& grads) override {
    refuse_double_backward("sum_scaled_parts");
    if (!grads[0].defined()) return {at::Tensor()};
    const at::Tensor grad = grads[0].contiguous();
    const int64_t columns = grad.size(1) / towers;
    const int64_t parts = scale.size(1);
    const at::Tensor grad_x = like(grad, towers * parts * columns);
    with_type(grad.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const T* s = scale.data_ptr<T>();
      for_each_row(grad.size(0) * towers, [&](int64_t i) {
        const T* g = grad.data_ptr<T>() + i * columns;
        const T* factors = s + i / towers * parts;
        T* out = grad_x.data_ptr<T>() + i * parts * columns;
        for (int64_t k = 0; k < parts; ++k)
          for (int64_t c = 0; c < columns; ++c) out[k * columns + c] = factors[k] * g[c];
      });
    });
    return {grad_x};
  }
};

struct ShiftAggregatesBackward : public ag::Node {
  at::Tensor scale;
  ag::SavedVariable out;
  std::string name() const override { return "ShiftAggregatesBackward"; }
  void release_variables() override { out.reset_data(); }
  ag::variable_list apply(ag::variable_list&& grads) override {
    refuse_double_backward("shift_aggregates");
    if (!grads[0].defined()) return {at::Tensor(), at::Tensor()};
    const at::Tensor grad = grads[0].contiguous();
    const at::Tensor y = out.unpack(shared_from_this());
    const int64_t columns = grad.size(1) / 4;
    const at::Tensor grad_aggregates = like(grad, 4 * columns);
    const at::Tensor grad_p = like(grad, columns);
    with_type(grad.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const T* s = scale.data_ptr<T>();
      for_each_row(grad.size(0), [&](int64_t i) {
        const T* g = grad.data_ptr<T>() + i * 4 * columns;
        const T* deviation = y.data_ptr<T>() + (i * 4 + 3) * columns;
        T* to = grad_aggregates.data_ptr<T>() + i * 4 * columns;
        T* to_p = grad_p.data_ptr<T>() + i * columns;
        std::copy_n(g, 3 * columns, to);
        for (int64_t c = 0; c < columns; ++c) {
          to_p[c] = s[i] * (g[c] + g[columns + c] + g[2 * columns + c]);
          to[3 * columns + c] = deviation[c] == 0 ? T{0} : g[3 * columns + c] / (2 * deviation[c]);
        }
      });
    });
    return {grad_aggregates, grad_p};
  }
};

void check_rows(const char* operation, const at::Tensor& x, const at::Tensor& s, int64_t parts) {
  check(x.dim() == 2 && x.is_cpu() && s.dim() == 2 && s.size(0) == x.size(0) &&
            s.size(1) == parts && s.is_contiguous() && s.dtype() == x.dtype(),
        "{}: expected a CPU matrix and [N, {}] constants of its type, got [{}] and [{}]", operation,
        parts, fmt::join(x.sizes(), ", "), fmt::join(s.sizes(), ", "));
}

}  // namespace

at::Tensor add_scaled_rows(const at::Tensor& a, const at::Tensor& x, const at::Tensor& s) {
  check_rows("add_scaled_rows", x, s, 1);
  check(a.sizes() == x.sizes(), "add_scaled_rows: both matrices must be [{}], got [{}]",
        fmt::join(x.sizes(), ", "), fmt::join(a.sizes(), ", "));
  const at::Tensor first = a.contiguous();
  const at::Tensor second = x.contiguous();
  const int64_t columns = x.size(1);
  at::Tensor out;
  {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    out = like(x, columns);
    with_type(x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      const T* from = first.data_ptr<T>();
      const T* scaled = second.data_ptr<T>();
      T* to = out.data_ptr<T>();
      for_each_row(x.size(0), [&](int64_t i) {
        const T factor = s.data_ptr<T>()[i];
        for (int64_t c = i * columns; c < (i + 1) * columns; ++c)
          to[c] = from[c] + factor * scaled[c];
      });
    });
  }
  const auto node = make_node<AddScaledRowsBackward>(
      "add_scaled_rows", {a, x}, [&](AddScaledRowsBackward& n) { n.scale = s.detach(); });
  if (node) ag::set_history(out, node);
  return out;
}

at::Tensor sum_scaled_parts(const at::Tensor& x, const at::Tensor& s, int64_t towers) {
  const int64_t parts = s.size(1);
  check_rows("sum_scaled_parts", x, s, parts);
  check(parts >= 1 && towers >= 1 && x.size(1) % (parts * towers) == 0,
        "sum_scaled_parts: {} columns are not {} parts of {} towers", x.size(1), parts, towers);
  const at::Tensor input = x.contiguous();
  const int64_t columns = x.size(1) / (parts * towers);
  at::Tensor out;
  {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    out = like(x, towers * columns);
    with_type(x.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      for_each_row(x.size(0) * towers, [&](int64_t i) {
        const T* from = input.data_ptr<T>() + i * parts * columns;
        const T* factors = s.data_ptr<T>() + i / towers * parts;
        T* to = out.data_ptr<T>() + i * columns;
        for (int64_t c = 0; c < columns; ++c) to[c] = factors[0] * from[c];
        for (int64_t k = 1; k < parts; ++k)
          for (int64_t c = 0; c < columns; ++c) to[c] += factors[k] * from[k * columns + c];
      });
    });
  }
  const auto node =
      make_node<SumScaledPartsBackward>("sum_scaled_parts", {x}, [&](SumScaledPartsBackward& n) {
        n.scale = s.detach();
        n.towers = towers;
      });
  if (node) ag::set_history(out, node);
  return out;
}

at::Tensor shift_aggregates(const at::Tensor& aggregates, const at::Tensor& p, const at::Tensor& s,
                            double least_variance) {
  check_rows("shift_aggregates", p, s, 1);
  const int64_t columns = p.size(1);
  check(
      aggregates.dim() == 2 && aggregates.size(0) == p.size(0) && aggregates.size(1) == 4 * columns,
      "shift_aggregates: aggregates must be [{}, {}], got [{}]", p.size(0), 4 * columns,
      fmt::join(aggregates.sizes(), ", "));
  const at::Tensor input = aggregates.contiguous();
  const at::Tensor shift = p.contiguous();
  at::Tensor out;
  {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    out = like(p, 4 * columns);
    with_type(p.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      for_each_row(p.size(0), [&](int64_t i) {
        const T* from = input.data_ptr<T>() + i * 4 * columns;
        const T* by = shift.data_ptr<T>() + i * columns;
        const T factor = s.data_ptr<T>()[i];
        T* to = out.data_ptr<T>() + i * 4 * columns;
        for (int64_t k = 0; k < 3; ++k)
          for (int64_t c = 0; c < columns; ++c)
            to[k * columns + c] = from[k * columns + c] + factor * by[c];
        for (int64_t c = 3 * columns; c < 4 * columns; ++c)  // NaN passes, as in torch
          to[c] = from[c] <= static_cast<T>(least_variance) ? T{0} : std::sqrt(from[c]);
      });
    });
  }
  const auto node =
      make_node<ShiftAggregatesBackward>("shift_aggregates", {aggregates, p},
                                         [&](ShiftAggregatesBackward& n) { n.scale = s.detach(); });
  if (node) {
    ag::set_history(out, node);
    node->out = ag::SavedVariable(out, true);
  }
  return out;
}

}  // namespace egc::ops
