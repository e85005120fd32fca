"""egc.torch.EGConv as a Python user meets it: numbers, gradients, states, copies, prepared graphs."""

import copy
import gc
import glob
import io
import json
import os
import pickle
import threading
import unittest

import torch
from tensor_files import read_safetensors

import egc
import egc.torch
from egc.torch._edges import _prepared

GOLDEN = os.environ["EGC_GOLDEN"]


def ring(nodes, chords=0):
    """Both directions of a ring, a few chords, one loop and one edge twice."""
    edges = [(k, (k + 1) % nodes) for k in range(nodes)]
    edges += [((k + 1) % nodes, k) for k in range(nodes)]
    edges += [(k, (3 * k + 2) % nodes) for k in range(chords)] + [(1, 1), (0, 1)]
    return torch.tensor(edges).t().contiguous()


def composed(conv, x, edge_index):
    """The layer's definition, node by node, in plain torch."""
    bases = (x @ conv.bases_lin.weight.t()).view(x.size(0), conv.num_bases, -1)
    w = conv.comb_lin(x).view(x.size(0), conv.num_heads, len(conv.aggregators), conv.num_bases)
    if conv.activation == "softmax":
        w = w.flatten(2).softmax(-1).view_as(w)
    elif conv.activation == "sigmoid":
        w = w.sigmoid()
    elif conv.activation == "hardtanh":
        w = torch.nn.functional.hardtanh(w)

    def neighbours(loops):
        lists = [[] for _ in range(x.size(0))]
        for source, target in edge_index.t().tolist():
            if not (loops and source == target):
                lists[target].append(source)
        if loops:
            for k, row in enumerate(lists):
                row.append(k)
        return lists

    out = []
    for i in range(x.size(0)):
        parts = []
        for name in conv.aggregators:
            loops = conv.self_loops == "all" or (conv.self_loops == "symnorm" and name == "symnorm")
            lists = neighbours(loops)
            rows = bases[lists[i]]
            if name == "symnorm":
                degree = torch.tensor([len(l) for l in lists], dtype=x.dtype).clamp(min=1)
                scale = 1 / (degree[i] * degree[lists[i]]).sqrt()
                parts.append((rows * scale[:, None, None]).sum(0))
            elif len(lists[i]) == 0:
                parts.append(torch.zeros_like(bases[0]) + (1e-5**0.5 if name == "std" else 0))
            elif name in ("var", "std"):
                var = rows.var(0, unbiased=False)
                parts.append((var + 1e-5).sqrt() if name == "std" else var)
            else:
                reduce = {"add": rows.sum, "sum": rows.sum, "mean": rows.mean, "max": rows.amax, "min": rows.amin}
                parts.append(reduce[name](0))
        y = torch.einsum("hab,abl->hl", w[i], torch.stack(parts))
        out.append(y.flatten())
    y = torch.stack(out)
    return y if conv.bias is None else y + conv.bias


