"""RGCNConv, as PyTorch Geometric's."""

import torch
from torch import Tensor
from torch.nn import Parameter

from ._edges import Edges, checksum, graph_from_tensors, keep, prepared
from ._modes import is_eager, is_traced
from .conv import GraphConv, channels_of, padded, pair, whole
from .linear import add_bias, glorot_, zeros_


def relation_edges(owner, edges, edge_type, num_relations):
    """The edges of every relation. edge_type: int64 [E]. Where the code is compiled, sizes must not depend on values:
    edges of other relations go to a further node, whose row the callers add and drop."""
    index = edges.tensors()[0]
    if not isinstance(edge_type, Tensor) or edge_type.dtype is not torch.int64:
        raise TypeError(
            f"{owner}: edge_type must be an int64 tensor [E], got {getattr(edge_type, 'dtype', type(edge_type).__name__)}"
        )
    if edges.is_prepared:
        raise ValueError(f"{owner}: edge_type is in the order of an edge_index; an egc.Graph has sorted its edges")
    if edge_type.shape != (index.size(1),):
        raise ValueError(
            f"{owner}: {index.size(1)} edges need edge_type [{index.size(1)}], got {list(edge_type.shape)}"
        )
    rows, sources, same = edges.num_targets, edges.num_sources, edges.same_nodes

    def parts():
        return [index[:, edge_type == r] for r in range(num_relations)]

    if is_traced():
        targets = [torch.where(edge_type == r, index[1], rows) for r in range(num_relations)]
        further = (rows + 1, sources + 1 if same else sources, same)
        return [Edges(owner, torch.stack([index[0], target]), *further) for target in targets]
    if index.device.type != "cpu" or not is_eager(edge_type):
        return [Edges(owner, part, rows, sources, same) for part in parts()]
    key = ("relations", checksum(index), tuple(index.shape), checksum(edge_type), num_relations, rows, sources, same)
    graphs = prepared(key)
    if graphs is None:
        if edge_type.numel() and not 0 <= int(edge_type.min()) <= int(edge_type.max()) < num_relations:
            raise ValueError(
                f"{owner}: edge_type must be from 0 to {num_relations - 1}, got {int(edge_type.min())} to {int(edge_type.max())}"
            )
        graphs = tuple(graph_from_tensors(owner, part, None, rows, sources, same) for part in parts())
        keep(key, graphs, edges.adj if isinstance(edges.adj, Tensor) else index)
    return [Edges(owner, graph, rows, sources, same) for graph in graphs]


