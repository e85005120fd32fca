"""Datasets as numpy arrays."""

import ctypes
import json
from typing import NamedTuple

from ._library import Array, check, encoded, lib, made, whole

_CODES = {"float32": 0, "float64": 1, "int32": 2, "int64": 3, "uint8": 4}
_NAMES = {code: name for name, code in _CODES.items()}


class _Handle:
    """Owns an egc_dataset."""

    def __init__(self, pointer):
        self.pointer = pointer

    def __del__(self, free=lib.egc_dataset_free):
        free(self.pointer)

    def __reduce__(self):
        raise TypeError("egc.Dataset: its memory cannot be pickled; pickle the dataset")


class Sample(NamedTuple):
    """One graph of a dataset."""

    edge_index: object  # int64 [2, E]
    x: object  # float32 or int32 [nodes, columns], or None
    y: object  # label of the graph, or labels of its nodes; None: there is none
    edge_attr: object  # [E, columns], or None
    num_nodes: int


class Dataset:
    """A dataset in memory: ``arrays`` by name, ``info`` (as dataset.json), and graphs by number.

    ``egc.dataset(name)`` reads or generates one; ``Dataset.from_graphs`` makes one of your own.
    """

    def __init__(self, *_, **__):
        raise TypeError("egc.Dataset: use egc.dataset(name), Dataset.from_graphs(...) or Dataset.from_arrays(...)")

    @classmethod
    def _of(cls, pointer):
        """Owns an egc_dataset."""
        import numpy as np

        self = cls.__new__(cls)
        self._handle = _Handle(pointer)
        self.info = json.loads(lib.egc_dataset_info(pointer).decode("utf-8", "replace"))
        self.arrays = {}  # read-only
        view = Array()
        for k in range(lib.egc_dataset_num_arrays(pointer)):
            check(lib.egc_dataset_array(pointer, k, ctypes.byref(view)))
            dtype = np.dtype(_NAMES[view.dtype])
            shape = tuple(view.shape[: view.dimensions])
            array = np.empty(shape, dtype)
            if array.size:
                memory = (ctypes.c_char * array.nbytes).from_address(view.data)
                memory.owner = self._handle  # the array keeps it alive
                array = np.frombuffer(memory, dtype).reshape(shape)
            array.flags.writeable = False
            self.arrays[view.name.decode()] = array
        return self

    @classmethod
    def from_graphs(cls, graphs, y=None, *, task="graph-regression", name="data", splits=None, **info):
        """From a list of graphs, each a tuple (x, edge_index), a dictionary with "x" (or "node_feat"),
        "edge_index", "edge_attr", or an object with such attributes, as PyTorch Geometric's Data. Features
        are floats, or whole numbers as categories. ``y``: a label for each graph, or for each node of the
        only graph. ``splits``: {"default": {"train": ids, "valid": ids, "test": ids}}. ``info``: further
        fields of dataset.json, for instance num_classes or undirected."""
        arrays, found = graph_arrays(graphs)
        if not isinstance(task, str):
            raise TypeError(f"egc.Dataset: task must be a name, got {type(task).__name__}")
        described = {"name": name, "task": task, **found, **info}
        if y is not None:
            arrays.update(_labels(y, described))
        for split, parts in _items(splits, "splits"):
            for part, ids in _items(parts, f"split {split}"):
                arrays[f"split.{split}.{part}"] = _ids(ids, f"split {split}.{part}")
        return cls.from_arrays(described, arrays)

    @classmethod
    def from_arrays(cls, info, arrays):
        """From a description and named arrays, as ``info`` and ``arrays`` of another dataset."""
        import numpy as np

        if not isinstance(info, dict) or not isinstance(arrays, dict):
            raise TypeError(
                f"egc.Dataset: info and arrays must be dictionaries, got {type(info).__name__} and {type(arrays).__name__}"
            )
        kept = []  # alive during the call
        views = (Array * len(arrays))()
        for view, (name, array) in zip(views, arrays.items()):
            try:
                array = np.asarray(array)
            except Exception as error:
                raise TypeError(f"egc.Dataset: array {name!r} must be an array of numbers: {error}") from None
            array = np.ascontiguousarray(array, array.dtype.newbyteorder("=")) if array.ndim else array
            if array.dtype.name not in _CODES or array.ndim not in (1, 2):
                raise TypeError(
                    f"egc.Dataset: array {name!r} must have one or two dimensions of {', '.join(_CODES)}; got {array.dtype} {list(array.shape)}"
                )
            kept.append(array)
            shape = array.shape + (1,) * (2 - array.ndim)
            view.name, view.dtype, view.dimensions = (
                encoded(name, "egc.Dataset: a name"),
                _CODES[array.dtype.name],
                array.ndim,
            )
            view.shape[0], view.shape[1], view.data = shape[0], shape[1], array.ctypes.data
        return cls._of(made(lib.egc_dataset_from_arrays, _json(info), len(arrays), views))

    def save(self, directory):
        """Writes the dataset to a new directory, which ``egc.train`` and the program take."""
        check(lib.egc_dataset_save(self._handle.pointer, encoded(directory, "directory")))

    def split(self, part, name=None):
        """Ids of "train", "valid" or "test": of graphs, or of nodes if there is one graph."""
        names = [key.split(".", 1)[1].rsplit(".", 1)[0] for key in self.arrays if key.startswith("split.")]
        if name is None and not names:
            raise ValueError(f"{self.info['name']} has no split")
        key = f"split.{names[0] if name is None else name}.{part}"
        if key not in self.arrays:
            raise ValueError(
                f"{self.info['name']} has no {part!r} in split {names[0] if name is None else name!r}; known: {', '.join(dict.fromkeys(names))} with train, valid, test"
            )
        return self.arrays[key]

    def _features(self, what, first, end):
        for kind in ("floats", "categories"):
            if f"{what}.{kind}" in self.arrays:
                return self.arrays[f"{what}.{kind}"][first:end]
        return None

    def _label(self, k, first, end):
        name = next((n for n in ("labels.values", "labels.classes") if n in self.arrays), None)
        if name is None:
            return None
        labels = self.arrays[name]
        return labels[k] if self.info["task"].startswith("graph") else labels[first:end]

    def __len__(self):
        """Number of graphs."""
        return max(1, len(self.arrays.get("first_node", ())) - 1)

    def __getitem__(self, k):
        import numpy as np

        if "first_node" not in self.arrays:
            raise TypeError(f"{self.info['name']} is heterogeneous: see its arrays")
        k = whole(k, f"{self.info['name']}: the number of a graph", -(2**200), 2**200)
        if not -len(self) <= k < len(self):
            raise IndexError(f"{self.info['name']} has {len(self)} graphs, there is no number {k}")
        k %= len(self)
        first, end = self.arrays["first_node"][k : k + 2]
        edge_first, edge_end = self.arrays["first_edge"][k : k + 2]
        edges = self.arrays.get("edges", np.empty((0, 2), np.int32))[edge_first:edge_end]
        return Sample(
            np.ascontiguousarray(edges.T, np.int64),
            self._features("node_features", first, end),
            self._label(k, first, end),
            self._features("edge_features", edge_first, edge_end),
            int(end - first),
        )

    def __reduce__(self):
        return Dataset.from_arrays, (self.info, dict(self.arrays))

    def __copy__(self):
        return self  # read-only

    def __deepcopy__(self, _):
        return self

    def __repr__(self):
        return f"Dataset({self.info['name']}, {self.info['task']}, graphs={len(self)})"


