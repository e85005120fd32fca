"""GATConv and GATv2Conv, as PyTorch Geometric's."""

import torch
from torch import Tensor
from torch.nn import Parameter
from torch.nn import functional as F

from . import _composed
from ._dispatch import apply, is_fused, wide
from ._kernels import options
from .conv import AGGREGATIONS, GraphConv, channels_of, fraction, pair, target_rows, whole
from .linear import Linear, add_bias, dtype_of, glorot_, width_of, zeros_


class _Attention(GraphConv):
    """What the two layers share. Fused unless attention weights are wanted or dropped, or edges have features."""

    def __init__(
        self,
        in_channels,
        out_channels,
        heads,
        concat,
        negative_slope,
        dropout,
        add_self_loops,
        edge_dim,
        fill_value,
        residual,
        aggr="add",
        **kwargs,
    ):
        super().__init__(**kwargs)
        if aggr not in ("add", "sum"):
            raise ValueError(f"{self.name}: aggr must be add, got {aggr!r}")
        channels_of(self.name, in_channels)
        self.in_channels, self.concat = in_channels, concat
        self.out_channels, self.heads = whole(self.name, "out_channels", out_channels), whole(self.name, "heads", heads)
        if edge_dim is not None:
            whole(self.name, "edge_dim", edge_dim, lazy=True)
        fraction(self.name, "dropout", dropout)
        if isinstance(negative_slope, bool) or not isinstance(negative_slope, (int, float)):
            raise TypeError(f"{self.name}: negative_slope must be a number, got {type(negative_slope).__name__}")
        if isinstance(fill_value, str) and fill_value not in AGGREGATIONS:
            raise ValueError(
                f"{self.name}: fill_value must be a number, a tensor or one of {', '.join(AGGREGATIONS)}, got {fill_value!r}"
            )
        if not isinstance(fill_value, (str, int, float, Tensor)):
            raise TypeError(
                f"{self.name}: fill_value must be a number, a tensor or a name, got {type(fill_value).__name__}"
            )
        self.negative_slope, self.dropout, self.add_self_loops = negative_slope, dropout, add_self_loops
        self.edge_dim, self.fill_value, self.residual = edge_dim, fill_value, residual

    def _finish(self, bias):
        """The parameters that both have, after the others."""
        total = self.out_channels * (self.heads if self.concat else 1)
        if self.residual:
            second = self.in_channels if isinstance(self.in_channels, int) else self.in_channels[1]
            self.res = Linear(second, total, bias=False, glorot=True)
        else:
            self.register_parameter("res", None)
        add_bias(self, total, bias)
        self.reset_parameters()

    def _fuses(self, values, edge_attr, square):
        return (
            is_fused(values)
            and edge_attr is None
            and not (self.dropout > 0 and self.training)
            and (square or not self.add_self_loops)
            and 0 <= self.negative_slope <= 1
        )

    def _attend(self, edges, version, values, *scores):
        """The fused operator. values: [S, H * C]."""
        o = options(
            (),
            "all" if self.add_self_loops else "none",
            heads=self.heads,
            width=self.out_channels,
            version=version,
            slope=float(self.negative_slope),
        )
        return (
            apply("attention", edges, o, wide(values), *map(wide, scores))
            .to(values.dtype)
            .view(-1, self.heads, self.out_channels)
        )

    def _with_loops(self, edges, edge_attr, loops):
        """Edges and their features, with a loop for the first `loops` nodes instead of the graph's own."""
        index = edges.tensors()[0]
        if not self.add_self_loops:
            return index, edge_attr
        keep = index[0] != index[1]
        nodes = torch.arange(loops, device=index.device)
        if edge_attr is not None:
            edge_attr = edge_attr[keep]
            edge_attr = torch.cat([edge_attr, self._fill(edge_attr, index[1][keep], loops, edges.num_targets)])
        return torch.cat([index[:, keep], torch.stack([nodes, nodes])], 1), edge_attr

    def _fill(self, edge_attr, target, loops, rows):
        """Features of the loops."""
        fill = self.fill_value
        if isinstance(fill, str):
            return _composed.reduce(edge_attr, target, rows, fill)[:loops]
        fill = torch.as_tensor(fill, dtype=edge_attr.dtype, device=edge_attr.device)
        return fill.expand(loops, *edge_attr.shape[1:]) if fill.dim() <= 1 else fill.expand(loops, *fill.shape[1:])

    def _edge_term(self, edge_attr):
        """[E, H, C], or None."""
        if edge_attr is None or self.lin_edge is None:
            return None
        return self.lin_edge(edge_attr).view(-1, self.heads, self.out_channels)

    def _weighted_sum(self, alpha, values, index, rows):
        messages = alpha.unsqueeze(-1) * values.view(-1, self.heads, self.out_channels)[index[0]]
        return _composed.reduce(messages, index[1], rows, "add")

    def _output(self, y, res, adj, index, alpha, return_attention_weights):
        y = y.flatten(1) if self.concat else y.mean(1)
        y = y if res is None else y + res
        y = y if self.bias is None else y + self.bias
        if not return_attention_weights:
            return y
        if isinstance(adj, Tensor) and adj.layout is not torch.strided:
            order = torch.argsort(index[1] * (int(index[0].max()) + 1) + index[0]) if index.numel() else index[0]
            offsets = (
                torch.zeros(adj.size(0) + 1, dtype=torch.int64)
                .index_add(0, index[1] + 1, torch.ones_like(index[1]))
                .cumsum(0)
            )
            sparse = torch.sparse_csr_tensor(offsets, index[0][order], alpha[order], (*adj.shape, self.heads))
            return y, (sparse, alpha)
        if hasattr(adj, "set_value"):  # torch_sparse.SparseTensor
            weights = type(adj)(row=index[1], col=index[0], value=alpha, sparse_sizes=adj.sparse_sizes())
            return y, weights
        return y, (index, alpha)

    def __repr__(self):
        return f"{self.name}({self.in_channels}, {self.out_channels}, heads={self.heads})"


