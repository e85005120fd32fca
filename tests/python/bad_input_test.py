"""Bad input to the part of the package that needs no torch: graphs, datasets, models, predictions, training.

The idea: a table of mistakes. Every one must give an exception of the class that Python's own functions would give
(TypeError for a wrong type, ValueError for a wrong value, OSError for a file), with one sentence that names what is
wrong. Never a crash, a hang, a MemoryError or a wrong number: every case runs in a process of its own. A second table
has unusual input that is valid, and what comes of it.
"""

import copy
import os
import pathlib
import pickle
import resource
import signal
import sys
import tempfile
import unittest

import numpy as np

import egc
from egc import Dataset, Graph

SECONDS = 10  # more is a hang
MEMORY = 8 << 30  # more is a typo taken at its word
EDGES = np.array([[0, 1, 2], [1, 2, 0]])
X = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
CATEGORY = np.zeros((3, 1), np.int64)
NO_EDGES = np.empty((2, 0), np.int64)
SPLIT = {"default": {"train": [0], "valid": [1], "test": [2]}}
WORK = ""  # a directory, of every case


class LikePath:
    def __init__(self, path):
        self.path = path

    def __fspath__(self):
        return self.path


def dataset(graphs=3, **more):
    graphs = [(X, EDGES)] * graphs if isinstance(graphs, int) else graphs
    return Dataset.from_graphs(graphs, **{"y": np.arange(len(graphs), dtype=np.float32), **more})


def changed(**arrays):
    """A dataset's arrays with some replaced; None leaves one out."""
    old = dataset()
    arrays = {**old.arrays, **{name.replace("__", "."): array for name, array in arrays.items()}}
    return Dataset.from_arrays(old.info, {name: array for name, array in arrays.items() if array is not None})


def sized(num_nodes, edges=EDGES):
    return dataset([{"edge_index": edges, "num_nodes": num_nodes}])


def split(**parts):
    return dataset(splits={"default": {**SPLIT["default"], **parts}})


def model():
    return egc.load("zinc-egc-s")


def predict(x, edges=EDGES, **more):
    return model().predict([(x, edges)], **more)


def closed():
    network = model()
    network.close()
    return network


def file(name, content):
    path = os.path.join(WORK, name)
    with open(path, "wb") as out:
        out.write(content)
    return path


def train(*positional, **settings):
    """A run of one epoch on a small dataset in a file."""
    place = os.path.join(WORK, "data")
    if not os.path.isdir(place):
        parts = {"default": {"train": list(range(8)), "valid": [8, 9], "test": [10, 11]}}
        Dataset.from_graphs([(X * k, EDGES) for k in range(12)], y=np.arange(12.0), splits=parts).save(place)
    out = os.path.join(WORK, "run")
    usual = {"model": "egc-s", "epochs": 1, "hidden": 8, "layers": 1, "out": out}
    return egc.train(*(positional or (place,)), **{**usual, **settings})


def failing(epoch):
    raise KeyError("of the callback")


def huge_header():
    return egc.load(file("header.safetensors", b"\xff" * 8 + b"{}"))


def truncated():
    source, package = os.path.dirname(os.path.abspath(__file__)) + "/../..", os.path.dirname(egc.__file__) + "/share/egc"
    places = [os.path.join(root, "pretrained", "zinc-egc-s.safetensors") for root in (package, source)]
    place = next(filter(os.path.exists, places))
    with open(place, "rb") as whole:
        return egc.load(file("half.safetensors", whole.read(100000)))


def scipy_matrix(*arguments, **more):
    import scipy.sparse

    return scipy.sparse.coo_array(*arguments, **more)


def networkx_graph(**data):
    import networkx

    graph = networkx.Graph()
    graph.add_edge("a", "b", **data)
    return graph


