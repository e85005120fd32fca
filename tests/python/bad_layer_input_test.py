"""Bad input to the layers for PyTorch, and use of them that is unusual but right.

The idea of the first class: a table of mistakes, of all layers and of each. Every one must give an exception of the
class that Python's own functions would give, with one sentence that names what is wrong; never a crash, a hang or a
wrong number. The cases run in other processes, so that a crash is one failure. The idea of the second class: whatever
torch lets a user do to a layer, its tensors and its process must be seen, and the numbers must be the definition's.
"""

import copy
import io
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import unittest
import warnings

import torch
from torch import nn

if not hasattr(torch, "func"):
    raise unittest.SkipTest("needs torch 2.0 or newer, which scripts/check_torch has")

from egc.torch import EGConv, GATConv, GATv2Conv, GCNConv, GINConv, Graph, PNAConv, REGCConv, RGCNConv, SAGEConv

warnings.simplefilter("ignore")
SECONDS = 10  # more is a hang
NODES, WIDTH = 6, 8
EDGES = torch.tensor([[0, 1, 2, 3, 4, 5, 0], [1, 2, 3, 4, 5, 0, 3]])
NEGATIVE = torch.tensor([[-1, 1, 2, 3, 4, 5, 0], [1, 2, 3, 4, 5, 0, 3]])  # a source
TYPES = torch.tensor([0, 1, 2, 0, 1, 2, 0])
torch.manual_seed(0)
X = torch.randn(NODES, WIDTH)
WEIGHT = torch.rand(EDGES.size(1)) + 0.5
FEATURES = torch.randn(EDGES.size(1), 3)
DEGREES = torch.tensor([1, 4, 2])
HAS_HALF_LINEAR = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 2)  # torch's own, on CPUs
LAYERS = {
    "EGConv": lambda: EGConv(WIDTH, 16, ["symnorm", "max"], 4, 3),
    "GCNConv": lambda: GCNConv(WIDTH, 16),
    "SAGEConv": lambda: SAGEConv(WIDTH, 16),
    "GINConv": lambda: GINConv(nn.Linear(WIDTH, 16)),
    "GATConv": lambda: GATConv(WIDTH, 4, heads=2),
    "GATv2Conv": lambda: GATv2Conv(WIDTH, 4, heads=2),
    "PNAConv": lambda: PNAConv(WIDTH, 16, ["mean", "max"], ["identity", "amplification"], DEGREES),
    "RGCNConv": lambda: RGCNConv(WIDTH, 16, 3),
    "REGCConv": lambda: REGCConv(WIDTH, 16, 3),
}


def made(name, seed=0):
    """A layer whose parameters are all random, biases too."""
    torch.manual_seed(seed)
    layer = LAYERS[name]() if isinstance(name, str) else name
    with torch.no_grad():
        for parameter in layer.parameters():
            if not isinstance(parameter, nn.parameter.UninitializedParameter):
                parameter.normal_()
    return layer


def call(layer, x, edges, types=TYPES):
    """Relational layers take types."""
    return layer(x, edges, types) if isinstance(layer, (RGCNConv, REGCConv)) else layer(x, edges)


def egc(x=X, edges=EDGES, weight=None, **options):
    return made(EGConv(WIDTH, 16, num_heads=4, **options))(x, edges, weight)


def gcn(x=X, edges=EDGES, weight=None, **options):
    return made(GCNConv(WIDTH, 16, **options))(x, edges, weight)


def gat(*arguments, kind=GATConv, width=WIDTH, **options):
    return made(kind(width, 4, heads=2, **options))(X, *arguments)


def pna(features=None, edges=EDGES, edge_dim=None):
    return made(PNAConv(WIDTH, 16, ["mean"], ["identity"], DEGREES, edge_dim))(X, edges, features)


def related(kind=REGCConv, x=X, edges=EDGES, types=TYPES):
    return made(kind(WIDTH, 16, 3))(x, edges, types)


def after_first(layer, x):
    """A lazy layer that has learned its width."""
    layer(X, EDGES)
    return layer(x, EDGES)


def with_part(name, part, x=X):
    """EGC with a part replaced."""
    layer = made("EGConv")
    setattr(layer, name, part)
    return layer(x, EDGES)


def changed(function, x=X):
    layer = made("EGConv")
    function(layer)
    return layer(x, EDGES)


def forward_mode(of_x=False, of_parameters=False):
    import torch.autograd.forward_ad as forward_ad

    layer = made("EGConv").requires_grad_(False)
    with forward_ad.dual_level():
        parameters = dict(layer.named_parameters()) if of_parameters else {}
        parameters = {name: forward_ad.make_dual(p, torch.ones_like(p)) for name, p in parameters.items()}
        x = forward_ad.make_dual(X, X) if of_x else X
        y = torch.func.functional_call(layer, parameters, (x, EDGES))
        tangent = forward_ad.unpack_dual(y).tangent
    return "no derivative" if tangent is None else "a derivative"


def second_derivative(layer):
    x = X.clone().requires_grad_()
    (first,) = torch.autograd.grad(call(layer, x, EDGES).pow(2).sum(), x, create_graph=True)
    first.sum().backward()
    return x.grad


def x_changed_before_backward(layer):
    x = X.clone().requires_grad_()
    inner = x * 1
    y = call(layer, inner, EDGES).pow(2).sum()
    inner.add_(1)
    y.backward()


def quantized(t):
    return torch.quantize_per_tensor(t, 0.1, 0, torch.qint8)


def of_parameters(layer, function):
    """torch.func's derivative by the parameters."""
    parameters = {name: p.detach() for name, p in layer.named_parameters()}
    return function(lambda p: torch.func.functional_call(layer, p, (X, EDGES)).sum())(parameters)