class Numbers(unittest.TestCase):
    def test_golden(self):
        files = sorted(glob.glob(os.path.join(GOLDEN, "egc_pyg_*.safetensors")))
        self.assertGreaterEqual(len(files), 80)
        for path in files:
            tensors, meta = read_safetensors(path)
            conv = egc.EGConv(
                int(meta["in_channels"]),
                int(meta["out_channels"]),
                aggregators=json.loads(meta["aggregators"]),
                num_heads=int(meta["heads"]),
                num_bases=int(meta["bases"]),
                add_self_loops=meta["self_loops"] != "none",
                bias="param.bias" in tensors,
            ).double()
            state = {k[6:]: v for k, v in tensors.items() if k.startswith("param.")}
            conv.load_state_dict(state)
            x = tensors["in.x"].clone().requires_grad_()
            y = conv(x, tensors["in.edge_index"])
            (y * tensors["in.upstream"]).sum().backward()
            with self.subTest(os.path.basename(path)):
                self.close(y, tensors["out.y"])
                self.close(x.grad, tensors["grad.x"])
                for name, parameter in conv.named_parameters():
                    self.close(parameter.grad, tensors["grad." + name])

    def close(self, ours, theirs):
        self.assertLessEqual((ours - theirs).abs().max().item(), 1e-9 * max(1, theirs.abs().max().item()))

    def test_definition(self):
        edge_index = ring(7, 4)
        x = torch.randn(8, 6, dtype=torch.float64)  # node 7 has no edges
        for loops in ("all", "symnorm", "none"):
            for activation in ("identity", "softmax", "sigmoid", "hardtanh"):
                for bias in (True, False):
                    conv = egc.EGConv(
                        6,
                        8,
                        ["symnorm", "max", "std", "sum"],
                        4,
                        3,
                        bias=bias,
                        self_loops=loops,
                        activation=activation,
                    ).double()
                    self.close(conv(x, edge_index), composed(conv, x, edge_index))

    def test_gradcheck(self):
        edge_index = ring(6, 3)
        for aggregators in (["symnorm"], ["add", "std", "max"], ["mean", "min", "var"]):
            conv = egc.EGConv(3, 4, aggregators, num_heads=2, num_bases=2).double()
            parameters = list(conv.parameters())
            x = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)

            def layer(x, *_):
                return conv(x, edge_index)

            self.assertTrue(torch.autograd.gradcheck(layer, (x, *parameters)))

    def test_edge_weights(self):
        edge_index = ring(5)
        weight = torch.rand(edge_index.size(1))
        conv = egc.EGConv(3, 8, ["add"], add_self_loops=False)
        x = torch.randn(5, 3)
        doubled = conv(x, edge_index, 2 * weight) - conv.bias
        torch.testing.assert_close(doubled, 2 * (conv(x, edge_index, weight) - conv.bias))
        with self.assertRaisesRegex(ValueError, "edge weights are constants"):
            conv(x, edge_index, weight.requires_grad_())

    def test_forms_of_a_graph(self):
        edge_index = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
        x = torch.randn(4, 5)
        conv = egc.EGConv(5, 8, ["symnorm", "max"])
        y = conv(x, edge_index)
        adj_t = torch.sparse_coo_tensor(edge_index.flip(0), torch.ones(4), (4, 4)).to_sparse_csr()
        self.assertTrue(torch.equal(conv(x, adj_t), y))
        self.assertTrue(torch.equal(conv(x, egc.Graph(edge_index, 4)), y))
        weight = torch.tensor([0.5, 2.0, 1.0, 3.0])
        weighted = torch.sparse_coo_tensor(edge_index.flip(0), weight, (4, 4)).to_sparse_csr()
        torch.testing.assert_close(conv(x, weighted), conv(x, edge_index, weight))
        with self.assertRaisesRegex(ValueError, "as values"):
            conv(x, adj_t, weight)
        with self.assertRaisesRegex(ValueError, r"expected a matrix \[3, 3\] of targets by sources, got \[4, 4\]"):
            conv(x[:3], adj_t)
        with self.assertRaisesRegex(ValueError, "already"):
            conv(x, egc.Graph(edge_index, 4), weight)

    def test_threads_give_the_same_bits(self):
        torch.manual_seed(0)
        edge_index = torch.randint(0, 3000, (2, 40000))
        x = torch.randn(3000, 32)
        conv = egc.EGConv(32, 64, ["symnorm", "max", "std"])
        before = torch.get_num_threads()
        results = []
        try:
            for threads in (1, 2, 4):
                torch.set_num_threads(threads)
                conv.zero_grad()
                y = conv(x, edge_index)
                y.square().sum().backward()
                results.append([y.detach()] + [p.grad.clone() for p in conv.parameters()])
        finally:
            torch.set_num_threads(before)
        for other in results[1:]:
            for a, b in zip(results[0], other):
                self.assertTrue(torch.equal(a, b))

    def test_python_threads(self):
        edge_index = ring(50, 20)
        x = torch.randn(50, 16)
        conv = egc.EGConv(16, 16)
        expected = conv(x, edge_index)
        wrong = []

        def work():
            for _ in range(50):
                if not torch.equal(conv(x, edge_index.clone()), expected):
                    wrong.append(1)

        workers = [threading.Thread(target=work) for _ in range(4)]
        for w in workers:
            w.start()
        for w in workers:
            w.join()
        self.assertEqual(wrong, [])

    def test_trains(self):
        torch.manual_seed(1)
        edge_index = ring(40)
        x = torch.randn(40, 8)
        target = x[:, :1] * 2 + x.roll(1, 0)[:, :1]
        conv, head = egc.EGConv(8, 16, num_heads=4), torch.nn.Linear(16, 1)
        optimizer = torch.optim.Adam([*conv.parameters(), *head.parameters()], lr=0.01)
        losses = []
        for _ in range(150):
            optimizer.zero_grad()
            loss = (head(conv(x, edge_index).relu()) - target).square().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        self.assertLess(losses[-1], 0.1 * losses[0])


class Options(unittest.TestCase):
    def test_a_change_is_seen(self):
        edge_index, x = ring(6), torch.randn(6, 4)
        conv = egc.EGConv(4, 8, ["add"])
        other = egc.EGConv(4, 8, ["max"], add_self_loops=False, activation="sigmoid")
        other.load_state_dict(conv.state_dict())
        self.assertFalse(torch.equal(conv(x, edge_index), other(x, edge_index)))
        conv.add_self_loops = False
        conv.aggregators = ["max"]
        conv.activation = "sigmoid"
        self.assertEqual(conv.self_loops, "none")
        self.assertTrue(torch.equal(conv(x, edge_index), other(x, edge_index)))