KIND = (TypeError, ValueError)  # where either is right
INTEGERS = r"egc\.Graph: edge_index must be of integers, got "
BAD = [  # name, callable, exception, regular expression of the sentence
    # Graphs
    ("graph of None", lambda: Graph(None), TypeError, INTEGERS),
    ("graph of a text", lambda: Graph("edges"), TypeError, INTEGERS),
    ("graph of a dictionary", lambda: Graph({"edge_index": 1}), TypeError, INTEGERS),
    (
        "graph of ragged lists",
        lambda: Graph([[0, 1], [1]]),
        TypeError,
        r"egc\.Graph: edge_index must be an array of integers",
    ),
    ("graph of floats", lambda: Graph([[0.0], [1.0]]), TypeError, INTEGERS + "float64"),
    ("graph of NaN", lambda: Graph([[float("nan")], [1.0]]), TypeError, INTEGERS + "float64"),
    ("graph of bools", lambda: Graph(EDGES > 0), TypeError, INTEGERS + "bool"),
    ("graph of complex", lambda: Graph(EDGES * 1j), TypeError, INTEGERS + "complex128"),
    ("graph of bytes", lambda: Graph(b"abc"), TypeError, INTEGERS),
    ("edges 1-D", lambda: Graph([0, 1]), ValueError, r"must have 2 dimensions, got \[2\]"),
    ("edges 0-D", lambda: Graph(np.array(3)), ValueError, r"must have 2 dimensions, got \[\]"),
    ("edges [E, 2]", lambda: Graph(np.zeros((5, 2), int)), ValueError, r"must be \[2, E\], got \[5, 2\]"),
    ("edges [3, E]", lambda: Graph(np.zeros((3, 4), int)), ValueError, r"must be \[2, E\], got \[3, 4\]"),
    ("edges 3-D", lambda: Graph(np.zeros((2, 4, 1), int)), ValueError, r"must have 2 dimensions, got \[2, 4, 1\]"),
    (
        "negative id",
        lambda: Graph([[0, -1], [1, 0]], 3),
        egc.DataError,
        r"source id of edge 1 must be in \[0, 3\), got -1",
    ),
    (
        "negative target",
        lambda: Graph([[0, 1], [1, -5]], 3),
        egc.DataError,
        r"target id of edge 1 must be in \[0, 3\), got -5",
    ),
    ("only negative ids", lambda: Graph([[-1], [-1]]), egc.DataError, r"got -1"),
    ("smallest id", lambda: Graph([[-(2**63)], [0]]), egc.DataError, r"got -9223372036854775808"),
    ("id too large", lambda: Graph(EDGES, 2), egc.DataError, r"must be in \[0, 2\), got 2"),
    ("id 2^31", lambda: Graph([[0, 2**31], [1, 0]], 3), egc.DataError, r"got 2147483648"),
    ("id 2^32", lambda: Graph([[0, 2**32], [1, 0]], 3), egc.DataError, r"got 4294967296"),
    ("id 2^32, nodes not given", lambda: Graph([[0, 2**32], [1, 0]]), ValueError, r"2147483647"),
    ("id 2^62, nodes not given", lambda: Graph([[0, 2**62], [1, 0]]), ValueError, r"2147483647"),
    (
        "id 2^63-1, nodes not given",
        lambda: Graph([[0, 2**63 - 1], [1, 0]]),
        ValueError,
        r"2147483647|9223372036854775807",
    ),
    ("id 2^63", lambda: Graph([[0, 2**63], [1, 0]]), KIND, r"egc\.Graph: edge_index"),
    (
        "id 2^64-1",
        lambda: Graph(np.array([[2**64 - 1], [0]], np.uint64)),
        ValueError,
        r"beyond 64 bits, 18446744073709551615",
    ),
    ("id 2^70", lambda: Graph([[0, 2**70], [1, 0]]), KIND, r"egc\.Graph: edge_index"),
    ("2^31 nodes", lambda: Graph(EDGES, 2**31), ValueError, r"num_nodes must be from 0 to 2147483647, got 2147483648"),
    ("2^62 nodes", lambda: Graph(EDGES, 2**62), ValueError, r"num_nodes must be from 0 to"),
    ("2^100 nodes", lambda: Graph(EDGES, 2**100), ValueError, r"num_nodes must be from 0 to"),
    ("-1 nodes", lambda: Graph(EDGES, -1), ValueError, r"num_nodes must be from 0 to 2147483647, got -1"),
    ("0 nodes with edges", lambda: Graph(EDGES, 0), egc.DataError, r"must be in \[0, 0\)"),
    ("3.0 nodes", lambda: Graph(EDGES, 3.0), TypeError, r"num_nodes must be a whole number, got float"),
    ("nodes as text", lambda: Graph(EDGES, "3"), TypeError, r"num_nodes must be a whole number, got str"),
    (
        "nodes as array",
        lambda: Graph(EDGES, np.array([3])),
        TypeError,
        r"num_nodes must be a whole number, got ndarray",
    ),
    ("sources without num_nodes", lambda: Graph(EDGES, num_sources=3), ValueError, r"num_nodes"),
    (
        "too few sources",
        lambda: Graph(EDGES, 3, num_sources=2),
        egc.DataError,
        r"source id of edge 2 must be in \[0, 2\), got 2",
    ),
    ("-1 sources", lambda: Graph(EDGES, 3, num_sources=-1), ValueError, r"num_sources must be from 0 to"),
    ("weights too short", lambda: Graph(EDGES, 3, [1.0]), ValueError, r"3 edges need edge_weight \[3\], got \[1\]"),
    ("weights 2-D", lambda: Graph(EDGES, 3, [[1.0]] * 3), ValueError, r"3 edges need edge_weight \[3\], got \[3, 1\]"),
    ("weight 0-D", lambda: Graph(EDGES, 3, 1.0), ValueError, r"3 edges need edge_weight \[3\], got \[\]"),
    ("weights as texts", lambda: Graph(EDGES, 3, ["a"] * 3), TypeError, r"edge_weight must be of numbers"),
    ("weights as dictionary", lambda: Graph(EDGES, 3, {}), TypeError, r"edge_weight must be of numbers"),
    ("weights ragged", lambda: Graph(EDGES, 3, [[1], [1, 2], 3]), KIND, r"edge_weight"),
    (
        "weights complex",
        lambda: Graph(EDGES, 3, [1, 1j, 2]),
        TypeError,
        r"edge_weight must be of numbers, got complex128",
    ),
    (
        "weights bool",
        lambda: Graph(EDGES, 3, [True, False, True]),
        TypeError,
        r"edge_weight must be of numbers, got bool",
    ),
    ("weight NaN", lambda: Graph(EDGES, 3, [1, np.nan, 2]), egc.DataError, r"weight of edge 1 must be finite, got nan"),
    (
        "weight infinite",
        lambda: Graph(EDGES, 3, [1, np.inf, 2]),
        egc.DataError,
        r"weight of edge 1 must be finite, got inf",
    ),
    (
        "graph: unknown argument",
        lambda: Graph(EDGES, 3, weights=1),
        TypeError,
        r"unexpected keyword argument 'weights'",
    ),
    ("CSR not rising", lambda: Graph.from_csr([0, 2, 1, 3], [0, 1, 2]), egc.DataError, r"offsets must rise from 0"),
    ("CSR not from 0", lambda: Graph.from_csr([1, 2, 3], [0, 1, 0]), egc.DataError, r"offsets must rise from 0"),
    (
        "CSR wrong end",
        lambda: Graph.from_csr([0, 2], [0, 1, 0]),
        ValueError,
        r"offsets must end at the number of edges, 3, got \[2\]",
    ),
    ("CSR without offsets", lambda: Graph.from_csr([], []), ValueError, r"offsets must end at the number of edges, 0"),
    ("CSR offset 2^62", lambda: Graph.from_csr([0, 2**62, 1], [0]), egc.DataError, r"offsets must rise from 0"),
    ("CSR source -1", lambda: Graph.from_csr([0, 1], [-1]), egc.DataError, r"source -1 of edge 0 is not in \[0, 1\)"),
    ("CSR source 2^32", lambda: Graph.from_csr([0, 1], [2**32]), egc.DataError, r"source 4294967296 of edge 0"),
    ("CSR of None", lambda: Graph.from_csr(None, None), TypeError, r"offsets must be of integers"),
    ("CSR of floats", lambda: Graph.from_csr([0.0, 1.0], [0]), TypeError, r"offsets must be of integers, got float64"),
    ("CSR 2-D", lambda: Graph.from_csr([[0, 1]], [0]), ValueError, r"offsets must have 1 dimension, got \[1, 2\]"),
    (
        "scipy not square",
        lambda: Graph(scipy_matrix(([1.0], ([0], [1])), shape=(2, 3))),
        ValueError,
        r"square matrix, got \[2, 3\]",
    ),
    ("scipy 1-D", lambda: Graph(scipy_matrix(np.array([1, 0, 2]))), ValueError, r"egc\.Graph: .*matrix"),
    ("scipy other size", lambda: Graph(scipy_matrix(np.eye(3)), 4), ValueError, r"the matrix has 3 nodes, not 4"),
    (
        "scipy nodes as array",
        lambda: Graph(scipy_matrix(np.eye(3)), np.array([3, 3])),
        KIND,
        r"egc\.Graph: num_nodes|the matrix has",
    ),
    (
        "scipy complex",
        lambda: Graph(scipy_matrix(np.eye(3) * 1j)),
        TypeError,
        r"must have numbers as weights, got complex128",
    ),
    (
        "scipy and weights",
        lambda: Graph(scipy_matrix(np.eye(3)), edge_weight=[1] * 3),
        ValueError,
        r"has its own weights",
    ),
    ("networkx other size", lambda: Graph(networkx_graph(), 4), ValueError, r"has 2 nodes, not 4"),
    ("networkx weight text", lambda: Graph(networkx_graph(weight="heavy")), KIND, r"egc\.Graph: .*weight"),
    ("networkx weight None", lambda: Graph(networkx_graph(weight=None)), ValueError, r"weight"),
    ("networkx class", lambda: Graph(type(networkx_graph())), TypeError, r"egc\.Graph: edge_index"),
    # Datasets from graphs
    ("graphs None", lambda: dataset(None, y=None), TypeError, r"graphs|NoneType"),
    ("graphs a number", lambda: Dataset.from_graphs(5), TypeError, r"graphs"),
    ("no graphs", lambda: Dataset.from_graphs([]), ValueError, r"expected at least one graph, got none"),
    (
        "graph None",
        lambda: Dataset.from_graphs([None]),
        TypeError,
        r"graph 0: expected \(x, edge_index\).*got NoneType",
    ),
    ("tuple of three", lambda: Dataset.from_graphs([(X, EDGES, 1)]), TypeError, r"graph 0: .*got a tuple of 3"),
    ("not in a list", lambda: Dataset.from_graphs((X, EDGES)), TypeError, r"graph 0: expected \(x, edge_index\)"),
    ("x a text", lambda: Dataset.from_graphs([("x", EDGES)]), TypeError, r"graph 0: x must be a matrix of numbers"),
    ("x ragged", lambda: Dataset.from_graphs([([[1], [1, 2], [2]], EDGES)]), KIND, r"graph 0: x must be"),
    (
        "x 3-D",
        lambda: Dataset.from_graphs([(np.ones((3, 2, 2)), EDGES)]),
        TypeError,
        r"graph 0: x must be .*\[3, 2, 2\]",
    ),
    ("x complex", lambda: Dataset.from_graphs([(X * 1j, EDGES)]), TypeError, r"graph 0: x must be .*complex64"),
    ("x NaN", lambda: Dataset.from_graphs([(X * np.nan, EDGES)]), egc.DataError, r"features of row 0 must be finite"),
    ("category 2^32", lambda: Dataset.from_graphs([(CATEGORY + 2**32, EDGES)]), ValueError, r"x|categor"),
    ("category -1", lambda: Dataset.from_graphs([(CATEGORY - 1, EDGES)]), ValueError, r"categor"),
    ("ids of another graph", lambda: dataset([(X, EDGES + 1)]), ValueError, r"ids from 0 to 2, got 1 to 3"),
    ("ids negative", lambda: dataset([(X, EDGES - 1)]), ValueError, r"ids from 0 to 2, got -1 to 1"),
    ("ids beyond 32 bits", lambda: dataset([(X, EDGES + 2**32)]), ValueError, r"ids of edge_index must be below"),
    (
        "neither x nor num_nodes",
        lambda: dataset([(None, EDGES)]),
        ValueError,
        r"graph 0: without features it needs num_nodes",
    ),
    ("num_nodes a text", lambda: sized("3"), TypeError, r"num_nodes"),
    ("num_nodes 3.7", lambda: sized(3.7), TypeError, r"num_nodes"),
    ("num_nodes -1", lambda: sized(-1, NO_EDGES), ValueError, r"num_nodes"),
    ("num_nodes 2^31", lambda: sized(2**31), ValueError, r"num_nodes"),
    ("num_nodes 2^40, ids 2^33", lambda: sized(2**40, EDGES + 2**33), ValueError, r"num_nodes|below 2147483647"),
    ("num_nodes 2^62", lambda: sized(2**62), ValueError, r"num_nodes"),
    ("num_nodes 2^100", lambda: sized(2**100), ValueError, r"num_nodes"),
    ("num_nodes not x's", lambda: dataset([{"edge_index": EDGES, "x": X, "num_nodes": 7}]), ValueError, r"num_nodes"),
    ("edge_attr too short", lambda: dataset([{"edge_index": EDGES, "x": X, "edge_attr": X[:2]}]), ValueError, r"edge"),
    (
        "edge_attr of one graph in another",
        lambda: dataset(
            [{"edge_index": EDGES, "x": X, "edge_attr": X[:2]}, {"edge_index": EDGES[:, :2], "x": X, "edge_attr": X}]
        ),
        ValueError,
        r"edge_attr",
    ),
    ("edge_attr a text", lambda: dataset([{"edge_index": EDGES, "x": X, "edge_attr": "a"}]), KIND, r"edge_attr"),
    ("different widths", lambda: dataset([(X, EDGES), (X[:, :1], EDGES)]), ValueError, r"same width and type"),
    ("different dtypes", lambda: dataset([(X, EDGES), (X.astype(int), EDGES)]), ValueError, r"same width and type"),
    ("labels too short", lambda: dataset(y=[1.0]), egc.DataError, r"expected 3 labels, got 1"),
    ("labels as texts", lambda: dataset(y=["a", "b", "c"]), KIND, r"^y |egc.Dataset: y|\by must"),
    ("labels complex", lambda: dataset(y=[1j, 2, 3]), TypeError, r"\by must"),
    ("labels a dictionary", lambda: dataset(y={}), TypeError, r"\by must"),
    ("labels 3-D", lambda: dataset(y=np.ones((3, 1, 1))), TypeError, r"one or two dimensions|\by must"),
    ("label 0-D", lambda: dataset(y=1.0), KIND, r"\by must|labels"),
    ("labels ragged", lambda: dataset(y=[[1], [1, 2], [3]]), KIND, r"\by must"),
    (
        "classes as floats",
        lambda: dataset(y=[0.0, 1.0, 1.0], task="graph-classification"),
        TypeError,
        r"y must be classes",
    ),
    (
        "class beyond num_classes",
        lambda: dataset(y=[0, 1, 5], task="graph-classification", num_classes=2),
        egc.DataError,
        r"in \[0, 2\) or -1, got 5",
    ),
    (
        "class 2^32",
        lambda: dataset(y=[0, 1, 2**32 + 1], task="graph-classification", num_classes=2),
        ValueError,
        r"4294967297",
    ),
    ("unknown task", lambda: dataset(task="nope"), egc.DataError, r'unknown task "nope"; known'),
    ("task None", lambda: dataset(task=None), KIND, r"task"),
    ("name a number", lambda: dataset(name=3), KIND, r'"name" must be a string, got 3'),
    (
        "info not JSON",
        lambda: dataset(class_names=np.ones(3)),
        TypeError,
        r"egc\.Dataset: .*class_names|egc\.Dataset: info",
    ),
    ("num_classes a text", lambda: dataset(num_classes="a"), KIND, r'"num_classes" must be an integer, got "a"'),
    ("num_targets -1", lambda: dataset(num_targets=-1), ValueError, r"num_targets"),
    ("num_targets not y's", lambda: dataset(num_targets=7), ValueError, r"num_targets|labels"),
    ("splits a list", lambda: dataset(splits=[1, 2]), TypeError, r"splits"),
    ("split a list", lambda: dataset(splits={"default": [0, 1]}), TypeError, r"split"),
    ("split out of range", lambda: split(test=[3]), egc.DataError, r"split default: an id must be in \[0, 3\), got 3"),
    ("split negative", lambda: split(test=[-1]), egc.DataError, r"split default: an id must be in \[0, 3\), got -1"),
    ("split twice", lambda: split(test=[0]), egc.DataError, r"split default: duplicate id 0"),
    ("split floats", lambda: split(train=[0.0]), TypeError, r"split default\.train must be ids, got float64"),
    ("split mask", lambda: split(train=[True, False, False]), TypeError, r"split default\.train must be ids, got bool"),
    ("split None", lambda: split(train=None), TypeError, r"split default\.train must be ids"),
    ("split 2-D", lambda: split(train=[[0]]), ValueError, r"must have 1 dimensions, got 2"),
    ("unknown part", lambda: split(traim=[0]), ValueError, r'unknown array "split\.default\.traim"'),
    # Datasets from arrays
    ("arrays None", lambda: Dataset.from_arrays({}, None), TypeError, r"arrays"),
    ("arrays a list", lambda: Dataset.from_arrays({}, [1]), TypeError, r"arrays"),
    ("info a list", lambda: Dataset.from_arrays([], {}), KIND, r"JSON object, got array|info"),
    ("unknown array", lambda: changed(foo=np.ones(3)), ValueError, r'unknown array "foo"'),
    ("array name a number", lambda: Dataset.from_arrays({}, {3: np.ones(3)}), TypeError, r"name must be a text"),
    (
        "array name with a zero byte",
        lambda: Dataset.from_arrays({}, {"a\0b": np.ones(3)}),
        ValueError,
        r"name contains a zero byte",
    ),
    (
        "array of halves",
        lambda: changed(node_features__floats=np.ones((9, 2), np.float16)),
        TypeError,
        r"'node_features\.floats' .*got float16",
    ),
    (
        "array of doubles",
        lambda: changed(node_features__floats=np.ones((9, 2))),
        KIND,
        r'"node_features\.floats" must be float32, got float64',
    ),
    ("array of objects", lambda: changed(labels__values=[None, "a", 1]), TypeError, r"'labels\.values' .*got object"),
    ("array ragged", lambda: changed(labels__values=[[1], [1, 2]]), KIND, r"labels\.values"),
    (
        "array 3-D",
        lambda: changed(labels__values=np.ones((3, 1, 1), np.float32)),
        TypeError,
        r"'labels\.values' .*\[3, 1, 1\]",
    ),
    ("array 0-D", lambda: changed(labels__values=np.float32(3)), KIND, r"labels\.values"),
    (
        "array int32 for int64",
        lambda: changed(first_node=np.array([0, 3, 6, 9], np.int32)),
        KIND,
        r'"first_node" must be int64, got int32',
    ),
    (
        "edges out of range",
        lambda: changed(edges=np.full((9, 2), 99, np.int32)),
        egc.DataError,
        r"edge to a node outside the graph",
    ),
    (
        "edges negative in array",
        lambda: changed(edges=np.full((9, 2), -1, np.int32)),
        egc.DataError,
        r"edge to a node outside the graph",
    ),
    (
        "edges of three columns",
        lambda: changed(edges=np.zeros((9, 3), np.int32)),
        egc.DataError,
        r"an edge has two ends, got 3",
    ),
    (
        "first_node falling",
        lambda: changed(first_node=np.array([0, 6, 3, 9])),
        egc.DataError,
        r"first_node: bound 2 is below",
    ),
    ("first_node negative", lambda: changed(first_node=np.array([-3, 3, 6, 9])), egc.DataError, r"first_node"),
    (
        "first_node 2^60",
        lambda: changed(first_node=np.array([0, 3, 6, 2**60])),
        egc.DataError,
        r"expected 1152921504606846976 rows",
    ),
    ("first_edge 2^62", lambda: changed(first_edge=np.array([0, 3, 6, 2**62])), egc.DataError, r"first_edge"),
    ("first_node missing", lambda: changed(first_node=None), egc.DataError, r"bound|first_node"),
    # Datasets
    ("Dataset of a name", lambda: Dataset("zinc"), TypeError, r"egc\.[dD]ataset"),
    ("Dataset of bytes", lambda: Dataset(b"zinc"), TypeError, r"egc\.[dD]ataset"),
    ("Dataset of None", lambda: Dataset(None), TypeError, r"egc\.[dD]ataset"),
    ("Dataset of a number", lambda: Dataset(123), TypeError, r"egc\.[dD]ataset"),
    ("Dataset of graphs", lambda: Dataset([(X, EDGES)]), TypeError, r"egc\.[dD]ataset"),
    ("dataset None", lambda: egc.dataset(None), TypeError, r"dataset must be a text or a path, got NoneType"),
    ("dataset unknown", lambda: egc.dataset("nope"), egc.DataError, r'unknown dataset "nope"; known'),
    ("dataset bytes", lambda: egc.dataset(b"molecules"), TypeError, r"dataset must be a text or a path, got bytes"),
    ("dataset zero byte", lambda: egc.dataset("a\0b"), ValueError, r"dataset contains a zero byte"),
    ("dataset surrogate", lambda: egc.dataset("a\ud800b"), ValueError, r"^dataset"),
    ("dataset path of bytes", lambda: egc.dataset(LikePath(b"/nope")), KIND, r"dataset"),
    ("dataset path of a number", lambda: egc.dataset(LikePath(3)), TypeError, r"dataset|__fspath__"),
    (
        "dataset of a file",
        lambda: egc.dataset("/dev/null"),
        egc.DataError,
        r"expected a dataset directory, found a file",
    ),
    ("dataset seed a text", lambda: egc.dataset("molecules", seed="a"), TypeError, r"seed"),
    ("dataset seed 1.5", lambda: egc.dataset("molecules", seed=1.5), TypeError, r"seed"),
    ("dataset seed -1", lambda: egc.dataset("molecules", seed=-1), ValueError, r"seed"),
    ("dataset seed 2^64", lambda: egc.dataset("molecules", seed=2**64), ValueError, r"seed"),
    (
        "dataset data_dir",
        lambda: egc.dataset("zinc", data_dir=3),
        TypeError,
        r"data_dir must be a text or a path, got int",
    ),
    ("item of a text", lambda: dataset()["a"], TypeError, r"whole number"),
    ("item of a slice", lambda: dataset()[0:1], TypeError, r"whole number"),
    ("item of 1.5", lambda: dataset()[1.5], TypeError, r"whole number"),
    ("item too large", lambda: dataset()[3], IndexError, r"has 3 graphs, there is no number 3"),
    ("item 2^70", lambda: dataset()[2**70], IndexError, r"there is no number"),
    ("no split", lambda: dataset().split("train"), (KeyError, ValueError), r"has no split"),
    ("unknown part of a split", lambda: dataset(splits=SPLIT).split("tain"), (KeyError, ValueError), r"'tain'"),
    ("unknown split", lambda: dataset(splits=SPLIT).split("train", "b"), (KeyError, ValueError), r"'b'"),
    ("save None", lambda: dataset().save(None), TypeError, r"directory must be a text or a path"),
    ("save in a device", lambda: dataset().save("/dev/null/x"), OSError, r"/dev/null/x: cannot be written"),
    ("save zero byte", lambda: dataset().save("a\0"), ValueError, r"directory contains a zero byte"),
    ("save surrogate", lambda: dataset().save("a\ud800"), ValueError, r"^directory"),
    ("write to an array", lambda: dataset().arrays["edges"].__setitem__(0, 1), ValueError, r"read-only"),
    # Models
    ("Model of a name", lambda: egc.Model("zinc-egc-s"), TypeError, r"egc\.(load|Model)"),
    ("Model of None", lambda: egc.Model(None), TypeError, r"egc\.(load|Model)"),
    ("Model of a number", lambda: egc.Model(5), TypeError, r"egc\.(load|Model)"),
    ("load None", lambda: egc.load(None), TypeError, r"egc\.load: path must be a text or a path, got NoneType"),
    ("load a number", lambda: egc.load(3), TypeError, r"egc\.load: path must be a text or a path, got int"),
    ("load a missing file", lambda: egc.load("/nope/nope"), OSError, r"/nope/nope: no such run or model file"),
    ("load a missing path", lambda: egc.load(pathlib.Path("/nope")), OSError, r"/nope: no such run or model file"),
    ("load a misspelt name", lambda: egc.load("zinc-egc-x"), OSError, r'did you mean "zinc-egc-[ms]"'),
    ("load a directory", lambda: egc.load(WORK), egc.ModelError, r"expected a run or a model file, found a directory"),
    ("load a device", lambda: egc.load("/dev/zero"), OSError, r"/dev/zero: expected a regular file"),
    (
        "load garbage",
        lambda: egc.load(file("g.safetensors", b"garbage" * 100)),
        egc.ModelError,
        r"not a safetensors file",
    ),
    (
        "load an empty file",
        lambda: egc.load(file("e.safetensors", b"")),
        egc.ModelError,
        r"expected at least 8 bytes, found 0",
    ),
    ("load a huge header", huge_header, egc.ModelError, r"header length 18446744073709551615 exceeds"),
    ("load half a file", truncated, egc.ModelError, r"data_offsets|truncated"),
    ("load zero byte", lambda: egc.load("a\0"), ValueError, r"egc\.load: path contains a zero byte"),
    ("load surrogate", lambda: egc.load("\ud800"), ValueError, r"egc\.load: path"),
    (
        "ensemble of one",
        lambda: egc.load("zinc-egc-s", ensemble=True),
        ValueError,
        r"ensemble needs a run with several seeds",
    ),
    ("copy of a model", lambda: copy.copy(model()), TypeError, r"Model"),
    ("deep copy of a model", lambda: copy.deepcopy(model()), TypeError, r"Model"),
    ("pickle of a model", lambda: pickle.dumps(model()), TypeError, r"Model"),
    # Predictions
    (
        "predict None",
        lambda: model().predict(None),
        TypeError,
        r"predict: expected a Dataset, graphs or a name, got NoneType",
    ),
    ("predict a number", lambda: model().predict(3), TypeError, r"predict: expected .*got int"),
    ("predict nothing", lambda: model().predict([]), ValueError, r"expected at least one graph, got none"),
    ("predict an unknown name", lambda: model().predict("nope"), egc.DataError, r'unknown dataset "nope"'),
    ("predict an empty dictionary", lambda: model().predict({}), TypeError, r"graph 0: expected \(x, edge_index\)"),
    ("predict floats", lambda: predict(X), ValueError, r"float"),
    (
        "predict without features",
        lambda: model().predict([{"edge_index": EDGES, "num_nodes": 3}]),
        ValueError,
        r"float features|node_feat|features",
    ),
    (
        "predict two columns",
        lambda: predict(np.zeros((3, 2), int)),
        egc.ModelError,
        r"takes 1 categorical features for each node, got 2",
    ),
    ("predict too large a category", lambda: predict(CATEGORY + 28), egc.DataError, r"category outside the ranges 28"),
    ("predict a negative category", lambda: predict(CATEGORY - 1), egc.DataError, r"category outside the ranges 28"),
    ("predict category 2^32", lambda: predict(CATEGORY + 2**32), ValueError, r"x|categor"),
    ("predict ids of another graph", lambda: predict(CATEGORY, EDGES + 1), ValueError, r"ids from 0 to 2, got 1 to 3"),
    (
        "predict ids as floats",
        lambda: predict(CATEGORY, EDGES * 1.0),
        TypeError,
        r"edge_index must be of integers, got float64",
    ),
    (
        "predict edges [E, 2]",
        lambda: predict(CATEGORY, np.zeros((5, 2), int)),
        ValueError,
        r"must be \[2, E\], got \[5, 2\]",
    ),
    ("predict another dataset", lambda: model().predict(dataset()), ValueError, r"float"),
    ("predict batch 0", lambda: predict(CATEGORY, batch=0), ValueError, r"batch must be from 1 to .*, got 0"),
    ("predict batch 2^31", lambda: predict(CATEGORY, batch=2**31), ValueError, r"batch must be .*got 2147483648"),
    ("predict batch a text", lambda: predict(CATEGORY, batch="a"), TypeError, r"batch must be a whole number, got str"),
    (
        "predict when closed",
        lambda: closed().predict([(CATEGORY, EDGES)]),
        ValueError,
        r"egc\.Model: the model is closed",
    ),
    # Training
    ("train nothing", lambda: egc.train(), ValueError, r"takes either a dataset or (--)?resume"),
    ("train without a model", lambda: train(model=None), ValueError, r"model or (--)?config is needed"),
    ("train an unknown model", lambda: train(model="nope"), ValueError, r'unknown model "nope"; known'),
    ("train model a number", lambda: train(model=3), TypeError, r"egc\.train: model must be a text or a path, got int"),
    ("train on an unknown dataset", lambda: train("nope"), egc.DataError, r'unknown dataset "nope"'),
    ("train on a list", lambda: train([1]), TypeError, r"egc\.train: dataset must be a text or a path, got list"),
    ("train on a Dataset", lambda: train(dataset()), TypeError, r"needs its dataset on disk"),
    ("unknown setting", lambda: train(hiden=8), ValueError, r'unknown setting "hiden"; did you mean "hidden"'),
    ("-1 epochs", lambda: train(epochs=-1), ValueError, r"(--)?epochs must be at least 1, got -1"),
    ("1.5 epochs", lambda: train(epochs=1.5), KIND, r"(--)?epochs must be an integer, got 1\.5"),
    ("2^70 epochs", lambda: train(epochs=2**70), ValueError, r"(--)?epochs must be"),
    ("epochs True", lambda: train(epochs=True), KIND, r"(--)?epochs must be an integer, got true"),
    ("epochs a list", lambda: train(epochs=[1]), KIND, r"epochs"),
    ("epochs a dictionary", lambda: train(epochs={"a": 1}), KIND, r'"epochs" must be a text, a number'),
    ("predict no nodes", lambda: predict(CATEGORY[:0], NO_EDGES), ValueError, r"no nodes"),
    ("learning rate NaN", lambda: train(lr=float("nan")), ValueError, r"finite number.*lr="),
    ("learning rate infinite", lambda: train(lr=float("inf")), ValueError, r"finite number.*lr="),
    ("learning rate -1", lambda: train(lr=-1), ValueError, r"(--)?lr must be positive, got -1"),
    ("learning rate a text", lambda: train(lr="fast"), KIND, r"(--)?lr must be a number, got fast"),
    (
        "learning rate an object",
        lambda: train(lr=object()),
        TypeError,
        r"egc\.train: a setting is no text, number or list",
    ),
    ("hidden 0", lambda: train(hidden=0), ValueError, r"(--)?hidden must be from 1 to"),
    ("hidden 2^40", lambda: train(hidden=2**40), ValueError, r"(--)?hidden must be from 1 to"),
    ("hidden and heads", lambda: train(hidden=7), ValueError, r"(--)?hidden 7 must be a multiple of (--)?heads"),
    ("10^9 layers", lambda: train(layers=10**9), ValueError, r"(--)?layers must be from 1 to"),
    ("batch 0", lambda: train(batch=0), ValueError, r"(--)?batch must be at least 1, got 0"),
    ("dropout 2", lambda: train(dropout=2), ValueError, r"(--)?dropout must be in \[0, 1\), got 2"),
    ("unknown aggregator", lambda: train(aggregators=["nope"]), ValueError, r'unknown aggregator "nope"; known'),
    ("no aggregators", lambda: train(aggregators=[]), ValueError, r"aggregators"),
    ("nested aggregators", lambda: train(aggregators=[["add"]]), KIND, r"aggregators"),
    ("cyclic aggregators", lambda: train(aggregators=cyclic()), KIND, r"egc\.train: a setting"),
    ("deep aggregators", lambda: train(aggregators=deep(100000)), KIND, r"egc\.train: a setting|nested"),
    ("seed -1", lambda: train(seed=-1), ValueError, r"seed"),
    ("seed 2^64", lambda: train(seed=2**64), ValueError, r"seed"),
    ("seed a text", lambda: train(seed="x"), KIND, r'"seed" cannot be "x"|seed must'),
    ("no seeds", lambda: train(seeds=0), ValueError, r"seeds must be from 1 to 10000, got 0"),
    ("1.5 seeds", lambda: train(seeds=1.5), KIND, r"seeds"),
    ("2^62 seeds", lambda: train(seeds=2**62), ValueError, r"seeds"),
    ("until -1", lambda: train(until=-1), ValueError, r"until"),
    ("checkpoint every 0", lambda: train(checkpoint_every=0), ValueError, r"checkpoint_every"),
    ("overwrite a text", lambda: train(overwrite="yes"), KIND, r'"overwrite" cannot be "yes"|overwrite must'),
    ("parameters -5", lambda: train(parameters=-5, hidden=None), ValueError, r"(--)?parameters must be from 1 to"),
    ("config missing", lambda: train(config="/nope"), (OSError, ValueError), r"/nope"),
    (
        "config a directory",
        lambda: train(config=WORK),
        (OSError, ValueError),
        r"a directory|Is a directory|regular file",
    ),
    ("resume missing", lambda: egc.train(resume="/nope"), (OSError, ValueError), r"/nope: not a run"),
    (
        "resume and a dataset",
        lambda: egc.train("x", resume="/nope"),
        ValueError,
        r"takes either a dataset or (--)?resume",
    ),
    ("out a number", lambda: train(out=3), TypeError, r"egc\.train: out must be a text or a path, got int"),
    ("out zero byte", lambda: train(out="a\0b"), ValueError, r"egc\.train: out contains a zero byte"),
    ("out surrogate", lambda: train(out=os.path.join(WORK, "a\ud800")), ValueError, r"egc\.train: out"),
    ("out a device", lambda: train(out="/dev/null"), OSError, r"/dev/null: cannot be created"),
    ("data_dir missing", lambda: train("zinc", data_dir="/nope"), egc.DataError, r"dataset zinc is not in /nope"),
    ("callback a text", lambda: train(callback="a"), TypeError, r"egc\.train: callback must be a function, got str"),
    ("callback that raises", lambda: train(callback=failing), KeyError, r"of the callback"),
    ("callback without argument", lambda: train(callback=lambda: None), TypeError, r"positional argument"),
    (
        "callback False",
        lambda: train(callback=lambda _: False, epochs=3),
        egc.Interrupted,
        r"resume|stopped|interrupted",
    ),
    (
        "callback numpy's False",
        lambda: train(callback=lambda _: np.bool_(False), epochs=3),
        egc.Interrupted,
        r"resume|stopped|interrupted",
    ),
    # Threads
    ("no threads", lambda: egc.set_num_threads(0), ValueError, r"threads must be from 1 to 4096, got 0"),
    ("2^40 threads", lambda: egc.set_num_threads(2**40), ValueError, r"threads must be from 1 to 4096"),
    ("threads None", lambda: egc.set_num_threads(None), TypeError, r"must be a whole number, got NoneType"),
    ("threads 1.5", lambda: egc.set_num_threads(1.5), TypeError, r"must be a whole number, got float"),
]