class GATConv(_Attention):
    """Graph attention, as ``torch_geometric.nn.GATConv``, in O(V) memory where it is fused."""

    def __init__(
        self,
        in_channels,
        out_channels,
        heads=1,
        concat=True,
        negative_slope=0.2,
        dropout=0.0,
        add_self_loops=True,
        edge_dim=None,
        fill_value="mean",
        bias=True,
        residual=False,
        **kwargs,
    ):
        super().__init__(
            in_channels,
            out_channels,
            heads,
            concat,
            negative_slope,
            dropout,
            add_self_loops,
            edge_dim,
            fill_value,
            residual,
            **kwargs,
        )
        width = heads * out_channels
        self.lin = self.lin_src = self.lin_dst = None
        if isinstance(in_channels, int):
            self.lin = Linear(in_channels, width, bias=False, glorot=True)
        else:
            self.lin_src = Linear(in_channels[0], width, bias=False, glorot=True)
            self.lin_dst = Linear(in_channels[1], width, bias=False, glorot=True)
        self.att_src = Parameter(torch.empty(1, heads, out_channels))
        self.att_dst = Parameter(torch.empty(1, heads, out_channels))
        if edge_dim is not None:
            self.lin_edge = Linear(edge_dim, width, bias=False, glorot=True)
            self.att_edge = Parameter(torch.empty(1, heads, out_channels))
        else:
            self.lin_edge = None
            self.register_parameter("att_edge", None)
        self._finish(bias)

    def reset_parameters(self):
        for module in (self.lin, self.lin_src, self.lin_dst, self.lin_edge, self.res):
            if module is not None:
                module.reset_parameters()
        for attention in (self.att_src, self.att_dst, self.att_edge):
            glorot_(attention)
        zeros_(self.bias)

    def forward(self, x, edge_index, edge_attr=None, size=None, return_attention_weights=None):
        x, x_target, same = pair("GATConv", x)
        source_lin, target_lin = (self.lin, self.lin) if self.lin is not None else (self.lin_src, self.lin_dst)
        self.matrix(x, width_of(source_lin), dtype=self.att_src.dtype)
        if x_target is not None:
            self.matrix(x_target, width_of(target_lin), "x_target", self.att_src.dtype)
        rows = target_rows(self.name, edge_index, x_target, size, same, x)
        edges = self.as_edges(edge_index, rows, x.size(0), same)
        res = None if self.res is None or x_target is None else self.res(x_target)
        values = source_lin(x).view(-1, self.heads, self.out_channels)
        if same and self.lin is not None:
            targets = values
        else:
            targets = None if x_target is None else target_lin(x_target).view(-1, self.heads, self.out_channels)
        source_score = (values * self.att_src).sum(-1)
        target_score = None if targets is None else (targets * self.att_dst).sum(-1)
        edge_attr = (
            None
            if self.lin_edge is None
            else self.edge_features(edge_attr, edges, width_of(self.lin_edge), dtype_of(self.lin_edge))
        )
        y = None
        if targets is not None and self._fuses(values, edge_attr, same):
            y = self._attend(edges.unweighted(), 1, values.flatten(1), source_score, target_score, None)
            if not return_attention_weights:
                return self._output(y, res, edge_index, None, None, None)
        loops = min(x.size(0), rows) if size is None else min(size)
        index, edge_attr = self._with_loops(edges, edge_attr, loops)
        scores = source_score[index[0]]
        if target_score is not None:
            scores = scores + target_score[index[1]]
        term = self._edge_term(edge_attr)
        if term is not None:
            scores = scores + (term * self.att_edge).sum(-1)
        alpha = _composed.softmax(F.leaky_relu(scores, self.negative_slope), index[1], rows)
        alpha = F.dropout(alpha, self.dropout, self.training)
        y = self._weighted_sum(alpha, values, index, rows) if y is None else y
        return self._output(y, res, edge_index, index, alpha, return_attention_weights)


