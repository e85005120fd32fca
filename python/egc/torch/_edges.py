"""What a layer is given as its graph, and the prepared graph that the kernels take.

Graphs are prepared once for equal edges: the key is a checksum of the edges, so that a write to a tensor is
seen however it was made (in place, through .data, through numpy, to the parts of a sparse matrix).
"""

import threading
import weakref

import torch
from torch import Tensor

from .._library import DataError, lib
from ..graph import SAME_NODES, Graph
from ._modes import is_eager, is_traced

FLOWS = ("source_to_target", "target_to_source")
_SPARSE = (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc)


class Edges:
    """The edges of one call: ``adj`` as the user gave it, between ``num_sources`` and ``num_targets`` nodes.

    ``same_nodes``: the targets are the sources, as self-loops need it. ``weight``: [E] or None.
    """

    def __init__(self, owner, adj, num_targets, num_sources, same_nodes, weight=None, flow=FLOWS[0]):
        self.owner, self.num_targets, self.num_sources, self.same_nodes = owner, num_targets, num_sources, same_nodes
        self.weight, self._pair = weight, None
        self.swap = flow == FLOWS[1]
        if type(adj) is not Tensor:
            adj = self._plain(adj)
        self.is_prepared = isinstance(adj, Graph)
        if self.is_prepared:
            self._check_graph(adj)
        elif adj.layout is torch.strided:
            if adj.dtype is not torch.int64 or adj.dim() != 2 or adj.size(0) != 2:
                kind = TypeError if adj.dtype is not torch.int64 else ValueError
                raise kind(f"{owner}: edge_index must be int64 [2, E], got {_spell(adj)}")
            if weight is not None and (weight.dim() != 1 or weight.size(0) != adj.size(1)):
                raise ValueError(
                    f"{owner}: {adj.size(1)} edges need edge_weight [{adj.size(1)}], got {list(weight.shape)}"
                )
        else:
            self._check_sparse(adj)
        self.adj = adj

    def _plain(self, adj):
        if isinstance(adj, Graph):
            return adj
        if isinstance(adj, Tensor):  # torch_geometric.EdgeIndex and other subclasses
            return adj.as_tensor() if hasattr(adj, "as_tensor") else adj
        if hasattr(adj, "csr") and hasattr(adj, "sparse_sizes"):  # torch_sparse.SparseTensor
            offsets, sources, values = adj.csr()
            values = torch.ones(sources.numel()) if values is None or values.dim() != 1 else values
            return torch.sparse_csr_tensor(offsets, sources, values, adj.sparse_sizes())
        raise TypeError(
            f"{self.owner}: the graph must be an edge_index tensor [2, E], a sparse matrix of targets by sources, or an "
            f"egc.Graph, got {type(adj).__name__}"
        )

    def _check_graph(self, graph):
        if self.swap:
            raise ValueError(f'{self.owner}: flow="target_to_source" takes an edge_index, not an egc.Graph')
        if self.weight is not None:
            raise ValueError(f"{self.owner}: an egc.Graph has its edge weights already")
        if (
            graph.num_nodes != self.num_targets
            or graph.num_sources != self.num_sources
            or self.same_nodes
            and not graph.is_square
        ):
            raise ValueError(
                f"{self.owner}: expected a graph of {self.num_targets} nodes"
                + ("" if self.same_nodes else f" and {self.num_sources} sources")
                + f", as x has, got {graph}"
            )

    def _check_sparse(self, adj):
        if self.swap:  # PyTorch Geometric refuses it, too
            raise ValueError(
                f'{self.owner}: flow="target_to_source" takes an edge_index, not a sparse matrix; transpose it'
            )
        if adj.device.type == "meta":
            raise ValueError(f"{self.owner}: the matrix must have values, it is on the device meta")
        if adj.layout not in _SPARSE:
            raise TypeError(f"{self.owner}: expected a COO, CSR or CSC matrix, got {adj.layout}")
        if self.weight is not None:
            raise ValueError(f"{self.owner}: a sparse matrix has its edge weights as values")
        if adj.dim() != 2 or adj.size(0) != self.num_targets or adj.size(1) != self.num_sources:
            raise ValueError(
                f"{self.owner}: expected a matrix [{self.num_targets}, {self.num_sources}] of targets by sources, got {list(adj.shape)}"
            )

    def unweighted(self):
        """The same edges without the values of a sparse matrix, for layers that do not use them."""
        if self.is_prepared or self.adj.layout is torch.strided or self.tensors()[1] is None:
            return self
        return Edges(self.owner, self.tensors()[0], self.num_targets, self.num_sources, self.same_nodes)

    def weights_are_exact(self):
        """Whether float32, in which graphs keep weights, holds them."""
        weight = self.weight
        if weight is None and not self.is_prepared and self.adj.layout is not torch.strided:
            weight = self.adj.values() if self.adj.layout is not torch.sparse_coo else self.adj._values()
        if weight is None or weight.dtype is not torch.float64:
            return True
        return not is_traced() and bool((weight.to(torch.float32).to(torch.float64) == weight).all())

    def differentiable_weight(self):
        """The weights, where they need a gradient; else None."""
        weight = self.weight
        if weight is None and not self.is_prepared and self.adj.layout is not torch.strided and self.adj.requires_grad:
            weight = self.tensors()[1]
        return weight if weight is not None and weight.requires_grad and torch.is_grad_enabled() else None

    def tensors(self):
        """edge_index [2, E], sources first, and weights [E] or None: for what is composed of torch calls."""
        if self._pair is None:
            self._pair = self._as_tensors()
        return self._pair

    def _as_tensors(self):
        adj = self.adj
        if self.is_prepared:
            weight = adj.edge_weight
            return torch.from_numpy(adj.edge_index), None if weight is None else torch.from_numpy(weight)
        if adj.layout is torch.strided:
            self._check_ids(adj)
            return (adj.flip(0) if self.swap else adj), self.weight
        if adj.layout is torch.sparse_coo:
            adj = adj.coalesce()
            return adj.indices().flip(0), _unless_ones(adj.values())
        if adj.layout is torch.sparse_csr:
            offsets, sources = adj.crow_indices(), adj.col_indices()
            targets = torch.repeat_interleave(torch.arange(adj.size(0), device=adj.device), offsets.diff())
        else:
            offsets, targets = adj.ccol_indices(), adj.row_indices()
            sources = torch.repeat_interleave(torch.arange(adj.size(1), device=adj.device), offsets.diff())
        return torch.stack([sources, targets]).to(torch.int64), _unless_ones(adj.values())

    def _check_ids(self, index):
        """Indexing would take negative ids from the end."""
        if index.device.type == "cpu" and index.numel() and is_eager(index):
            sizes = (self.num_sources, self.num_targets)
            for row, size, what in zip(index, reversed(sizes) if self.swap else sizes, ("source", "target")):
                least, most = map(int, row.aminmax())
                if least < 0 or most >= size:
                    raise DataError(
                        f"{self.owner}: {what} ids of edge_index must be in [0, {size}), got {least if least < 0 else most}"
                    )

    @property
    def count(self):
        """Number of edges."""
        is_list = not self.is_prepared and self.adj.layout is torch.strided
        return self.adj.size(1) if is_list else self.tensors()[0].size(1)

    def graph(self, features=None):
        """The prepared graph. features: of its edges, _edge_features.EdgeFeatures, in the order of tensors()."""
        adj = self.adj
        if type(adj) is Graph:
            return adj
        on_cpu(self.owner, "edge_index", adj)
        if adj.layout is torch.strided:
            adj = adj if adj.is_contiguous() else adj.contiguous()
            key = (lib.egc_checksum(adj.data_ptr(), adj.numel() * 8), adj.shape, self.num_targets)
            if self.weight is not None:
                on_cpu(self.owner, "edge_weight", self.weight)
                key += (checksum(self.weight), self.weight.dtype)
            if self.swap or not self.same_nodes:
                key += (self.swap, self.num_sources)
        else:
            parts = _parts(adj)
            key = (adj.layout, *map(checksum, parts), *(p.dtype for p in parts), adj.shape, self.same_nodes)
        if features is not None:
            key += features.key()
        graph = _prepared.get(key)
        return self._prepare(key, features) if graph is None else graph

    def _prepare(self, key, features):
        index, weight = self.tensors()
        graph = graph_from_tensors(
            self.owner, index, weight, self.num_targets, self.num_sources, self.same_nodes, features
        )
        keep(key, graph, self.adj)
        return graph