KIND = (TypeError, ValueError)
EITHER = (TypeError, ValueError, RuntimeError)  # of a tensor on another device
UNSUPPORTED = (NotImplementedError, RuntimeError)
INDEX = r"edge_index must be int64 \[2, E\], got "
GRAPH = r"the graph must be an edge_index tensor \[2, E\], .* got "
DEVICE = r"device|meta"
MISTAKES = [  # of every layer: name, callable of a layer, exception, sentence, and the layers where it is none
    ("x a list", lambda f: call(f, X.tolist(), EDGES), KIND, r"x must be|tuple of features", ()),
    ("x None", lambda f: call(f, None, EDGES), TypeError, r"x must be", ("RGCNConv",)),
    ("x a text", lambda f: call(f, "x", EDGES), TypeError, r"x must be", ()),
    ("x a dictionary", lambda f: call(f, {}, EDGES), TypeError, r"x must be", ()),
    ("x of numpy", lambda f: call(f, X.numpy(), EDGES), TypeError, r"x must be", ()),
    ("x of integers", lambda f: call(f, X.long(), EDGES), KIND, r"x must be", ()),
    ("x of bools", lambda f: call(f, X > 0, EDGES), KIND, r"x must be", ()),
    ("x complex", lambda f: call(f, X.to(torch.complex64), EDGES), KIND, r"x must be", ()),
    ("x quantized", lambda f: call(f, quantized(X), EDGES), KIND, r"x must be", ()),
    ("x of doubles", lambda f: call(f, X.double(), EDGES), TypeError, r"convert one of them", ("GINConv",)),
    ("layer of doubles", lambda f: call(f.double(), X, EDGES), TypeError, r"convert one of them", ("GINConv",)),
    ("layer of halves", lambda f: call(f.half(), X, EDGES), TypeError, r"convert one of them", ("GINConv",)),
    (
        "x too wide",
        lambda f: call(f, torch.randn(NODES, 9), EDGES),
        ValueError,
        r"x must be .*8\], got \[6, 9\]",
        ("GINConv",),
    ),
    ("x too narrow", lambda f: call(f, X[:, :1], EDGES), ValueError, r"x must be .*8\], got \[6, 1\]", ("GINConv",)),
    ("x 1-D", lambda f: call(f, X[0], EDGES), ValueError, r"x must be .*got \[8\]", ()),
    ("x 0-D", lambda f: call(f, torch.tensor(1.0), EDGES), ValueError, r"x must be .*got \[\]", ()),
    ("x sparse, too wide", lambda f: call(f, torch.ones(NODES, 9).to_sparse(), EDGES), KIND, r"x must be", ()),
    ("x on meta", lambda f: call(f, X.to("meta"), EDGES), EITHER, DEVICE, ()),
    ("layer on meta", lambda f: call(f.to("meta"), X, EDGES), EITHER, DEVICE, ()),
    ("edges a list", lambda f: call(f, X, EDGES.tolist()), TypeError, GRAPH + "list", ()),
    ("edges of numpy", lambda f: call(f, X, EDGES.numpy()), TypeError, GRAPH + "ndarray", ()),
    ("edges None", lambda f: call(f, X, None), TypeError, GRAPH + "NoneType", ()),
    ("edges a text", lambda f: call(f, X, "edges"), TypeError, GRAPH + "str", ()),
    ("edges a dictionary", lambda f: call(f, X, {}), TypeError, GRAPH + "dict", ()),
    ("edges int32", lambda f: call(f, X, EDGES.int()), TypeError, INDEX + r"int32 \[2, 7\]", ()),
    ("edges of floats", lambda f: call(f, X, EDGES.float()), TypeError, INDEX + r"float32", ()),
    ("edges NaN", lambda f: call(f, X, EDGES * float("nan")), TypeError, INDEX + r"float32", ()),
    ("edges of bools", lambda f: call(f, X, EDGES > 0), TypeError, INDEX + r"bool", ()),
    ("no edges, as floats", lambda f: call(f, X, torch.tensor([])), TypeError, INDEX + r"float32 \[0\]", ()),
    ("edges [E, 2]", lambda f: call(f, X, EDGES.t()), ValueError, INDEX + r"int64 \[7, 2\]", ()),
    ("edges [3, E]", lambda f: call(f, X, torch.zeros(3, 4).long()), ValueError, INDEX + r"int64 \[3, 4\]", ()),
    ("edges 1-D", lambda f: call(f, X, EDGES[0]), ValueError, INDEX + r"int64 \[7\]", ()),
    ("edges 0-D", lambda f: call(f, X, torch.tensor(1)), ValueError, INDEX + r"int64 \[\]", ()),
    ("dense matrix", lambda f: call(f, X, torch.eye(NODES)), TypeError, INDEX + r"float32 \[6, 6\]", ()),
    ("edges on meta", lambda f: call(f, X, EDGES.to("meta")), EITHER, DEVICE, ()),
    ("negative id", lambda f: call(f, X, NEGATIVE), ValueError, r"must be in \[0, 6\), got -1", ()),
    ("id too large", lambda f: call(f, X, EDGES + 1), ValueError, r"must be in \[0, 6\), got 6", ()),
    ("id 2^32", lambda f: call(f, X, EDGES + 2**32), ValueError, r"must be in \[0, 6\), got 429496", ()),
    ("id 2^62", lambda f: call(f, X, EDGES + 2**62), ValueError, r"must be in \[0, 6\), got 46116860", ()),
    (
        "Graph of another size",
        lambda f: call(f, X, Graph(EDGES, 7)),
        ValueError,
        r"expected a graph of 6 nodes, as x has, got",
        (),
    ),
    (
        "Graph of two sets",
        lambda f: call(f, X, Graph(EDGES, 6, num_sources=6)),
        ValueError,
        r"expected a graph of 6 nodes",
        (),
    ),
    ("Graph's class", lambda f: call(f, X, Graph), TypeError, GRAPH + "type", ()),
    (
        "CSR of another size",
        lambda f: call(f, X, torch.eye(7).to_sparse_csr()),
        ValueError,
        r"matrix \[6, 6\] .*got \[7, 7\]",
        (),
    ),
    (
        "COO not square",
        lambda f: call(f, X, torch.ones(6, 5).to_sparse()),
        ValueError,
        r"matrix \[6, 6\] .*got \[6, 5\]",
        (),
    ),
    (
        "BSR",
        lambda f: call(f, X, torch.eye(6).to_sparse_bsr((2, 2))),
        TypeError,
        r"expected a COO, CSR or CSC matrix, got",
        (),
    ),
    ("COO on meta", lambda f: call(f, X, torch.eye(6).to_sparse().to("meta")), EITHER, DEVICE, ()),
    ("three tensors", lambda f: call(f, (X, X, X), EDGES), KIND, r"x must be|tuple of features", ()),
    (
        "pair of texts",
        lambda f: call(f, ("a", "b"), EDGES),
        KIND,
        r"x must be|tuple of features|x_\w+ must be|x and x_target",
        (),
    ),
    (
        "no sources",
        lambda f: call(f, (None, X), EDGES),
        KIND,
        r"x must be|tuple of features|x_\w+ must be|x and x_target",
        (),
    ),
    (
        "unknown argument",
        lambda f: f(X, EDGES, TYPES, weights=1),
        TypeError,
        r"unexpected keyword argument 'weights'",
        (),
    ),
    (
        "second derivative",
        second_derivative,
        UNSUPPORTED,
        r"no second derivatives; create_graph=True is not supported",
        (),
    ),
    (
        "vmap",
        lambda f: torch.vmap(lambda x: call(f, x, EDGES))(torch.stack([X, X])),
        UNSUPPORTED,
        r"torch\.func .*not supported",
        (),
    ),
    (
        "torch.func.grad",
        lambda f: torch.func.grad(lambda x: call(f, x, EDGES).sum())(X),
        UNSUPPORTED,
        r"torch\.func .*not supp",
        (),
    ),
    (
        "torch.func.jvp",
        lambda f: torch.func.jvp(lambda x: call(f, x, EDGES), (X,), (X,)),
        UNSUPPORTED,
        r"torch\.func .*not supp",
        (),
    ),
    (
        "torch.func.jacrev",
        lambda f: torch.func.jacrev(lambda x: call(f, x, EDGES))(X),
        UNSUPPORTED,
        r"torch\.func .*not supp",
        (),
    ),
    ("x changed before backward", x_changed_before_backward, RuntimeError, r"modified by an inplace operation", ()),
]
CASES = [  # name, callable, exception, sentence
    # Making layers
    ("EGConv heads", lambda: EGConv(8, 15, num_heads=4), ValueError, r"out_channels \(15\) must be divisible .*\(4\)"),
    ("EGConv 0 channels", lambda: EGConv(0, 16), ValueError, r"must be at least 1"),
    ("EGConv -5 channels", lambda: EGConv(-5, 16), ValueError, r"must be at least 1"),
    ("EGConv -16 outputs", lambda: EGConv(8, -16), ValueError, r"must be at least 1"),
    ("EGConv 0 heads", lambda: EGConv(8, 16, num_heads=0), ValueError, r"must be at least 1"),
    ("EGConv 0 bases", lambda: EGConv(8, 16, num_bases=0), ValueError, r"must be at least 1"),
    ("EGConv channels a text", lambda: EGConv("8", 16), TypeError, r"EGConv: .*channels"),
    ("EGConv channels None", lambda: EGConv(None, 16), TypeError, r"EGConv: .*channels"),
    ("EGConv channels 8.5", lambda: EGConv(8.5, 16), KIND, r"EGConv: .*channels"),
    ("EGConv outputs 16.0", lambda: EGConv(8, 16.0), TypeError, r"EGConv: .*channels"),
    ("EGConv heads 2.0", lambda: EGConv(8, 16, num_heads=2.0), TypeError, r"EGConv: .*heads"),
    ("EGConv aggregator", lambda: EGConv(8, 16, ["nope"]), ValueError, r"Unsupported aggregator 'nope'; known"),
    ("EGConv aggregators a text", lambda: EGConv(8, 16, "symnorm"), KIND, r"EGConv: .*aggregator"),
    ("EGConv aggregators nested", lambda: EGConv(8, 16, [["add"]]), KIND, r"EGConv: .*aggregator"),
    ("EGConv aggregator twice", lambda: EGConv(8, 16, ["add", "sum"]), ValueError, r"expected different aggregators"),
    ("EGConv activation", lambda: EGConv(8, 16, activation="relu"), ValueError, r'unknown activation "relu"; known'),
    ("EGConv self_loops", lambda: EGConv(8, 16, self_loops="some"), ValueError, r'unknown self_loops "some"; known'),
    ("EGConv flow", lambda: EGConv(8, 16, flow="up"), ValueError, r"flow must be one of .*got 'up'"),
    ("EGConv option", lambda: EGConv(8, 16, head=3), TypeError, r"EGConv: unknown argument 'head'"),
    ("EGConv node_dim", lambda: EGConv(8, 16, node_dim=5), ValueError, r"node_dim must be one of"),
    ("GCNConv -5 channels", lambda: GCNConv(-5, 16), ValueError, r"channels"),
    ("GCNConv -1 outputs", lambda: GCNConv(8, -1), ValueError, r"GCNConv: .*channels"),
    ("GCNConv 0 outputs", lambda: GCNConv(8, 0), ValueError, r"GCNConv: .*channels"),
    ("GCNConv channels a text", lambda: GCNConv("8", 16), TypeError, r"GCNConv: .*channels"),
    ("GCNConv channels None", lambda: GCNConv(None, 16), TypeError, r"GCNConv: .*channels"),
    ("GCNConv aggr", lambda: gcn(aggr="nope"), ValueError, r"GCNConv: .*aggr.*nope"),
    ("GCNConv aggr a list", lambda: GCNConv(8, 16, aggr=["add"]), KIND, r"GCNConv: aggr must be"),
    (
        "GCNConv loops",
        lambda: GCNConv(8, 16, normalize=False, add_self_loops=True),
        ValueError,
        r"does not support adding self-loops",
    ),
    ("SAGEConv aggr", lambda: SAGEConv(8, 16, aggr="nope"), ValueError, r"nope"),
    ("SAGEConv aggr None", lambda: SAGEConv(8, 16, aggr=None), KIND, r"SAGEConv: .*aggr"),
    ("SAGEConv channels a text", lambda: SAGEConv("8", 16), TypeError, r"SAGEConv: .*channels"),
    ("SAGEConv three channels", lambda: SAGEConv((8, 8, 8), 16), KIND, r"SAGEConv: .*channels"),
    (
        "SAGEConv lazy project",
        lambda: SAGEConv(-1, 16, project=True),
        ValueError,
        r"project=True does not support lazy",
    ),
    ("GINConv without network", lambda: GINConv(None), TypeError, r"GINConv: nn"),
    ("GINConv eps a text", lambda: GINConv(nn.Linear(8, 8), eps="a"), TypeError, r"GINConv: eps"),
    (
        "GINConv aggr",
        lambda: made(GINConv(nn.Linear(8, 8), aggr="nope"))(X, EDGES),
        ValueError,
        r"GINConv: .*aggr.*nope",
    ),
    ("GATConv 0 heads", lambda: GATConv(8, 4, heads=0), ValueError, r"GATConv: .*heads"),
    ("GATConv -4 outputs", lambda: GATConv(8, -4), ValueError, r"GATConv: .*channels"),
    ("GATConv dropout 2", lambda: GATConv(8, 4, dropout=2.0), ValueError, r"GATConv: dropout"),
    ("GATConv slope a text", lambda: GATConv(8, 4, negative_slope="a"), TypeError, r"GATConv: negative_slope"),
    ("GATConv edge_dim -1", lambda: GATConv(8, 4, edge_dim=-3), ValueError, r"GATConv: edge_dim"),
    ("GATConv aggr", lambda: GATConv(8, 4, aggr="max"), ValueError, r"aggr must be add, got 'max'"),
    ("GATConv fill", lambda: gat(EDGES, FEATURES, edge_dim=3, fill_value="nope"), ValueError, r"GATConv: .*fill_value"),
    ("GATv2Conv three channels", lambda: GATv2Conv((8, 8, 8), 4), KIND, r"GATv2Conv: .*channels"),
    (
        "PNAConv aggregator",
        lambda: PNAConv(8, 16, ["nope"], ["identity"], DEGREES),
        ValueError,
        r"unknown aggregator 'nope'; known",
    ),
    (
        "PNAConv scaler",
        lambda: PNAConv(8, 16, ["mean"], ["nope"], DEGREES),
        ValueError,
        r"unknown scaler 'nope'; known",
    ),
    (
        "PNAConv towers",
        lambda: PNAConv(8, 16, ["mean"], ["identity"], DEGREES, towers=3),
        ValueError,
        r"divisible by 3 towers",
    ),
    (
        "PNAConv 0 towers",
        lambda: PNAConv(8, 16, ["mean"], ["identity"], DEGREES, towers=0),
        ValueError,
        r"PNAConv: .*towers",
    ),
    ("PNAConv deg a list", lambda: PNAConv(8, 16, ["mean"], ["identity"], [1, 2]), TypeError, r"PNAConv: deg"),
    ("PNAConv deg None", lambda: PNAConv(8, 16, ["mean"], ["identity"], None), TypeError, r"PNAConv: deg"),
    ("PNAConv deg of zeros", lambda: PNAConv(8, 16, ["mean"], ["identity"], DEGREES * 0), ValueError, r"PNAConv: deg"),
    (
        "PNAConv act",
        lambda: PNAConv(8, 16, ["mean"], ["identity"], DEGREES, pre_layers=2, act="nope"),
        ValueError,
        r"unknown activation 'nope'",
    ),
    (
        "RGCNConv bases and blocks",
        lambda: RGCNConv(8, 16, 3, num_bases=2, num_blocks=2),
        ValueError,
        r"exclude each other",
    ),
    ("RGCNConv blocks", lambda: RGCNConv(8, 16, 3, num_blocks=3), ValueError, r"must be divisible by 3 blocks"),
    ("RGCNConv relations", lambda: RGCNConv(8, 16, -1), ValueError, r"RGCNConv: .*num_relations"),
    ("REGCConv relations", lambda: REGCConv(8, 16, -1), ValueError, r"REGCConv: .*num_relations"),
    ("REGCConv heads", lambda: REGCConv(8, 15, 3), ValueError, r"out_channels \(15\) must be divisible .*\(4\)"),
    ("REGCConv aggregator", lambda: REGCConv(8, 16, 3, ["nope"]), ValueError, r"unknown aggregator 'nope'; known"),
    # Widths that are learned, and parts that do not fit
    (
        "lazy EGConv, then narrower",
        lambda: after_first(EGConv(-1, 16), X[:, :4]),
        ValueError,
        r"x must be \[N, 8\], got \[6, 4\]",
    ),
    (
        "lazy EGConv, then far wider",
        lambda: after_first(EGConv(-1, 16), torch.randn(NODES, 100000)),
        ValueError,
        r"x must be \[N, 8\], got \[6, 100000\]",
    ),
    (
        "lazy GCNConv, then narrower",
        lambda: after_first(GCNConv(-1, 16), X[:, :4]),
        ValueError,
        r"x must be .*8\], got \[6, 4\]",
    ),
    (
        "lazy GATConv, then narrower",
        lambda: after_first(GATConv(-1, 4), X[:, :4]),
        ValueError,
        r"x must be .*8\], got \[6, 4\]",
    ),
    ("bases too few", lambda: with_part("bases_lin", nn.Linear(8, 1, bias=False)), EITHER, r"bases"),
    (
        "bases of another width",
        lambda: with_part("bases_lin", nn.Linear(2, 12, bias=False)),
        EITHER,
        r"bases|x must be|shape",
    ),
    ("bases too few, composed", lambda: with_part("bases_lin", nn.Sequential(nn.Linear(8, 5))), EITHER, r"bases"),
    ("bases passed through", lambda: with_part("bases_lin", nn.Identity()), EITHER, r"bases"),
    ("bases None", lambda: with_part("bases_lin", None), TypeError, r"bases_lin"),
    ("weights too few", lambda: with_part("comb_lin", nn.Linear(8, 1)), EITHER, r"comb|weights"),
    (
        "weights too few, composed",
        lambda: with_part("comb_lin", nn.Sequential(nn.Linear(8, 1))),
        EITHER,
        r"comb|weights",
    ),
    ("weights of doubles", lambda: with_part("comb_lin", nn.Linear(8, 24).double()), TypeError, r"same dtype"),
    (
        "weights' bias of doubles",
        lambda: changed(lambda f: setattr(f.comb_lin, "bias", nn.Parameter(f.comb_lin.bias.double()))),
        TypeError,
        r"same dtype",
    ),
    (
        "bases of doubles",
        lambda: with_part("bases_lin", nn.Linear(8, 12, bias=False).double()),
        TypeError,
        r"same dtype",
    ),
    ("weights on meta", lambda: changed(lambda f: f.comb_lin.to("meta")), EITHER, DEVICE),
    ("bias on meta", lambda: with_part("bias", nn.Parameter(torch.zeros(16, device="meta"))), EITHER, DEVICE),
    ("bias of doubles", lambda: with_part("bias", nn.Parameter(torch.zeros(16).double())), TypeError, r"same dtype"),
    ("bias too short", lambda: with_part("bias", nn.Parameter(torch.zeros(1))), EITHER, r"bias"),
    (
        "parameters of a call too small",
        lambda: torch.func.functional_call(made("EGConv"), {"comb_lin.weight": torch.zeros(1, 1)}, (X, EDGES)),
        EITHER,
        r"comb|weight",
    ),
    (
        "state of another layer",
        lambda: made("EGConv").load_state_dict(EGConv(9, 16, num_heads=4).state_dict()),
        RuntimeError,
        r"size mismatch",
    ),
    # Edge weights
    ("weight a list", lambda: egc(weight=WEIGHT.tolist()), TypeError, r"edge_weight must be a tensor, got list"),
    ("weight of numpy", lambda: egc(weight=WEIGHT.numpy()), TypeError, r"edge_weight must be a tensor, got ndarray"),
    ("weight a text", lambda: egc(weight="w"), TypeError, r"edge_weight must be a tensor, got str"),
    ("weight too short", lambda: egc(weight=WEIGHT[:3]), ValueError, r"7 edges need edge_weight \[7\], got \[3\]"),
    ("weight 2-D", lambda: egc(weight=WEIGHT[:, None]), ValueError, r"7 edges need edge_weight \[7\], got \[7, 1\]"),
    ("weight 0-D", lambda: egc(weight=torch.tensor(1.0)), ValueError, r"7 edges need edge_weight \[7\], got \[\]"),
    ("weight NaN", lambda: egc(weight=WEIGHT * float("nan")), ValueError, r"weight of edge 0 must be finite, got nan"),
    ("weight infinite", lambda: egc(weight=WEIGHT / 0), ValueError, r"weight of edge 0 must be finite, got inf"),
    (
        "weight complex",
        lambda: egc(weight=WEIGHT.to(torch.complex64)),
        TypeError,
        r"edge_weight must be of numbers, got complex64",
    ),
    ("weight of bools", lambda: egc(weight=WEIGHT > 1), TypeError, r"edge_weight must be of numbers, got bool"),
    ("weight quantized", lambda: egc(weight=quantized(WEIGHT)), KIND, r"edge_weight must be"),
    ("weight sparse", lambda: egc(weight=WEIGHT.to_sparse()), KIND, r"edge_weight must be"),
    ("weight on meta", lambda: egc(weight=WEIGHT.to("meta")), EITHER, DEVICE),
    (
        "weight with gradient",
        lambda: egc(weight=WEIGHT.clone().requires_grad_()),
        ValueError,
        r"constants, without gradient; detach",
    ),
    (
        "values with gradient",
        lambda: egc(edges=coo(WEIGHT).requires_grad_()),
        ValueError,
        r"constants, without gradient; detach",
    ),
    (
        "weight and a Graph",
        lambda: egc(edges=Graph(EDGES, 6), weight=WEIGHT),
        ValueError,
        r"has its edge weights already",
    ),
    (
        "weight and a matrix",
        lambda: egc(edges=coo(WEIGHT), weight=WEIGHT),
        ValueError,
        r"has its edge weights as values",
    ),
    (
        "Graph against the flow",
        lambda: egc(edges=Graph(EDGES, 6), flow="target_to_source"),
        ValueError,
        r"takes an edge_index, not an",
    ),
    ("EGConv pair with loops", lambda: egc((X, X[:4])), ValueError, r"takes add_self_loops=False"),
    (
        "EGConv pair of widths",
        lambda: egc((X, X[:, :3]), add_self_loops=False),
        ValueError,
        r"x_target must be \[N, 8\], got \[6, 3\]",
    ),
    ("GCNConv weight on meta", lambda: gcn(weight=WEIGHT.to("meta")), EITHER, DEVICE),
    (
        "GCNConv weight too short",
        lambda: gcn(weight=WEIGHT[:3].clone().requires_grad_()),
        ValueError,
        r"7 edges need edge_weight \[7\]",
    ),
    (
        "GCNConv negative id, weight's gradient",
        lambda: gcn(edges=NEGATIVE, weight=WEIGHT.clone().requires_grad_()),
        ValueError,
        r"must be in \[0, 6\), got -1",
    ),
    (
        "GCNConv large id, weight's gradient",
        lambda: gcn(edges=EDGES + 1, weight=WEIGHT.clone().requires_grad_()),
        ValueError,
        r"must be in \[0, 6\), got 6",
    ),
    (
        "GCNConv negative id, mul",
        lambda: gcn(edges=NEGATIVE, aggr="mul", normalize=False),
        ValueError,
        r"must be in \[0, 6\), got -1",
    ),
    (
        "GCNConv negative id, doubles",
        lambda: made(GCNConv(8, 16)).double()(X.double(), NEGATIVE, WEIGHT.double()),
        ValueError,
        r"must be in \[0, 6\), got -1",
    ),
    (
        "SAGEConv negative id, mul",
        lambda: made(SAGEConv(8, 16, aggr="mul"))(X, NEGATIVE),
        ValueError,
        r"must be in \[0, 6\), got -1",
    ),
    # Features of edges, relations, sizes
    (
        "GATConv negative id, features",
        lambda: gat(NEGATIVE, FEATURES, edge_dim=3),
        ValueError,
        r"must be in \[0, 6\), got -1",
    ),
    ("GATConv negative id, dropout", lambda: gat(NEGATIVE, dropout=0.5), ValueError, r"must be in \[0, 6\), got -1"),
    (
        "GATConv negative id, attention",
        lambda: gat(NEGATIVE, None, None, True),
        ValueError,
        r"must be in \[0, 6\), got -1",
    ),
    (
        "GATv2Conv large id, features",
        lambda: gat(EDGES + 1, FEATURES, kind=GATv2Conv, edge_dim=3),
        ValueError,
        r"in \[0, 6\), got 6",
    ),
    ("GATConv features too few", lambda: gat(EDGES, FEATURES[:3], edge_dim=3), ValueError, r"edge_attr .*got \[3, 3\]"),
    (
        "GATConv features of one edge",
        lambda: gat(EDGES, FEATURES[:1], edge_dim=3, add_self_loops=False),
        ValueError,
        r"edge_attr .*got \[1, 3\]",
    ),
    (
        "GATv2Conv features of one edge",
        lambda: gat(EDGES, FEATURES[:1], kind=GATv2Conv, edge_dim=3, add_self_loops=False),
        ValueError,
        r"edge_attr .*got \[1, 3\]",
    ),
    (
        "GATConv features too wide",
        lambda: gat(EDGES, torch.randn(7, 4), edge_dim=3),
        ValueError,
        r"edge_attr .*got \[7, 4\]",
    ),
    ("GATConv features 1-D", lambda: gat(EDGES, torch.randn(7), edge_dim=3), ValueError, r"edge_attr .*got \[7, 1\]"),
    ("GATConv features 0-D", lambda: gat(EDGES, torch.tensor(1.0), edge_dim=3), ValueError, r"edge_attr .*got \[\]"),
    (
        "GATConv features a list",
        lambda: gat(EDGES, FEATURES.tolist(), edge_dim=3),
        TypeError,
        r"edge_attr must be a tensor of floats, got list",
    ),
    (
        "GATConv features of numpy",
        lambda: gat(EDGES, FEATURES.numpy(), edge_dim=3),
        TypeError,
        r"edge_attr must be a tensor of floats, got float32",
    ),
    (
        "GATConv features of doubles",
        lambda: gat(EDGES, FEATURES.double(), edge_dim=3),
        TypeError,
        r"edge_attr must be torch.float32",
    ),
    (
        "GATv2Conv features unexpected",
        lambda: gat(EDGES, FEATURES, kind=GATv2Conv),
        ValueError,
        r"edge_attr needs edge_dim",
    ),
    (
        "GATConv pair of widths",
        lambda: made(GATConv((8, 8), 4))((X, X[:, :3]), EDGES),
        ValueError,
        r"x_?\w* must be .*got \[6, 3\]",
    ),
    ("GATConv pair too small", lambda: made(GATConv((8, 8), 4))((X, X[:2]), EDGES), ValueError, r"in \[0, 2\), got"),
    ("PNAConv features unexpected", lambda: pna(FEATURES), ValueError, r"edge_attr needs edge_dim"),
    ("PNAConv features missing", lambda: pna(edge_dim=3), ValueError, r"edge_attr"),
    ("PNAConv features too few", lambda: pna(FEATURES[:3], edge_dim=3), ValueError, r"edge_attr .*got \[3, 3\]"),
    (
        "PNAConv features a text",
        lambda: pna("a", edge_dim=3),
        TypeError,
        r"edge_attr must be a tensor of floats, got str",
    ),
    (
        "relations a list",
        lambda: related(types=TYPES.tolist()),
        TypeError,
        r"edge_type must be an int64 tensor \[E\], got list",
    ),
    ("relations None", lambda: related(types=None), KIND, r"edge_type"),
    (
        "relations of floats",
        lambda: related(types=TYPES.float()),
        TypeError,
        r"edge_type must be an int64 tensor \[E\], got torch.float32",
    ),
    (
        "relations int32",
        lambda: related(types=TYPES.int()),
        TypeError,
        r"edge_type must be an int64 tensor \[E\], got torch.int32",
    ),
    ("relations too few", lambda: related(types=TYPES[:3]), ValueError, r"7 edges need edge_type \[7\], got \[3\]"),
    ("relations 2-D", lambda: related(types=TYPES[None]), ValueError, r"7 edges need edge_type \[7\], got \[1, 7\]"),
    ("relation -1", lambda: related(types=TYPES - 1), ValueError, r"edge_type must be from 0 to 2, got -1"),
    (
        "relation 3",
        lambda: related(RGCNConv, types=TYPES + 1),
        ValueError,
        r"edge_type must be from 0 to 2, got 1 to 3",
    ),
    ("relation 2^40", lambda: related(RGCNConv, types=TYPES + 2**40), ValueError, r"edge_type must be from 0 to 2"),
    ("relations on meta", lambda: related(types=TYPES.to("meta")), EITHER, DEVICE),
    ("RGCNConv id -1", lambda: related(RGCNConv, torch.arange(6) - 1), ValueError, r"RGCNConv: x .*got -1"),
    ("RGCNConv id 8", lambda: related(RGCNConv, torch.arange(6) + 3), ValueError, r"RGCNConv: x .*got .*8"),
    (
        "RGCNConv ids of bools",
        lambda: related(RGCNConv, torch.ones(8, dtype=torch.bool)),
        TypeError,
        r"RGCNConv: x must be",
    ),
    (
        "RGCNConv ids uint8",
        lambda: related(RGCNConv, torch.arange(6).to(torch.uint8)),
        TypeError,
        r"RGCNConv: x must be",
    ),
    ("size a number", lambda: made("SAGEConv")((X, None), EDGES, size=6), KIND, r"SAGEConv: size"),
    ("size a text", lambda: made("SAGEConv")((X, None), EDGES, size="ab"), KIND, r"SAGEConv: size"),
    ("size of one", lambda: made("SAGEConv")((X, None), EDGES, size=(6,)), KIND, r"SAGEConv: size"),
    ("size of floats", lambda: made("SAGEConv")((X, None), EDGES, size=(6, 6.0)), KIND, r"SAGEConv: size"),
    (
        "size -1",
        lambda: made("SAGEConv")((X, None), EDGES[:, :0], size=(6, -1)),
        ValueError,
        r"must not be negative|SAGEConv: size",
    ),
    ("size 2^40", lambda: made("SAGEConv")((X, None), EDGES, size=(6, 2**40)), ValueError, r"2147483647"),
    ("size of other sources", lambda: made("SAGEConv")((X, None), EDGES, size=(7, 6)), ValueError, r"SAGEConv: size"),
    (
        "size of other targets",
        lambda: made("SAGEConv")((X, X[:3]), EDGES[:, :2], size=(6, 6)),
        ValueError,
        r"size \(6, 6\) does not fit",
    ),
    ("SAGEConv without targets", lambda: made("SAGEConv")((X, None), EDGES), ValueError, r"their number is needed"),
    # Derivatives
    ("forward mode of x", lambda: forward_mode(of_x=True), UNSUPPORTED, r"forward-mode derivatives .*not supported"),
    ("forward mode of parameters", lambda: forward_mode(of_parameters=True), UNSUPPORTED, r"forward.mode"),
    (
        "torch.func.grad of parameters",
        lambda: of_parameters(made("EGConv"), torch.func.grad),
        UNSUPPORTED,
        r"torch\.func .*not supported",
    ),
    (
        "Hessian",
        lambda: torch.autograd.functional.hessian(lambda x: made("EGConv")(x, EDGES).pow(2).sum(), X),
        UNSUPPORTED,
        r"no second derivatives",
    ),
    ("backward twice", lambda: twice(False), RuntimeError, r"backward through the graph a second time"),
]


