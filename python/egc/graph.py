"""Graphs that are prepared once: sorted by target, with what the layers derive from them."""

import threading
import weakref
from collections import OrderedDict
from typing import Dict, List, Optional, Tuple

import torch
from torch import Tensor

from . import _library  # noqa: F401  (torch.classes.egc)

# Graph(edge_index, num_nodes, edge_weight): edge_index int64 [2, E], row 0 sources, row 1 targets;
# edge_weight a constant, or None.
Graph = torch.classes.egc.Graph


def graph_from_csr(adj_t: Tensor):
    """A graph from a sparse CSR tensor [N, N] whose row i lists the sources of edges into i.

    Its values are edge weights, unless all of them are 1.
    """
    if adj_t.dim() != 2 or adj_t.size(0) != adj_t.size(1):
        raise ValueError(f"graph_from_csr: expected a square matrix, got {list(adj_t.shape)}")
    values = adj_t.values()
    weights = None if bool((values == 1).all()) else values
    return torch.ops.egc.graph_from_csr(adj_t.crow_indices(), adj_t.col_indices(), weights)


# The layers of a network are given the same edge_index: its graph is prepared once and kept for as
# long as that tensor lives and is not written to. Strong references are to graphs only.
_MOST = 4  # graphs of one edge_index: a few sets of weights or numbers of nodes in turn
_lock = threading.RLock()  # a weak reference may die in the middle of anything
_prepared: Dict[int, "OrderedDict[_Key, _Entry]"] = {}
_Key = Tuple[int, ...]
_Entry = Tuple[List[weakref.ref], object]


def _state(tensor: Optional[Tensor]) -> _Key:
    if tensor is None:
        return (0,)
    if tensor.layout == torch.sparse_csr:
        return (id(tensor), tensor._version)
    return (id(tensor), tensor._version, tensor.data_ptr(), *tensor.shape)


def graph_of(edge_index: Tensor, num_nodes: int, edge_weight: Optional[Tensor]):
    """The graph of an edge_index [2, E], or of a sparse CSR tensor [N, N]."""
    if edge_weight is not None and edge_weight.requires_grad:
        raise ValueError("EGConv: edge weights are constants, without gradient")
    if edge_index.is_inference() or (edge_weight is not None and edge_weight.is_inference()):
        return _make(edge_index, num_nodes, edge_weight)  # such tensors do not count their writes
    name = id(edge_index)
    key = (num_nodes, *_state(edge_index), *_state(edge_weight))
    with _lock:
        found = _prepared.get(name, {}).get(key)
        if found is not None and all(ref() is not None for ref in found[0]):
            return found[1]
    graph = _make(edge_index, num_nodes, edge_weight)

    def forget(_: weakref.ref) -> None:
        with _lock:
            _prepared.pop(name, None)

    tensors = [edge_index] if edge_weight is None else [edge_index, edge_weight]
    entry = ([weakref.ref(t, forget) for t in tensors], graph)
    with _lock:
        entries = _prepared.setdefault(name, OrderedDict())
        entries[key] = entry
        while len(entries) > _MOST:
            entries.popitem(last=False)
    return graph


def _make(edge_index: Tensor, num_nodes: int, edge_weight: Optional[Tensor]):
    if edge_index.layout == torch.sparse_csr:
        if edge_weight is not None:
            raise ValueError("EGConv: a sparse matrix has its edge weights as values")
        if edge_index.size(0) != num_nodes:
            raise ValueError(
                f"EGConv: expected a matrix of {num_nodes} rows, got {edge_index.size(0)}"
            )
        return graph_from_csr(edge_index)
    return Graph(edge_index, num_nodes, edge_weight)
