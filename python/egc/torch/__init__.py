"""Graph layers for PyTorch on egc's fused kernels.

    from egc.torch import EGConv, GCNConv        # instead of: from torch_geometric.nn import EGConv, GCNConv

The layers have the signatures, semantics and parameter names of PyTorch Geometric's, which is not needed.
"""

from ..graph import Graph
from . import _ops as _ops
from .egconv import EGConv
from .gat_conv import GATConv, GATv2Conv
from .gcn_conv import GCNConv
from .gin_conv import GINConv
from .pna_conv import PNAConv
from .regc_conv import REGCConv
from .rgcn_conv import RGCNConv
from .sage_conv import SAGEConv

__all__ = [
    "EGConv",
    "GATConv",
    "GATv2Conv",
    "GCNConv",
    "GINConv",
    "Graph",
    "PNAConv",
    "REGCConv",
    "RGCNConv",
    "SAGEConv",
]