class PreparedGraphs(unittest.TestCase):
    def setUp(self):
        _prepared.clear()

    def test_equal_edges_are_prepared_once(self):
        edge_index = ring(5)
        conv = egc.EGConv(3, 8)
        conv(torch.randn(5, 3), edge_index)
        egc.EGConv(3, 8)(torch.randn(5, 3), edge_index.clone())
        self.assertEqual(len(_prepared), 1)
        conv(torch.randn(6, 3), edge_index)  # another number of nodes
        self.assertEqual(len(_prepared), 2)

    def test_large_graphs_live_as_long_as_their_tensor(self):
        edge_index = torch.randint(0, 1000, (2, (1 << 20) + 1))
        egc.EGConv(3, 8)(torch.randn(1000, 3), edge_index)
        self.assertEqual(len(_prepared), 1)
        del edge_index
        gc.collect()
        self.assertEqual(len(_prepared), 0)

    def test_every_write_is_seen(self):
        x = torch.randn(3, 3)
        conv = egc.EGConv(3, 8, ["add"])
        edge_index = torch.tensor([[0, 1], [1, 0]])

        def through_numpy():
            edge_index.numpy()[0, 1] = 2

        writes = [lambda: edge_index.__setitem__((0, 0), 2), lambda: edge_index.data.fill_(1), through_numpy]
        for write in writes:
            before = conv(x, edge_index)
            write()
            after = conv(x, edge_index)
            self.assertFalse(torch.equal(after, before))
            self.assertTrue(torch.equal(after, conv(x, edge_index.clone())))

    def test_writes_to_a_sparse_matrix_are_seen(self):
        x = torch.randn(3, 3)
        conv = egc.EGConv(3, 8, ["add"])
        dense = torch.tensor([[0.0, 2, 0], [1, 0, 3], [0, 0, 0]])
        for matrix in (dense.to_sparse_csr(), dense.to_sparse_csc(), dense.to_sparse_coo().coalesce()):
            before = conv(x, matrix)
            matrix.values().mul_(2)
            after = conv(x, matrix)
            self.assertFalse(torch.equal(after, before))
            torch.testing.assert_close(after, conv(x, matrix.to_dense().to_sparse_csr()))

    def test_a_change_is_seen(self):
        edge_index = torch.tensor([[0, 1], [1, 0]])
        x = torch.randn(3, 3)
        conv = egc.EGConv(3, 8, ["add"])
        before = conv(x, edge_index)
        edge_index[0, 0] = 2
        self.assertFalse(torch.equal(conv(x, edge_index), before))
        self.assertTrue(torch.equal(conv(x, edge_index), conv(x, edge_index.clone())))
        weight = torch.ones(2)
        before = conv(x, edge_index, weight)
        weight[0] = 5
        self.assertFalse(torch.equal(conv(x, edge_index, weight), before))

    def test_few_graphs_are_kept(self):
        conv = egc.EGConv(3, 8, ["add"])
        x, edges, weights = torch.randn(5, 3), torch.tensor([[0, 1, 2], [1, 2, 3]]), torch.ones(3)
        for step in range(40):
            weights.fill_(step + 2.0)
            conv(x, edges, weights)
        self.assertLessEqual(len(_prepared), 16)

    def test_inference_tensors(self):
        with torch.inference_mode():
            edge_index = torch.tensor([[0, 1], [1, 0]])
            x = torch.randn(3, 3)
            conv = egc.EGConv(3, 8, ["add"])
            before = conv(x, edge_index)
            edge_index[0, 0] = 2
            self.assertFalse(torch.equal(conv(x, edge_index), before))

    def test_cached(self):
        x = torch.randn(4, 3)
        conv = egc.EGConv(3, 8, ["add"], cached=True)
        y = conv(x, torch.tensor([[0, 1], [1, 0]]))
        self.assertTrue(torch.equal(conv(x, torch.tensor([[3, 2], [2, 3]])), y))
        conv.reset_parameters()
        z = conv(x, torch.tensor([[3, 2], [2, 3]]))
        self.assertFalse(torch.equal(z, conv.__class__.forward(copy.deepcopy(conv), x, torch.tensor([[0, 1], [1, 0]]))))


