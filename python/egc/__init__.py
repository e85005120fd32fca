"""Graph neural networks on CPUs: predictions, training, datasets and fused layers.

import egc
model = egc.load("zinc-egc-m")                  # a run, a file, or a shipped model
egc.train("molecules", model="egc-m", epochs=5)

from egc.torch import EGConv                    # PyTorch Geometric's layers, fused; needs torch
"""

from . import _library
from ._library import DataError, Interrupted, ModelError, VerificationError, num_threads, set_num_threads
from .dataset import Dataset, Sample, dataset
from .graph import Graph
from .model import Model, Predictions, load
from .training import TrainResult, train

__version__ = _library.lib.egc_version().decode().partition("+")[0]
library_path = _library.path  # of the C library

__all__ = [
    "DataError",
    "Dataset",
    "EGConv",
    "Graph",
    "Interrupted",
    "Model",
    "ModelError",
    "Predictions",
    "Sample",
    "TrainResult",
    "VerificationError",
    "dataset",
    "library_path",
    "load",
    "num_threads",
    "set_num_threads",
    "train",
]


def __getattr__(name):
    if name == "EGConv":  # needs torch, which importing egc does not
        from .torch import EGConv

        return EGConv
    raise AttributeError(f"module 'egc' has no attribute {name!r}")
