"""SAGEConv, as PyTorch Geometric's."""

import torch

from .conv import AGGREGATIONS, GraphConv, channels_of, pair, target_rows, whole
from .linear import Linear, dtype_of, width_of


class SAGEConv(GraphConv):
    """The GraphSAGE operator, as ``torch_geometric.nn.SAGEConv``: W_l aggregate(x_j) + W_r x_i.

    Aggregations other than sum, mean, max, min, var, std and mul are PyTorch Geometric's own, which they need.
    """

    def __init__(
        self,
        in_channels,
        out_channels,
        aggr="mean",
        normalize=False,
        root_weight=True,
        project=False,
        bias=True,
        *,
        aggr_kwargs=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.in_channels, self.out_channels = in_channels, out_channels
        self.normalize, self.root_weight, self.project, self.aggr = normalize, root_weight, project, aggr
        first, second = channels_of("SAGEConv", in_channels)
        whole("SAGEConv", "out_channels", out_channels)
        if project:
            if first <= 0:
                raise ValueError("SAGEConv: project=True does not support lazy initialization")
            self.lin = Linear(first, first)
        if aggr is None:
            raise ValueError("SAGEConv: aggr must name an aggregation, got None")
        self.aggr_module, width = None, first
        if not (isinstance(aggr, str) and aggr in AGGREGATIONS):
            self.aggr_module, width = _foreign_aggregation(aggr, aggr_kwargs, first)
        elif aggr_kwargs:
            raise ValueError(f"SAGEConv: aggr={aggr!r} takes no aggr_kwargs")
        self.lin_l = Linear(width, out_channels, bias=bias)
        if root_weight:
            self.lin_r = Linear(second, out_channels, bias=False)
        self.reset_parameters()

    def reset_parameters(self):
        for module in self.children():
            module.reset_parameters()

    def forward(self, x, edge_index, size=None):
        x, x_target, same = pair("SAGEConv", x)
        dtype = dtype_of(self.lin_l)
        self.features(x, width_of(self.lin) if self.project else -1, dtype=dtype)
        self.dense(x)
        if self.aggr_module is None:
            self.features(x, width_of(self.lin_l))
        if x_target is not None and self.root_weight:
            self.features(x_target, width_of(self.lin_r), "x_target", dtype)
        rows = target_rows(self.name, edge_index, x_target, size, same, x)
        edges = self.as_edges(edge_index, rows, x.size(-2), same)
        if self.project:
            x = self.lin(x).relu()
        if self.aggr_module is None:
            y = self.aggregate_one(edges, x, self.aggr)
        else:
            (source, target), _ = edges.tensors()
            y = self.aggr_module(x[source], target, dim_size=rows, dim=-2)
        y = self.lin_l(y)
        if self.root_weight and x_target is not None:
            y = y + self.lin_r(x_target)
        return torch.nn.functional.normalize(y, p=2.0, dim=-1) if self.normalize else y

    def __repr__(self):
        return f"SAGEConv({self.in_channels}, {self.out_channels}, aggr={self.aggr})"


def _foreign_aggregation(aggr, aggr_kwargs, in_channels):
    """PyTorch Geometric's aggregation and its width."""
    try:
        from torch_geometric.nn.aggr import MultiAggregation
        from torch_geometric.nn.resolver import aggregation_resolver
    except ImportError:
        raise ValueError(
            f"SAGEConv: aggr={aggr!r} needs torch_geometric; without it: {', '.join(AGGREGATIONS)}"
        ) from None
    aggr_kwargs = dict(aggr_kwargs or {})
    if aggr == "lstm":
        aggr_kwargs = {"in_channels": in_channels, "out_channels": in_channels, **aggr_kwargs}
    if isinstance(aggr, (list, tuple)):
        module = MultiAggregation(aggr, **aggr_kwargs)
        return module, module.get_out_channels(in_channels)
    return aggregation_resolver(aggr, **aggr_kwargs), in_channels
