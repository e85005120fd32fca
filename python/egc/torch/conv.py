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

    def edges(self, adj, x_target_rows, x_source_rows, same_nodes, weight=None):
        return Edges(self.name, adj, x_target_rows, x_source_rows, same_nodes, check_weight(self.name, weight), self.flow)

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

    def matrix(self, x, in_channels=-1, what="x"):
        """Refuses what is no matrix of floats of this width."""
        if not isinstance(x, Tensor):
            raise TypeError(f"{self.name}: {what} must be a tensor, got {type(x).__name__}")
        if not x.is_floating_point():
            raise TypeError(f"{self.name}: {what} must be of floats, got {x.dtype}")
        if x.dim() != 2 or in_channels > 0 and x.size(1) != in_channels:
            raise ValueError(f"{self.name}: {what} must be [N, {in_channels if in_channels > 0 else 'F'}], got {list(x.shape)}")
        return x

    def aggregate(self, edges, x, names, self_loops="none"):
        """Aggregators of x: [..., S, F] to [..., T, A * F]."""
        if x.dim() > 2:  # columns are independent: one graph for all of them
            columns = x.movedim(-2, 0)
            out = self.aggregate(edges, columns.reshape(len(columns), -1), names, self_loops)
            if len(names) > 1:
                raise ValueError(f"{self.name}: x must be a matrix, got {list(x.shape)}")
            return out.view(-1, *columns.shape[1:]).movedim(0, -2)
        is_composed = (
            not is_fused(x) or x.size(1) == 0 or edges.differentiable_weight() is not None
            or not all(n in AGGREGATORS for n in names) or x.dtype is torch.float64 and not edges.weights_are_exact()
        )
        if is_composed:
            return _composed.aggregate(*edges.tensors(), x, edges.num_targets, names, self_loops)
        return apply("aggregate", edges, options(names, self_loops, in_channels=x.size(1)), wide(x)).to(x.dtype)

    def __getstate__(self):
        state = self.__dict__.copy()
        for key in ("_cached_edge_index", "_cached_adj_t"):
            if key in state:
                state[key] = None  # made again by the next call
        return state


def pair(x):
    """x as (x_source, x_target), and whether they are the same nodes."""
    if isinstance(x, (tuple, list)):
        if len(x) != 2:
            raise ValueError(f"x must be a tensor or (x_source, x_target), got {len(x)} tensors")
        return x[0], x[1], False
    return x, x, True


def target_rows(owner, adj, x_target, size, same, x_source):
    """Number of targets: of x_target, of ``size``, or of a sparse matrix."""
    if same:
        rows = x_source.size(-2)
    elif x_target is not None:
        rows = x_target.size(-2)
    elif size is not None:
        return size[1]
    elif hasattr(adj, "num_sources"):
        return adj.num_nodes
    elif isinstance(adj, Tensor) and adj.layout is not torch.strided:
        return adj.size(0)
    elif hasattr(adj, "sparse_sizes"):
        return adj.sparse_sizes()[0]
    else:
        raise ValueError(f"{owner}: without features of the targets their number is needed: size=(num_sources, num_targets)")
    if size is not None and (size[1] != rows or size[0] != x_source.size(-2)):
        raise ValueError(f"{owner}: size {tuple(size)} does not fit x with {x_source.size(-2)} sources and {rows} targets")
    return rows
