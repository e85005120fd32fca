#include "egc/ops/row_parts.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "egc/kernels/softmax.h"
#include "egc/ops/for_each_row.h"

namespace egc::ops {
namespace {

Tensor like(const Tensor& t, int64_t columns) {
  return Tensor::empty(t.rows(), columns, t.dtype());
}

// Backward passes that need no values of an input keep this alone, and its memory is free.
using GradientPtr = std::shared_ptr<Gradient>;

void add_to(const GradientPtr& input, const Tensor& gradient) {
  if (input != nullptr) input->add(gradient);
}

std::vector<GradientPtr> gradients_of(const std::vector<Tensor>& tensors) {
  std::vector<GradientPtr> out;
  for (const Tensor& t : tensors) out.push_back(t.gradient());
  return out;
}

// f(i, zero): the row i, with the type's zero.
template <class F>
void rows_of(const Tensor& t, int64_t rows, F&& f) {
  with_type(t.dtype(), [&](auto zero) { for_each_row(rows, [&](int64_t i) { f(i, zero); }); });
}

// x * factor(i) for every row.
Tensor scaled_rows(const Tensor& x, const Tensor& s) {
  Tensor out = like(x, x.columns());
  rows_of(x, x.rows(), [&](int64_t i, auto zero) {
    using T = decltype(zero);
    const T* from = x.data<T>() + i * x.columns();
    T* to = out.data<T>() + i * x.columns();
    const T factor = s.data<T>()[i];
    for (int64_t c = 0; c < x.columns(); ++c) to[c] = factor * from[c];
  });
  return out;
}

// The sum of products of two matrices, in one fixed order.
double dot(const Tensor& a, const Tensor& b) {
  constexpr int64_t kBlock = 1 << 14;
  const auto blocks = split_evenly(a.size(), kBlock);
  std::vector<double> partial(blocks.size(), 0.0);
  with_type(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* x = a.data<T>();
    const T* y = b.data<T>();
    parallel_tasks(static_cast<int64_t>(blocks.size()), [&](int64_t k) {
      double sum = 0;
      for (int64_t i = blocks[k].begin; i < blocks[k].end; ++i)
        sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
      partial[k] = sum;
    });
  });
  double sum = 0;
  for (const double p : partial) sum += p;
  return sum;
}

}  // namespace

Tensor add_scaled_rows(Tape& tape, const Tensor& a, const Tensor& x, const Tensor& s) {
  expect_matrix("add_scaled_rows", "x", x);
  expect_matrix("add_scaled_rows", "a", a, x.rows(), x.columns(), x.dtype());
  expect_matrix("add_scaled_rows", "s", s, x.rows(), 1, x.dtype());
  Tensor out = like(x, x.columns());
  rows_of(x, x.rows(), [&](int64_t i, auto zero) {
    using T = decltype(zero);
    const T factor = s.data<T>()[i];
    const int64_t first = i * x.columns();
    const T* from = x.data<T>() + first;
    const T* base = a.data<T>() + first;
    T* to = out.data<T>() + first;
    for (int64_t c = 0; c < x.columns(); ++c) to[c] = base[c] + factor * from[c];
  });
  if (tape.wants({&a, &x}))
    tape.record(out, {a, x}, [to_a = a.gradient(), to_x = x.gradient(), s](const Tensor& grad) {
      if (to_x != nullptr) to_x->add(scaled_rows(grad, s));
      add_to(to_a, grad);
    });
  return out;
}

Tensor sum_scaled_parts(Tape& tape, const Tensor& x, const Tensor& s, int64_t towers) {
  const int64_t parts = s.columns();
  expect_matrix("sum_scaled_parts", "x", x);
  expect_matrix("sum_scaled_parts", "s", s, x.rows(), parts, x.dtype());
  check(parts >= 1 && towers >= 1 && x.columns() % (parts * towers) == 0,
        "sum_scaled_parts: {} columns are not {} parts of {} towers", x.columns(), parts, towers);
  const int64_t columns = x.columns() / (parts * towers);
  Tensor out = like(x, towers * columns);
  rows_of(x, x.rows() * towers, [&](int64_t i, auto zero) {
    using T = decltype(zero);
    const T* from = x.data<T>() + i * parts * columns;
    const T* factors = s.data<T>() + i / towers * parts;
    T* to = out.data<T>() + i * columns;
    for (int64_t c = 0; c < columns; ++c) to[c] = factors[0] * from[c];
    for (int64_t k = 1; k < parts; ++k)
      for (int64_t c = 0; c < columns; ++c) to[c] += factors[k] * from[k * columns + c];
  });
  if (tape.wants({&x}))
    tape.record(out, {x}, [to_x = x.gradient(), s, towers, parts, columns](const Tensor& grad) {
      const Tensor grad_x = like(grad, towers * parts * columns);
      rows_of(grad, grad.rows() * towers, [&](int64_t i, auto zero) {
        using T = decltype(zero);
        const T* g = grad.data<T>() + i * columns;
        const T* factors = s.data<T>() + i / towers * parts;
        T* to = grad_x.data<T>() + i * parts * columns;
        for (int64_t k = 0; k < parts; ++k)
          for (int64_t c = 0; c < columns; ++c) to[k * columns + c] = factors[k] * g[c];
      });
      to_x->add(grad_x);
    });
  return out;
}

