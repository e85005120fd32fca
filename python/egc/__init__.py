"""The Efficient Graph Convolution for PyTorch, as one fused operator.

    from egc import EGConv            # instead of: from torch_geometric.nn import EGConv
    conv = EGConv(128, 128, aggregators=["symnorm", "max", "mean"], num_heads=4, num_bases=4)
    y = conv(x, edge_index)
"""

from ._library import library_path
from .conv import EGConv
from .graph import Graph, graph_from_csr

__all__ = ["EGConv", "Graph", "graph_from_csr", "library_path"]
