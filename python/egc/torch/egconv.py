"""EGConv: the layer of "Do We Need Anisotropic Graph Neural Networks?" (ICLR 2022)."""

import torch
from torch import Tensor

from . import _composed, _edge_conv
from ._dispatch import apply, is_fused, same_dtype, wide
from ._edge_features import EdgeEncoder
from ._edges import FLOWS, square_graph
from ._kernels import ACTIVATIONS, AGGREGATORS, SELF_LOOPS, conv_forward, layer, options, record_conv
from ._modes import is_eager, is_in_forward_mode, is_traced
from .conv import GraphConv, check_combine, pair, whole
from .linear import Linear, add_bias, are_plain, width_of, zeros_

_OPTIONS = ("aggregators", "self_loops", "activation", "num_heads", "num_bases", "out_channels")


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
        edge_dim: columns of float features of edges.
        edge_categories: the number of categories of integer features of edges, or a list of one for each column.
        message: with features of edges, "relu": ReLU(z_j + e_ij) is aggregated instead of the bases z_j, or "identity":
            z_j + e_ij. e_ij is a learned row for every category, plus a Linear of the floats.

    ``forward(x, edge_index, edge_weight=None, edge_attr=None)``: x [N, F], or (x_source, x_target) for a graph from one
    set of nodes to another (without self-loops). Edge weights are constants [E]. edge_attr: [E] or [E, columns], floats
    with ``edge_dim``, integers with ``edge_categories``, a pair (integers, floats) with both.
    """

    def __init__(
        self,
        in_channels,
        out_channels,
        aggregators=None,
        num_heads=8,
        num_bases=4,
        cached=False,
        add_self_loops=True,
        bias=True,
        *,
        self_loops=None,
        activation="identity",
        edge_dim=None,
        edge_categories=None,
        message="relu",
        **kwargs,
    ):
        super().__init__(**kwargs)
        in_channels = whole("EGConv", "in_channels", in_channels, lazy=True)
        out_channels = whole("EGConv", "out_channels", out_channels)
        num_heads, num_bases = whole("EGConv", "num_heads", num_heads), whole("EGConv", "num_bases", num_bases)
        if out_channels % num_heads != 0:
            raise ValueError(
                f"EGConv: out_channels ({out_channels}) must be divisible by the number of heads ({num_heads})"
            )
        if isinstance(aggregators, str):
            raise TypeError(f"EGConv: aggregators must be a list of names, got {aggregators!r}")
        names = ["symnorm"] if aggregators is None else list(aggregators)
        for name in names:
            if not isinstance(name, str) or name not in AGGREGATORS:
                raise ValueError(f"EGConv: Unsupported aggregator {name!r}; known: {', '.join(AGGREGATORS)}")
        if not names or len({AGGREGATORS[n] for n in names}) != len(names):
            raise ValueError(f"EGConv: expected different aggregators, got {names}")
        self.in_channels, self.out_channels = in_channels, out_channels
        self.num_heads, self.num_bases = num_heads, num_bases
        self.aggregators, self.cached = names, cached
        self.self_loops = _one_of("self_loops", self_loops or ("all" if add_self_loops else "none"), SELF_LOOPS)
        self.activation = _one_of("activation", activation, ACTIVATIONS)
        self.bases_lin = Linear(in_channels, num_bases * (out_channels // num_heads), bias=False, glorot=True)
        self.comb_lin = Linear(in_channels, num_heads * num_bases * len(names))
        add_bias(self, out_channels, bias)
        self.message = _one_of("message", message, _edge_conv.MESSAGES)
        numbers = 0 if edge_dim is None else whole("EGConv", "edge_dim", edge_dim)
        categories = _categories(edge_categories)
        self.edges = None
        if numbers or categories:
            if cached:
                raise ValueError("EGConv: cached=True keeps the first call's graph, which does not go with edge_attr")
            width = num_bases * (out_channels // num_heads)
            self.edges = EdgeEncoder("EGConv", categories, numbers, width, self.self_loops != "none")
        self.reset_parameters()

    def reset_parameters(self):
        self.bases_lin.reset_parameters()
        self.comb_lin.reset_parameters()
        zeros_(self.bias)
        if getattr(self, "edges", None) is not None:
            self.edges.reset_parameters()
        self._cached_edge_index = None
        self._cached_adj_t = None
        self._layers = {}  # by dtype

    @property
    def add_self_loops(self):
        """Whether every node is in its own neighborhood, of some aggregators at least."""
        return self.self_loops != "none"

    @add_self_loops.setter
    def add_self_loops(self, value):
        self.self_loops = "all" if value else "none"

    def __setattr__(self, name, value):
        if name in _OPTIONS:
            self.__dict__["_layers"] = {}  # were made of them
        super().__setattr__(name, value)

    def __getstate__(self):
        return {**super().__getstate__(), "_layers": {}}

    def forward(self, x, edge_index, edge_weight=None, edge_attr=None):
        traced = is_traced()
        encoder = getattr(self, "edges", None)  # there is none in earlier pickles
        if (edge_attr is None) is not (encoder is None):
            raise ValueError(
                "EGConv: edge_attr needs edge_dim or edge_categories, which say what it is"
                if encoder is None
                else "EGConv: a layer with edge_dim or edge_categories needs edge_attr, got None"
            )
        if (
            edge_weight is None
            and encoder is None
            and self._cached_edge_index is None
            and not self.cached
            and not traced
        ):
            y = self._at_once(x, edge_index)
            if y is not None:
                return y
        x, x_target, same = pair("EGConv", x)
        for name in () if traced else ("bases_lin", "comb_lin"):
            if not callable(getattr(self, name)):
                raise TypeError(f"EGConv: {name} must be a module, got {type(getattr(self, name)).__name__}")
        width = width_of(self.bases_lin)
        self.matrix(x, width)
        self.matrix(x_target, width, "x_target")
        if self._cached_edge_index is not None:
            edge_index, edge_weight = self._cached_edge_index, None
        edges = self.as_edges(edge_index, x_target.size(0), x.size(0), same, edge_weight)
        if edge_weight is not None and edges.differentiable_weight() is not None:
            raise ValueError("EGConv: edge weights are constants, without gradient; detach() them")
        if not same and self.self_loops != "none":
            raise ValueError(
                "EGConv: self-loops need targets that are the sources; (x_source, x_target) takes add_self_loops=False"
            )
        if self.cached and self._cached_edge_index is None and x.device.type == "cpu" and not traced:
            self._cached_edge_index = self._cached_adj_t = edges.graph()
        features = None if encoder is None else encoder.features(edge_attr, edges)
        if not traced and is_fused(x) and are_plain(self.bases_lin, self.comb_lin) and self.bases_lin.bias is None:
            if encoder is None or features.are_constants and encoder.is_plain() and is_eager(x):
                return self._fused(x, None if same else x_target, edges, encoder, features)
        bases, weights = self.bases_lin(x), self.comb_lin(x_target)
        check_combine(
            "EGConv",
            bases,
            weights,
            edges,
            self.aggregators,
            self.num_heads,
            self.num_bases,
            self.out_channels // self.num_heads,
        )
        weights = _composed.activated(weights, self.activation, self.num_heads)
        if encoder is None:
            y = self._combined(bases, weights, edges)
        else:
            features.check_values()
            loops, names = self.self_loops, self.aggregators
            e = encoder(features)
            y = _edge_conv.composed(
                edges, bases, e, encoder.self_edge, self.message, weights, names, loops, self.num_heads
            )
        return y if self.bias is None else y + self.bias

    def _at_once(self, x, edge_index):
        """The common case by the shortest way; None where it is another one, or where something does not fit."""
        if not (isinstance(x, Tensor) and is_eager(x)) or x.layout is not torch.strided or x.dim() != 2 or x.is_neg():
            return None
        modules, parameters = self._modules, self._parameters
        bases_lin, comb_lin = modules["bases_lin"], modules["comb_lin"]
        if (
            bases_lin is None
            or comb_lin is None
            or not are_plain(bases_lin, comb_lin)
            or "bias" not in parameters
            or is_in_forward_mode()
        ):
            return None
        of_bases, of_weights = bases_lin._parameters, comb_lin._parameters
        dtype, channels = x.dtype, x.shape[1]
        found = self._layers.get(dtype)
        if found is None or found[0].in_channels != channels:
            if dtype is not torch.float32 and dtype is not torch.float64 or channels == 0:
                return None
            o = layer(dtype, *self._options(channels))
            shapes = ((o.bases_width, channels), (o.weights_width, channels), (o.weights_width,), (o.y_width,))
            found = self._layers[dtype] = (o, shapes)
        o, shapes = found
        bases_weight, comb_weight = of_bases["weight"], of_weights["weight"]
        comb_bias, bias = of_weights["bias"], parameters["bias"]
        if (
            not _fits(x, dtype, x.shape)
            or not _fits(bases_weight, dtype, shapes[0])
            or not _fits(comb_weight, dtype, shapes[1])
            or comb_bias is None
            or not _fits(comb_bias, dtype, shapes[2])
            or bias is not None
            and not _fits(bias, dtype, shapes[3])
            or of_bases["bias"] is not None
            or self.flow != FLOWS[0]
        ):
            return None
        graph = square_graph("EGConv", edge_index, x.shape[0])
        if torch.is_grad_enabled() and (
            x.requires_grad
            or bases_weight.requires_grad
            or comb_weight.requires_grad
            or bias is not None
            and bias.requires_grad
            or comb_bias.requires_grad
        ):
            return record_conv(graph, o, x, bases_weight, comb_weight, comb_bias, bias)
        return conv_forward(graph, o, x, None, bases_weight, comb_weight, comb_bias, bias, False)[0]

    def _fused(self, x, x_target, edges, encoder, features):
        """Both products and the aggregation as one operator."""
        of_weights = self.comb_lin._parameters
        inputs = (
            x,
            x_target,
            self.bases_lin._parameters["weight"],
            of_weights["weight"],
            of_weights["bias"],
            self.bias,
        )
        if encoder is not None:
            inputs += encoder.tensors()
        halves = {t.dtype for t in inputs[1:] if t is not None and t.dtype is not wide(t[:0]).dtype}
        if halves - {x.dtype}:
            raise TypeError(
                f"EGConv: x and the parameters must have the same dtype, got {x.dtype} and {halves.pop()}; convert one of them with .to()"
            )
        inputs = tuple(map(wide, inputs))
        names = ("x_target", "bases_lin.weight", "comb_lin.weight", "comb_lin.bias", "bias")
        names += ("edges.table", "edges.lin.weight", "edges.lin.bias", "edges.self_edge")
        same_dtype("EGConv", inputs[0], **dict(zip(names, inputs[1:])))
        width, weights = self.out_channels // self.num_heads, self.num_heads * len(self.aggregators) * self.num_bases
        bases = self.num_bases * width
        shapes = ((bases, x.size(1)), (weights, x.size(1)), (weights,), (self.out_channels,))
        if encoder is not None:
            shapes += ((sum(encoder.categories), bases), (bases, encoder.numbers), (bases,), (bases,))
        for name, t, shape in zip(names[1:], inputs[2:], shapes):
            if t is not None and tuple(t.shape) != shape:
                raise ValueError(f"EGConv: {name} must be {list(shape)}, got {list(t.shape)}")
        chosen = self._options(x.size(1))
        if encoder is None:
            return apply("conv", edges, chosen, *inputs).to(x.dtype)
        return _edge_conv.fused(edges, features, self.message, chosen, *inputs).to(x.dtype)

    def _options(self, in_channels):
        width = self.out_channels // self.num_heads
        return options(
            self.aggregators, self.self_loops, self.activation, in_channels, self.num_heads, self.num_bases, width
        )

    def _combined(self, bases, weights, edges):
        if not is_fused(bases):
            return _composed.combine(
                edges, bases, weights, self.aggregators, self.self_loops, self.num_heads, self.num_bases
            )
        same_dtype("EGConv", bases, weights=weights)
        y = apply("combine", edges, self._options(1), wide(bases), wide(weights))
        return y.to(bases.dtype)

    def __repr__(self):
        edges = getattr(self, "edges", None)
        of_edges = "" if edges is None else f", edge_categories={list(edges.categories)}, edge_dim={edges.numbers}"
        return f"EGConv({self.in_channels}, {self.out_channels}, aggregators={self.aggregators}{of_edges})"


def _fits(t, dtype, shape):
    return t.dtype is dtype and t.shape == shape and t.is_cpu and t.is_contiguous()


def _one_of(what, value, known):
    if value not in known:
        raise ValueError(f'EGConv: unknown {what} "{value}"; known: {", ".join(known)}')
    return value


def _categories(given):
    """edge_categories as a tuple."""
    if given is None:
        return ()
    counts = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if not counts:
        raise ValueError("EGConv: edge_categories must be a number or a list of them, got an empty list")
    return tuple(whole("EGConv", "edge_categories", count) for count in counts)
