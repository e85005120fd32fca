"""Every layer of egc.torch: the fused operators against the same layer composed of torch calls."""

import contextlib
import unittest
from unittest import mock

import torch
from egc import Graph
from egc.torch import (
    EGConv,
    GATConv,
    GATv2Conv,
    GCNConv,
    GINConv,
    PNAConv,
    REGCConv,
    RGCNConv,
    SAGEConv,
    conv,
    egconv,
    gat_conv,
    gcn_conv,
    regc_conv,
)

NODES = 30
ALL = ["symnorm", "sum", "mean", "max", "min", "var", "std"]


def random_graph(seed, sources=NODES, targets=NODES):
    """A hub, duplicates, loops, and a last node without edges."""
    torch.manual_seed(seed)
    edges = torch.stack([torch.randint(0, sources - 1, (80,)), torch.randint(0, targets - 1, (80,))])
    hub = torch.stack([torch.arange(sources - 1), torch.full((sources - 1,), 2)])
    return torch.cat([edges, hub, edges[:, :5], torch.tensor([[1, 4], [1, 4]])], 1)


def composed():
    """A context in which no tensor is taken by the kernels."""
    stack = contextlib.ExitStack()
    for module in (conv, egconv, gat_conv, gcn_conv, regc_conv):
        stack.enter_context(mock.patch.object(module, "is_fused", lambda x: False))
    stack.enter_context(mock.patch.object(EGConv, "_at_once", lambda *_: None))
    return stack


class Layers(unittest.TestCase):
    def same(self, layer, x, *inputs):
        layer = layer.double()
        results = []
        for fused in (True, False):
            leaves = [t.detach().double().requires_grad_() for t in (x if isinstance(x, tuple) else (x,))]
            given = tuple(leaves) if isinstance(x, tuple) else leaves[0]
            layer.zero_grad()
            if fused:
                y = layer(given, *inputs)
            else:
                with composed():
                    y = layer(given, *inputs)
            (y * torch.arange(y.numel(), dtype=y.dtype).view_as(y).cos()).sum().backward()
            results.append([y.detach(), *(t.grad for t in leaves), *(p.grad for p in layer.parameters())])
        for a, b in zip(*results):
            if a is None or b is None:
                self.assertTrue((a is None or not a.any()) and (b is None or not b.any()))
            else:
                torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)

    def test_each(self):
        x = torch.randn(NODES, 6)
        for seed in range(2):
            edges = random_graph(seed)
            types = torch.randint(0, 3, (edges.size(1),))
            degrees = torch.bincount(torch.bincount(edges[1], minlength=NODES))
            cases = [(EGConv(6, 8, [name], 4, 3), ()) for name in ALL]
            cases += [
                (EGConv(6, 8, ALL, 2, 2, self_loops=loops, activation="softmax"), ())
                for loops in ("all", "symnorm", "none")
            ]
            cases += [
                (GCNConv(6, 5, **o), ())
                for o in (
                    {},
                    {"normalize": False},
                    {"aggr": "max"},
                    {"add_self_loops": False},
                    {"flow": "target_to_source"},
                )
            ]
            cases += [(GCNConv(6, 5), (torch.rand(edges.size(1)),))]
            cases += [(SAGEConv(6, 5, aggr=a), ()) for a in ("mean", "max", "sum", "var", "std", "mul")]
            cases += [(GINConv(torch.nn.Linear(6, 5), train_eps=True), ())]
            cases += [
                (kind(6, 4, heads=2, add_self_loops=loops), ())
                for kind in (GATConv, GATv2Conv)
                for loops in (True, False)
            ]
            cases += [
                (
                    PNAConv(
                        6,
                        4,
                        ["sum", "mean", "min", "max", "var", "std"],
                        ["identity", "attenuation"],
                        degrees,
                        towers=2,
                    ),
                    (),
                )
            ]
            cases += [
                (RGCNConv(6, 4, 3, **o), (types,)) for o in ({}, {"num_bases": 2}, {"num_blocks": 2}, {"aggr": "max"})
            ]
            cases += [(REGCConv(6, 8, 3, ALL), (types,))]
            for layer, more in cases:
                with self.subTest(repr(layer)):
                    self.same(layer, x, edges, *more)

    def test_between_two_sets_of_nodes(self):
        edges = random_graph(5, 20, NODES)
        pair = (torch.randn(20, 6), torch.randn(NODES, 6))
        for layer in (
            EGConv(6, 8, ALL, 4, 3, add_self_loops=False),
            SAGEConv((6, 6), 5),
            GINConv(torch.nn.Linear(6, 5)),
            GATConv((6, 6), 4, heads=2, add_self_loops=False),
            GATv2Conv((6, 6), 4, heads=2, add_self_loops=False),
            RGCNConv((6, 6), 4, 1),
        ):
            more = (torch.zeros(edges.size(1), dtype=torch.int64),) if isinstance(layer, RGCNConv) else ()
            with self.subTest(repr(layer)):
                self.same(layer, pair, edges, *more)

    def test_forms_of_a_graph(self):
        edges, x = random_graph(1), torch.randn(NODES, 6)
        edges = torch.unique(edges, dim=1)
        matrix = torch.sparse_coo_tensor(edges.flip(0), torch.ones(edges.size(1)), (NODES, NODES))
        for layer in (
            EGConv(6, 8),
            GCNConv(6, 5),
            SAGEConv(6, 5),
            GATConv(6, 5),
            GATv2Conv(6, 5),
            GINConv(torch.nn.Linear(6, 5)),
        ):
            y = layer(x, edges)
            for form in (Graph(edges, NODES), matrix, matrix.to_sparse_csr(), matrix.to_sparse_csc()):
                torch.testing.assert_close(layer(x, form), y)


if __name__ == "__main__":
    unittest.main()
