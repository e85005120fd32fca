"""EGConv: the layer of "Do We Need Anisotropic Graph Neural Networks?" (ICLR 2022)."""

import torch
from torch import Tensor
from torch.nn import Parameter

from . import _composed
from ._dispatch import apply, is_fused, same_dtype, wide
from ._edges import square_graph
from ._kernels import ACTIVATIONS, AGGREGATORS, SELF_LOOPS, conv_forward, layer, options, record_conv
from ._modes import is_eager, is_in_forward_mode, is_traced
from .conv import GraphConv, pair
from .linear import Linear, are_plain, zeros_


class EGConv(GraphConv):
    """The Efficient Graph Convolution, as ``torch_geometric.nn.EGConv``, in one fused pass forward and one backward.

    y[i, h] = sum over aggregators a and bases b of w[i, h, a, b] * agg_a(bases_b)[i]

    Args:
        in_channels, out_channels: widths; ``in_channels`` -1: from the first input. ``out_channels`` must be
            divisible by ``num_heads``.
        aggregators: of sum (or add), mean, symnorm, max, min, var, std.
        cached: the graph of the first call serves all later ones.
        add_self_loops: every node is in its own neighborhood.
        bias: a learned summand.
        self_loops: instead of ``add_self_loops``: "all", "none", or "symnorm": for that aggregator only, as in
            the paper's experiments.
        activation: of the weights w: "identity", "softmax", "sigmoid" or "hardtanh".

    ``forward(x, edge_index, edge_weight=None)``: x [N, F], or (x_source, x_target) for a graph from one set of
    nodes to another (without self-loops). Edge weights are constants [E].
    """

    def __init__(self, in_channels, out_channels, aggregators=None, num_heads=8, num_bases=4, cached=False, add_self_loops=True,
                 bias=True, *, self_loops=None, activation="identity", **kwargs):
        super().__init__(**kwargs)
        if in_channels != -1 and in_channels < 1 or min(out_channels, num_heads, num_bases) < 1:
            raise ValueError("EGConv: channels, heads and bases must be at least 1")
        if out_channels % num_heads != 0:
            raise ValueError(f"EGConv: out_channels ({out_channels}) must be divisible by the number of heads ({num_heads})")
        names = ["symnorm"] if aggregators is None else list(aggregators)
        for name in names:
            if name not in AGGREGATORS:
                raise ValueError(f"EGConv: Unsupported aggregator '{name}'; known: {', '.join(AGGREGATORS)}")
        if not names or len({AGGREGATORS[n] for n in names}) != len(names):
            raise ValueError(f"EGConv: expected different aggregators, got {names}")
        self.in_channels, self.out_channels = in_channels, out_channels
        self.num_heads, self.num_bases = num_heads, num_bases
        self.aggregators, self.cached = names, cached
        self.self_loops = _one_of("self_loops", self_loops or ("all" if add_self_loops else "none"), SELF_LOOPS)
        self.add_self_loops = self.self_loops != "none"
        self.activation = _one_of("activation", activation, ACTIVATIONS)
        self.bases_lin = Linear(in_channels, num_bases * (out_channels // num_heads), bias=False, glorot=True)
        self.comb_lin = Linear(in_channels, num_heads * num_bases * len(names))
        if bias:
            self.bias = Parameter(torch.empty(out_channels))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        self.bases_lin.reset_parameters()
        self.comb_lin.reset_parameters()
        zeros_(self.bias)
        self._cached_edge_index = None
        self._cached_adj_t = None
        self._layers = {}  # by dtype

    def __getstate__(self):
        return {**super().__getstate__(), "_layers": {}}

    def forward(self, x, edge_index, edge_weight=None):
        traced = is_traced()
        if edge_weight is None and self._cached_edge_index is None and not self.cached and not traced:
            y = self._at_once(x, edge_index)
            if y is not None:
                return y
        x, x_target, same = pair(x)
        if not isinstance(x, Tensor) or not isinstance(x_target, Tensor):
            raise TypeError(f"EGConv: x must be a tensor or (x_source, x_target), got {type(x).__name__}")
        if self._cached_edge_index is not None:
            edge_index, edge_weight = self._cached_edge_index, None
        edges = self.edges(edge_index, x_target.size(0), x.size(0), same, edge_weight)
        if edge_weight is not None and edges.differentiable_weight() is not None:
            raise ValueError("EGConv: edge weights are constants, without gradient; detach() them")
        if not same and self.self_loops != "none":
            raise ValueError("EGConv: self-loops need targets that are the sources; (x_source, x_target) takes add_self_loops=False")
        if self.cached and self._cached_edge_index is None and x.device.type == "cpu" and not traced:
            self._cached_edge_index = self._cached_adj_t = edges.graph()
        if not traced and is_fused(x) and are_plain(self.bases_lin, self.comb_lin):
            return self._fused(x, None if same else x_target, edges, self.bases_lin._parameters, self.comb_lin._parameters)
        bases, weights = self.bases_lin(x), self.comb_lin(x_target)
        weights = _composed.activated(weights, self.activation, self.num_heads)
        y = self._combined(bases, weights, edges)
        return y if self.bias is None else y + self.bias

    def _at_once(self, x, edge_index):
        """The common case by the shortest way; None where it is another one."""
        if not (isinstance(x, Tensor) and is_eager(x)) or x.layout is not torch.strided:
            return None
        dtype, modules = x.dtype, self._modules
        bases_lin, comb_lin = modules["bases_lin"], modules["comb_lin"]
        if (
            not (x.is_cpu and (dtype is torch.float32 or dtype is torch.float64) and are_plain(bases_lin, comb_lin))
            or "bias" not in self._parameters or is_in_forward_mode()  # a bias that is pruned or parametrized
        ):
            return None
        of_weights = comb_lin._parameters
        bases_weight, comb_weight = bases_lin._parameters["weight"], of_weights["weight"]
        comb_bias, bias = of_weights["bias"], self._parameters["bias"]
        shape = x.shape
        if (
            len(shape) != 2 or shape[1] != self.in_channels or bases_weight.dtype is not dtype or not x.is_contiguous()
            or not bases_weight.is_contiguous() or not comb_weight.is_contiguous()
        ):
            return None
        graph = square_graph("EGConv", edge_index, shape[0])
        o = self._layers.get(dtype)
        if o is None or o.in_channels != shape[1]:
            o = self._layers[dtype] = layer(dtype, *self._options(shape[1]))
        if torch.is_grad_enabled() and (x.requires_grad or bases_weight.requires_grad or comb_weight.requires_grad
                                        or bias is not None and bias.requires_grad or comb_bias.requires_grad):
            return record_conv(graph, o, x, bases_weight, comb_weight, comb_bias, bias)
        return conv_forward(graph, o, x, None, bases_weight, comb_weight, comb_bias, bias, False)[0]

    def _fused(self, x, x_target, edges, of_bases, of_weights):
        """Both products and the aggregation as one operator."""
        self.matrix(x, self.in_channels)
        if x_target is not None:
            self.matrix(x_target, self.in_channels, "x_target")
        inputs = (x, x_target, of_bases["weight"], of_weights["weight"], of_weights["bias"], self.bias)
        dtype = x.dtype
        if dtype is not torch.float32 and dtype is not torch.float64:
            inputs = tuple(map(wide, inputs))
        same_dtype("EGConv", inputs[0], weight=inputs[2], x_target=inputs[1], bias=inputs[5])
        y = apply("conv", edges, self._options(x.size(1)), *inputs)
        return y if y.dtype is dtype else y.to(dtype)

    def _options(self, in_channels):
        width = self.out_channels // self.num_heads
        return options(self.aggregators, self.self_loops, self.activation, in_channels, self.num_heads, self.num_bases, width)

    def _combined(self, bases, weights, edges):
        if not is_fused(bases):
            return _composed.combine(
                *edges.tensors(), bases, weights, edges.num_targets, self.aggregators, self.self_loops, self.num_heads, self.num_bases
            )
        same_dtype("EGConv", bases, weights=weights)
        y = apply("combine", edges, self._options(1), wide(bases), wide(weights))
        return y.to(bases.dtype)

    def __repr__(self):
        return f"EGConv({self.in_channels}, {self.out_channels}, aggregators={self.aggregators})"


def _one_of(what, value, known):
    if value not in known:
        raise ValueError(f'EGConv: unknown {what} "{value}"; known: {", ".join(known)}')
    return value