def square_graph(owner, adj, nodes):
    """The prepared graph of an edge_index or egc.Graph: what Edges would give, in a microsecond."""
    if type(adj) is Graph:
        if adj.num_nodes == nodes and adj.is_square:
            return adj
    elif (
        type(adj) is Tensor
        and adj.dtype is torch.int64
        and adj.layout is torch.strided
        and adj.is_cpu
        and adj.is_contiguous()
    ):
        graph = _prepared.get((lib.egc_checksum(adj.data_ptr(), adj.numel() * 8), adj.shape, nodes))
        if graph is not None:
            return graph
    return Edges(owner, adj, nodes, nodes, True).graph()


def graph_from_tensors(owner, index, weight, num_targets, num_sources, same_nodes, features=None):
    """A graph of edge_index [2, E], sources first."""
    index = index.contiguous()
    if weight is not None:
        if weight.requires_grad and torch.is_grad_enabled():
            raise ValueError(f"{owner}: edge weights are constants, without gradient; detach() them")
        weight = weight.detach().to(torch.float32).contiguous()
    first = index.data_ptr()
    edges = index.size(1)
    return Graph._from_pointers(
        num_targets,
        SAME_NODES if same_nodes else num_sources,
        edges,
        first,
        first + edges * 8,
        None if weight is None else weight.data_ptr(),
        None if features is None else features.struct(),
    )


