"""Graphs that layers take: edges sorted by target, once."""

import ctypes
import itertools
import weakref

from ._library import DataError, lib, made, whole

SAME_NODES = -1
_ids = itertools.count(1)
_by_id = weakref.WeakValueDictionary()  # for code that can only pass numbers along


class Graph:
    """An immutable graph.

    ``Graph(edge_index, num_nodes)``: ``edge_index`` [2, E] of integers, sources in row 0, targets in row 1
    (numpy, torch, lists); or a scipy.sparse matrix or array whose entry [i, j] is an edge from i to j; or a
    networkx graph. ``edge_weight`` [E] are constants. ``num_sources``: for a graph from one set of nodes to
    another, whose targets are the ``num_nodes``.
    """

    __slots__ = ("_handle", "id", "num_nodes", "num_sources", "is_square", "has_weights", "__weakref__")

    def __init__(self, edge_index, num_nodes=None, edge_weight=None, *, num_sources=None):
        is_foreign = hasattr(edge_index, "tocoo") or hasattr(edge_index, "is_directed") and hasattr(edge_index, "nodes")
        if is_foreign and not isinstance(edge_index, type):
            edge_index, num_nodes, edge_weight = _foreign(edge_index, num_nodes, edge_weight, num_sources)
        edges = _edges(edge_index)
        if num_nodes is None and num_sources is not None:
            raise ValueError("egc.Graph: num_sources needs num_nodes, the number of targets")
        weights = _weights(edge_weight, edges.shape[1])
        num_nodes = _count(num_nodes, "num_nodes", int(edges.max()) + 1 if num_sources is None and edges.size else 0)
        sources = SAME_NODES if num_sources is None else _count(num_sources, "num_sources", 0)
        self._build(
            num_nodes,
            sources,
            edges.shape[1],
            edges[0].ctypes.data,
            edges[1].ctypes.data,
            None if weights is None else weights.ctypes.data,
        )

    def _build(self, num_nodes, num_sources, num_edges, source, target, weight, features=None):
        """From addresses: int64 sources and targets, float32 weights or None. features: a _library.EdgeFeatures."""
        self._handle = None
        edges = (num_nodes, num_sources, num_edges, source, target, weight)
        handle = (
            made(lib.egc_graph_from_edges, *edges)
            if features is None
            else made(lib.egc_graph_from_edges_with_features, *edges, ctypes.byref(features))
        )
        self._own(handle, num_nodes, num_sources, weight is not None)

    def _own(self, handle, num_nodes, num_sources, has_weights):
        self._handle = handle
        self.num_nodes = num_nodes
        self.num_sources = num_nodes if num_sources == SAME_NODES else num_sources
        self.has_weights = has_weights
        self.is_square = num_sources == SAME_NODES  # whether sources and targets are the same nodes
        self.id = next(_ids)
        _by_id[self.id] = self

    @classmethod
    def _from_pointers(cls, *edges):
        """Arguments as of _build()."""
        graph = cls.__new__(cls)
        graph._build(*edges)
        return graph

    @classmethod
    def from_csr(cls, offsets, sources, edge_weight=None, *, num_sources=None):
        """From CSR arrays by target: ``offsets`` [num_nodes + 1], ``sources`` [E]."""
        import numpy as np

        offsets, sources = _integers(offsets, "offsets", 1), _integers(sources, "sources", 1)
        if offsets.size == 0 or offsets[-1] != sources.size:
            raise ValueError(f"egc.Graph: offsets must end at the number of edges, {sources.size}, got {offsets[-1:]}")
        weights = _weights(edge_weight, sources.size)
        graph = cls.__new__(cls)
        graph._handle = None
        count = SAME_NODES if num_sources is None else _count(num_sources, "num_sources", 0)
        graph._own(
            made(
                lib.egc_graph_from_csr,
                offsets.size - 1,
                count,
                offsets.ctypes.data,
                sources.ctypes.data,
                None if weights is None else np.ascontiguousarray(weights).ctypes.data,
            ),
            offsets.size - 1,
            count,
            weights is not None,
        )
        return graph

    @staticmethod
    def with_id(number):
        """The living graph of this number."""
        return _by_id[number]

    @property
    def num_edges(self):
        return lib.egc_graph_num_edges(self._handle)

    def csr(self):
        """Copies of offsets [num_nodes + 1] (int64), sources [E] (int32) and weights [E] (float32) or None."""
        import numpy as np

        offsets, sources, weights = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        lib.egc_graph_csr(self._handle, *map(ctypes.byref, (offsets, sources, weights)))

        def copy(pointer, count, kind, dtype):
            if count == 0:
                return np.empty(0, dtype)
            return np.ctypeslib.as_array(ctypes.cast(pointer, ctypes.POINTER(kind)), (count,)).copy()

        return (
            copy(offsets, self.num_nodes + 1, ctypes.c_int64, np.int64),
            copy(sources, self.num_edges, ctypes.c_int32, np.int32),
            copy(weights, self.num_edges, ctypes.c_float, np.float32) if weights else None,
        )

    @property
    def edge_index(self):
        """[2, E], sorted by target and source."""
        import numpy as np

        offsets, sources, _ = self.csr()
        return np.stack([sources.astype(np.int64), np.repeat(np.arange(self.num_nodes), np.diff(offsets))])

    @property
    def edge_weight(self):
        """[E] in the order of ``edge_index``, or None."""
        return self.csr()[2]

    def __reduce__(self):
        return _from_state, (*self.csr(), None if self.is_square else self.num_sources)

    def __deepcopy__(self, _):
        return self  # immutable

    def __copy__(self):
        return self

    def __del__(self, free=lib.egc_graph_free):
        if getattr(self, "_handle", None):
            free(self._handle)

    def __repr__(self):
        sources = "" if self.is_square else f", num_sources={self.num_sources}"
        return f"Graph(num_nodes={self.num_nodes}, num_edges={self.num_edges}{sources})"


