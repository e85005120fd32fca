"""egc.torch.EGConv with features of edges: numbers of another implementation, gradients, the way composed of torch
calls beside the kernel's, prepared graphs, states, what is refused."""

import copy
import glob
import io
import json
import os
import pickle
import unittest

import torch
from tensor_files import read_safetensors

from egc.torch import EGConv, GCNConv, GINConv, Graph, REGCConv, RGCNConv, SAGEConv, _edge_conv
from egc.torch._edges import _prepared

GOLDEN = os.environ["EGC_GOLDEN"]
NAMES = {"edge_table": "edges.table", "self_edge": "edges.self_edge"}
SETS = (["symnorm"], ["add", "mean"], ["max", "min"], ["var", "std"], ["symnorm", "max", "std"])
NODES, WIDTH = 7, 4
EDGES = torch.tensor([[0, 1, 2, 3, 4, 5, 0, 2, 2, 1], [1, 2, 3, 4, 5, 0, 3, 2, 3, 2]])  # a loop, an edge twice, node 6
COUNT = EDGES.size(1)
torch.manual_seed(0)
X = torch.randn(NODES, WIDTH, dtype=torch.float64)
CATEGORIES = torch.stack([torch.arange(COUNT) % 4, torch.arange(COUNT) % 3], 1)
FLOATS = torch.randn(COUNT, 2, dtype=torch.float64)
WEIGHT = torch.rand(COUNT) + 0.5
KINDS = {  # options, edge_attr
    "categories": ({"edge_categories": [5, 3]}, CATEGORIES),
    "floats": ({"edge_dim": 2}, FLOATS),
    "both": ({"edge_categories": [5, 3], "edge_dim": 2}, (CATEGORIES, FLOATS)),
}


def made(aggregators=("symnorm", "max"), **options):
    """A layer whose parameters are all random."""
    torch.manual_seed(1)
    conv = EGConv(WIDTH, 8, list(aggregators), num_heads=2, num_bases=3, **options).double()
    with torch.no_grad():
        for parameter in conv.parameters():
            parameter.normal_()
    return conv


def results(conv, x, *arguments, upstream=None):
    """The output, then the gradients of x and of the parameters: zeros for those that nothing depends on."""
    conv.zero_grad()
    x = x.detach().clone().requires_grad_()
    y = conv(x, *arguments)
    upstream = torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view_as(y) if upstream is None else upstream
    (y * upstream).sum().backward()
    of_parameters = {n: torch.zeros_like(p) if p.grad is None else p.grad for n, p in conv.named_parameters()}
    return {"y": y.detach(), "x": x.grad, **of_parameters}


def composed(conv):
    """The same layer by the way that is composed of torch calls, which hooks take."""
    conv = copy.deepcopy(conv)
    conv.bases_lin.register_forward_hook(lambda *_: None)
    return conv


