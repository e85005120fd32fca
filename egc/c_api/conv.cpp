// EGC on raw pointers, with and without features of edges.
#include <optional>

#include "egc/c_api/edge_term.h"
#include "egc/c_api/layer_call.h"

namespace egc::c_api {
namespace {

// What both functions of a pass are given: `edges` and `grad_edges` are NULL in those without.
struct ForwardCall {
  const char* function;
  const egc_graph* graph;
  const egc_layer* layer;
  const egc_edge_term* edges;
  const void *x, *x_target, *bases_weight, *comb_weight, *comb_bias, *bias;
  void *y, *saved;
};
struct BackwardCall {
  const char* function;
  const egc_graph* graph;
  const egc_layer* layer;
  const egc_edge_term* edges;
  const egc_edge_gradients* grad_edges;
  const void *x, *x_target, *bases_weight, *comb_weight, *grad_y, *saved;
  void *of_x, *of_x_target, *of_bases_weight, *of_comb_weight, *of_comb_bias, *of_bias;
};

struct ConvTensors {
  Tensor x;
  Tensor x_target;
  ops::EgcWeights weights;
  ops::EgcProducts products;
};

template <class T>
ConvTensors conv_tensors(const Csr& graph, const egc_layer& layer, const Egc& o, const void* x,
                         const void* x_target, const void* bases_weight, const void* comb_weight,
                         const void* saved) {
  const int64_t in = checked(layer.in_channels, "in_channels");
  const int64_t bases = graph.num_sources() * o.bases_width();
  ConvTensors t;
  t.x = matrix<T>(x, graph.num_sources(), in);
  t.x_target = matrix<T>(x_target, graph.num_targets(), in);
  t.weights.theta = matrix<T>(bases_weight, o.bases_width(), in);
  t.weights.phi = matrix<T>(comb_weight, o.weights(), in);
  if (saved != nullptr) {
    const T* at = static_cast<const T*>(saved);
    t.products = {matrix<T>(at, graph.num_sources(), o.bases_width()),
                  matrix<T>(at + bases, graph.num_targets(), o.weights())};
  } else {
    t.products = {Tensor::empty(graph.num_sources(), o.bases_width(), o.type),
                  Tensor::empty(graph.num_targets(), o.weights(), o.type)};
  }
  return t;
}

// An empty matrix may have no memory; the operator wants one all the same.
const void* or_nothing(const void* memory) {
  static const double nothing[1] = {};
  return memory == nullptr ? nothing : memory;
}

egc_status forward(const ForwardCall& c) {
  return call_layer(
      c.function, c.graph, c.layer, [&](const Csr& csr, const egc_layer& o, auto zero) {
        using T = decltype(zero);
        const Egc options(o);
        expect_memory(c.function, csr.num_sources(), {c.x});
        expect_memory(c.function, csr.num_targets(), {c.y});
        expect_memory(c.function, 1, {c.bases_weight, c.comb_weight});
        ConvTensors t = conv_tensors<T>(csr, o, options, or_nothing(c.x), c.x_target,
                                        c.bases_weight, c.comb_weight, c.saved);
        t.weights.phi_bias = matrix<T>(c.comb_bias, 1, options.weights());
        t.weights.bias = matrix<T>(c.bias, 1, options.out_width());
        if (c.edges != nullptr)
          t.weights.edges = EdgeTensors(c.function, *c.graph, *c.edges, nullptr,
                                        options.bases_width(), options.type)
                                .term();
        ops::egc_forward(options.shape, t.weights, t.x, t.x_target, csr, t.products,
                         matrix<T>(or_nothing(c.y), csr.num_targets(), options.out_width()));
      });
}

egc_status backward(const BackwardCall& c) {
  return call_layer(
      c.function, c.graph, c.layer, [&](const Csr& csr, const egc_layer& o, auto zero) {
        using T = decltype(zero);
        const Egc options(o);
        expect_memory(c.function, csr.num_sources(), {c.x});
        expect_memory(c.function, csr.num_targets(), {c.grad_y});
        expect_memory(c.function, csr.num_sources() + csr.num_targets(), {c.saved});
        expect_memory(c.function, 1, {c.bases_weight, c.comb_weight});
        ConvTensors t = conv_tensors<T>(csr, o, options, or_nothing(c.x), c.x_target,
                                        c.bases_weight, c.comb_weight, or_nothing(c.saved));
        t.x = differentiated(t.x, c.of_x);
        t.x_target = differentiated(t.x_target, c.of_x_target);
        t.weights.theta = differentiated(t.weights.theta, c.of_bases_weight);
        t.weights.phi = differentiated(t.weights.phi, c.of_comb_weight);
        // Of the biases only the gradient matters.
        t.weights.phi_bias =
            differentiated(matrix<T>(c.of_comb_bias, 1, options.weights()), c.of_comb_bias);
        t.weights.bias = differentiated(matrix<T>(c.of_bias, 1, options.out_width()), c.of_bias);
        std::optional<EdgeTensors> edges;
        if (c.edges != nullptr) {
          edges.emplace(c.function, *c.graph, *c.edges, c.grad_edges, options.bases_width(),
                        options.type);
          t.weights.edges = edges->term();
        }
        ops::egc_backward(options.shape, t.weights, t.x, t.x_target, csr, t.products,
                          matrix<T>(or_nothing(c.grad_y), csr.num_targets(), options.out_width()));
        if (edges) edges->finish_backward();
      });
}

}  // namespace
}  // namespace egc::c_api