def dataset(name, *, data_dir=None, seed=0):
    """Reads a dataset by name or path, or generates one; ``egc data list`` prints the names."""
    folder = None if data_dir is None else encoded(data_dir, "data_dir")
    return Dataset._of(made(lib.egc_dataset_load, encoded(name, "dataset"), folder, whole(seed, "seed", 0, 2**64 - 1)))


def _json(info):
    try:
        return json.dumps(info).encode()
    except (TypeError, ValueError) as error:
        raise TypeError(f"egc.Dataset: info must be what JSON can say: {error}") from None


def _part(graph, *names):
    for name in names:
        value = graph.get(name) if isinstance(graph, dict) else getattr(graph, name, None)
        if value is not None:
            return value
    return None


def _matrix(values, k, what):
    """float32 or int32 [rows, columns]."""
    import numpy as np

    try:
        array = np.asarray(values.detach() if hasattr(values, "detach") else values)
    except Exception as error:
        raise TypeError(f"graph {k}: {what} must be a matrix of numbers: {error}") from None
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise TypeError(f"graph {k}: {what} must be a matrix of numbers, got {array.dtype} {list(array.shape)}")
    if array.dtype.kind != "f":
        _fits_int32(array, f"graph {k}: {what}")
    return np.ascontiguousarray(array, np.float32 if array.dtype.kind == "f" else np.int32)


def _fits_int32(array, what):
    if array.size and not (-(2**31) <= array.min() and array.max() < 2**31):
        raise ValueError(f"{what} must have numbers of 32 bits, got {array.min()} to {array.max()}")