class Numbers(unittest.TestCase):
    def close(self, ours, theirs):
        self.assertLessEqual((ours - theirs).abs().max().item(), 1e-9 * max(1, theirs.abs().max().item()))

    def test_golden(self):
        files = sorted(glob.glob(os.path.join(GOLDEN, "egc_edge_*.safetensors")))
        self.assertGreaterEqual(len(files), 48)
        for path in files:
            tensors, meta = read_safetensors(path)
            state = {k[6:]: v for k, v in tensors.items() if k.startswith("param.")}
            state = {NAMES.get(k, k.replace("edge_lin.", "edges.lin.")): v for k, v in state.items()}
            loops, x = meta["self_loops"], tensors["in.x"]
            attr = tensors["in.edge_attr"]
            conv = EGConv(
                x.size(1),
                tensors["out.y"].size(1),
                json.loads(meta["aggregators"]),
                num_heads=int(meta["heads"]),
                num_bases=int(meta["bases"]),
                bias="bias" in state,
                self_loops="symnorm" if loops == "symnorm only" else loops,
                message=meta["message"],
                **(
                    {"edge_dim": attr.size(1)}
                    if attr.is_floating_point()
                    else {"edge_categories": len(state["edges.table"])}
                ),
            ).double()
            conv.load_state_dict(state)
            for layer in (conv, composed(conv)):
                ours = results(layer, x, tensors["in.edge_index"], None, attr, upstream=tensors["in.upstream"])
                with self.subTest(os.path.basename(path), kernel=layer is conv):
                    self.close(ours.pop("y"), tensors["out.y"])
                    for name, values in ours.items():
                        theirs = {v: k for k, v in NAMES.items()}.get(name, name.replace("edges.lin.", "edge_lin."))
                        self.close(values, tensors["grad." + theirs])

    def test_both_ways_agree(self):
        for kind, (options, attr) in KINDS.items():
            for loops in ("all", "symnorm", "none"):
                for message in ("identity", "relu"):
                    for weight in (None, WEIGHT):
                        for aggregators in SETS:
                            conv = made(aggregators, self_loops=loops, message=message, **options)
                            ours = results(conv, X, EDGES, weight, attr)
                            theirs = results(composed(conv), X, EDGES, weight, attr)
                            self.assertEqual(ours.keys(), theirs.keys())
                            for name, values in ours.items():
                                with self.subTest(f"{kind}, {loops}, {message}, {aggregators}: {name}"):
                                    self.close(values, theirs[name])

    def test_gradcheck(self):
        for kind, (options, attr) in KINDS.items():
            conv = made(["symnorm", "max", "std"], **options)
            x = X.clone().requires_grad_()
            with self.subTest(kind):
                parameters = list(conv.parameters())
                layer = lambda x, *_: conv(x, EDGES, edge_attr=attr)
                self.assertTrue(torch.autograd.gradcheck(layer, (x, *parameters)))

    def test_gradient_of_edge_attr(self):
        conv = made(edge_dim=2)
        attr = FLOATS.clone().requires_grad_()
        layer = lambda attr: conv(X, EDGES, edge_attr=attr)
        self.assertTrue(torch.autograd.gradcheck(layer, (attr,)))
        with torch.no_grad():
            self.close(layer(attr), layer(attr.detach()))

    def test_pairs_of_nodes(self):
        edge_index = torch.tensor([[0, 6, 3, 3], [1, 0, 1, 1]])
        for kind, (options, attr) in KINDS.items():
            attr = tuple(t[:4] for t in attr) if kind == "both" else attr[:4]
            conv = made(["symnorm", "max", "var"], add_self_loops=False, **options)
            x = [X.clone().requires_grad_(), (X[:2] + 1).requires_grad_()]
            found = []
            for layer in (conv, composed(conv)):
                y = layer(x, edge_index, edge_attr=attr)
                found.append([y, *torch.autograd.grad(y.square().sum(), [*x, *layer.parameters()])])
            for a, b in zip(*found):
                self.close(a, b)

    def test_order_of_edges(self):
        order = torch.randperm(COUNT)
        for options, attr in KINDS.values():
            conv = made(**options)
            moved = tuple(t[order] for t in attr) if isinstance(attr, tuple) else attr[order]
            self.assertTrue(torch.equal(conv(X, EDGES, None, attr), conv(X, EDGES[:, order], None, moved)))

    def test_forms_of_edge_attr(self):
        conv = made(edge_categories=4)
        y = conv(X, EDGES, edge_attr=CATEGORIES[:, 0])
        for same in (CATEGORIES[:, :1], CATEGORIES[:, 0].to(torch.int32), CATEGORIES[:, 0].to(torch.uint8)):
            self.assertTrue(torch.equal(conv(X, EDGES, edge_attr=same), y))
        conv = made(edge_dim=1)
        y = conv(X, EDGES, edge_attr=FLOATS[:, 0])
        self.assertTrue(torch.equal(conv(X, EDGES, edge_attr=FLOATS[:, :1]), y))
        torch.testing.assert_close(conv(X, EDGES, edge_attr=FLOATS[:, 0].float()), y, rtol=1e-5, atol=1e-5)
        flipped = made(edge_dim=1, flow="target_to_source")
        self.assertTrue(torch.equal(flipped(X, EDGES.flip(0), edge_attr=FLOATS[:, 0]), y))
        half = copy.deepcopy(conv).to(torch.bfloat16)
        z = half(X.to(torch.bfloat16), EDGES, edge_attr=FLOATS[:, 0].to(torch.bfloat16))
        self.assertEqual(z.dtype, torch.bfloat16)
        torch.testing.assert_close(z.double(), y, rtol=0.1, atol=0.5)

    def test_no_edges(self):
        empty = torch.empty(2, 0, dtype=torch.int64)
        for kind, (options, attr) in KINDS.items():
            attr = tuple(t[:0] for t in attr) if kind == "both" else attr[:0]
            for message in ("identity", "relu"):
                conv = made(["symnorm", "max"], message=message, **options)
                ours, theirs = results(conv, X, empty, None, attr), results(composed(conv), X, empty, None, attr)
                for name, values in theirs.items():
                    with self.subTest(f"{kind}: {name}"):
                        self.close(ours[name], values)

    def test_traced(self):
        conv = made(edge_dim=2)
        weight = WEIGHT.double()
        traced = torch.jit.trace(conv, (X, EDGES, weight, FLOATS))
        self.close(traced(X + 1, EDGES, weight, FLOATS + 1), conv(X + 1, EDGES, weight, FLOATS + 1))

    @unittest.skipUnless(hasattr(torch, "compile"), "needs torch.compile")
    def test_compiled(self):
        for options, attr in KINDS.values():
            conv = made(["symnorm", "max", "std"], **options)
            compiled = torch.compile(conv, fullgraph=True, backend="aot_eager")
            ours, theirs = results(compiled, X, EDGES, None, attr), results(conv, X, EDGES, None, attr)
            for name, values in theirs.items():
                self.close(ours[name if name in ("x", "y") else "_orig_mod." + name], values)

    @unittest.skipUnless(hasattr(torch, "export"), "needs torch.export")
    def test_exported(self):
        conv = made(["symnorm", "max", "std"], **KINDS["both"][0])
        weight = WEIGHT.double()
        program = torch.export.export(conv, (X, EDGES, weight, KINDS["both"][1]))
        arguments = (X + 1, EDGES, 2 * weight, (CATEGORIES.flip(0), FLOATS + 1))
        self.close(program.module()(*arguments), conv(*arguments))


