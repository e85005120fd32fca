"""REGCConv: the relational EGC of the paper's appendix."""

from torch.nn import ModuleList

from ._dispatch import apply, is_fused, same_dtype, wide
from . import _composed
from ._kernels import AGGREGATORS, options
from .conv import GraphConv, check_combine, padded, whole
from .linear import Linear, dtype_of, width_of
from .rgcn_conv import relation_edges


class REGCConv(GraphConv):
    """R-EGC: all relations share the bases; the node itself and every relation have combination weights of their own.

        y_i = sum_b w_root[h, b] bases[i, b] + sum over relations r, aggregators a, bases b of w_r[h, a, b] agg_a(bases_b)[i]

    ``forward(x, edge_index, edge_type)``: edge_type int64 [E], from 0 to ``num_relations`` - 1.
    """

    def __init__(
        self, in_channels, out_channels, num_relations, aggregators=("mean", "max"), num_heads=4, num_bases=4, **kwargs
    ):
        super().__init__(**kwargs)
        whole("REGCConv", "in_channels", in_channels, lazy=True)
        for what, value in (
            ("out_channels", out_channels),
            ("num_relations", num_relations),
            ("num_heads", num_heads),
            ("num_bases", num_bases),
        ):
            whole("REGCConv", what, value)
        if out_channels % num_heads != 0:
            raise ValueError(
                f"REGCConv: out_channels ({out_channels}) must be divisible by the number of heads ({num_heads})"
            )
        for name in aggregators:
            if not isinstance(name, str) or name not in AGGREGATORS:
                raise ValueError(f"REGCConv: unknown aggregator {name!r}; known: {', '.join(AGGREGATORS)}")
        if (
            isinstance(aggregators, str)
            or len({AGGREGATORS.get(a, a) for a in aggregators}) != len(aggregators)
            or not aggregators
        ):
            raise ValueError(f"REGCConv: expected a list of different aggregators, got {aggregators!r}")
        self.in_channels, self.out_channels, self.num_relations = in_channels, out_channels, num_relations
        self.aggregators, self.num_heads, self.num_bases = list(aggregators), num_heads, num_bases
        self.bases_lin = Linear(in_channels, num_bases * (out_channels // num_heads), bias=False, glorot=True)
        self.rel_combs = ModuleList(
            Linear(in_channels, num_heads * num_bases * len(self.aggregators)) for _ in range(num_relations)
        )
        self.root_comb = Linear(in_channels, num_heads * num_bases)

    def reset_parameters(self):
        for module in (self.bases_lin, self.root_comb, *self.rel_combs):
            module.reset_parameters()

    def forward(self, x, edge_index, edge_type):
        self.matrix(x, width_of(self.bases_lin), dtype=dtype_of(self.bases_lin))
        nodes = x.size(0)
        bases = self.bases_lin(x)
        root = self.root_comb(x).view(nodes, self.num_heads, self.num_bases)
        y = (root @ bases.view(nodes, self.num_bases, self.out_channels // self.num_heads)).view(
            nodes, self.out_channels
        )
        edges = self.as_edges(edge_index, nodes, nodes, True)
        for comb, part in zip(self.rel_combs, relation_edges(self.name, edges, edge_type, self.num_relations)):
            weights = padded(comb(x), part.num_targets)
            y = y + self._combined(padded(bases, part.num_sources), weights, part)[:nodes]
        return y

    def _combined(self, bases, weights, edges):
        width = self.out_channels // self.num_heads
        check_combine(self.name, bases, weights, edges, self.aggregators, self.num_heads, self.num_bases, width)
        if not is_fused(bases):
            return _composed.combine(edges, bases, weights, self.aggregators, "none", self.num_heads, self.num_bases)
        same_dtype(self.name, bases, weights=weights)
        o = options(self.aggregators, "none", "identity", 1, self.num_heads, self.num_bases, width)
        return apply("combine", edges, o, wide(bases), wide(weights)).to(bases.dtype)

    def __repr__(self):
        return f"REGCConv({self.in_channels}, {self.out_channels}, num_relations={self.num_relations}, aggregators={self.aggregators})"
