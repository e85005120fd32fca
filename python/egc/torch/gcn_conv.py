"""GCNConv, as PyTorch Geometric's."""

import warnings

import torch

from . import _composed
from ._dispatch import is_fused
from ._edges import Edges, checksum, keep, prepared
from ._modes import is_eager, is_traced
from .conv import GraphConv, whole
from .linear import Linear, add_bias, dtype_of, width_of, zeros_


class GCNConv(GraphConv):
    """The graph convolution of Kipf and Welling, as ``torch_geometric.nn.GCNConv``: sum over neighbors of
    e_ij / sqrt(deg(i) deg(j)) * W x_j, with a self-loop for every node.

    Edge weights may need a gradient; then the layer is composed of torch calls.
    """

    def __init__(
        self,
        in_channels,
        out_channels,
        improved=False,
        cached=False,
        add_self_loops=None,
        normalize=True,
        bias=True,
        *,
        aggr="add",
        **kwargs,
    ):
        super().__init__(**kwargs)
        add_self_loops = normalize if add_self_loops is None else add_self_loops
        if add_self_loops and not normalize:
            raise ValueError("GCNConv: normalize=False does not support adding self-loops")
        in_channels, out_channels = whole("GCNConv", "in_channels", in_channels, lazy=True), whole(
            "GCNConv", "out_channels", out_channels
        )
        self.in_channels, self.out_channels = in_channels, out_channels
        self.improved, self.cached, self.aggr = improved, cached, self.one_of_aggregations(aggr)
        self.add_self_loops, self.normalize = add_self_loops, normalize
        self.lin = Linear(in_channels, out_channels, bias=False, glorot=True)
        add_bias(self, out_channels, bias)
        self.reset_parameters()

    def reset_parameters(self):
        self.lin.reset_parameters()
        zeros_(self.bias)
        self._cached_edge_index = None
        self._cached_adj_t = None

    def forward(self, x, edge_index, edge_weight=None):
        if isinstance(x, (tuple, list)):
            raise ValueError(
                "GCNConv: a tuple of features is not supported; SAGEConv takes graphs from one set of nodes to another"
            )
        self.features(x, width_of(self.lin), dtype=dtype_of(self.lin))
        nodes = x.size(-2)
        edges = self._cached_edge_index if self.normalize else None
        if edges is None:
            edges = self.as_edges(edge_index, nodes, nodes, True, edge_weight)
            if self.normalize and self.cached:
                edges = self._cached_edge_index = self._cached_adj_t = self._normalized(edges, x.dtype)
        x = self.lin(x)
        y = self._propagate(edges, x)
        return y if self.bias is None else y + self.bias

    def _propagate(self, edges, x):
        if not self.normalize or edges is self._cached_edge_index:
            return self.aggregate_one(edges, x, self.aggr)
        simple = self.aggr in ("add", "sum") and not self.improved
        unweighted = edges.weight is None and (
            edges.is_prepared
            and not edges.adj.has_weights
            or not edges.is_prepared
            and edges.adj.layout is torch.strided
        )
        if simple and unweighted and is_fused(x):  # the kernel's own normalization
            return self.aggregate(edges, x, ("symnorm",), "all" if self.add_self_loops else "none")
        return self.aggregate_one(self._normalized(edges, x.dtype), x, self.aggr)

    def _normalized(self, edges, dtype):
        """Edges with loops, whose weights are the normalization."""
        nodes = edges.num_targets
        constant = not edges.is_prepared and edges.differentiable_weight() is None and edges.adj.device.type == "cpu"
        key = None
        if constant and edges.adj.layout is torch.strided and is_eager(edges.adj):
            of_weight = None if edges.weight is None else checksum(edges.weight)
            key = (
                "gcn",
                checksum(edges.adj),
                tuple(edges.adj.shape),
                of_weight,
                getattr(edges.weight, "dtype", None),
                nodes,
                dtype,
                edges.swap,
                self.improved,
                self.add_self_loops,
            )
            found = prepared(key)
            if found is not None:
                return found
        index, weight = edges.tensors()
        fill = 2.0 if self.improved else 1.0
        if weight is None:
            weight = torch.ones(index.size(1), dtype=dtype, device=index.device)
            if self.improved and not edges.is_prepared and edges.adj.layout is torch.strided:
                _warn_of_improved()
                fill = 1.0
        if self.add_self_loops:
            keep_size = is_traced() and self.aggr in ("add", "sum")
            index, weight = _composed.with_loops(index, weight, nodes, fill, keep_size)
        out = Edges(self.name, index, nodes, nodes, True, _composed.symmetric_norm(index, weight, nodes, dtype))
        if key is not None and not torch.is_inference_mode_enabled():  # training could not use its tensors
            keep(key, out, edges.adj)
        return out

    def __repr__(self):
        return f"GCNConv({self.in_channels}, {self.out_channels})"


def _warn_of_improved():
    warnings.warn(
        "GCNConv: improved=True changes nothing for an edge_index without edge_weight, as in PyTorch Geometric; "
        "edge_weight=torch.ones(num_edges) gives A + 2I",
        stacklevel=2,
    )