def cyclic():
    out = []
    out.append(out)
    return out


def deep(levels):
    out = []
    for _ in range(levels):
        out = [out]
    return out


def swapped(array):
    """The same numbers with the bytes of another machine."""
    return array.astype(array.dtype.newbyteorder())


def same(a, b):
    return a.shape == b.shape and bool((a == b).all())


def swapped_arrays():
    names = ("node_features.floats", "edges", "first_node", "first_edge", "labels.values")
    a = dataset()
    b = Dataset.from_arrays(a.info, {n: swapped(array) if n in names else array for n, array in a.arrays.items()})
    return all(same(a.arrays[name], b.arrays[name]) for name in a.arrays)


def strided():
    wide = np.arange(36, dtype=np.float32).reshape(18, 2)
    return same(changed(node_features__floats=wide[::2]).arrays["node_features.floats"], wide[::2])


def copied(make):
    """A copy has the numbers, and both live on their own."""
    old = dataset()
    new = make(old)
    x, y = new[1].x.copy(), old[1].x.copy()
    del old
    return same(x, y) and same(new[1].x, y)


def same_after_fork():
    network = model()
    graphs = [(np.zeros((40, 1), int), np.random.default_rng(0).integers(0, 40, (2, 100)))] * 100
    values = network.predict(graphs).values
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        os._exit(0 if same(network.predict(graphs).values, values) else 1)
    return os.waitpid(child, 0)[1] == 0


