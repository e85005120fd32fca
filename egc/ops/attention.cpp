#include "egc/ops/attention.h"

#include <ATen/ATen.h>

#include "egc/engine/attention.h"
#include "egc/ops/autograd.h"
#include "egc/ops/column_sum.h"
#include "egc/ops/tensor_buffer.h"
#include "egc/ops/with_type.h"

namespace egc::ops {
namespace {

namespace ag = torch::autograd;

// What the two kinds of attention read; the unused ones are undefined.
struct Inputs {
  at::Tensor values;
  at::Tensor source_score;  // GAT
  at::Tensor target_score;
  at::Tensor query;  // GATv2
  at::Tensor attention;
};

template <class T>
T* pointer(const at::Tensor& t) {
  return t.defined() ? t.data_ptr<T>() : nullptr;
}

template <class T>
kernels::AttentionInput<T> kernel_input(const AttentionShape& shape, const Inputs& in) {
  kernels::AttentionInput<T> out;
  out.self_loops = shape.self_loops;
  out.is_v2 = in.query.defined();
  out.heads = shape.heads;
  out.width = in.values.size(1) / shape.heads;
  out.slope = static_cast<T>(shape.negative_slope);
  out.values = pointer<T>(in.values);
  out.source_score = pointer<T>(in.source_score);
  out.target_score = pointer<T>(in.target_score);
  out.query = pointer<T>(in.query);
  out.attention = pointer<T>(in.attention);
  return out;
}

struct AttentionBackward : public ag::Node {
  Csr graph;
  AttentionShape shape;
  ag::SavedVariable values;
  ag::SavedVariable first;   // source scores, or the query
  ag::SavedVariable second;  // target scores, or the attention vector
  ag::SavedVariable bias;
  ag::SavedVariable out;
  at::Tensor softmax;
  at::Tensor sloped_y;
  at::Tensor sloped_sum;
  bool is_v2 = false;

  std::string name() const override { return is_v2 ? "Gatv2Backward" : "GatBackward"; }

  void release_variables() override {
    for (auto* v : {&values, &first, &second, &bias, &out}) v->reset_data();
    softmax = sloped_y = sloped_sum = at::Tensor();
  }

