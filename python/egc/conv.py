"""EGConv: the layer of "Do We Need Anisotropic Graph Neural Networks?" (ICLR 2022)."""

from typing import List, Optional

import torch
from torch import Tensor
from torch.nn import Linear, Module, Parameter

from .graph import Graph, graph_of

AGGREGATORS = ("add", "mean", "symnorm", "max", "min", "var", "std")
SELF_LOOPS = ("all", "symnorm", "none")
ACTIVATIONS = ("identity", "softmax", "sigmoid", "hardtanh")
_TYPES = (torch.float32, torch.float64)


def _one_of(what: str, value: str, known) -> str:
    if value not in known:
        raise ValueError(f'EGConv: unknown {what} "{value}"; known: {", ".join(known)}')
    return value


class EGConv(Module):
    """The Efficient Graph Convolution, with the signature, the semantics and the names of
    parameters of ``torch_geometric.nn.EGConv``, in one fused pass forward and one backward.

    y[i, h] = sum over aggregators a and bases b of w[i, h, a, b] * agg_a(bases_b)[i]

    Args:
        in_channels, out_channels: widths; ``out_channels`` must be divisible by ``num_heads``.
        aggregators: of add (or sum), mean, symnorm, max, min, var, std.
        cached: the graph of the first call serves all later ones.
        add_self_loops: every node is in its own neighbourhood.
        bias: a learned summand.
        self_loops: instead of ``add_self_loops``: "all", "none", or "symnorm": for that aggregator
            only, as the paper's experiments did.
        activation: of the weights w: "identity", "softmax", "sigmoid" or "hardtanh".

    ``forward`` takes ``edge_index`` (int64 [2, E], sources above targets), a sparse CSR tensor
    [N, N] of sources by target, or an ``egc.Graph``, which is prepared already.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        aggregators: Optional[List[str]] = None,
        num_heads: int = 8,
        num_bases: int = 4,
        cached: bool = False,
        add_self_loops: bool = True,
        bias: bool = True,
        *,
        self_loops: Optional[str] = None,
        activation: str = "identity",
    ):
        super().__init__()
        if in_channels < 1 or out_channels < 1 or num_heads < 1 or num_bases < 1:
            raise ValueError("EGConv: channels, heads and bases must be at least 1")
        if out_channels % num_heads != 0:
            raise ValueError(
                "EGConv: out_channels must be divisible by num_heads, "
                f"got {out_channels} and {num_heads}"
            )
        names = ["symnorm"] if aggregators is None else list(aggregators)
        names = ["add" if name == "sum" else name for name in names]
        for name in names:
            _one_of("aggregator", name, AGGREGATORS)
        if not names or len(set(names)) != len(names):
            raise ValueError(f"EGConv: expected different aggregators, got {names}")
        if self_loops is None:
            self_loops = "all" if add_self_loops else "none"

        self.in_channels = in_channels
        self.out_channels = out_channels
        self.num_heads = num_heads
        self.num_bases = num_bases
        self.aggregators: List[str] = names
        self.cached = cached
        self.self_loops = _one_of("self_loops", self_loops, SELF_LOOPS)
        self.add_self_loops = self_loops != "none"
        self.activation = _one_of("activation", activation, ACTIVATIONS)

        self.bases_lin = Linear(in_channels, num_bases * (out_channels // num_heads), bias=False)
        self.comb_lin = Linear(in_channels, num_heads * num_bases * len(names))
        if bias:
            self.bias = Parameter(torch.empty(out_channels))
        else:
            self.register_parameter("bias", None)
        self._cached_graph = None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        torch.nn.init.xavier_uniform_(self.bases_lin.weight)
        self.comb_lin.reset_parameters()
        if self.bias is not None:
            torch.nn.init.zeros_(self.bias)
        self._cached_graph = None

    def forward(
        self, x: Tensor, edge_index: Tensor, edge_weight: Optional[Tensor] = None
    ) -> Tensor:
        if torch.jit.is_scripting():
            return self._convolve(torch.classes.egc.Graph(edge_index, x.size(0), edge_weight), x)
        else:
            return self._convolve_eagerly(x, edge_index, edge_weight)

    def _convolve(self, graph: Graph, x: Tensor) -> Tensor:
        return torch.ops.egc.egc_conv(
            graph,
            x,
            self.bases_lin.weight,
            self.comb_lin.weight,
            self.comb_lin.bias,
            self.bias,
            self.aggregators,
            self.num_heads,
            self.num_bases,
            self.self_loops,
            self.activation,
        )

    @torch.jit.unused
    def _convolve_eagerly(self, x: Tensor, edge_index, edge_weight: Optional[Tensor]) -> Tensor:
        graph = self._graph(x, edge_index, edge_weight)
        if type(x) is not Tensor:
            return self._convolve(graph, x)
        # Whether a graph overrides torch functions, which it never does, would be asked at each
        # call, and its answer is an exception of C++ that takes as long as a small graph.
        with torch._C.DisableTorchFunction():
            return self._convolve(graph, x)

    @torch.jit.unused
    def _graph(self, x: Tensor, edge_index, edge_weight: Optional[Tensor]):
        if self._cached_graph is not None:
            return self._cached_graph
        if not isinstance(edge_index, Tensor):
            if edge_weight is not None:
                raise ValueError("EGConv: a graph has its edge weights already")
            graph = edge_index
        else:
            graph = graph_of(edge_index, x.size(0), edge_weight)
        if self.cached:
            self._cached_graph = graph
        return graph

    def _apply(self, fn):
        # half() and the like, before anything is changed.
        kind = fn(torch.empty(0, dtype=torch.float32)).dtype
        if kind not in _TYPES:
            raise TypeError(f"EGConv: parameters are float32 or float64, {kind} is not supported")
        return super()._apply(fn)

    def __getstate__(self):
        state = self.__dict__.copy()
        state["_cached_graph"] = None  # made again by the next call
        return state

    def extra_repr(self) -> str:
        return (
            f"{self.in_channels}, {self.out_channels}, aggregators={self.aggregators}, "
            f"num_heads={self.num_heads}, num_bases={self.num_bases}, "
            f"self_loops={self.self_loops!r}, activation={self.activation!r}"
        )
