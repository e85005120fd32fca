"""What benchmarks beside PyTorch Geometric share: graphs, a layer composed by hand, and clocks."""

import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

HEADS = BASES = 4
SETTINGS = {  # topology: width, aggregators, repetitions
    "arxiv-like": (136, ["symnorm", "max", "mean"], 3),
    "zinc-minibatch": (124, ["sum", "std", "max"], 300),
}


def graph_of(program, topology):
    """[2, E], the graph of `egc bench layer`."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "data", "generate", topology, "--out", folder + "/d"], check=True, capture_output=True)
        edges = np.loadtxt(folder + "/d/raw/edge.csv.gz", delimiter=",", dtype=np.int64)
        nodes = int(np.loadtxt(folder + "/d/raw/num-node-list.csv.gz", dtype=np.int64))
        inverse = json.loads(Path(folder + "/d/dataset.json").read_text()).get("add_inverse_edge", False)
    index = torch.tensor(edges.T.copy())
    return nodes, torch.cat([index, index.flip(0)], 1) if inverse else index


class Composed(torch.nn.Module):
    """A prepared CSR matrix, one sparse product for each aggregator, and a batched product."""

    def __init__(self, conv, nodes, edge_index):
        super().__init__()
        self.conv = conv
        loops = torch.arange(nodes)
        source, target = torch.cat([edge_index, torch.stack([loops, loops])], 1)
        ones = torch.ones(len(source))
        degree = torch.zeros(nodes).index_add_(0, target, ones)
        scale = degree.rsqrt()

        order = target.argsort(stable=True)
        begin = torch.cat([torch.zeros(1, dtype=torch.long), torch.bincount(target, minlength=nodes).cumsum(0)])

        def csr(values):  # through COO duplicate edges would become one
            return torch.sparse_csr_tensor(begin, source[order], values[order], (nodes, nodes))

        self.plain = csr(ones)
        self.normed = csr(scale[source] * scale[target])

    def aggregate(self, name, bases):
        if name == "symnorm":
            return self.normed @ bases
        if name == "std":
            mean = torch.sparse.mm(self.plain, bases, reduce="mean")
            return (torch.sparse.mm(self.plain, bases * bases, reduce="mean") - mean * mean).relu().add(1e-5).sqrt()
        return torch.sparse.mm(self.plain, bases, reduce={"max": "amax"}.get(name, name))

    def forward(self, x, _):
        conv = self.conv
        bases = conv.bases_lin(x)
        parts = [self.aggregate(name, bases).view(len(x), BASES, -1) for name in conv.aggregators]
        weights = conv.comb_lin(x).view(len(x), HEADS, len(parts) * BASES)
        return torch.bmm(weights, torch.cat(parts, 1)).flatten(1) + conv.bias


def timed(run, reps):
    run()
    times = []
    for _ in range(reps):
        begin = time.perf_counter()
        run()
        times.append(1e3 * (time.perf_counter() - begin))
    return times


def copy_bandwidth():
    a = torch.empty(1 << 26)
    b = torch.empty(1 << 26)
    return 2 * a.numel() * 4 / 1e6 / min(timed(lambda: b.copy_(a), 5))