def graph_arrays(graphs):
    """The arrays of some graphs, and what their features say of dataset.json."""
    import numpy as np

    from .graph import _edges

    if not hasattr(graphs, "__iter__"):
        raise TypeError(f"expected a list of graphs, got {type(graphs).__name__}")
    nodes, edges, node_features, edge_features = [], [], [], []
    for k, graph in enumerate(graphs):
        if isinstance(graph, tuple) and not hasattr(graph, "edge_index"):
            if len(graph) != 2:
                raise TypeError(f"graph {k}: expected (x, edge_index), got a tuple of {len(graph)}")
            graph = {"x": graph[0], "edge_index": graph[1]}
        index = _part(graph, "edge_index")
        if index is None:
            raise TypeError(
                f"graph {k}: expected (x, edge_index), or something with edge_index and x, got {type(graph).__name__}"
            )
        index = _edges(index)
        x = _part(graph, "x", "node_feat")
        x = None if x is None else _matrix(x, k, "x")
        count = _part(graph, "num_nodes")
        if count is None and x is None:
            raise ValueError(f"graph {k}: without features it needs num_nodes")
        count = len(x) if count is None else whole(count, f"graph {k}: num_nodes", 0, 2**31 - 1)
        if x is not None and count != len(x):
            raise ValueError(f"graph {k}: num_nodes is {count}, but x has {len(x)} rows")
        if index.size and not (0 <= index.min() and index.max() < count):
            raise ValueError(
                f"graph {k}: edge_index must have ids from 0 to {count - 1}, got {index.min()} to {index.max()}"
            )
        attr = _part(graph, "edge_attr", "edge_feat")
        attr = None if attr is None else _matrix(attr, k, "edge_attr")
        if attr is not None and len(attr) != index.shape[1]:
            raise ValueError(f"graph {k}: {index.shape[1]} edges need edge_attr of as many rows, got {len(attr)}")
        nodes.append(count)
        edges.append(index.T.astype(np.int32))
        node_features.append(x)
        edge_features.append(attr)
    if not nodes:
        raise ValueError("expected at least one graph, got none")
    arrays = {
        "first_node": np.cumsum([0, *nodes], dtype=np.int64),
        "first_edge": np.cumsum([0, *map(len, edges)], dtype=np.int64),
        "edges": np.concatenate(edges),
    }
    found = {}
    for what, parts, categories in (
        ("node_features", node_features, "categories"),
        ("edge_features", edge_features, "edge_categories"),
    ):
        parts = [p for p in parts if p is not None]
        if not parts:
            continue
        shapes = {(p.shape[1], p.dtype.name) for p in parts}
        if len(shapes) != 1 or len(parts) != len(nodes):
            raise ValueError(f"all graphs must have {what} of the same width and type, got {sorted(shapes)}")
        joined = np.concatenate(parts)
        if joined.dtype == np.float32:
            arrays[what + ".floats"], found[what] = joined, "float"
        else:
            arrays[what + ".categories"], found[what] = joined, "categorical"
            found[categories] = [int(c) + 1 for c in joined.max(0)] if len(joined) else [1] * joined.shape[1]
    return arrays, found


def _items(dictionary, what):
    if dictionary is not None and not isinstance(dictionary, dict):
        raise TypeError(
            f'{what} must be a dictionary, {{"train": ids, "valid": ids, "test": ids}} by name, got {type(dictionary).__name__}'
        )
    return (dictionary or {}).items()


def _ids(ids, what):
    import numpy as np

    array = np.asarray(ids)
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"{what} must be ids, got {array.dtype}")
    return array.astype(np.int64)


def _labels(y, info):
    import numpy as np

    try:
        array = np.asarray(y)
    except Exception as error:
        raise TypeError(f"y must be an array of numbers: {error}") from None
    if array.dtype.kind not in "fiub" or array.ndim not in (1, 2):
        raise TypeError(f"y must be labels, numbers [items] or [items, targets], got {array.dtype} {list(array.shape)}")
    if "classification" in info["task"]:
        if array.dtype.kind not in "iub" or array.ndim != 1:
            raise TypeError(f"y must be classes, whole numbers [items], got {array.dtype} {list(array.shape)}")
        _fits_int32(array, "y")
        info.setdefault("num_classes", int(array.max()) + 1 if array.size else 0)
        return {"labels.classes": array.astype(np.int32)}
    values = np.ascontiguousarray(array[:, None] if array.ndim == 1 else array, np.float32)
    if info.setdefault("num_targets", values.shape[1]) != values.shape[1]:
        raise ValueError(f"num_targets is {info['num_targets']}, but y has {values.shape[1]} columns")
    return {"labels.values": values}