def _from_state(offsets, sources, weights, num_sources):
    return Graph.from_csr(offsets, sources, weights, num_sources=num_sources)


def _integers(values, what, dimensions):
    """As contiguous int64; torch tensors are taken by what numpy makes of them."""
    import numpy as np

    try:
        array = np.asarray(values)
    except Exception as error:
        raise TypeError(f"egc.Graph: {what} must be an array of integers: {error}") from None
    if array.size == 0 and not isinstance(values, np.ndarray) and array.dtype == np.float64:
        array = array.astype(np.int64)  # an empty list
    if array.dtype.kind not in "iu":
        raise TypeError(f"egc.Graph: {what} must be of integers, got {array.dtype}")
    if array.ndim != dimensions:
        raise ValueError(
            f"egc.Graph: {what} must have {dimensions} dimension{'s' * (dimensions > 1)}, got {list(array.shape)}"
        )
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"egc.Graph: {what} has a number beyond 64 bits, {array.max()}")
    return np.ascontiguousarray(array, np.int64)


def _edges(edge_index):
    edges = _integers(edge_index, "edge_index", 2)
    if edges.shape[0] != 2:
        raise ValueError(f"egc.Graph: edge_index must be [2, E], got {list(edges.shape)}")
    if edges.size and edges.max() >= 2**31:  # where num_nodes is not given, it follows
        raise DataError(f"egc.Graph: ids of edge_index must be below {2**31 - 1}, got {edges.max()}")
    return edges


def _weights(edge_weight, num_edges):
    import numpy as np

    if edge_weight is None:
        return None
    if getattr(edge_weight, "requires_grad", False):
        raise ValueError("egc.Graph: edge weights are constants, without gradient; detach() them")
    try:
        weights = np.asarray(edge_weight)
    except Exception as error:
        raise TypeError(f"egc.Graph: edge_weight must be an array of numbers: {error}") from None
    if weights.dtype.kind not in "fiu":
        raise TypeError(f"egc.Graph: edge_weight must be of numbers, got {weights.dtype}")
    if weights.shape != (num_edges,):
        raise ValueError(f"egc.Graph: {num_edges} edges need edge_weight [{num_edges}], got {list(weights.shape)}")
    return np.ascontiguousarray(weights, np.float32)


def _count(value, what, default):
    if value is None:
        return default
    return whole(value, f"egc.Graph: {what}", 0, 2**31 - 1)


def _foreign(graph, num_nodes, edge_weight, num_sources):
    """edge_index, number of nodes and weights of a scipy or networkx graph."""
    import numpy as np

    if edge_weight is not None or num_sources is not None:
        raise ValueError("egc.Graph: a scipy or networkx graph has its own weights and nodes")
    num_nodes = _count(num_nodes, "num_nodes", None)
    if hasattr(graph, "tocoo"):
        coo = graph.tocoo()
        if coo.ndim != 2:
            raise ValueError(f"egc.Graph: expected a square matrix, got {list(coo.shape)}")
        if coo.data.dtype.kind not in "fiub":
            raise TypeError(f"egc.Graph: the matrix must have numbers as weights, got {coo.data.dtype}")
        if coo.shape[0] != coo.shape[1]:
            raise ValueError(f"egc.Graph: expected a square matrix, got {list(coo.shape)}")
        if num_nodes not in (None, coo.shape[0]):
            raise ValueError(f"egc.Graph: the matrix has {coo.shape[0]} nodes, not {num_nodes}")
        weights = None if (coo.data == 1).all() else coo.data
        return np.stack([coo.row, coo.col]).astype(np.int64), coo.shape[0], weights
    number = {node: k for k, node in enumerate(graph.nodes)}
    if num_nodes not in (None, len(number)):
        raise ValueError(f"egc.Graph: the networkx graph has {len(number)} nodes, not {num_nodes}")
    edges = [(number[a], number[b], data.get("weight", 1)) for a, b, data in graph.edges(data=True)]
    if not graph.is_directed():  # both directions, but one for a loop
        edges += [(b, a, w) for a, b, w in edges if a != b]
    index = np.array([(a, b) for a, b, _ in edges], np.int64).reshape(-1, 2).T
    try:
        weights = np.array([w for *_, w in edges], np.float64)
    except (TypeError, ValueError):
        raise TypeError("egc.Graph: the weights of a networkx graph must be numbers") from None
    return index, len(number), None if (weights == 1).all() else weights