Tensor shift_aggregates(Tape& tape, const Tensor& aggregates, const Tensor& p, const Tensor& s,
                        double min_variance) {
  expect_matrix("shift_aggregates", "p", p);
  const int64_t columns = p.columns();
  expect_matrix("shift_aggregates", "aggregates", aggregates, p.rows(), 4 * columns, p.dtype());
  expect_matrix("shift_aggregates", "s", s, p.rows(), 1, p.dtype());
  Tensor out = like(p, 4 * columns);
  rows_of(p, p.rows(), [&](int64_t i, auto zero) {
    using T = decltype(zero);
    const T* from = aggregates.data<T>() + i * 4 * columns;
    const T* by = p.data<T>() + i * columns;
    const T factor = s.data<T>()[i];
    T* to = out.data<T>() + i * 4 * columns;
    for (int64_t k = 0; k < 3; ++k)
      for (int64_t c = 0; c < columns; ++c)
        to[k * columns + c] = from[k * columns + c] + factor * by[c];
    for (int64_t c = 3 * columns; c < 4 * columns; ++c)  // NaN passes, as in PyTorch
      to[c] = from[c] <= static_cast<T>(min_variance) ? T{0} : std::sqrt(from[c]);
  });
  if (tape.wants({&aggregates, &p}))
    tape.record(out, {aggregates, p},
                [into_aggregates = aggregates.gradient(), into_p = p.gradient(), s,
                 y = out.detached(), columns](const Tensor& grad) {
                  // In place where nobody else has the gradient: it is the widest matrix here.
                  const Tensor to_aggregates =
                      grad.is_sole_owner() ? grad : like(grad, 4 * columns);
                  const Tensor to_p = like(grad, columns);
                  rows_of(grad, grad.rows(), [&](int64_t i, auto zero) {
                    using T = decltype(zero);
                    const T* g = grad.data<T>() + i * 4 * columns;
                    const T* deviation = y.data<T>() + (i * 4 + 3) * columns;
                    const T factor = s.data<T>()[i];
                    T* to = to_aggregates.data<T>() + i * 4 * columns;
                    T* p_row = to_p.data<T>() + i * columns;
                    if (to != g) std::copy_n(g, 3 * columns, to);
                    for (int64_t c = 0; c < columns; ++c) {
                      p_row[c] = factor * (g[c] + g[columns + c] + g[2 * columns + c]);
                      to[3 * columns + c] =
                          deviation[c] == 0 ? T{0} : g[3 * columns + c] / (2 * deviation[c]);
                    }
                  });
                  add_to(into_aggregates, to_aggregates);
                  add_to(into_p, to_p);
                });
  return out;
}

Tensor scaled_add(Tape& tape, const Tensor& a, const Tensor& x, const Tensor& eps) {
  expect_matrix("scaled_add", "x", x);
  expect_matrix("scaled_add", "a", a, x.rows(), x.columns(), x.dtype());
  expect_matrix("scaled_add", "eps", eps, 1, 1, x.dtype());
  const double factor = 1 + eps.item(0, 0);
  const Tensor factors = Tensor::full(x.rows(), 1, x.dtype(), factor);
  Tape below = Tape::inference();
  Tensor out = add_scaled_rows(below, a.detached(), x.detached(), factors);
  if (tape.wants({&a, &x, &eps}))
    tape.record(out, {a, x, eps}, [to_a = a.gradient(), x, eps, factors](const Tensor& grad) {
      if (eps.gradient() != nullptr)
        eps.gradient()->add(Tensor::full(1, 1, grad.dtype(), dot(grad, x)));
      if (x.gradient() != nullptr) x.gradient()->add(scaled_rows(grad, factors));
      add_to(to_a, grad);
    });
  return out;
}

Tensor add(Tape& tape, const std::vector<Tensor>& terms) {
  check(!terms.empty(), "add: there is nothing to add");
  const Tensor& first = terms[0];
  if (terms.size() == 1) return first;
  Gradient sum;
  for (const Tensor& t : terms) {
    expect_matrix("add", "a term", t, first.rows(), first.columns(), first.dtype());
    sum.add(t.detached());
  }
  Tensor out = sum.take();
  if (tape.wants(terms))
    tape.record(out, terms, [to = gradients_of(terms)](const Tensor& grad) {
      for (const GradientPtr& t : to) add_to(t, grad);
    });
  return out;
}

Tensor log_softmax(Tape& tape, const Tensor& x, int64_t columns) {
  expect_matrix("log_softmax", "x", x);
  check(columns >= 1 && columns <= x.columns(), "log_softmax: {} has no {} first columns",
        describe(x), columns);
  Tensor out = like(x, columns);
  rows_of(x, x.rows(), [&](int64_t i, auto zero) {
    using T = decltype(zero);
    const T* from = x.data<T>() + i * x.columns();
    T* to = out.data<T>() + i * columns;
    const auto [greatest, sum] = kernels::exp_row(from, columns, static_cast<T*>(nullptr));
    const T shift = greatest + static_cast<T>(std::log(sum));
    for (int64_t c = 0; c < columns; ++c) to[c] = from[c] - shift;
  });
  if (tape.wants({&x}))
    tape.record(
        out, {x},
        [to_x = x.gradient(), all = x.columns(), y = out.detached(), columns](const Tensor& grad) {
          const Tensor grad_x = like(grad, all);
          rows_of(grad, grad.rows(), [&](int64_t i, auto zero) {
            using T = decltype(zero);
            const T* g = grad.data<T>() + i * columns;
            const T* row = y.data<T>() + i * columns;
            T* to = grad_x.data<T>() + i * all;
            T sum = 0;
            for (int64_t c = 0; c < columns; ++c) sum += g[c];
            for (int64_t c = 0; c < columns; ++c) to[c] = g[c] - std::exp(row[c]) * sum;
            std::fill(to + columns, to + all, T{0});
          });
          to_x->add(grad_x);
        });
  return out;
}

}  // namespace egc::ops
