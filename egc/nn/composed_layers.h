// The layers that write a message for every edge to memory where they are composed of ATen calls,
// as the libraries of Python compose them: what the paper calls O(E). Contestants of the
// benchmarks, and a second, independent oracle of the layers.
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

// gat, gatv2, mpnn-sum, mpnn-max, pna, egc-s, egc-m. The messages of the others are the rows of a
// matrix that is there already: a library multiplies it by a sparse one and is O(V) as well.
std::vector<std::string_view> composed_layer_names();

}  // namespace egc::nn