def coo(values, edges=EDGES, nodes=NODES):
    """The matrix of targets by sources."""
    return torch.sparse_coo_tensor(edges.flip(0), values, (nodes, nodes))


def twice(retain):
    y = made("EGConv")(X.clone().requires_grad_(), EDGES).pow(2).sum()
    y.backward(retain_graph=retain)
    y.backward()


def outcome(function):
    """What a call gives: ("returned", value, []) or ("raised", sentence, names of classes)."""
    try:
        return "returned", repr(function())[:100].replace("\n", " "), []
    except BaseException as error:
        return "raised", str(error), [kind.__name__ for kind in type(error).__mro__]


def apart(functions):
    """The outcomes of calls in another process; where it dies, ("died", status, []), and the rest in a new one."""
    out = []
    while len(out) < len(functions):
        sys.stdout.flush()
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                with os.fdopen(write, "wb") as pipe:
                    for function in functions[len(out) :]:
                        signal.alarm(SECONDS)
                        pickle.dump(outcome(function), pipe)
                        pipe.flush()
            finally:
                os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            while True:
                try:
                    out.append(pickle.load(pipe))
                except EOFError:
                    break
        status = os.waitpid(child, 0)[1]
        if len(out) < len(functions):
            out.append(("died", f"with status {status}", []))
    return out


