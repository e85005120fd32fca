#include "egc/ops/linear.h"

#include <algorithm>

#include "egc/engine/gemm.h"
#include "egc/ops/column_sum.h"

namespace egc::ops {
namespace {

struct Problem {
  std::vector<Tensor> inputs;
  std::vector<Tensor> weights;
  std::vector<LinearTerm> terms;  // with rows and columns filled in
  Tensor bias;

  int64_t rows() const { return inputs[0].rows(); }
  DType dtype() const { return weights[0].dtype(); }
  std::vector<Tensor> differentiable() const {
    std::vector<Tensor> all = inputs;
    all.insert(all.end(), weights.begin(), weights.end());
    all.push_back(bias);
    return all;
  }
};

template <class T>
Columns<T> columns_of(const Tensor& t, int64_t column) {
  return {t.data<std::remove_const_t<T>>() + column, t.columns()};
}

template <class T>
Columns<const T> block_of(const Problem& p, const LinearTerm& term) {
  const Tensor& w = p.weights[static_cast<size_t>(term.weight)];
  return {w.data<T>() + term.weight_row * w.columns() + term.weight_column, w.columns()};
}

// Terms of one range add up; what none writes would be undefined.
void check_output_is_covered(const Problem& p, int64_t out_columns) {
  int64_t covered = 0;
  for (size_t t = 0; t < p.terms.size(); ++t) {
    bool again = false;
    for (size_t s = 0; s < t; ++s) again = again || p.terms[s].out_column == p.terms[t].out_column;
    if (!again) covered += p.terms[t].rows;
  }
  check(covered == out_columns, "linear: the terms write {} of {} output columns", covered,
        out_columns);
}

void check_problem(Problem& p, int64_t out_columns) {
  check(!p.inputs.empty() && !p.weights.empty() && !p.terms.empty(),
        "linear: an input, a weight and a term are needed");
  const DType type = p.dtype();
  for (const Tensor& w : p.weights)
    expect_matrix("linear", "a weight", w, kAnySize, kAnySize, type);
  for (const Tensor& x : p.inputs) expect_matrix("linear", "x", x, p.rows(), kAnySize, type);
  for (LinearTerm& t : p.terms) {
    check(t.weight >= 0 && t.weight < std::ssize(p.weights) && t.input >= 0 &&
              t.input < std::ssize(p.inputs),
          "linear: a term names input {} of {} and weight {} of {}", t.input, p.inputs.size(),
          t.weight, p.weights.size());
    const Tensor& w = p.weights[static_cast<size_t>(t.weight)];
    const Tensor& x = p.inputs[static_cast<size_t>(t.input)];
    if (t.rows == kAnySize) t.rows = w.rows() - t.weight_row;
    if (t.columns == kAnySize) t.columns = w.columns() - t.weight_column;
    const bool rises = std::min({t.rows, t.columns, t.weight_row, t.weight_column, t.in_column,
                                 t.out_column}) >= 0;
    check(rises && t.weight_row + t.rows <= w.rows() &&
              t.weight_column + t.columns <= w.columns() &&
              t.in_column + t.columns <= x.columns() && t.out_column + t.rows <= out_columns,
          "linear: a weight {} does not fit x {} and {} output columns", describe(w), describe(x),
          out_columns);
  }
  check_output_is_covered(p, out_columns);
  if (p.bias.defined()) expect_matrix("linear", "bias", p.bias, 1, out_columns, type);
}

bool same_input_range(const LinearTerm& a, const LinearTerm& b) {
  return a.input == b.input && a.in_column == b.in_column && a.columns == b.columns;
}

// Whether the terms write every column of the input's gradient.
bool covers(const Problem& p, int input) {
  int64_t covered = 0;
  for (size_t t = 0; t < p.terms.size(); ++t) {
    if (p.terms[t].input != input) continue;
    bool again = false;
    for (size_t s = 0; s < t; ++s) again = again || same_input_range(p.terms[s], p.terms[t]);
    if (!again) covered += p.terms[t].columns;
  }
  return covered == p.inputs[static_cast<size_t>(input)].columns();
}

bool same_weight_block(const LinearTerm& a, const LinearTerm& b) {
  return a.weight == b.weight && a.weight_row == b.weight_row &&
         a.weight_column == b.weight_column && a.rows == b.rows && a.columns == b.columns;
}

bool covers_weight(const Problem& p, int weight) {
  int64_t covered = 0;
  for (size_t t = 0; t < p.terms.size(); ++t) {
    if (p.terms[t].weight != weight) continue;
    bool again = false;
    for (size_t s = 0; s < t; ++s) again = again || same_weight_block(p.terms[s], p.terms[t]);
    if (!again) covered += p.terms[t].rows * p.terms[t].columns;
  }
  return covered == p.weights[static_cast<size_t>(weight)].size();
}

// Two places for one gradient would each begin it.
void check_distinct(const std::vector<Tensor>& tensors) {
  for (size_t k = 0; k < tensors.size(); ++k)
    for (size_t j = 0; j < k; ++j)
      check(tensors[k].gradient() == nullptr || tensors[k].gradient() != tensors[j].gradient(),
            "linear: the same tensor is given twice; give it once, with several terms");
}

// A place for the gradient of each tensor that wants one; what terms do not write is zero at first.
template <class Covers>
std::vector<Gradient::Sink> sinks_of(const std::vector<Tensor>& tensors, const Covers& covers_all) {
  std::vector<Gradient::Sink> out(tensors.size());
  for (size_t k = 0; k < tensors.size(); ++k) {
    const Tensor& t = tensors[k];
    if (t.gradient() == nullptr) continue;
    out[k] = t.gradient()->sink(t.rows(), t.columns(), t.dtype());
    if (out[k].accumulate || covers_all(static_cast<int>(k))) continue;
    out[k].to.fill(0);
    out[k].accumulate = true;
  }
  return out;
}

template <class T>
void backward(const Problem& p, const Tensor& grad_y) {
  const auto to_x = sinks_of(p.inputs, [&](int k) { return covers(p, k); });
  const auto to_w = sinks_of(p.weights, [&](int k) { return covers_weight(p, k); });
  std::vector<GemmGradTerm<T>> terms;
  for (size_t t = 0; t < p.terms.size(); ++t) {
    const LinearTerm& term = p.terms[t];
    const auto& x_sink = to_x[static_cast<size_t>(term.input)];
    const auto& w_sink = to_w[static_cast<size_t>(term.weight)];
    GemmGradTerm<T> g;
    g.in = term.columns;
    g.out = term.rows;
    g.x = columns_of<const T>(p.inputs[static_cast<size_t>(term.input)], term.in_column);
    g.w = block_of<T>(p, term);
    g.grad_y = columns_of<const T>(grad_y, term.out_column);
    g.add_to_x = x_sink.accumulate;
    g.add_to_w = w_sink.accumulate;
    for (size_t s = 0; s < t; ++s) {
      const LinearTerm& other = p.terms[s];
      g.add_to_x = g.add_to_x || same_input_range(other, term);
      g.add_to_w = g.add_to_w || same_weight_block(other, term);
    }
    if (x_sink.to.defined()) g.grad_x = columns_of<T>(x_sink.to, term.in_column);
    if (w_sink.to.defined())
      g.grad_w = {
          w_sink.to.template data<T>() + term.weight_row * w_sink.to.columns() + term.weight_column,
          w_sink.to.columns()};
    terms.push_back(g);
  }
  gemm_backward<T>(grad_y.rows(), terms);
  add_column_sum<T>(grad_y, p.bias);
}

template <class T>
void forward(const Problem& p, const Tensor& out, const Epilogue<T>& last) {
  std::vector<GemmTerm<T>> terms;
  for (size_t t = 0; t < p.terms.size(); ++t) {
    const LinearTerm& term = p.terms[t];
    const bool again = t > 0 && p.terms[t - 1].out_column == term.out_column;
    terms.push_back({term.columns, term.rows,
                     columns_of<const T>(p.inputs[static_cast<size_t>(term.input)], term.in_column),
                     block_of<T>(p, term), columns_of<T>(out, term.out_column),
                     p.bias.defined() ? p.bias.data<T>() + term.out_column : nullptr, again});
  }
  if (last.empty()) return gemm<T>(out.rows(), terms);
  gemm<T>(out.rows(), terms, [&](RowRange range) {
    last.apply(range, out.columns(), 0, out.columns(), out.data<T>());
  });
}

}  // namespace

Tensor linear_sum(Tape& tape, const std::vector<Tensor>& inputs, const std::vector<Tensor>& weights,
                  const std::vector<LinearTerm>& terms, const Tensor& bias, int64_t out_columns,
                  const EpilogueTensors& epilogue) {
  Problem p{inputs, weights, terms, bias};
  check_problem(p, out_columns);
  const std::vector<Tensor> differentiable = p.differentiable();
  const bool recorded = tape.wants(differentiable);
  if (recorded) check_distinct(differentiable);
  Tensor out = Tensor::empty(p.rows(), out_columns, p.dtype());
  with_type(p.dtype(), [&](auto zero) {
    using T = decltype(zero);
    forward<T>(p, out, borrow<T>(epilogue, out.rows(), out_columns, recorded));
  });
  if (recorded)
    tape.record(out, differentiable, [p = std::move(p)](const Tensor& grad_y) {
      with_type(p.dtype(), [&](auto zero) { backward<decltype(zero)>(p, grad_y); });
    });
  return out;
}

Tensor linear(Tape& tape, const Tensor& x, const Tensor& weight, const Tensor& bias,
              const EpilogueTensors& epilogue) {
  expect_matrix("linear", "x", x, kAnySize, weight.columns(), weight.dtype());
  return linear_sum(tape, {x}, {weight}, {LinearTerm{}}, bias, weight.rows(), epilogue);
}

}  // namespace egc::ops