class RGCNConv(GraphConv):
    """The relational graph convolution, as ``torch_geometric.nn.RGCNConv``: for every relation a weight of the
    neighbors' mean, and a root weight of the node itself."""

    def __init__(
        self,
        in_channels,
        out_channels,
        num_relations,
        num_bases=None,
        num_blocks=None,
        aggr="mean",
        root_weight=True,
        is_sorted=False,
        bias=True,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if num_bases is not None and num_blocks is not None:
            raise ValueError("RGCNConv: num_bases and num_blocks exclude each other")
        self.in_channels, self.out_channels, self.num_relations = in_channels, out_channels, num_relations
        self.num_bases, self.num_blocks, self.aggr, self.is_sorted = (
            num_bases,
            num_blocks,
            self.one_of_aggregations(aggr),
            is_sorted,
        )
        first, second = channels_of("RGCNConv", in_channels, lazy=False)
        for what, value in (
            ("out_channels", out_channels),
            ("num_relations", num_relations),
            ("num_bases", num_bases),
            ("num_blocks", num_blocks),
        ):
            if value is not None or what in ("out_channels", "num_relations"):
                whole("RGCNConv", what, value)
        self.in_channels_l = first
        self.register_parameter("comp", None)
        if num_bases is not None:
            self.weight = Parameter(torch.empty(num_bases, first, out_channels))
            self.comp = Parameter(torch.empty(num_relations, num_bases))
        elif num_blocks is not None:
            if first % num_blocks or out_channels % num_blocks:
                raise ValueError(
                    f"RGCNConv: channels {first} and {out_channels} must be divisible by {num_blocks} blocks"
                )
            self.weight = Parameter(
                torch.empty(num_relations, num_blocks, first // num_blocks, out_channels // num_blocks)
            )
        else:
            self.weight = Parameter(torch.empty(num_relations, first, out_channels))
        if root_weight:
            self.root = Parameter(torch.empty(second, out_channels))
        else:
            self.register_parameter("root", None)
        add_bias(self, out_channels, bias)
        self.reset_parameters()

    def reset_parameters(self):
        for parameter in (self.weight, self.comp, self.root):
            glorot_(parameter)
        zeros_(self.bias)

    def forward(self, x, edge_index, edge_type=None):
        """x: [N, F]; or ids of nodes [N], or None for all, whose rows of the weights are embeddings; or a pair."""
        x_source, x_target, same = pair("RGCNConv", x)
        is_pair = not same
        if x_source is None:
            x_source = torch.arange(self.in_channels_l, device=self.weight.device)
        x_target = x_target if is_pair else x_source
        first, second = self.in_channels_l, self.weight.size(1) if self.root is None else self.root.size(0)
        self._check(x_source, first, "x")
        self._check(x_target, second if self.root is not None else -1, "x_target")
        if x_source.is_floating_point() != x_target.is_floating_point():
            raise TypeError(
                f"RGCNConv: x and x_target must both be features or both be ids, got {x_source.dtype} and {x_target.dtype}"
            )
        if (
            edge_type is None and not isinstance(edge_index, Tensor) and hasattr(edge_index, "sparse_sizes")
        ):  # torch_sparse.SparseTensor
            edge_type = edge_index.storage.value()
        if edge_type is None:
            raise ValueError("RGCNConv: edge_type [E] is needed, got None")
        edges = self.as_edges(edge_index, x_target.size(0), x_source.size(0), not is_pair)
        weight = self.weight
        if self.num_bases is not None:
            weight = (self.comp @ weight.view(self.num_bases, -1)).view(
                self.num_relations, self.in_channels_l, self.out_channels
            )
        ids = not x_target.is_floating_point()
        if ids and self.num_blocks is not None:
            raise ValueError("RGCNConv: num_blocks takes features, not ids of nodes")
        y = weight.new_zeros(x_target.size(0), self.out_channels)
        rows = x_target.size(0)
        for r, part in enumerate(relation_edges(self.name, edges, edge_type, self.num_relations)):
            if ids:
                y = y + self.aggregate_one(part, padded(weight[r][x_source], part.num_sources), self.aggr)[:rows]
                continue
            h = self.aggregate_one(part, padded(x_source, part.num_sources), self.aggr)[:rows]
            if self.num_blocks is None:
                y = y + h @ weight[r]
            else:
                h = h.view(-1, weight.size(1), weight.size(2))
                y = y + torch.einsum("abc,bcd->abd", h, weight[r]).reshape(-1, self.out_channels)
        if self.root is not None:
            y = y + (self.root[x_target] if ids else x_target @ self.root)
        return y if self.bias is None else y + self.bias

    def _check(self, x, width, what):
        """Features [N, width], or ids [N] of rows of the weights."""
        if not isinstance(x, Tensor):
            raise TypeError(f"RGCNConv: {what} must be a tensor, got {type(x).__name__}")
        if x.dtype is not torch.int64:
            self.matrix(x, width, what, self.weight.dtype)
            return
        if x.dim() != 1:
            raise TypeError(
                f"RGCNConv: {what} must be floats [N, {width}] or ids of nodes [N], got {x.dtype} {list(x.shape)}"
            )
        if x.numel() and is_eager(x):
            least, most = map(int, x.aminmax())
            if least < 0 or width > 0 and most >= width:
                raise ValueError(f"RGCNConv: {what} must have ids in [0, {width}), got {least if least < 0 else most}")

    def __repr__(self):
        return f"RGCNConv({self.in_channels}, {self.out_channels}, num_relations={self.num_relations})"
