#include "egc/ops/attention.h"

#include "egc/engine/attention.h"
#include "egc/ops/column_sum.h"
#include "egc/ops/for_each_row.h"

namespace egc::ops {
namespace {

// What the two kinds of attention read; the unused ones are undefined.
struct Inputs {
  Tensor values;
  Tensor scores;        // GAT, as given
  Tensor source_score;  // its halves
  Tensor target_score;
  Tensor query;  // GATv2
  Tensor attention;
  Tensor bias;

  bool is_v2() const { return query.defined(); }
  std::vector<Tensor> differentiable() const { return {values, scores, query, attention, bias}; }
};

// What the backward pass needs of the forward pass.
struct Saved {
  Tensor out;
  Tensor softmax;     // [N, 2 * H]
  Tensor sloped_y;    // GAT: [N, H*C]
  Tensor sloped_sum;  // GAT: [N, H]

  template <class T>
  kernels::AttentionSaved<T> pointers() const {
    return {pointer<T>(softmax), pointer<T>(sloped_y), pointer<T>(sloped_sum)};
  }
};

template <class T>
kernels::AttentionInput<T> kernel_input(const AttentionShape& shape, const Inputs& in) {
  kernels::AttentionInput<T> out;
  out.self_loops = shape.self_loops;
  out.is_v2 = in.is_v2();
  out.heads = shape.heads;
  out.width = in.values.columns() / shape.heads;
  out.slope = static_cast<T>(shape.negative_slope);
  out.values = pointer<T>(in.values);
  out.source_score = pointer<T>(in.source_score);
  out.target_score = pointer<T>(in.target_score);
  out.query = pointer<T>(in.query);
  out.attention = pointer<T>(in.attention);
  return out;
}

// Columns [first, first + count) of a matrix; and the way back, for a gradient.
Tensor columns_of(const Tensor& t, int64_t first, int64_t count) {
  Tensor out = Tensor::empty(t.rows(), count, t.dtype());
  with_type(t.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for_each_row(t.rows(), [&](int64_t i) {
      std::copy_n(t.data<T>() + i * t.columns() + first, count, out.data<T>() + i * count);
    });
  });
  return out;
}

Tensor side_by_side(const Tensor& a, const Tensor& b) {
  Tensor out = Tensor::empty(a.rows(), a.columns() + b.columns(), a.dtype());
  with_type(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for_each_row(a.rows(), [&](int64_t i) {
      T* to = out.data<T>() + i * out.columns();
      std::copy_n(a.data<T>() + i * a.columns(), a.columns(), to);
      std::copy_n(b.data<T>() + i * b.columns(), b.columns(), to + a.columns());
    });
  });
  return out;
}

Tensor like(const Tensor& t) {
  return t.defined() ? Tensor::empty(t.rows(), t.columns(), t.dtype()) : Tensor();
}

void add_to(const Tensor& input, const Tensor& gradient) {
  if (input.defined() && input.gradient() != nullptr) input.gradient()->add(gradient);
}

template <class T>
void backward(const Csr& graph, const AttentionShape& shape, const Inputs& in, const Saved& saved,
              const Tensor& grad_out) {
  kernels::AttentionGrad<T> grad;
  grad.grad_out = grad_out.data<T>();
  grad.out = saved.out.data<T>();
  grad.bias = pointer<T>(in.bias);
  grad.saved = saved.pointers<T>();
  const Inputs g{
      like(in.values),    {}, like(in.source_score), like(in.target_score), like(in.query),
      like(in.attention), {}};
  attention_backward(graph, kernel_input<T>(shape, in), grad,
                     {pointer<T>(g.values), pointer<T>(g.source_score), pointer<T>(g.target_score),
                      pointer<T>(g.query), pointer<T>(g.attention)});
  add_to(in.values, g.values);
  add_to(in.query, g.query);
  add_to(in.attention, g.attention);
  if (in.scores.defined() && in.scores.gradient() != nullptr)
    in.scores.gradient()->add(side_by_side(g.source_score, g.target_score));
  add_column_sum<T>(grad_out, in.bias);
}

void check_attention(const char* operation, const Csr& graph, const AttentionShape& shape,
                     const Tensor& values, const Tensor& bias) {
  check(graph.is_square(),
        "{}: the graph's targets must be its sources, got {} targets and {} other sources",
        operation, graph.num_targets(), graph.num_sources());
  expect_matrix(operation, "values", values, graph.num_sources());
  check(shape.heads >= 1 && values.columns() % shape.heads == 0,
        "{}: {} columns are not divisible by {} heads", operation, values.columns(), shape.heads);
  check(shape.negative_slope >= 0 && shape.negative_slope <= 1,
        "{}: the negative slope must be in [0, 1], got {}", operation, shape.negative_slope);
  if (bias.defined()) expect_matrix(operation, "bias", bias, 1, values.columns(), values.dtype());
  check(graph.weights().empty(),
        "{}: attention does not support edge weights, but the graph has them", operation);
}

Tensor run(Tape& tape, const Csr& graph, const AttentionShape& shape, const Inputs& in,
           const EpilogueTensors& epilogue) {
  const std::vector<Tensor> differentiable = in.differentiable();
  const bool recorded = tape.wants(differentiable);
  const int64_t rows = graph.num_targets();
  const DType type = in.values.dtype();
  Saved saved;
  saved.out = like(in.values);
  if (recorded) {
    saved.softmax = Tensor::empty(rows, 2 * shape.heads, type);
    if (!in.is_v2()) {
      saved.sloped_y = like(in.values);
      saved.sloped_sum = Tensor::empty(rows, shape.heads, type);
    }
  }
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    attention_forward(graph, kernel_input<T>(shape, in), static_cast<const T*>(pointer<T>(in.bias)),
                      saved.out.data<T>(), saved.pointers<T>(),
                      borrow<T>(epilogue, rows, saved.out.columns(), recorded));
  });
  Tensor out = saved.out;
  if (recorded)
    tape.record(out, differentiable, [graph, shape, in, saved](const Tensor& grad_out) {
      with_type(grad_out.dtype(),
                [&](auto zero) { backward<decltype(zero)>(graph, shape, in, saved, grad_out); });
    });
  return out;
}

}  // namespace

Tensor gat_attention(Tape& tape, const Csr& graph, const AttentionShape& shape,
                     const Tensor& values, const Tensor& scores, const Tensor& bias,
                     const EpilogueTensors& epilogue) {
  check_attention("gat", graph, shape, values, bias);
  expect_matrix("gat", "scores", scores, values.rows(), 2 * shape.heads, values.dtype());
  Inputs in;
  in.values = values;
  in.scores = scores;
  in.source_score = columns_of(scores, 0, shape.heads);
  in.target_score = columns_of(scores, shape.heads, shape.heads);
  in.bias = bias;
  return run(tape, graph, shape, in, epilogue);
}

Tensor gatv2_attention(Tape& tape, const Csr& graph, const AttentionShape& shape,
                       const Tensor& values, const Tensor& query, const Tensor& attention,
                       const Tensor& bias, const EpilogueTensors& epilogue) {
  check_attention("gatv2", graph, shape, values, bias);
  expect_matrix("gatv2", "query", query, values.rows(), values.columns(), values.dtype());
  expect_matrix("gatv2", "attention", attention, shape.heads, values.columns() / shape.heads,
                values.dtype());
  Inputs in;
  in.values = values;
  in.query = query;
  in.attention = attention;
  in.bias = bias;
  return run(tape, graph, shape, in, epilogue);
}

}  // namespace egc::ops
