// What the autograd nodes of this module share.
#pragma once

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>

#include <string>

#include "egc/core/error.h"

namespace egc::ops {

// A node that computes the gradients of an operation's output with respect to `inputs`; a null
// result means that nothing needs a gradient. `fill` saves what the backward pass will need.
template <class NodeType, class Fill>
std::shared_ptr<NodeType> make_node(const char* operation,
                                    const torch::autograd::variable_list& inputs, Fill&& fill) {
  namespace ag = torch::autograd;
  // The output would have no tangent, without a word.
  for (const at::Tensor& input : inputs)
    check(!input.defined() || !input._fw_grad(/*level=*/0).defined(),
          "{}: forward-mode differentiation is not supported", operation);
  if (!at::GradMode::is_enabled()) return nullptr;
  bool any = false;
  for (const at::Tensor& input : inputs) any |= input.defined() && input.requires_grad();
  if (!any) return nullptr;
  auto node = std::shared_ptr<NodeType>(new NodeType, ag::deleteNode);
  fill(*node);
  ag::edge_list edges;
  for (const at::Tensor& input : inputs)
    edges.push_back(input.defined() ? ag::impl::gradient_edge(input) : ag::Edge());
  node->set_next_edges(std::move(edges));
  return node;
}

// The passes are written by hand and have no derivative themselves: better said than silently
// wrong.
inline void refuse_double_backward(const char* operation) {
  check(!at::GradMode::is_enabled(),
        "{}: second derivatives are not implemented; call backward without create_graph",
        operation);
}

}  // namespace egc::ops
