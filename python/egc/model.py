"""Trained networks and their predictions."""

import ctypes
import json
import threading

from ._library import ModelError, encoded, lib, made, whole
from .dataset import Dataset, dataset, graph_arrays


class Predictions:
    """Predictions, a row for each graph, or for each node. ``numpy.asarray`` of it is ``values``."""

    def __init__(self, values, classes, words, class_names, target_names):
        self.values = values  # float32 [rows, columns]: values, or probabilities in tasks with classes
        self.classes = classes  # int64 [rows], the most likely class; None in tasks without classes
        self.words = words  # of sequence tasks: a list of words for each row
        self.class_names = class_names  # of the columns, where they have names
        self.target_names = target_names

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)

    def __len__(self):
        return len(self.words) if self.values is None else len(self.values)

    def __repr__(self):
        return f"Predictions({len(self)} rows)"


class Model:
    """A trained network, from ``egc.load``."""

    def __init__(self, *_, **__):
        raise TypeError("egc.Model: use egc.load(path)")

    @classmethod
    def _of(cls, pointer):
        """Owns an egc_model."""
        self = cls.__new__(cls)
        self._pointer = pointer
        self._lock = threading.Lock()
        info = json.loads(lib.egc_model_info(pointer).decode("utf-8", "replace"))
        self.name = info["model"]  # of its layer
        self.num_parameters = info["parameters"]
        self.config = info["config"]  # of the network
        self.metrics = info["metrics"] or {}  # scores of its training
        self.dataset_info = info["dataset"]  # what it was trained on
        return self

    def __reduce__(self):
        raise TypeError("egc.Model: a model cannot be copied or pickled; egc.load(path) it again")

    def predict(self, graphs, *, batch=256):
        """Predicts for a ``Dataset``, the name or path of one, a list of graphs (``Dataset.from_graphs`` says
        which forms), or one graph. Features are scaled as in training."""
        with self._lock:
            if self._pointer is None:
                raise ValueError("egc.Model: the model is closed")
            data = self._dataset(graphs)
            pointer = made(lib.egc_model_predict, self._pointer, data._handle.pointer, _batch(batch))
        try:
            return self._collect(pointer)
        finally:
            lib.egc_predictions_free(pointer)

    def _dataset(self, graphs):
        if isinstance(graphs, Dataset):
            return graphs
        if isinstance(graphs, str) or hasattr(graphs, "__fspath__"):
            return dataset(graphs)
        if isinstance(graphs, dict) or hasattr(graphs, "edge_index"):
            graphs = [graphs]
        elif isinstance(graphs, tuple) and not any(
            hasattr(g, "edge_index") or isinstance(g, (dict, tuple)) for g in graphs
        ):
            graphs = [graphs]  # (x, edge_index)
        try:
            graphs = list(graphs)
        except TypeError:
            raise TypeError(f"predict: expected a Dataset, graphs or a name, got {type(graphs).__name__}") from None
        arrays, found = graph_arrays(graphs)
        if arrays["first_node"][-1] == 0:
            raise ValueError("predict: the graphs have no nodes")
        trained = self.dataset_info
        info = {"name": "data", **{k: v for k, v in trained.items() if k not in _OF_TRAINING}}
        info.update(node_features=found.get("node_features", "none"), edge_features="none")
        if info.get("add_inverse_edge"):  # datasets of the kind keep one direction; graphs may come with one or both
            info.update(add_inverse_edge=False, undirected=True)
        expected = trained["node_features"]
        if info["node_features"] != expected:
            raise ModelError(
                f"predict: the model takes {_KINDS[expected]} as features of nodes, got {_KINDS[info['node_features']]}"
            )
        if expected == "categorical" and len(info["categories"]) != len(found["categories"]):
            raise ModelError(
                f"predict: the model takes {len(info['categories'])} categorical features for each node, got {len(found['categories'])}"
            )
        if self.config.get("edge_features"):
            self._check_edges(found)
            info.update(edge_features=found["edge_features"])
        else:  # the network does not read them
            arrays = {k: v for k, v in arrays.items() if not k.startswith("edge_features")}
            info.pop("edge_categories", None)
        return Dataset.from_arrays(info, arrays)

    def _check_edges(self, found):
        """Whether graphs have the features of edges that the network reads. found: as of graph_arrays()."""
        expected, given = self.dataset_info["edge_features"], found.get("edge_features", "none")
        if given != expected:
            raise ModelError(f"predict: the model takes {_KINDS[expected]} as edge_attr, got {_KINDS[given]}")
        count = len(self.dataset_info.get("edge_categories", ()))
        if expected == "categorical" and len(found["edge_categories"]) != count:
            raise ModelError(
                f"predict: the model takes edge_attr of {count} columns, got {len(found['edge_categories'])}"
            )

    def _collect(self, pointer):
        import numpy as np

        rows, columns = ctypes.c_int64(), ctypes.c_int64()
        values = lib.egc_predictions_values(pointer, ctypes.byref(rows), ctypes.byref(columns))
        classes, words = lib.egc_predictions_classes(pointer), lib.egc_predictions_words(pointer)

        def copy(address, kind, *shape):
            return np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(kind)), shape).copy()

        return Predictions(
            copy(values, ctypes.c_float, rows.value, columns.value) if values else None,
            copy(classes, ctypes.c_int64, rows.value) if classes else None,
            json.loads(words.decode("utf-8", "replace")) if words else None,
            self.dataset_info.get("class_names") or None,
            self.dataset_info.get("target_names") or None,
        )

    def close(self):
        """Frees the network's memory; predicting is an error afterwards."""
        with self._lock:
            pointer, self._pointer = self._pointer, None
        if pointer is not None:
            lib.egc_model_free(pointer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self, free=lib.egc_model_free):
        if getattr(self, "_pointer", None):
            free(self._pointer)

    def __repr__(self):
        return f"Model({self.name}, {self.num_parameters} parameters, {self.dataset_info['name']})"


# What a model's description says of its own training data alone.
_OF_TRAINING = ("name", "scaling", "columns", "edge_scaling", "edge_columns")
_KINDS = {"float": "floats", "categorical": "whole numbers (categories)", "none": "nothing"}


def _batch(batch):
    return whole(batch, "predict: batch", 1, 2**31 - 1)


def load(path, *, ensemble=False):
    """Loads a run, a model file, or a shipped model by name (zinc-egc-m, molhiv-egc-s, ...). Of a run with
    several seeds: the best on the validation set, or with ``ensemble`` the average of all."""
    return Model._of(made(lib.egc_model_load, encoded(path, "egc.load: path"), int(bool(ensemble))))
