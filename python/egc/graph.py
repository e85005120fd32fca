"""Graphs that are prepared once: sorted by target, with what the layers derive from them."""

import weakref
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
_Key = Tuple[int, int, int, int, int]
_prepared: Dict[_Key, Tuple[List[weakref.ref], object]] = {}


def _key(edge_index: Tensor, num_nodes: int, edge_weight: Optional[Tensor]) -> _Key:
    if edge_weight is None:
        return (id(edge_index), edge_index._version, num_nodes, 0, 0)
    return (id(edge_index), edge_index._version, num_nodes, id(edge_weight), edge_weight._version)


def graph_of(edge_index: Tensor, num_nodes: int, edge_weight: Optional[Tensor]):
    """The graph of an edge_index [2, E], or of a sparse CSR tensor [N, N]."""
    if edge_weight is not None and edge_weight.requires_grad:
        raise ValueError("EGConv: edge weights are constants, without gradient")
    if edge_index.is_inference() or (edge_weight is not None and edge_weight.is_inference()):
        return _make(edge_index, num_nodes, edge_weight)  # such tensors do not count their writes
    key = _key(edge_index, num_nodes, edge_weight)
    found = _prepared.get(key)
    if found is not None and all(ref() is not None for ref in found[0]):
        return found[1]
    graph = _make(edge_index, num_nodes, edge_weight)

    def forget(_: weakref.ref) -> None:
        _prepared.pop(key, None)

    tensors = [edge_index] if edge_weight is None else [edge_index, edge_weight]
    for old in [k for k in _prepared if k[0] == key[0] and k[1] != key[1]]:
        _prepared.pop(old, None)  # of the same tensor, before it was written to
    _prepared[key] = ([weakref.ref(t, forget) for t in tensors], graph)
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
