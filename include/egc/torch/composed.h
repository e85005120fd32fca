// Layers composed of ATen calls, as the libraries of Python compose them: a message for every edge
// is written to memory, what the paper calls O(E). Contestants of the benchmarks, a second,
// independent oracle of the layers, and what serves tensors on devices without kernels of ours.
//
// Gradients by autograd, so at ties max and min share theirs instead of giving it to the first.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "egc/graph/csr.h"
#include "egc/nn/conv_table.h"
#include "egc/torch/functional.h"

namespace egc::torch {

// The edge lists that compositions need, made once for a graph and kept, as their users do.
struct ComposedGraph {
  ComposedGraph(const Csr& graph, const AggregatorSet& aggregators, SelfLoops self_loops,
                const at::TensorOptions& options);

  // An edge list, with or without self-loops, and with the factor of each message.
  struct Edges {
    at::Tensor source;  // [E]
    at::Tensor target;  // [E]
    at::Tensor weight;  // [E, 1], or undefined: 1
  };
  int64_t num_targets;
  Edges plain;
  at::Tensor count;  // [N, 1] in-edges of `plain`, at least 1
  Edges sym;         // weight: the symmetric normalisation; empty without symnorm
};

// As fused_aggregate.
at::Tensor composed_aggregate(const ComposedGraph& graph, const ops::EgcShape& shape,
                              const at::Tensor& bases, const at::Tensor& weights,
                              const at::Tensor& bias);
at::Tensor composed_aggregate(const Csr& graph, const ops::EgcShape& shape, const at::Tensor& bases,
                              const at::Tensor& weights, const at::Tensor& bias);

// As egc_conv.
at::Tensor composed_egc(const nn::EgcConvOptions& options, const EgcConvTensors& tensors,
                        const at::Tensor& x, const ComposedGraph& graph);
at::Tensor composed_egc(const nn::EgcConvOptions& options, const EgcConvTensors& tensors,
                        const at::Tensor& x, const Csr& graph);

// x: [N, in].   Result: [N, out].
struct ComposedLayer {
  std::map<std::string, at::Tensor> parameters;  // leaves with a gradient
  std::function<at::Tensor(const at::Tensor& x)> forward;
};

// What `conv`, made by make_conv(name, spec), computes on the graph, with copies of its parameters.
ComposedLayer compose_layer(std::string_view name, const nn::ConvSpec& spec, const nn::Conv& conv,
                            const Csr& graph);

// gat, gatv2, mpnn-sum, mpnn-max, pna, egc-s, egc-m, egc. Libraries multiply by a sparse matrix in
// gcn, gin and sage, and are O(V) there as well.
std::vector<std::string_view> composed_layer_names();

}  // namespace egc::torch