  ag::variable_list apply(ag::variable_list&& grads) override {
    refuse_double_backward("attention");
    ag::variable_list result(is_v2 ? 4 : 3);
    if (!grads[0].defined()) return result;
    Inputs in;
    in.values = values.unpack();
    (is_v2 ? in.query : in.source_score) = first.unpack();
    (is_v2 ? in.attention : in.target_score) = second.unpack();
    const at::Tensor b = bias.unpack();
    const at::Tensor y = out.unpack(shared_from_this());
    const at::Tensor grad_out = grads[0].contiguous();
    const auto like = [](const at::Tensor& t) { return empty_buffer(t.sizes(), t.options()); };
    const at::Tensor grad_values = like(in.values);
    at::Tensor grad_first = like(is_v2 ? in.query : in.source_score);
    at::Tensor grad_second = like(is_v2 ? in.attention : in.target_score);
    at::Tensor grad_bias;
    if (b.defined()) grad_bias = at::empty_like(b);
    with_type(y.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      kernels::AttentionGrad<T> grad;
      grad.grad_out = grad_out.data_ptr<T>();
      grad.out = y.data_ptr<T>();
      grad.bias = pointer<T>(b);
      grad.saved = {pointer<T>(softmax), pointer<T>(sloped_y), pointer<T>(sloped_sum)};
      AttentionGradients<T> to;
      to.values = grad_values.data_ptr<T>();
      (is_v2 ? to.query : to.source_score) = grad_first.data_ptr<T>();
      (is_v2 ? to.attention : to.target_score) = grad_second.data_ptr<T>();
      attention_backward(graph, kernel_input<T>(shape, in), grad, to);
      if (b.defined())
        column_sum(grad_out.data_ptr<T>(), y.size(0), y.size(1), grad_bias.data_ptr<T>());
    });
    if (is_v2) return {grad_values, grad_first, grad_second, grad_bias};
    return {grad_values, at::cat({grad_first, grad_second}, 1), grad_bias};
  }
};

void check_attention(const char* operation, const Csr& graph, const AttentionShape& shape,
                     const at::Tensor& values, const at::Tensor& bias) {
  check(graph.is_square(),
        "{}: the graph's targets must be its sources, got {} targets and {} other sources",
        operation, graph.num_targets(), graph.num_sources());
  check(values.dim() == 2 && values.size(0) == graph.num_sources() && values.is_cpu() &&
            (values.scalar_type() == at::kFloat || values.scalar_type() == at::kDouble),
        "{}: values must be a float32 or float64 CPU matrix of {} rows, got [{}] {}", operation,
        graph.num_sources(), fmt::join(values.sizes(), ", "), c10::toString(values.scalar_type()));
  check(shape.heads >= 1 && values.size(1) % shape.heads == 0,
        "{}: {} columns do not divide into {} heads", operation, values.size(1), shape.heads);
  check(shape.negative_slope >= 0 && shape.negative_slope <= 1,
        "{}: the negative slope must be in [0, 1], got {}", operation, shape.negative_slope);
  check(!bias.defined() ||
            (bias.dim() == 1 && bias.size(0) == values.size(1) && bias.dtype() == values.dtype()),
        "{}: bias must be [{}]", operation, values.size(1));
  check(graph.weights().empty(), "{}: attention has no use for edge weights, the graph has them",
        operation);
}

void check_size(const char* operation, const char* what, const at::Tensor& t, at::IntArrayRef sizes,
                const at::Tensor& like) {
  check(t.sizes() == sizes && t.dtype() == like.dtype(), "{}: {} must be [{}] {}, got [{}] {}",
        operation, what, fmt::join(sizes, ", "), c10::toString(like.scalar_type()),
        fmt::join(t.sizes(), ", "), c10::toString(t.scalar_type()));
}

// `differentiable`: the operator's own inputs, in the order of AttentionBackward's results.
at::Tensor run(const Csr& graph, const AttentionShape& shape, const Inputs& in,
               const at::Tensor& any_bias, const ag::variable_list& differentiable,
               const EpilogueTensors& epilogue) {
  const at::Tensor bias = any_bias.defined() ? any_bias.contiguous() : any_bias;
  const bool is_v2 = in.query.defined();
  const auto node =
      make_node<AttentionBackward>("attention", differentiable, [&](AttentionBackward& n) {
        n.graph = graph;
        n.shape = shape;
        n.is_v2 = is_v2;
        n.values = ag::SavedVariable(in.values, false);
        n.first = ag::SavedVariable(is_v2 ? in.query : in.source_score, false);
        n.second = ag::SavedVariable(is_v2 ? in.attention : in.target_score, false);
        n.bias = ag::SavedVariable(bias, false);
      });
  at::Tensor out;
  {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    const int64_t rows = graph.num_targets();
    const auto options = in.values.options();
    out = empty_buffer(in.values.sizes(), options);
    if (node) {
      node->softmax = empty_buffer({rows, 2, shape.heads}, options);
      if (!is_v2) {
        node->sloped_y = empty_buffer(in.values.sizes(), options);
        node->sloped_sum = empty_buffer({rows, shape.heads}, options);
      }
    }
    with_type(out.scalar_type(), [&](auto zero) {
      using T = decltype(zero);
      kernels::AttentionSaved<T> saved;
      if (node)
        saved = {pointer<T>(node->softmax), pointer<T>(node->sloped_y),
                 pointer<T>(node->sloped_sum)};
      attention_forward(graph, kernel_input<T>(shape, in), static_cast<const T*>(pointer<T>(bias)),
                        out.data_ptr<T>(), saved,
                        borrow<T>(epilogue, rows, out.size(1), node != nullptr));
    });
  }
  if (node) {
    ag::set_history(out, node);
    node->out = ag::SavedVariable(out, true);
  }
  return out;
}

}  // namespace

at::Tensor gat_attention(const Csr& graph, const AttentionShape& shape, const at::Tensor& values,
                         const at::Tensor& scores, const at::Tensor& bias,
                         const EpilogueTensors& epilogue) {
  check_attention("gat", graph, shape, values, bias);
  check_size("gat", "scores", scores, {values.size(0), 2 * shape.heads}, values);
  Inputs in;
  in.values = values.contiguous();
  {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    in.source_score = scores.narrow(1, 0, shape.heads).contiguous();
    in.target_score = scores.narrow(1, shape.heads, shape.heads).contiguous();
  }
  return run(graph, shape, in, bias, {values, scores, bias}, epilogue);
}

at::Tensor gatv2_attention(const Csr& graph, const AttentionShape& shape, const at::Tensor& values,
                           const at::Tensor& query, const at::Tensor& attention,
                           const at::Tensor& bias, const EpilogueTensors& epilogue) {
  check_attention("gatv2", graph, shape, values, bias);
  check_size("gatv2", "query", query, values.sizes(), values);
  check_size("gatv2", "attention", attention, {values.size(1)}, values);
  Inputs in;
  in.values = values.contiguous();
  in.query = query.contiguous();
  in.attention = attention.contiguous();
  return run(graph, shape, in, bias, {values, query, attention, bias}, epilogue);
}

}  // namespace egc::ops