class States(unittest.TestCase):
    def test_names_and_shapes_of_pytorch_geometric(self):
        conv = egc.EGConv(10, 12, ["symnorm", "max"], num_heads=4, num_bases=3)
        shapes = {name: tuple(t.shape) for name, t in conv.state_dict().items()}
        self.assertEqual(
            shapes,
            {"bias": (12,), "bases_lin.weight": (9, 10), "comb_lin.weight": (24, 10), "comb_lin.bias": (24,)},
        )

    def test_both_ways_with_pytorch_geometric(self):
        try:
            from torch_geometric.nn import EGConv as Theirs
        except ImportError:
            self.skipTest("PyTorch Geometric is not installed")
        # Not std: of an edge_index theirs takes sqrt(max(var, 1e-5)), of a matrix sqrt(var + 1e-5).
        aggregators = ["symnorm", "max", "min", "mean", "sum", "var"]
        theirs = Theirs(6, 8, aggregators=aggregators, num_heads=4, num_bases=2).double()
        ours = egc.EGConv(6, 8, aggregators=aggregators, num_heads=4, num_bases=2).double()
        ours.load_state_dict(theirs.state_dict())
        theirs.load_state_dict(ours.state_dict())
        edge_index = ring(9)[:, :-2]
        x = torch.randn(9, 6, dtype=torch.float64)
        torch.testing.assert_close(ours(x, edge_index), theirs(x, edge_index), rtol=1e-9, atol=1e-9)

    def test_copies(self):
        edge_index = ring(6)
        x = torch.randn(6, 4)
        conv = egc.EGConv(4, 8, ["symnorm", "max"], cached=True)
        y = conv(x, edge_index)
        for other in (copy.deepcopy(conv), pickle.loads(pickle.dumps(conv))):
            self.assertTrue(torch.equal(other(x, edge_index), y))
            self.assertIsNot(other.bias, conv.bias)
        file = io.BytesIO()
        torch.save(conv, file)
        file.seek(0)
        self.assertTrue(torch.equal(torch.load(file, weights_only=False)(x, edge_index), y))

    def test_graphs_are_pickled(self):
        x = torch.randn(6, 4)
        conv = egc.EGConv(4, 8, ["symnorm", "max"])
        for weight in (None, torch.rand(ring(6).size(1))):
            graph = egc.Graph(ring(6), 6, weight)
            other = pickle.loads(pickle.dumps(graph))
            self.assertEqual(other.num_edges, graph.num_edges)
            self.assertTrue(torch.equal(conv(x, other), conv(x, graph)))

    def test_repr(self):
        self.assertIn("aggregators=['sum']", repr(egc.EGConv(2, 8, ["sum"])))


class Refusals(unittest.TestCase):
    def test_arguments(self):
        for arguments, part in (
            ((2, 9), "must be divisible by the number of heads"),
            ((2, 8, ["median"]), "Unsupported aggregator 'median'; known: add"),
            ((2, 8, []), "expected different aggregators"),
            ((2, 8, ["max", "max"]), "expected different aggregators"),
            ((2, 8, ["add", "sum"]), "expected different aggregators"),
            ((0, 8), "at least 1"),
        ):
            with self.assertRaisesRegex(ValueError, part):
                egc.EGConv(*arguments)
        with self.assertRaisesRegex(ValueError, 'unknown self_loops "some"'):
            egc.EGConv(2, 8, self_loops="some")
        with self.assertRaisesRegex(ValueError, 'unknown activation "relu"'):
            egc.EGConv(2, 8, activation="relu")

    def test_half_is_computed_in_float32(self):
        conv = egc.EGConv(4, 8)
        x = torch.randn(3, 4)
        y = conv(x, ring(3))
        for dtype in (torch.float16, torch.bfloat16):
            half = conv(x.to(dtype), ring(3))
            self.assertEqual(half.dtype, dtype)
            torch.testing.assert_close(half.float(), y, rtol=0.02, atol=0.02)
            whole = copy.deepcopy(conv).to(dtype)
            z = whole(x.to(dtype).requires_grad_(), ring(3))
            self.assertEqual(z.dtype, dtype)
            z.sum().backward()
            self.assertEqual(whole.bias.grad.dtype, dtype)

    def test_a_csr_that_lies(self):
        for offsets, sources in (
            ([0, 1, 5], [0, 1]),
            ([0, 2, 1], [0]),
            ([1, 2, 2], [0, 1]),
            ([0, 1, 2], [0, 2]),
            ([0, 1, 2], [0, 1 << 32]),
            ([0, 1, 2], [0, -1]),
            ([], []),
        ):
            with self.assertRaises(ValueError):
                egc.Graph.from_csr(offsets, sources)

    def test_no_edges(self):
        conv = egc.EGConv(4, 8, ["symnorm", "max", "std"], add_self_loops=False)
        y = conv(torch.randn(3, 4), torch.empty(2, 0, dtype=torch.int64))
        self.assertTrue(torch.isfinite(y).all())
        self.assertEqual(conv(torch.empty(0, 4), torch.empty(2, 0, dtype=torch.int64)).shape, (0, 8))


if __name__ == "__main__":
    unittest.main()