def on_cpu(owner, what, t):
    if t.device.type != "cpu":
        raise ValueError(f"{owner}: {what} must be on the CPU, as x is, got {t.device}")


_MOST = 16  # prepared graphs: a few batches, each in a few forms
_LARGE = 1 << 20  # edges; the graph of more is dropped with its tensor
_prepared = {}  # key: graph, or a tuple of graphs
_owners = {}  # key: reference to the tensor of a large graph
_lock = threading.RLock()


def prepared(key):
    return _prepared.get(key)


def keep(key, graph, tensor):
    with _lock:
        while len(_prepared) >= _MOST:
            oldest = next(iter(_prepared))
            _prepared.pop(oldest, None)
            _owners.pop(oldest, None)
        _prepared[key] = graph
        if tensor.numel() > 2 * _LARGE:
            _owners[key] = weakref.ref(tensor, lambda _: (_prepared.pop(key, None), _owners.pop(key, None)))


def checksum(t):
    """Of a tensor's values."""
    on_cpu("egc", "every tensor of a graph", t)
    t = t.detach().contiguous()
    return lib.egc_checksum(t.data_ptr(), t.numel() * t.element_size())


def _parts(adj):
    if adj.layout is torch.sparse_csr:
        return adj.crow_indices(), adj.col_indices(), adj.values()
    if adj.layout is torch.sparse_csc:
        return adj.ccol_indices(), adj.row_indices(), adj.values()
    return adj._indices(), adj._values()


def _unless_ones(values):
    """Weights of 1 are no weights; a graph has one for each edge."""
    if values.dim() != 1 or values.is_complex():
        return None
    values = values if values.is_floating_point() else values.to(torch.float32)
    return None if not values.requires_grad and bool((values == 1).all()) else values


def _spell(t):
    return f"{str(t.dtype).replace('torch.', '')} {list(t.shape)}"


def check_weight(owner, weight, what="edge_weight"):
    """Refuses what is no tensor of numbers."""
    if weight is None:
        return None
    if not isinstance(weight, Tensor):
        raise TypeError(f"{owner}: {what} must be a tensor, got {type(weight).__name__}")
    if (
        weight.is_quantized
        or weight.layout is not torch.strided
        or weight.dtype in (torch.bool, torch.complex64, torch.complex128)
    ):
        raise TypeError(f"{owner}: {what} must be of numbers, got {_spell(weight)}")
    return weight if weight.dtype in (torch.float32, torch.float64) else weight.to(torch.float32)