class PreparedGraphs(unittest.TestCase):
    def test_features_are_part_of_a_graph(self):
        _prepared.clear()
        for options, attr in KINDS.values():
            conv = made(**options)
            attr = [t.clone() for t in (attr if isinstance(attr, tuple) else (attr,))]
            call = lambda: conv(X, EDGES, edge_attr=tuple(attr) if len(attr) == 2 else attr[0])
            for t in attr:
                before, kept = call(), len(_prepared)
                self.assertTrue(torch.equal(call(), before))
                self.assertEqual(len(_prepared), kept)
                value = t[3, 1].item()
                t[3, 1] = value + 1
                self.assertFalse(torch.equal(call(), before))
                t[3, 1] = value
                self.assertTrue(torch.equal(call(), before))

    def test_other_layers_on_the_same_edges(self):
        plain, conv = EGConv(WIDTH, 8).double(), made(edge_categories=[5, 3])
        y, z = plain(X, EDGES), conv(X, EDGES, edge_attr=CATEGORIES)
        self.assertTrue(torch.equal(plain(X, EDGES), y))
        self.assertTrue(torch.equal(conv(X, EDGES, edge_attr=CATEGORIES), z))
        more = made(edge_categories=[6, 3])  # another number of categories for the same edge_attr
        self.assertEqual(more(X, EDGES, edge_attr=CATEGORIES).shape, z.shape)


