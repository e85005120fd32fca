// Layers composed of ATen calls, as the libraries of Python compose them: a message for every edge
// is written to memory, what the paper calls O(E). EGC is here as its users compose it today.
// Contestants of the benchmarks, and a second, independent oracle of the layers.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "egc/nn/conv_table.h"

namespace egc::nn {

// x: [N, in].   Result: [N, out]; gradients by autograd.
using ComposedLayer = std::function<at::Tensor(const at::Tensor& x)>;

// What `conv`, made by make_conv(name, spec), computes on the graph, with the parameters of `conv`.
// The edge lists are made once, as their users do.
ComposedLayer compose_layer(std::string_view name, const ConvSpec& spec,
                            const std::shared_ptr<Conv>& conv, const Csr& graph);

// gat, gatv2, mpnn-sum, mpnn-max, pna, egc-s, egc-m, egc. Libraries multiply by a sparse matrix in
// gcn, gin and sage, and are O(V) there as well.
std::vector<std::string_view> composed_layer_names();

}  // namespace egc::nn
