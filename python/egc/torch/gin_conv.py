"""GINConv, as PyTorch Geometric's."""

import torch
from torch.nn import Parameter

from .conv import GraphConv, pair, target_rows


class GINConv(GraphConv):
    """The graph isomorphism operator, as ``torch_geometric.nn.GINConv``: nn((1 + eps) x_i + sum over neighbors of x_j)."""

    def __init__(self, nn, eps=0.0, train_eps=False, *, aggr="add", **kwargs):
        super().__init__(**kwargs)
        if not callable(nn):
            raise TypeError(f"GINConv: nn must be a module, got {type(nn).__name__}")
        if isinstance(eps, bool) or not isinstance(eps, (int, float)):
            raise TypeError(f"GINConv: eps must be a number, got {type(eps).__name__}")
        self.nn, self.initial_eps, self.aggr = nn, eps, self.one_of_aggregations(aggr)
        if train_eps:
            self.eps = Parameter(torch.empty(1))
        else:
            self.register_buffer("eps", torch.empty(1))
        self.reset_parameters()

    def reset_parameters(self):
        for module in (
            self.nn.children()
            if not hasattr(self.nn, "reset_parameters") and hasattr(self.nn, "children")
            else [self.nn]
        ):
            if hasattr(module, "reset_parameters"):
                module.reset_parameters()
        self.eps.data.fill_(self.initial_eps)

    def forward(self, x, edge_index, size=None):
        x, x_target, same = pair("GINConv", x)
        self.dense(self.features(x))
        if x_target is not None:
            self.features(x_target, x.size(-1), "x_target", x.dtype)
        rows = target_rows(self.name, edge_index, x_target, size, same, x)
        y = self.aggregate_one(self.as_edges(edge_index, rows, x.size(-2), same), x, self.aggr)
        if x_target is not None:
            y = y + (1 + self.eps) * x_target
        return self.nn(y)

    def __repr__(self):
        return f"GINConv(nn={self.nn})"