using namespace egc;         // NOLINT: what follows is in no namespace
using namespace egc::c_api;  // NOLINT

int64_t egc_conv_saved_size(const egc_graph* graph, const egc_layer* layer) {
  int64_t size = 0;
  static_cast<void>(call_layer(
      "egc_conv_saved_size", graph, layer, [&](const Csr& csr, const egc_layer& options, auto) {
        const Egc o(options);
        size = csr.num_sources() * o.bases_width() + csr.num_targets() * o.weights();
      }));
  return size;
}

egc_status egc_conv_forward(const egc_graph* graph, const egc_layer* layer, const void* x,
                            const void* x_target, const void* bases_weight, const void* comb_weight,
                            const void* comb_bias, const void* bias, void* y, void* saved) {
  return forward({"egc_conv_forward", graph, layer, nullptr, x, x_target, bases_weight, comb_weight,
                  comb_bias, bias, y, saved});
}

egc_status egc_conv_backward(const egc_graph* graph, const egc_layer* layer, const void* x,
                             const void* x_target, const void* bases_weight,
                             const void* comb_weight, const void* grad_y, const void* saved,
                             void* grad_x, void* grad_x_target, void* grad_bases_weight,
                             void* grad_comb_weight, void* grad_comb_bias, void* grad_bias) {
  return backward({"egc_conv_backward", graph, layer, nullptr, nullptr, x, x_target, bases_weight,
                   comb_weight, grad_y, saved, grad_x, grad_x_target, grad_bases_weight,
                   grad_comb_weight, grad_comb_bias, grad_bias});
}

egc_status egc_edge_conv_forward(const egc_graph* graph, const egc_layer* layer,
                                 const egc_edge_term* edges, const void* x, const void* x_target,
                                 const void* bases_weight, const void* comb_weight,
                                 const void* comb_bias, const void* bias, void* y, void* saved) {
  constexpr const char* kName = "egc_edge_conv_forward";
  if (edges == nullptr) return call([&] { given(edges, kName, "edges"); });
  return forward({kName, graph, layer, edges, x, x_target, bases_weight, comb_weight, comb_bias,
                  bias, y, saved});
}

egc_status egc_edge_conv_backward(const egc_graph* graph, const egc_layer* layer,
                                  const egc_edge_term* edges, const void* x, const void* x_target,
                                  const void* bases_weight, const void* comb_weight,
                                  const void* grad_y, const void* saved,
                                  const egc_edge_gradients* grad_edges, void* grad_x,
                                  void* grad_x_target, void* grad_bases_weight,
                                  void* grad_comb_weight, void* grad_comb_bias, void* grad_bias) {
  constexpr const char* kName = "egc_edge_conv_backward";
  if (edges == nullptr) return call([&] { given(edges, kName, "edges"); });
  return backward({kName, graph, layer, edges, grad_edges, x, x_target, bases_weight, comb_weight,
                   grad_y, saved, grad_x, grad_x_target, grad_bases_weight, grad_comb_weight,
                   grad_comb_bias, grad_bias});
}
