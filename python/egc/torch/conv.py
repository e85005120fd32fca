"""What the layers share: their inputs, and aggregation."""

import torch
from torch import Tensor
from torch.nn import Module

from . import _composed
from ._dispatch import apply, is_fused, wide
from ._edges import FLOWS, Edges, check_weight
from ._kernels import AGGREGATORS, options

AGGREGATIONS = ("add", "sum", "mean", "max", "min", "mul", "var", "std")
_FIXED = {"node_dim": (-2, 0), "decomposed_layers": None}  # options of MessagePassing that change no result


class GraphConv(Module):
    """Base of the layers. Keyword arguments are those of PyTorch Geometric's MessagePassing: ``flow``, and
    those that do not change results. ``cached``, where a layer has it, keeps the first call's graph."""

    def __init__(self, *, flow=FLOWS[0], **kwargs):
        super().__init__()
        if flow not in FLOWS:
            raise ValueError(f"{self.name}: flow must be one of {', '.join(FLOWS)}, got {flow!r}")
        for key, value in kwargs.items():
            if key not in _FIXED:
                raise TypeError(f"{self.name}: unknown argument {key!r}")
            if _FIXED[key] is not None and value not in _FIXED[key]:
                raise ValueError(f"{self.name}: {key} must be one of {_FIXED[key]}, got {value!r}")
        self.flow = flow

    @property
    def name(self):
        return type(self).__name__

    def as_edges(self, adj, x_target_rows, x_source_rows, same_nodes, weight=None):
        return Edges(
            self.name, adj, x_target_rows, x_source_rows, same_nodes, check_weight(self.name, weight), self.flow
        )

    def one_of_aggregations(self, aggr):
        """Refuses other aggregations than those of aggregate_one()."""
        if aggr not in AGGREGATIONS:
            raise ValueError(f"{self.name}: aggr must be one of {', '.join(AGGREGATIONS)}, got {aggr!r}")
        return aggr

    def aggregate_one(self, edges, x, aggr):
        """One of PyTorch Geometric's aggregations, by name."""
        if aggr == "std":
            return _composed.masked_std(self.aggregate(edges, x, ("var",)))
        return self.aggregate(edges, x, (aggr,))

    def features(self, x, width=-1, what="x", dtype=None):
        """Refuses what is not [..., N, width] of floats, of the layer's dtype if one is given."""
        if not isinstance(x, Tensor):
            raise TypeError(f"{self.name}: {what} must be a tensor, got {type(x).__name__}")
        if not x.is_floating_point() or x.is_quantized:
            raise TypeError(f"{self.name}: {what} must be of floats, got {x.dtype}")
        if x.dim() < 2 or width > 0 and x.size(-1) != width:
            raise ValueError(f"{self.name}: {what} must be [N, {width if width > 0 else 'F'}], got {list(x.shape)}")
        if dtype is not None and x.dtype is not dtype and not torch.is_autocast_enabled() and not _autocasts():
            raise TypeError(
                f"{self.name}: {what} must be {dtype}, as the parameters are, got {x.dtype}; convert one of them with .to()"
            )
        return x

    def dense(self, x):
        """Refuses sparse features, where the aggregation comes before the Linear."""
        if x.layout is not torch.strided:
            raise TypeError(f"{self.name}: x must be dense, got {x.layout}")
        return x

    def matrix(self, x, width=-1, what="x", dtype=None):
        """As features(), of two dimensions."""
        self.features(x, width, what, dtype)
        if x.dim() != 2:
            raise ValueError(f"{self.name}: {what} must be [N, {width if width > 0 else 'F'}], got {list(x.shape)}")
        return x

    def edge_features(self, edge_attr, edges, width, dtype=None):
        """[E, width], or None."""
        if edge_attr is None:
            return None
        if not isinstance(edge_attr, Tensor) or not edge_attr.is_floating_point() or edge_attr.is_quantized:
            raise TypeError(
                f"{self.name}: edge_attr must be a tensor of floats, got {getattr(edge_attr, 'dtype', type(edge_attr).__name__)}"
            )
        if edges.is_prepared:
            raise ValueError(
                f"{self.name}: edge_attr is in the order of an edge_index; an egc.Graph has sorted its edges"
            )
        count = edges.tensors()[0].size(1)
        edge_attr = edge_attr.view(-1, 1) if edge_attr.dim() == 1 else edge_attr
        if dtype is not None and edge_attr.dtype is not dtype and not _autocasts():
            raise TypeError(
                f"{self.name}: edge_attr must be {dtype}, as the parameters are, got {edge_attr.dtype}; convert one of them with .to()"
            )
        if edge_attr.dim() != 2 or edge_attr.size(0) != count or width > 0 and edge_attr.size(1) != width:
            raise ValueError(
                f"{self.name}: {count} edges need edge_attr [{count}, {width if width > 0 else 'D'}], got {list(edge_attr.shape)}"
            )
        return edge_attr

    def aggregate(self, edges, x, names, self_loops="none"):
        """Aggregators of x: [..., S, F] to [..., T, A * F]."""
        if x.dim() > 2:  # columns are independent: one graph for all of them
            columns = x.movedim(-2, 0)
            out = self.aggregate(edges, columns.reshape(len(columns), -1), names, self_loops)
            if len(names) > 1:
                raise ValueError(f"{self.name}: x must be a matrix, got {list(x.shape)}")
            return out.view(-1, *columns.shape[1:]).movedim(0, -2)
        is_composed = (
            not is_fused(x)
            or x.size(1) == 0
            or edges.differentiable_weight() is not None
            or not all(n in AGGREGATORS for n in names)
            or x.dtype is torch.float64
            and not edges.weights_are_exact()
        )
        if is_composed:
            return _composed.aggregate(edges, x, names, self_loops)
        return apply("aggregate", edges, options(names, self_loops, in_channels=x.size(1)), wide(x)).to(x.dtype)

    def __getstate__(self):
        state = self.__dict__.copy()
        for key in ("_cached_edge_index", "_cached_adj_t"):
            if key in state:
                state[key] = None  # made again by the next call
        return state