def same_in_threads():
    import threading

    network, out = model(), []
    graphs = [(CATEGORY, EDGES)] * 20
    threads = [threading.Thread(target=lambda: out.append(network.predict(graphs).values)) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return len(out) == 8 and all(same(a, out[0]) for a in out)


def same_predictions():
    expected = predict(CATEGORY).values
    others = [
        predict(np.zeros((6, 1), np.int32)[::2]),
        predict(CATEGORY, np.asfortranarray(EDGES)),
        predict(CATEGORY, EDGES.tolist()),
        predict(CATEGORY.tolist(), EDGES.astype(np.uint8)),
        predict(CATEGORY, swapped(EDGES)),
        predict(CATEGORY > 0),
    ]
    return all(same(other.values, expected) for other in others)


VALID = [  # name, callable that is true
    (
        "empty graphs",
        lambda: [Graph(NO_EDGES).num_nodes, Graph(NO_EDGES, 5).num_nodes, Graph([[], []]).num_edges] == [0, 5, 0],
    ),
    ("num_nodes of numpy", lambda: Graph(EDGES, np.int32(3)).num_nodes == Graph(EDGES, np.array(3)).num_nodes == 3),
    (
        "ids of other integers",
        lambda: all(
            same(Graph(EDGES.astype(kind), 3).edge_index, Graph(EDGES, 3).edge_index)
            for kind in ("u1", "i2", "i4", "u8", ">i4", ">i8")
        ),
    ),
    ("ids not contiguous", lambda: same(Graph(np.repeat(EDGES, 2, 1)[:, ::2]).edge_index, Graph(EDGES).edge_index)),
    (
        "weights not contiguous, other bytes",
        lambda: same(Graph(EDGES, 3, np.arange(6, dtype=">f8")[::2]).edge_weight, np.array([4, 0, 2], np.float32)),
    ),
    ("networkx, empty", lambda: Graph(type(networkx_graph())()).num_nodes == 0),
    (
        "pickled graph",
        lambda: same(
            pickle.loads(pickle.dumps(Graph(EDGES, 3, [1, 2, 3]))).edge_weight, Graph(EDGES, 3, [1, 2, 3]).edge_weight
        ),
    ),
    ("written ids", lambda: same(written_ids(), EDGES[:, [2, 0, 1]])),
    ("arrays of other bytes", swapped_arrays),
    ("arrays not contiguous", strided),
    ("deep copy of a dataset", lambda: copied(copy.deepcopy)),
    ("pickled dataset", lambda: copied(lambda d: pickle.loads(pickle.dumps(d)))),
    ("graph without nodes has columns", lambda: dataset([(X[:0], NO_EDGES)])[0].x.shape == (0, 2)),
    ("item of numpy", lambda: dataset()[np.int64(1)].y == 1 and dataset()[-1].y == 2),
    ("num_nodes of numpy in a dataset", lambda: sized(np.int32(3))[0].num_nodes == 3),
    (
        "seed of numpy",
        lambda: same(
            egc.dataset("molecules", seed=np.int64(3)).arrays["edges"], egc.dataset("molecules", seed=3).arrays["edges"]
        ),
    ),
    ("predict forms", same_predictions),
    ("predict a graph without edges", lambda: np.isfinite(predict(CATEGORY, NO_EDGES).values).all()),
    (
        "predict with one without nodes",
        lambda: same(
            model().predict([(CATEGORY, EDGES), (CATEGORY[:0], NO_EDGES)]).values[:1], predict(CATEGORY).values
        ),
    ),
    ("predict batch of numpy", lambda: same(predict(CATEGORY, batch=np.int64(1)).values, predict(CATEGORY).values)),
    ("predict in threads", same_in_threads),
    ("predict after fork", same_after_fork),
    ("close twice", lambda: closed().close() is None),
    ("threads of numpy", lambda: egc.set_num_threads(np.int64(2)) is None and egc.num_threads() == 2),
    (
        "train with numpy's numbers",
        lambda: train(epochs=np.int64(1), lr=np.float32(0.01), hidden=np.int32(8)).runs is not None,
    ),
    ("train and load", lambda: train().load().predict(os.path.join(WORK, "data")).values.shape == (12, 1)),
]


def written_ids():
    """A graph copies its edges."""
    edges = EDGES.copy()
    graph = Graph(edges, 3)
    edges[:] = 0
    return graph.edge_index


def limit_memory():
    """Not under a sanitizer, which reserves far more."""
    with open("/proc/self/statm") as file:
        if int(file.read().split()[0]) * resource.getpagesize() < MEMORY:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def apart(function):
    """What a call gives in a process of its own: ("returned", value), ("raised", exception) or ("died", status)."""
    sys.stdout.flush()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(SECONDS)
            limit_memory()
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            try:
                out = ("returned", repr(function())[:200], [])
            except BaseException as error:
                out = ("raised", str(error), [kind.__name__ for kind in type(error).__mro__])
            with os.fdopen(write, "wb") as pipe:
                pickle.dump(out, pipe)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        content = pipe.read()
    status = os.waitpid(child, 0)[1]
    return pickle.loads(content) if content else ("died", f"with status {status}", [])


class Table(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = directory.name

    def alone(self, function):
        global WORK
        WORK = tempfile.mkdtemp(dir=self.root)
        return apart(function)

    def test_bad(self):
        for name, function, kinds, sentence in BAD:
            with self.subTest(name):
                what, text, classes = self.alone(function)
                self.assertEqual(what, "raised", text)
                names = [kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,))]
                self.assertTrue(set(names) & set(classes), f"{classes[0]}, expected {names}: {text}")
                self.assertRegex(text, sentence)
                self.assertNotIn("\n", text)

    def test_valid(self):
        for name, function in VALID:
            with self.subTest(name):
                what, text, _ = self.alone(lambda: bool(function()))
                self.assertEqual((what, text), ("returned", "True"))

    def test_names_differ(self):
        names = [case[0] for case in BAD + VALID]
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main()