class GATv2Conv(_Attention):
    """Graph attention with dynamic scores, as ``torch_geometric.nn.GATv2Conv``, in O(V) memory where it is fused."""

    def __init__(
        self,
        in_channels,
        out_channels,
        heads=1,
        concat=True,
        negative_slope=0.2,
        dropout=0.0,
        add_self_loops=True,
        edge_dim=None,
        fill_value="mean",
        bias=True,
        share_weights=False,
        residual=False,
        **kwargs,
    ):
        super().__init__(
            in_channels,
            out_channels,
            heads,
            concat,
            negative_slope,
            dropout,
            add_self_loops,
            edge_dim,
            fill_value,
            residual,
            **kwargs,
        )
        self.share_weights = share_weights
        first, second = (in_channels, in_channels) if isinstance(in_channels, int) else in_channels
        self.lin_l = Linear(first, heads * out_channels, bias=bias, glorot=True)
        self.lin_r = self.lin_l if share_weights else Linear(second, heads * out_channels, bias=bias, glorot=True)
        self.att = Parameter(torch.empty(1, heads, out_channels))
        self.lin_edge = None if edge_dim is None else Linear(edge_dim, heads * out_channels, bias=False, glorot=True)
        self._finish(bias)

    def reset_parameters(self):
        for module in (self.lin_l, self.lin_r, self.lin_edge, self.res):
            if module is not None:
                module.reset_parameters()
        glorot_(self.att)
        zeros_(self.bias)

    def forward(self, x, edge_index, edge_attr=None, return_attention_weights=None):
        x, x_target, same = pair("GATv2Conv", x)
        if x_target is None and not same:
            raise ValueError("GATv2Conv: features of the targets are needed, got None")
        self.matrix(x, width_of(self.lin_l), dtype=self.att.dtype)
        self.matrix(x_target, width_of(self.lin_r), "x_target", self.att.dtype)
        rows = x_target.size(0)
        edges = self.as_edges(edge_index, rows, x.size(0), same)
        res = None if self.res is None else self.res(x_target)
        values = self.lin_l(x)
        query = values if same and self.share_weights else self.lin_r(x_target)
        if edge_attr is not None and self.lin_edge is None:
            raise ValueError("GATv2Conv: edge_attr needs edge_dim, the number of its columns")
        edge_attr = self.edge_features(edge_attr, edges, width_of(self.lin_edge), dtype_of(self.lin_edge))
        y = None
        if self._fuses(values, edge_attr, same):
            y = self._attend(edges.unweighted(), 2, values, None, query, self.att.view(self.heads, self.out_channels))
            if not return_attention_weights:
                return self._output(y, res, edge_index, None, None, None)
        index, edge_attr = self._with_loops(edges, edge_attr, min(x.size(0), rows))
        shape = (-1, self.heads, self.out_channels)
        sums = values.view(shape)[index[0]] + query.view(shape)[index[1]]
        term = self._edge_term(edge_attr)
        sums = sums if term is None else sums + term
        scores = (F.leaky_relu(sums, self.negative_slope) * self.att).sum(-1)
        alpha = F.dropout(_composed.softmax(scores, index[1], rows), self.dropout, self.training)
        y = self._weighted_sum(alpha, values, index, rows) if y is None else y
        return self._output(y, res, edge_index, index, alpha, return_attention_weights)