class States(unittest.TestCase):
    def test_names_and_shapes(self):
        shapes = {name: tuple(t.shape) for name, t in made(**KINDS["both"][0]).state_dict().items()}
        self.assertEqual(
            {name: shape for name, shape in shapes.items() if name.startswith("edges.")},
            {"edges.table": (8, 12), "edges.self_edge": (12,), "edges.lin.weight": (12, 2), "edges.lin.bias": (12,)},
        )
        self.assertNotIn("edges.self_edge", made(edge_dim=2, add_self_loops=False).state_dict())
        self.assertFalse([name for name in EGConv(2, 8).state_dict() if name.startswith("edges")])

    def test_initialization(self):
        conv = EGConv(8, 64, edge_categories=[100, 2], edge_dim=4)
        width = conv.edges.table.size(1)
        for rows in (conv.edges.table[:100], conv.edges.table[100:]):
            bound = (6 / (len(rows) + width)) ** 0.5
            self.assertLessEqual(rows.abs().max().item(), bound)
            self.assertGreater(rows.abs().max().item(), 0.8 * bound)
        self.assertEqual(conv.edges.self_edge.abs().max().item(), 0)

    def test_copies(self):
        conv = made(**KINDS["both"][0])
        y = conv(X, EDGES, edge_attr=KINDS["both"][1])
        file = io.BytesIO()
        torch.save(conv.state_dict(), file)
        file.seek(0)
        loaded = EGConv(WIDTH, 8, ["symnorm", "max"], 2, 3, **KINDS["both"][0]).double()
        loaded.load_state_dict(torch.load(file))
        for other in (copy.deepcopy(conv), pickle.loads(pickle.dumps(conv)), loaded):
            self.assertTrue(torch.equal(other(X, EDGES, edge_attr=KINDS["both"][1]), y))
        self.assertIn("edge_categories=[5, 3], edge_dim=2", repr(conv))

    def test_hooks_and_frozen_parameters(self):
        conv = made(edge_dim=2)
        y = conv(X, EDGES, edge_attr=FLOATS)
        seen = []
        conv.edges.lin.register_forward_hook(lambda *_: seen.append(1))
        torch.testing.assert_close(conv(X, EDGES, edge_attr=FLOATS), y)
        self.assertEqual(seen, [1])
        conv = made(**KINDS["both"][0])
        conv.edges.table.requires_grad_(False)
        conv(X, EDGES, edge_attr=KINDS["both"][1]).sum().backward()
        self.assertIsNone(conv.edges.table.grad)
        self.assertGreater(conv.edges.lin.weight.grad.abs().max().item(), 0)


def call(attr, edges=EDGES, x=X, **options):
    return made(**options)(x, edges, edge_attr=attr)


def replaced(t, value):
    t = t.clone()
    t[3, 1] = value
    return t


BAD = [  # what, call, class, part of the sentence
    ("missing", lambda: call(None, edge_dim=2), ValueError, "needs edge_attr, got None"),
    ("unexpected", lambda: call(FLOATS), ValueError, "edge_attr needs edge_dim or edge_categories"),
    (
        "floats for categories",
        lambda: call(FLOATS, edge_categories=[5, 3]),
        TypeError,
        "of integers, got torch.float64",
    ),
    ("categories for floats", lambda: call(CATEGORIES, edge_dim=2), TypeError, "of floats, got torch.int64"),
    ("truth values", lambda: call(CATEGORIES[:, 0] > 0, edge_categories=2), TypeError, "of integers, got torch.bool"),
    ("a list", lambda: call([1.0], edge_dim=2), TypeError, "must be a tensor of floats, got list"),
    ("numpy", lambda: call(FLOATS.numpy(), edge_dim=2), TypeError, "must be a tensor of floats, got ndarray"),
    ("sparse", lambda: call(FLOATS.to_sparse(), edge_dim=2), TypeError, "torch.sparse_coo"),
    ("no pair", lambda: call(FLOATS, **KINDS["both"][0]), TypeError, r"pair \(categories, floats\), got Tensor"),
    ("three", lambda: call((CATEGORIES, FLOATS, FLOATS), **KINDS["both"][0]), TypeError, "must be a pair"),
    ("a pair", lambda: call((CATEGORIES, FLOATS), edge_dim=2), TypeError, "must be a tensor of floats, got tuple"),
    ("half a pair", lambda: call((CATEGORIES, None), **KINDS["both"][0]), TypeError, "of floats, got NoneType"),
    ("too few", lambda: call(FLOATS[:3], edge_dim=2), ValueError, r"10 edges need edge_attr \[10, 2\], got \[3, 2\]"),
    ("too narrow", lambda: call(FLOATS[:, 0], edge_dim=2), ValueError, r"need edge_attr \[10, 2\], got \[10\]"),
    ("too wide", lambda: call(FLOATS, edge_dim=1), ValueError, r"need edge_attr \[10, 1\], got \[10, 2\]"),
    ("a column", lambda: call(CATEGORIES, edge_categories=4), ValueError, r"need edge_attr \[10, 1\], got \[10, 2\]"),
    ("a number", lambda: call(torch.tensor(1.0), edge_dim=1), ValueError, r"got \[\]"),
    ("category", lambda: call(CATEGORIES, edge_categories=[4, 2]), ValueError, r"category 1 .* in \[0, 2\), got 2"),
    ("negative", lambda: call(CATEGORIES - 1, edge_categories=[4, 3]), ValueError, r"must be in \[0, 4\), got -1"),
    ("nan", lambda: call(replaced(FLOATS, float("nan")), edge_dim=2), ValueError, "must be finite"),
    ("infinity", lambda: call(replaced(FLOATS, float("inf")), edge_dim=2), ValueError, "must be finite"),
    ("a graph", lambda: call(FLOATS, Graph(EDGES, NODES), edge_dim=2), ValueError, "order of an edge_index"),
    ("node ids", lambda: call(FLOATS, EDGES + 5, edge_dim=2), ValueError, "ids of edge_index|target id"),
    ("another type", lambda: call(FLOATS, x=X.float(), edge_dim=2), TypeError, "same dtype"),
    ("cached", lambda: made(edge_dim=2, cached=True), ValueError, "does not go with edge_attr"),
    ("message", lambda: made(edge_dim=2, message="gelu"), ValueError, 'unknown message "gelu"; known: identity, relu'),
    ("edge_dim 0", lambda: made(edge_dim=0), ValueError, "edge_dim must be at least 1"),
    ("edge_dim 2.5", lambda: made(edge_dim=2.5), TypeError, "edge_dim must be a whole number"),
    ("no categories", lambda: made(edge_categories=[]), ValueError, "got an empty list"),
    ("category 0", lambda: made(edge_categories=[3, 0]), ValueError, "edge_categories must be at least 1"),
    ("categories of text", lambda: made(edge_categories=["a"]), TypeError, "edge_categories must be a whole number"),
]


