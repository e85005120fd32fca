// Layers composed of ATen calls, as Python libraries compose them, with a message for every edge in
// memory: O(E). They serve as baselines of benchmarks, as a second implementation for tests, and
// for tensors on devices other than the CPU.
//
// Gradients come from autograd: at ties, max and min share them, while the fused operators give
// them to the first.
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

// The edge lists of a graph that the compositions need; make it once per graph.
struct ComposedGraph {
  // Makes the lists for these aggregators; `options` gives device and type.
  ComposedGraph(const Csr& graph, const AggregatorSet& aggregators, SelfLoops self_loops,
                const at::TensorOptions& options);

  // A list of edges, with or without self-loops.
  struct Edges {
    at::Tensor source;  // [E]
    at::Tensor target;  // [E]
    at::Tensor weight;  // [E, 1], factor of each message; undefined: 1
  };
  int64_t num_targets;  // number of nodes N
  Edges plain;          // for all aggregators but symnorm
  at::Tensor count;     // [N, 1] in-edges of `plain`, at least 1
  Edges sym;            // for symnorm, with its normalization; empty without it
};

// As fused_aggregate().
at::Tensor composed_aggregate(const ComposedGraph& graph, const ops::EgcShape& shape,
                              const at::Tensor& bases, const at::Tensor& weights,
                              const at::Tensor& bias);
// As above; makes the edge lists in each call.
at::Tensor composed_aggregate(const Csr& graph, const ops::EgcShape& shape, const at::Tensor& bases,
                              const at::Tensor& weights, const at::Tensor& bias);

// As egc_conv().
at::Tensor composed_egc(const nn::EgcConvOptions& options, const EgcConvTensors& tensors,
                        const at::Tensor& x, const ComposedGraph& graph);
// As above; makes the edge lists in each call.
at::Tensor composed_egc(const nn::EgcConvOptions& options, const EgcConvTensors& tensors,
                        const at::Tensor& x, const Csr& graph);

// A layer made of ATen calls.
struct ComposedLayer {
  std::map<std::string, at::Tensor> parameters;            // leaves with a gradient
  std::function<at::Tensor(const at::Tensor& x)> forward;  // x: [N, in]. Result: [N, out].
};

// Composes what `conv`, made by make_conv(name, spec), computes on the graph, with copies of its
// parameters.
ComposedLayer compose_layer(std::string_view name, const nn::ConvSpec& spec, const nn::Conv& conv,
                            const Csr& graph);

// Layers that libraries compute with messages in memory: gat, gatv2, mpnn-sum, mpnn-max, pna,
// egc-s, egc-m, egc. For gcn, gin and sage they use sparse products, which are O(V) too.
std::vector<std::string_view> composed_layer_names();

}  // namespace egc::torch