class BadInput(unittest.TestCase):
    def check(self, cases):
        """Cases: name, callable, exceptions, sentence."""
        for (name, _, kinds, sentence), (what, text, classes) in zip(cases, apart([case[1] for case in cases])):
            with self.subTest(name):
                self.assertEqual(what, "raised", text)
                names = [kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,))]
                self.assertTrue(set(names) & set(classes), f"{classes[0]}, expected {names}: {text}")
                self.assertRegex(text, sentence)

    def test_every_layer(self):
        self.check(
            [
                (f"{layer}: {name}", lambda f=function, layer=layer: f(made(layer)), kinds, sentence)
                for name, function, kinds, sentence, exceptions in MISTAKES
                for layer in LAYERS
                if layer not in exceptions
            ]
        )

    def test_cases(self):
        self.check(CASES)

    def test_names_differ(self):
        for table in (MISTAKES, CASES):
            names = [case[0] for case in table]
            self.assertEqual(len(names), len(set(names)))


def expected(conv, x, edges=EDGES, weight=None):
    """EGC by its definition, for symnorm and add without self-loops, of whatever its parts compute."""
    nodes = x.size(0)
    weight = torch.ones(edges.size(1)) if weight is None else weight
    matrix = torch.zeros(nodes, nodes, dtype=x.dtype)
    matrix.index_put_((edges[1], edges[0]), weight.to(x.dtype), accumulate=True)
    scale = matrix.sum(1).pow(-0.5)
    scale = scale.masked_fill(scale == float("inf"), 0)
    bases = conv.bases_lin(x).view(nodes, conv.num_bases, -1)
    weights = conv.comb_lin(x).view(nodes, conv.num_heads, 2 * conv.num_bases)
    parts = [torch.einsum("ts,sbf->tbf", m, bases) for m in (scale[:, None] * matrix * scale, matrix)]
    return torch.bmm(weights, torch.cat(parts, 1)).reshape(nodes, -1) + conv.bias