class Refusals(unittest.TestCase):
    def test_bad_input(self):
        for what, mistake, kind, part in BAD:
            with self.subTest(what):
                with self.assertRaisesRegex(kind, part) as caught:
                    mistake()
                self.assertNotIn("\n", str(caught.exception))

    def test_the_composed_way_checks_values(self):
        for attr, options, part in (
            (CATEGORIES, {"edge_categories": [4, 2]}, r"category 1 of edge_attr must be in \[0, 2\), got 2"),
            (CATEGORIES - 1, {"edge_categories": [4, 3]}, r"must be in \[0, 4\), got -1"),
            (replaced(FLOATS, float("nan")), {"edge_dim": 2}, "must be finite"),
        ):
            with self.assertRaisesRegex(ValueError, part):
                composed(made(**options))(X, EDGES, edge_attr=attr)

    def test_a_wrong_parameter(self):
        conv = made(**KINDS["both"][0])
        conv.edges.table = torch.nn.Parameter(torch.randn(7, 12).double())
        with self.assertRaisesRegex(ValueError, r"edges.table must be \[8, 12\], got \[7, 12\]"):
            conv(X, EDGES, edge_attr=KINDS["both"][1])

    def test_no_second_derivatives(self):
        x = X.clone().requires_grad_()
        y = made(edge_dim=2)(x, EDGES, edge_attr=FLOATS)
        with self.assertRaisesRegex(RuntimeError, "second derivatives"):
            torch.autograd.grad(y.sum(), x, create_graph=True)

    def test_other_layers_refuse_edge_attr_by_name(self):
        for layer in (
            GCNConv(WIDTH, 8),
            GINConv(torch.nn.Linear(WIDTH, 8)),
            SAGEConv(WIDTH, 8),
            RGCNConv(WIDTH, 8, 3),
            REGCConv(WIDTH, 8, 3),
        ):
            with self.assertRaisesRegex(TypeError, "edge_attr"):
                layer(X.float(), EDGES, edge_attr=FLOATS)
        with self.assertRaisesRegex(TypeError, "edge_dim"):
            GCNConv(WIDTH, 8, edge_dim=2)


class KernelIsUsed(unittest.TestCase):
    def test_ways(self):
        """What these tests compare are two ways."""
        taken = []
        original, _edge_conv.composed = _edge_conv.composed, lambda *a: taken.append(1) or original(*a)
        try:
            conv = made(edge_dim=2)
            conv(X, EDGES, edge_attr=FLOATS)
            self.assertEqual(taken, [])
            composed(conv)(X, EDGES, edge_attr=FLOATS)
            conv(X, EDGES, edge_attr=FLOATS.clone().requires_grad_())
            self.assertEqual(taken, [1, 1])
        finally:
            _edge_conv.composed = original


if __name__ == "__main__":
    unittest.main()
