"""EGC with features of edges: messages phi(z_j + e_ij) instead of z_j, by the kernel or composed of torch calls."""

import ctypes

import torch

from .._library import EdgeGradients, EdgeTerm, fail, lib
from . import _composed
from ._edges import on_cpu
from ._kernels import Kernel, _contiguous, _pointer, layer, run
from ._modes import is_in_forward_mode, refuse_tangents
from ._threads import follow_torch

MESSAGES = {"identity": 0, "relu": 1}


def fused(edges, features, message, options, *inputs):
    """The whole operator. inputs: as of EdgeConvKernel."""
    if is_in_forward_mode():
        refuse_tangents(inputs)
    for t in inputs:
        if t is not None:
            on_cpu(edges.owner, "every parameter", t)
    kernel = EdgeConvKernel(edges.graph(features), layer(inputs[0].dtype, *options), MESSAGES[message])
    return run(kernel, *inputs)


class EdgeConvKernel(Kernel):
    """Inputs: x, x_target, bases_weight, comb_weight, comb_bias, bias, table, linear, linear_bias, self_edge."""

    __slots__ = ("message",)

    def __init__(self, graph, layer, message):
        super().__init__(graph, layer)
        self.message = message

    def _term(self, of_edges):
        return ctypes.byref(EdgeTerm(self.message, *map(_pointer, of_edges)))

    def forward(self, *inputs_and_save):
        x, x_target, bases_weight, comb_weight, comb_bias, bias, *of_edges, save = inputs_and_save
        graph, o = self.graph, self.layer
        y = x.new_empty(graph.num_nodes, o.y_width)
        saved = x.new_empty(graph.num_sources * o.bases_width + graph.num_nodes * o.weights_width) if save else None
        follow_torch()
        status = lib.egc_edge_conv_forward(
            graph._handle,
            o.address,
            self._term(of_edges),
            *map(_pointer, (x, x_target, bases_weight, comb_weight, comb_bias, bias, y, saved)),
        )
        if status:
            fail(status)
        return y, saved

    def backward(self, inputs, saved, grad_y, wanted):
        x, x_target, bases_weight, comb_weight, _, _, *of_edges = inputs
        grads = [torch.empty_like(t) if t is not None and w else None for t, w in zip(inputs, wanted)]
        grad_y = _contiguous(grad_y)
        follow_torch()
        status = lib.egc_edge_conv_backward(
            self.graph._handle,
            self.layer.address,
            self._term(of_edges),
            *map(_pointer, (x, x_target, bases_weight, comb_weight, grad_y, saved)),
            ctypes.byref(EdgeGradients(*map(_pointer, grads[6:]))),
            *map(_pointer, grads[:6]),
        )
        if status:
            fail(status)
        return grads


def composed(edges, z, e, self_edge, message, weights, names, self_loops, heads):
    """The same after both products. z: [S, B*L].   e: [E, B*L].   self_edge: [B*L], of added self-loops, or None.
    weights: [T, H * A * B], activated."""
    parts = [_aggregate(edges, z, e, self_edge, message, n, self_loops) for n in names]
    parts = torch.stack(parts, 1).view(len(weights), weights.size(1) // heads, -1)
    return torch.bmm(weights.view(len(weights), heads, -1), parts).reshape(len(weights), -1)


def _aggregate(edges, z, e, self_edge, message, name, self_loops):
    """One aggregator of the messages. Loops of the graph that are replaced go to a row of their own at the end: in code
    that is compiled, sizes must not depend on values."""
    (index, weight), rows = edges.tensors(), edges.num_targets
    source, target = index[0], index[1]
    weight = None if weight is None else weight.to(z.dtype)
    messages = z[source] + e
    if self_loops == "all" or self_loops == "symnorm" and name == "symnorm":
        nodes = torch.arange(rows, device=index.device)
        target = torch.cat([torch.where(source == target, rows, target), nodes])
        source = torch.cat([source, nodes])
        messages = torch.cat([messages, z if self_edge is None else z + self_edge])
        weight = None if weight is None else torch.cat([weight, weight.new_ones(rows)])
    if message == "relu":
        messages = messages.relu()
    if name == "symnorm":
        num_sources = None if edges.same_nodes else z.size(0)
        weight = _composed.symmetric_norm(torch.stack([source, target]), weight, rows + 1, z.dtype, num_sources)
        name = "add"
    if weight is not None:
        messages = messages * weight.view(-1, 1)
    return _composed.reduce(messages, target, rows + 1, name)[:rows]