def simple(seed=0):
    return made(EGConv(WIDTH, 16, ["symnorm", "add"], 4, 3, add_self_loops=False), seed)


def gradients(layer, x, edges=EDGES, *more):
    x = x.detach().clone().requires_grad_()
    layer.zero_grad()
    layer(x, edges, *more).pow(2).sum().backward()
    return [x.grad] + [p.grad.clone() for p in layer.parameters() if p.grad is not None]


def random_graph(nodes, edges, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, nodes, (2, edges), generator=generator)


class InChild(torch.utils.data.Dataset):
    """Computes a layer in the workers of a DataLoader."""

    def __init__(self, layer):
        self.layer = layer

    def __len__(self):
        return 4

    def __getitem__(self, k):
        with torch.no_grad():
            return self.layer(X * k, EDGES)


class Behaviour(unittest.TestCase):
    def close(self, ours, theirs, tolerance=1e-5):
        self.assertEqual(ours.shape, theirs.shape)
        if theirs.numel():
            error, scale = (ours - theirs).abs().max().item(), max(1, theirs.abs().max().item())
            self.assertLessEqual(error, tolerance * scale)

    # What is valid

    def test_definition(self):
        self.close(simple()(X, EDGES), expected(simple(), X))
        self.close(simple()(X, EDGES, WEIGHT), expected(simple(), X, EDGES, WEIGHT))

    def test_empty(self):
        for name in LAYERS:
            with self.subTest(name):
                layer = made(name)
                for edges, types in ((EDGES[:, :0], TYPES[:0]), (torch.empty(2, 0, dtype=torch.int64), TYPES[:0])):
                    y = call(layer, X.clone().requires_grad_(), edges, types)
                    self.assertEqual(y.size(0), NODES)
                    self.assertTrue(torch.isfinite(y).all())
                    y.sum().backward()
                    y = call(layer, X[:0].clone().requires_grad_(), edges, types)
                    self.assertEqual(y.size(0), 0)
                    y.sum().backward()

    def test_not_contiguous(self):
        x, edges = X.t().contiguous().t(), EDGES.t().contiguous().t()
        wide = torch.randn(NODES, 2 * WIDTH)
        for name in LAYERS:
            with self.subTest(name):
                layer = made(name)
                self.close(call(layer, x, edges), call(layer, X, EDGES), 2e-6)
                self.close(call(layer, wide[:, ::2], EDGES), call(layer, wide[:, ::2].clone(), EDGES), 2e-6)
                rows = X[:1].expand(NODES, WIDTH)
                self.close(call(layer, rows, EDGES), call(layer, rows.clone(), EDGES), 2e-6)
        weight = torch.rand(2 * EDGES.size(1))
        self.close(egc(weight=weight[::2]), egc(weight=weight[::2].clone()))

    def test_same_storage_other_strides(self):
        flat = random_graph(NODES, 6, 3).flatten()
        views = ((2, 6), (6, 1), 0), ((2, 6), (1, 2), 0), ((2, 6), (6, 1), 0), ((2, 5), (1, 2), 1)
        for edges in (flat.as_strided(*view) for view in views):
            self.close(simple()(X, edges), expected(simple(), X, edges))

    def test_lazily_negative_tensors(self):
        """Tensors whose minus sign is only a bit, as the imaginary part of a conjugate has it."""
        x = torch.complex(torch.zeros(1, 1), torch.ones(1, 1)).conj().imag
        self.assertTrue(x.is_neg())
        loop = torch.tensor([[0], [0]])
        layers = [EGConv(1, 4, num_heads=2), GCNConv(1, 4), SAGEConv(1, 4), GATConv(1, 4), GINConv(nn.Identity())]
        for layer in layers:
            with self.subTest(type(layer).__name__):
                self.close(made(layer)(x, loop), layer(x.clone().mul(1), loop))
        layer = simple()
        x = X.clone().requires_grad_()
        layer(x, EDGES).backward(torch._neg_view(torch.ones(NODES, 16)))
        lazily, x.grad = x.grad, None
        layer(x, EDGES).backward(-torch.ones(NODES, 16))
        self.close(lazily, x.grad)

    def test_weight_gradients(self):
        weight = WEIGHT.double().requires_grad_()
        layer = made("GCNConv").double()
        self.assertTrue(torch.autograd.gradcheck(lambda w: layer(X.double(), EDGES, w), (weight,)))
        with torch.no_grad():
            self.close(egc(weight=WEIGHT.clone().requires_grad_()), egc(weight=WEIGHT))

    def test_double_and_back(self):
        for name in LAYERS:
            with self.subTest(name):
                layer = made(name)
                y = call(layer, X, EDGES)
                self.close(call(copy.deepcopy(layer).double(), X.double(), EDGES).float(), y, 1e-4)
                self.assertTrue(torch.equal(call(copy.deepcopy(layer).double().float(), X, EDGES), y))
                if HAS_HALF_LINEAR:
                    half = call(copy.deepcopy(layer).half(), X.half(), EDGES)
                    self.assertEqual(half.dtype, torch.float16)
                    self.close(half.float(), y, 0.1)
                self.close(call(copy.deepcopy(layer).bfloat16(), X.bfloat16(), EDGES).float(), y, 0.3)

    def test_autocast(self):
        for name in LAYERS:
            with self.subTest(name):
                layer = made(name)
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    y = call(layer, X.clone().requires_grad_(), EDGES)
                    self.close(y.float(), call(layer, X, EDGES).float(), 0.3)
                y.float().sum().backward()
                self.close(y.float(), call(layer, X, EDGES), 0.3)

    # Writes that must be seen

    def test_edges_written(self):
        other = EDGES[:, torch.arange(6, -1, -1)] % 5
        ways = {
            "in place": lambda e: e.copy_(other),
            "data": lambda e: e.data.copy_(other),
            "numpy": lambda e: e.numpy().__setitem__(..., other.numpy()),
            "item": lambda e: e.__setitem__((0, 0), 4),
            "set_": lambda e: e.set_(other.clone()),
        }
        for name, write in ways.items():
            with self.subTest(name):
                layer, edges = simple(), EDGES.clone()
                layer(X, edges)
                write(edges)
                self.close(layer(X, edges), expected(layer, X, edges))
        edges, types = EDGES.clone(), TYPES.clone()
        for kind in (RGCNConv, REGCConv):
            before = related(kind, edges=edges, types=types)
            types.numpy()[:] = TYPES.flip(0).numpy()
            self.close(related(kind, edges=edges, types=types), related(kind, types=TYPES.flip(0).clone()))
            self.assertGreater((related(kind, edges=edges, types=types) - before).abs().max().item(), 1e-3)
            types.copy_(TYPES)

    def test_weights_written(self):
        weight = WEIGHT.clone()
        layers = (simple(), made("GCNConv"))
        for layer in layers:
            layer(X, EDGES, weight)
        weight.numpy()[:] *= 3
        self.close(layers[0](X, EDGES, weight), expected(layers[0], X, EDGES, weight))
        self.close(layers[1](X, EDGES, weight), made("GCNConv")(X.clone(), EDGES.clone(), (WEIGHT * 3).clone()))

    def test_values_written(self):
        kinds = torch.Tensor.coalesce, torch.Tensor.to_sparse_csr, torch.Tensor.to_sparse_csc
        layouts = dict(zip(("COO", "CSR", "CSC"), kinds))
        for name, layout in layouts.items():
            with self.subTest(name):
                layer, matrix = simple(), layout(coo(WEIGHT.clone()))
                self.close(layer(X, matrix), expected(layer, X, EDGES, WEIGHT))
                matrix.values().data.mul_(2)
                self.close(layer(X, matrix), expected(layer, X, EDGES, WEIGHT * 2))
                matrix.values().data.fill_(1)
                self.close(layer(X, matrix), expected(layer, X))

    def test_graph_is_a_copy(self):
        edges, weight, layer = EDGES.clone(), WEIGHT.clone(), simple()
        graph = Graph(edges, NODES, weight)
        edges.zero_()
        weight.zero_()
        self.close(layer(X, graph), expected(layer, X, EDGES, WEIGHT))

    # Equal keys that must not be mixed up

    def test_number_of_nodes(self):
        layer = simple()
        for nodes in (6, 7, 9, 6):
            x = torch.randn(nodes, WIDTH)
            self.close(layer(x, EDGES), expected(layer, x))

    def test_flow(self):
        torch.manual_seed(0)
        there = simple()
        back = EGConv(WIDTH, 16, ["symnorm", "add"], 4, 3, add_self_loops=False, flow="target_to_source")
        back.load_state_dict(there.state_dict())
        for weight in (WEIGHT, None, WEIGHT):
            self.close(there(X, EDGES, weight), expected(there, X, EDGES, weight))
            self.close(back(X, EDGES, weight), expected(there, X, EDGES.flip(0), weight))
        for weight in (WEIGHT, None):
            self.close(gcn(weight=weight, flow="target_to_source"), gcn(edges=EDGES.flip(0), weight=weight))

    def test_weight_dtypes_with_equal_bits(self):
        """The same bits as halves and as brain floats are other weights."""
        half = (torch.rand(EDGES.size(1)) + 0.5).half()
        brain = half.view(torch.bfloat16)
        for layer in (simple(), made("GCNConv")):
            with self.subTest(type(layer).__name__):
                for weight in (half, brain):
                    fresh = copy.deepcopy(layer)
                    self.close(layer(X, EDGES, weight), fresh(X, EDGES, weight.float()))

    def test_values_with_equal_bits(self):
        """The same bits as floats and as integers are other matrices."""
        values, layer = WEIGHT * 1.25, simple()
        floats = coo(values).to_sparse_csr()
        bits = floats.values().view(torch.int32)
        whole = torch.sparse_csr_tensor(floats.crow_indices(), floats.col_indices(), bits, floats.shape)
        first = layer(X, whole)  # whatever whole numbers mean
        self.close(layer(X, floats), expected(layer, X, EDGES, values))
        self.close(layer(X, whole), first)

    def test_integer_values(self):
        """A matrix of whole numbers has weights, as egc.Graph and EGC's edge_weight take them."""
        counts = torch.arange(1, 8)
        layer = simple()
        self.close(layer(X, EDGES, counts), expected(layer, X, EDGES, counts))
        self.close(layer(X, coo(counts).coalesce()), expected(layer, X, EDGES, counts))

    def test_relations(self):
        for kind in (RGCNConv, REGCConv):
            layers = [made(kind(WIDTH, 16, n)) for n in (3, 4, 3)]
            for layer in layers:
                y = layer(X, EDGES, TYPES)
                self.close(y, copy.deepcopy(layer)(X.clone(), EDGES.flip(1), TYPES.flip(0)))
            self.close(layers[0](X, EDGES, TYPES), layers[2](X, EDGES, TYPES))

    def test_two_sets_of_nodes(self):
        layer = made("SAGEConv")
        edges = torch.tensor([[0, 1, 2, 5], [0, 1, 2, 1]])
        one = layer((X, X[:3]), edges)
        self.close(layer(X, edges)[:3], one)
        self.close(layer((torch.cat([X, X]), X[:3]), edges), one)
        self.close(layer((X, X[:4]), edges)[:3], one)

    # Copies and states

    def test_copies(self):
        for name in LAYERS:
            with self.subTest(name):
                layer = made(name)
                y = call(layer, X, EDGES)
                stream = io.BytesIO()
                torch.save(layer, stream)
                stream.seek(0)
                options = {} if torch.__version__ < "1.13" else {"weights_only": False}
                copies = [copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)), torch.load(stream, **options)]
                copies.append(made(type(layer).__name__, 1))
                copies[-1].load_state_dict(layer.state_dict())
                for other in copies:
                    self.assertTrue(torch.equal(call(other, X, EDGES), y))
                    with torch.no_grad():
                        next(other.parameters()).add_(1)
                self.assertTrue(torch.equal(call(layer, X, EDGES), y))

    def test_lazy_copies(self):
        layer = EGConv(-1, 16, ["symnorm", "add"], 4, 3, add_self_loops=False)
        other = copy.deepcopy(layer)
        layer(X, EDGES)
        other(X[:, :4], EDGES)
        self.close(layer(X, EDGES), expected(layer, X))
        self.close(other(X[:, :4], EDGES), expected(other, X[:, :4]))
        fresh = EGConv(-1, 16, ["symnorm", "add"], 4, 3, add_self_loops=False)
        fresh.load_state_dict(layer.state_dict())
        self.close(fresh(X, EDGES), layer(X, EDGES))

    # Modules changed by the user

    def test_hooks(self):
        seen = []
        layer = simple()
        y = layer(X, EDGES)
        handles = [
            layer.bases_lin.register_forward_hook(lambda m, i, o: o * 2),
            layer.comb_lin.register_forward_pre_hook(lambda m, i: seen.append("pre")),
            layer.comb_lin.register_full_backward_hook(lambda *_: seen.append("backward")),
            layer.register_forward_hook(lambda *_: seen.append("layer")),
            layer.comb_lin.weight.register_hook(lambda _: seen.append("weight")),
        ]
        changed = layer(X.clone().requires_grad_(), EDGES)
        self.close(changed - layer.bias, 2 * (y - layer.bias))
        changed.sum().backward()
        self.assertEqual(sorted(seen), ["backward", "layer", "pre", "weight"])
        for handle in handles:
            handle.remove()
        self.close(layer(X, EDGES), y)

    def test_prune(self):
        import torch.nn.utils.prune as prune

        layer = simple()
        prune.l1_unstructured(layer.comb_lin, "weight", 0.5)
        for _ in range(2):
            self.close(layer(X, EDGES), expected(layer, X))
            with torch.no_grad():
                layer.comb_lin.weight_orig.mul_(2)
        prune.remove(layer.comb_lin, "weight")
        self.close(layer(X, EDGES), expected(layer, X))
        prune.random_unstructured(layer, "bias", 0.5)
        self.close(layer(X, EDGES), expected(layer, X))

    def test_weight_norm(self):
        layer = simple()
        torch.nn.utils.weight_norm(layer.comb_lin)
        for _ in range(2):
            self.close(layer(X, EDGES), expected(layer, X))
            with torch.no_grad():
                layer.comb_lin.weight_g.mul_(2)
        if hasattr(torch.nn.utils.parametrizations, "weight_norm"):
            layer = simple()
            torch.nn.utils.parametrizations.weight_norm(layer.bases_lin)
            for _ in range(2):
                self.close(layer(X, EDGES), expected(layer, X))
                with torch.no_grad():
                    layer.bases_lin.parametrizations.weight.original0.mul_(2)

    def test_parametrize(self):
        from torch.nn.utils.parametrize import register_parametrization

        class Twice(nn.Module):
            def forward(self, weight):
                return weight * 2

        layer = simple()
        register_parametrization(layer.bases_lin, "weight", Twice())
        self.close(layer(X, EDGES), expected(layer, X))
        register_parametrization(layer, "bias", Twice())
        self.close(layer(X, EDGES), expected(layer, X))

    def test_parts_swapped(self):
        parts = {
            "a Linear with a bias for the bases": ("bases_lin", nn.Linear(WIDTH, 12)),
            "a Linear without a bias for the weights": ("comb_lin", nn.Linear(WIDTH, 24, bias=False)),
            "a network for the bases": ("bases_lin", nn.Sequential(nn.Linear(WIDTH, 12), nn.ReLU())),
            "a network for the weights": ("comb_lin", nn.Sequential(nn.Linear(WIDTH, 24), nn.Tanh())),
        }
        for name, (place, part) in parts.items():
            for frozen in (False, True):
                with self.subTest(name, frozen=frozen):
                    layer = simple()
                    setattr(layer, place, made(part))
                    layer.requires_grad_(not frozen)
                    self.close(layer(X, EDGES), expected(layer, X))

    def test_weights_that_are_no_parameters(self):
        layer = simple()
        for part in (layer.bases_lin, layer.comb_lin):
            weight = part.weight.detach() * 2
            del part.weight
            part.weight = weight
        self.close(layer(X, EDGES), expected(layer, X))
        bias = layer.bias.detach() * 2
        del layer.bias
        layer.bias = bias
        self.close(layer(X, EDGES), expected(layer, X))

    def test_parameters_not_contiguous(self):
        wide = {"bias": torch.randn(32), "comb_lin.bias": torch.randn(48), "comb_lin.weight": torch.randn(24, 16)}
        for name, value in wide.items():
            with self.subTest(name):
                layer, place = simple(), name.rpartition(".")
                setattr(layer.get_submodule(place[0]), place[2], nn.Parameter(value[..., ::2]))
                self.close(layer(X, EDGES), expected(layer, X))
                ours = gradients(layer, X)
                layer.zero_grad()
                x = X.clone().requires_grad_()
                expected(layer, x).pow(2).sum().backward()
                for a, b in zip(ours, [x.grad] + [p.grad for p in layer.parameters()]):
                    self.close(a, b, 1e-4)
        layer = simple()
        layer.bias = nn.Parameter(torch.ones(1).expand(16))
        self.close(layer(X, EDGES), expected(layer, X))

    def test_patched(self):
        layer = simple()
        layer.comb_lin.forward = lambda x: x.new_ones(len(x), 24)
        self.close(layer(X, EDGES), expected(layer, X))
        layer = simple()
        forward = {"forward": lambda self, x: x @ self.weight.t() * 3}
        layer.bases_lin.__class__ = type("Mine", (type(layer.bases_lin),), forward)
        self.close(layer(X, EDGES), expected(layer, X))

    @unittest.skipUnless(hasattr(torch, "func"), "needs torch.func")
    def test_functional_call(self):
        layer, other = simple(), simple(1)
        parameters = {name: p.detach().clone().requires_grad_() for name, p in other.named_parameters()}
        y = torch.func.functional_call(layer, parameters, (X, EDGES))
        self.close(y, expected(other, X))
        y.sum().backward()
        self.assertTrue(all(p.grad is not None for p in parameters.values()))
        self.assertTrue(all(p.grad is None for p in layer.parameters()))
        self.close(layer(X, EDGES), expected(layer, X))

    # Autograd

    def test_retain_graph(self):
        for name in LAYERS:
            with self.subTest(name):
                layer = made(name)
                x = X.clone().requires_grad_()
                y = call(layer, x, EDGES).pow(2).sum()
                y.backward(retain_graph=True)
                once = x.grad.clone()
                y.backward()
                self.close(x.grad, 2 * once)

    def test_edges_changed_before_backward(self):
        for name in LAYERS:
            with self.subTest(name):
                layer = made(name)
                x, edges = X.clone().requires_grad_(), EDGES.clone()
                y = call(layer, x, edges).pow(2).sum()
                edges.zero_()
                y.backward()
                changed, x.grad = x.grad, None
                call(layer, x, EDGES).pow(2).sum().backward()
                self.close(changed, x.grad)

    def test_parameter_changed_before_backward(self):
        layer = simple()
        y = layer(X.clone().requires_grad_(), EDGES).sum()
        with torch.no_grad():
            layer.comb_lin.weight.mul_(2)
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            y.backward()

    def test_checkpoint(self):
        from torch.utils.checkpoint import checkpoint

        for reentrant in (False, True):
            layer = simple()
            x = X.clone().requires_grad_()
            checkpoint(layer, x, EDGES, use_reentrant=reentrant).pow(2).sum().backward()
            mine = [x.grad] + [p.grad for p in layer.parameters()]
            for a, b in zip(mine, gradients(simple(), X)):
                self.close(a, b)

    def test_saved_tensor_hooks(self):
        layer = simple()
        x = X.clone().requires_grad_()
        with torch.autograd.graph.save_on_cpu():
            y = layer(x, EDGES).pow(2).sum()
        y.backward()
        self.close(x.grad, gradients(simple(), X)[0])

    def test_inference_mode(self):
        """What a call in inference mode prepares must serve training."""
        for dtype in (torch.float32, torch.float64):
            for name in LAYERS:
                with self.subTest(name, dtype=dtype):
                    layer = made(name).to(dtype)
                    edges = random_graph(NODES, 7, 100 + len(name))
                    more = (WEIGHT.to(dtype) * 1.1,) if name == "GCNConv" else ()
                    compute = (lambda x: layer(x, edges, *more)) if more else (lambda x: call(layer, x, edges))
                    with torch.inference_mode():
                        first = compute(X.to(dtype))
                    with torch.no_grad():
                        self.assertFalse(compute(X.to(dtype)).requires_grad)
                    second = compute(X.to(dtype).clone().requires_grad_())
                    self.close(first.clone(), second)
                    second.sum().backward()
                    with torch.inference_mode():
                        x = X.to(dtype) * 1
                    with torch.no_grad():
                        self.close(compute(x), second)

    def test_cached_after_inference(self):
        for name in ("EGConv", "GCNConv"):
            with self.subTest(name):
                layer = made(EGConv(WIDTH, 16, cached=True) if name == "EGConv" else GCNConv(WIDTH, 16, cached=True))
                with torch.inference_mode():
                    first = layer(X, EDGES, WEIGHT)
                x = X.clone().requires_grad_()
                y = layer(x, EDGES, WEIGHT)
                self.close(y, first.clone())
                y.sum().backward()
                other = pickle.loads(pickle.dumps(layer))
                self.assertEqual(other(X[:3], torch.tensor([[0], [1]])).size(0), 3)

    # Threads and processes

    def test_threads(self):
        edges = [random_graph(300, 2000, seed) for seed in range(24)]
        x = torch.randn(300, WIDTH)
        for name in ("EGConv", "GCNConv", "GATConv", "REGCConv"):
            layer = made(name)
            types = torch.randint(0, 3, (2000,))
            serial = [call(layer, x, e, types).detach() for e in edges]
            wrong = []

            def work(first):
                torch.set_num_threads(1 + first % 2)
                try:
                    for k in range(len(edges)):
                        k = (k + 3 * first) % len(edges)
                        y = call(layer, x.clone().requires_grad_(), edges[k], types)
                        if not torch.equal(y.detach(), serial[k]):
                            wrong.append((first, k))
                except BaseException as error:
                    wrong.append(error)

            threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            with self.subTest(name):
                self.assertEqual(wrong, [])

    def test_number_of_threads(self):
        x, edges, before = torch.randn(2000, WIDTH), random_graph(2000, 20000), torch.get_num_threads()
        layer, results = simple(), []
        try:
            for threads in (1, 2, 3, 1):
                torch.set_num_threads(threads)
                results.append(gradients(layer, x, edges))
        finally:
            torch.set_num_threads(before)
        for other in results[1:]:
            for a, b in zip(other, results[0]):
                self.close(a, b)

    def test_fork(self):
        """On few numbers torch itself takes no threads, which its OpenMP cannot use after a fork."""
        layer, x, edges = simple(), torch.randn(200, WIDTH), random_graph(200, 20000)
        y = gradients(layer, x, edges)
        ((what, text, _),) = apart([lambda: all(torch.equal(a, b) for a, b in zip(gradients(layer, x, edges), y))])
        self.assertEqual((what, text), ("returned", "True"))
        self.assertTrue(torch.equal(gradients(layer, x, edges)[0], y[0]))

    def test_workers(self):
        layer = simple()
        context = multiprocessing.get_context("fork")
        loader = torch.utils.data.DataLoader(
            InChild(layer), num_workers=2, batch_size=None, multiprocessing_context=context, timeout=SECONDS
        )
        for k, y in enumerate(loader):
            self.close(y, layer(X * k, EDGES).detach())

    # Compilers

    def test_compile(self):
        for name in ("EGConv", "GCNConv", "GATConv"):
            with self.subTest(name):
                layer = made(name)
                compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
                for edges in (EDGES, EDGES.flip(1) % 4):
                    x, other = X.clone().requires_grad_(), X.clone().requires_grad_()
                    y, z = compiled(x, edges), layer(other, edges)
                    self.close(y, z)
                    y.pow(2).sum().backward()
                    z.pow(2).sum().backward()
                    self.close(x.grad, other.grad)
                with torch.no_grad():
                    next(layer.parameters()).mul_(2)
                self.close(compiled(X, EDGES), layer(X, EDGES))

    @unittest.skipUnless(hasattr(torch, "export"), "needs torch.export")
    def test_export(self):
        layer = made("EGConv").eval()
        program = torch.export.export(layer, (X, EDGES))
        self.close(program.module()(X * 2, EDGES.flip(1)), layer(X * 2, EDGES.flip(1)))
        with self.assertRaises(Exception):
            program.module()(X, EDGES + 1)  # ids of another graph

    def test_trace(self):
        layer = made("EGConv").eval()
        traced = torch.jit.trace(layer, (X, EDGES))
        self.close(traced(X * 2, EDGES.flip(1)), layer(X * 2, EDGES.flip(1)))
        with self.assertRaisesRegex(Exception, "must be|TorchScript"):  # the trace has the number of nodes as a constant
            traced(X[:2], EDGES % 2)


if __name__ == "__main__":
    unittest.main()
