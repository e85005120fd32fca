"""Every drop-in beside PyTorch Geometric's layer on random graphs: outputs, all gradients, states both ways."""

import unittest

import torch

try:
    import torch_geometric.nn as pyg
except ImportError:
    raise unittest.SkipTest("torch_geometric is not installed; scripts/check_torch runs this test")

import egc.torch as ours

NODES = 40


def random_graph(seed, nodes=NODES, last_isolated=False):
    """A hub, isolated nodes, duplicate edges, self-loops. PyTorch Geometric loses the loops of trailing nodes
    without edges unless it is told their number, so the last one has an edge."""
    g = torch.Generator().manual_seed(seed)
    edges = torch.randint(0, nodes - 5, (2, 3 * nodes), generator=g)
    hub = torch.stack([torch.arange(nodes // 2), torch.full((nodes // 2,), 3)])
    loops = torch.tensor([[1, 7, 9], [1, 7, 9]])
    twice = edges[:, :6]
    edges = edges[:, ~torch.isin(edges[1], torch.tensor([5, 11]))]  # without in-edges
    parts = [edges, hub, loops, twice]
    if not last_isolated:
        parts.append(torch.tensor([[0, nodes - 1], [nodes - 1, 2]]))
    return torch.cat(parts, 1)


class Parity(unittest.TestCase):
    def close(self, ours, theirs, dtype, what):
        bound = 1e-5 if dtype is torch.float32 else 1e-10
        scale = max(1.0, theirs.abs().max().item()) if theirs.numel() else 1.0
        self.assertEqual(ours.shape, theirs.shape, what)
        difference = (ours - theirs).abs().max().item() / scale if theirs.numel() else 0.0
        self.assertLessEqual(difference, bound, what)

    def compare(self, mine, theirs, *inputs, dtype=torch.float64, what="", skip=()):
        """inputs: tensors that may need a gradient, and whatever else a forward pass takes."""
        mine, theirs = mine.to(dtype), theirs.to(dtype)
        theirs.load_state_dict(mine.state_dict(), strict=True)
        torch.manual_seed(1)
        with torch.no_grad():
            for p in theirs.parameters():
                p.uniform_(-0.5, 0.5)
        mine.load_state_dict(theirs.state_dict(), strict=True)

        def run(layer):
            own = [_fresh(i, dtype) for i in inputs]
            y = layer(*own)
            torch.manual_seed(2)
            (y * torch.rand_like(y)).sum().backward()
            leaves = [
                t
                for i in own
                for t in (i if isinstance(i, tuple) else (i,))
                if isinstance(t, torch.Tensor) and t.requires_grad
            ]
            return y.detach(), [t.grad for t in leaves], {n: p.grad for n, p in layer.named_parameters()}

        y, grads, of_parameters = run(mine)
        y2, grads2, of_parameters2 = run(theirs)
        with self.subTest(what=what, dtype=dtype):
            self.close(y, y2, dtype, "output")
            for k, (a, b) in enumerate(zip(grads, grads2)):
                self.same_gradient(a, b, dtype, f"gradient {k}")
            self.assertEqual(of_parameters.keys(), of_parameters2.keys())
            for name in of_parameters2:
                self.same_gradient(of_parameters[name], of_parameters2[name], dtype, name)

    def same_gradient(self, a, b, dtype, what):
        if a is None and b is None:
            return
        # What has no influence: some give zeros, some nothing.
        self.close(torch.zeros_like(b) if a is None else a, torch.zeros_like(a) if b is None else b, dtype, what)

    def both(self, make_mine, make_theirs, *inputs, what=""):
        for dtype in (torch.float64, torch.float32):
            self.compare(make_mine(), make_theirs(), *inputs, dtype=dtype, what=what)

    def test_egconv(self):
        x = torch.randn(NODES, 12).requires_grad_()
        for seed, names in enumerate(
            (
                ["symnorm"],
                ["sum"],
                ["mean", "max"],
                ["min", "sum", "mean"],
                ["symnorm", "max", "mean"],
                ["max", "min", "symnorm"],
            )
        ):
            for loops in (True, False):
                for bias in (True, False):

                    def make(module):
                        return lambda: module.EGConv(
                            12, 16, names, num_heads=4, num_bases=3, add_self_loops=loops, bias=bias
                        )

                    self.both(make(ours), make(pyg), x, random_graph(seed), what=f"{names} {loops}")

    def test_egconv_variance(self):
        """The variance itself: PyTorch Geometric subtracts squares, exact enough in float64 for centred values."""
        x = torch.randn(NODES, 12, dtype=torch.float64).requires_grad_()
        for loops in (True, False):

            def make(module):
                return module.EGConv(12, 16, ["var", "sum"], num_heads=4, num_bases=3, add_self_loops=loops)

            self.compare(make(ours), make(pyg), x, random_graph(9), dtype=torch.float64, what="var")

    def test_gcn(self):
        x = torch.randn(NODES, 12).requires_grad_()
        for seed in range(3):
            edge_index = random_graph(seed, last_isolated=seed == 1)
            weight = torch.rand(edge_index.size(1)) + 0.1
            for options in (
                {},
                {"improved": True},
                {"normalize": False},
                {"add_self_loops": False},
                {"bias": False},
                {"aggr": "max"},
                {"aggr": "mean"},
                {"flow": "target_to_source"},
            ):

                def make(module):
                    return lambda: module.GCNConv(12, 7, **options)

                self.both(make(ours), make(pyg), x, edge_index, what=f"{options}")
                self.both(make(ours), make(pyg), x, edge_index, weight, what=f"{options} weighted")
                self.both(
                    make(ours),
                    make(pyg),
                    x,
                    edge_index,
                    weight.clone().requires_grad_(),
                    what=f"{options} learned weights",
                )

    def test_gin(self):
        x = torch.randn(NODES, 12).requires_grad_()
        pair = (torch.randn(NODES, 12).requires_grad_(), torch.randn(NODES, 12).requires_grad_())
        for seed, options in enumerate(({}, {"eps": 0.3}, {"train_eps": True}, {"aggr": "max"}, {"aggr": "mean"})):

            def make(module):
                return lambda: module.GINConv(
                    torch.nn.Sequential(torch.nn.Linear(12, 9), torch.nn.Tanh(), torch.nn.Linear(9, 5)), **options
                )

            self.both(make(ours), make(pyg), x, random_graph(seed), what=f"{options}")
            self.both(make(ours), make(pyg), pair, random_graph(seed), what=f"{options} pair")

    def test_sage(self):
        x = torch.randn(NODES, 12).requires_grad_()
        pair = (torch.randn(NODES, 12).requires_grad_(), torch.randn(NODES, 6).requires_grad_())
        for seed, options in enumerate(
            (
                {},
                {"aggr": "max"},
                {"aggr": "sum"},
                {"aggr": "min"},
                {"normalize": True},
                {"root_weight": False},
                {"project": True},
                {"bias": False},
            )
        ):

            def make(module, channels=12):
                return lambda: module.SAGEConv(channels, 7, **options)

            self.both(make(ours), make(pyg), x, random_graph(seed), what=f"{options}")
            self.both(make(ours, (12, 6)), make(pyg, (12, 6)), pair, random_graph(seed), what=f"{options} pair")

    def test_gat(self):
        x = torch.randn(NODES, 12).requires_grad_()
        pair = (torch.randn(NODES, 12).requires_grad_(), torch.randn(NODES, 6).requires_grad_())
        for name in ("GATConv", "GATv2Conv"):
            cases = [
                {},
                {"heads": 3},
                {"heads": 3, "concat": False},
                {"negative_slope": 0.01},
                {"add_self_loops": False},
                {"bias": False},
                {"residual": True},
            ]
            cases += [
                {"edge_dim": 4, "heads": 2},
                {"edge_dim": 4, "fill_value": 0.5},
                {"edge_dim": 4, "fill_value": "max"},
            ]
            cases += [{"share_weights": True}] if name == "GATv2Conv" else []
            for seed, options in enumerate(cases):
                edge_index = random_graph(seed, last_isolated=True)

                def make(module, channels=12):
                    return lambda: getattr(module, name)(channels, 5, **options)

                edge_attr = [torch.randn(edge_index.size(1), 4).requires_grad_()] if "edge_dim" in options else []
                self.both(make(ours), make(pyg), x, edge_index, *edge_attr, what=f"{name} {options}")
                if "share_weights" not in options:
                    self.both(
                        make(ours, (12, 6)),
                        make(pyg, (12, 6)),
                        pair,
                        edge_index,
                        *edge_attr,
                        what=f"{name} {options} pair",
                    )

    def test_pna(self):
        x = torch.randn(NODES, 12).requires_grad_()
        edge_index = random_graph(4)
        deg = torch.bincount(torch.bincount(edge_index[1], minlength=NODES))
        for options in (
            {},
            {"towers": 2},
            {"towers": 2, "divide_input": True},
            {"pre_layers": 2, "post_layers": 2, "act": "tanh"},
            {"train_norm": True},
            {"edge_dim": 3},
        ):

            def make(module):
                return lambda: module.PNAConv(
                    12,
                    8,
                    ["sum", "mean", "min", "max"],
                    ["identity", "amplification", "attenuation", "linear", "inverse_linear"],
                    deg,
                    **options,
                )

            edge_attr = [torch.randn(edge_index.size(1), 3).requires_grad_()] if "edge_dim" in options else []
            self.both(make(ours), make(pyg), x, edge_index, *edge_attr, what=f"{options}")

            def with_std(module):
                return module.PNAConv(12, 8, ["var", "std"], ["identity"], deg, **options)

            self.compare(
                with_std(ours), with_std(pyg), x, edge_index, *edge_attr, dtype=torch.float64, what=f"{options} std"
            )

    def test_rgcn(self):
        x = torch.randn(NODES, 12).requires_grad_()
        pair = (torch.randn(NODES, 12).requires_grad_(), torch.randn(NODES, 6).requires_grad_())
        ids = torch.randint(0, 12, (NODES,))
        for seed, options in enumerate(
            (
                {},
                {"num_bases": 2},
                {"num_blocks": 2},
                {"aggr": "sum"},
                {"aggr": "max"},
                {"root_weight": False},
                {"bias": False},
            )
        ):
            edge_index = random_graph(seed)
            edge_type = torch.randint(0, 3, (edge_index.size(1),))

            def make(module, channels=12):
                return lambda: module.RGCNConv(channels, 8, 3, **options)

            self.both(make(ours), make(pyg), x, edge_index, edge_type, what=f"{options}")
            self.both(make(ours, (12, 6)), make(pyg, (12, 6)), pair, edge_index, edge_type, what=f"{options} pair")
            if "num_blocks" not in options:
                self.both(make(ours), make(pyg), ids, edge_index, edge_type, what=f"{options} ids")


def _fresh(value, dtype):
    """Inputs of one run: leaves of their own."""
    if isinstance(value, tuple):
        return tuple(_fresh(v, dtype) for v in value)
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return value
    return value.detach().to(dtype).requires_grad_(value.requires_grad)


if __name__ == "__main__":
    unittest.main()