def _autocasts():
    enabled = getattr(torch, "is_autocast_cpu_enabled", None)
    return enabled is not None and enabled()


def whole(owner, what, value, least=1, lazy=False):
    """A whole number of at least `least`; with `lazy` also -1."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{owner}: {what} must be a whole number, got {type(value).__name__}")
    value = value.__index__()
    if value < least and not (lazy and value == -1) or value > 1 << 24:
        raise ValueError(
            f"{owner}: {what} must be at least {least}{' (or -1)' if lazy else ''} and at most {1 << 24}, got {value}"
        )
    return value


def channels_of(owner, in_channels, lazy=True):
    """in_channels, a number or a pair, as a pair."""
    if isinstance(in_channels, (tuple, list)):
        if len(in_channels) != 2:
            raise ValueError(f"{owner}: in_channels must be a number or a pair, got {len(in_channels)} numbers")
        return tuple(whole(owner, "in_channels", c, lazy=lazy) for c in in_channels)
    return (whole(owner, "in_channels", in_channels, lazy=lazy),) * 2


def fraction(owner, what, value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{owner}: {what} must be a number, got {type(value).__name__}")
    if not 0 <= value <= 1:
        raise ValueError(f"{owner}: {what} must be from 0 to 1, got {value}")
    return value


def pair(owner, x):
    """x as (x_source, x_target), and whether they are the same nodes."""
    if isinstance(x, (tuple, list)):
        if len(x) != 2:
            raise ValueError(f"{owner}: x must be a tensor or (x_source, x_target), got {len(x)} tensors")
        return x[0], x[1], False
    return x, x, True


def padded(t, rows):
    """With further rows of zeros."""
    return t if t.size(0) == rows else torch.nn.functional.pad(t, (0, 0, 0, rows - t.size(0)))


def target_rows(owner, adj, x_target, size, same, x_source):
    """Number of targets: of x_target, of ``size``, or of a sparse matrix."""
    if size is not None and (
        not isinstance(size, (tuple, list)) or len(size) != 2 or not all(isinstance(n, int) for n in size)
    ):
        raise TypeError(f"{owner}: size must be (num_sources, num_targets), got {size!r}")
    if same:
        rows = x_source.size(-2)
    elif x_target is not None:
        rows = x_target.size(-2)
    elif size is not None:
        rows = size[1]
    elif hasattr(adj, "num_sources"):
        rows = adj.num_nodes
    elif isinstance(adj, Tensor) and adj.layout is not torch.strided:
        rows = adj.size(0)
    elif hasattr(adj, "sparse_sizes"):
        rows = adj.sparse_sizes()[0]
    else:
        raise ValueError(
            f"{owner}: without features of the targets their number is needed: size=(num_sources, num_targets)"
        )
    if size is not None and (size[1] != rows or size[0] != x_source.size(-2)):
        raise ValueError(
            f"{owner}: size {tuple(size)} does not fit x with {x_source.size(-2)} sources and {rows} targets"
        )
    return rows


def check_combine(owner, bases, weights, edges, names, heads, num_bases, width):
    """Shapes of what the parts of an EGC layer give."""
    for what, t, shape in (
        ("bases_lin", bases, (edges.num_sources, num_bases * width)),
        ("the combination weights", weights, (edges.num_targets, heads * len(names) * num_bases)),
    ):
        if t.dim() != 2 or tuple(t.shape) != shape:
            raise ValueError(f"{owner}: {what} must give {list(shape)}, got {list(t.shape)}")
