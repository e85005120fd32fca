"""egc import and egc export: checkpoints of Python go in and out, and hostile ones do nothing."""

import glob
import io
import json
import os
import pickle
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx_numpy
import torch
from tensor_files import read_safetensors

EGC = os.environ["EGC_PROGRAM"]
GOLDEN = os.environ["EGC_GOLDEN"]
SOURCE = os.environ["EGC_SOURCE"]


def run(*arguments):
    return subprocess.run([EGC, "--quiet", *map(str, arguments)], capture_output=True, text=True)


def read_json(path):
    with open(path) as file:
        return json.load(file)


class InDirectory(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.work = directory.name

    def path(self, name):
        return os.path.join(self.work, name)

    def fine(self, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, 0, (arguments, result.stderr))
        return result.stdout

    def refused(self, code, part, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, code, (arguments, result.stderr))
        self.assertIn(part, result.stderr)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)


def state_under(tensors, prefix):
    return {k[len(prefix):]: v for k, v in tensors.items() if k.startswith(prefix)}


def checkpoint_of_the_authors(state):
    return {
        "model": torch.nn.modules.module.OrderedDict(state),
        "opt": {"state": {0: {"step": 3, "exp_avg": torch.zeros(2)}}, "param_groups": [{"lr": 0.002, "params": [0]}]},
        "lr_scheduler": {"factor": 0.5, "mode": "min", "best": 0.3, "num_bad_epochs": 1},
        "hparams": {"lr": 0.002, "wd": 0.0002, "batch_size": 64},
    }


class Import(InDirectory):
    def test_golden_networks(self):
        """In with the shapes' own word, out again: the same tensors, and ONNX gives the same output."""
        seen = 0
        for path in sorted(glob.glob(os.path.join(GOLDEN, "*_*.safetensors"))):
            tensors, meta = read_safetensors(path)
            if "model" not in meta or "steps" not in meta or meta["model"].split("-s")[0] == "pna":
                continue
            state = state_under(tensors, "state0.")
            for key in state:
                if key.endswith("num_batches_tracked"):
                    state[key] = state[key].reshape([])
            task, model = meta["task"], meta["model"]
            for activation in ("softmax", "sigmoid", "hardtanh"):
                model = model.replace("-" + activation, "")
            config = read_json(os.path.join(SOURCE, "configs", task, model + ".json"))["model"]
            torch.save(checkpoint_of_the_authors(state), self.path("checkpoint.pt"))
            hints = []
            if "aggregators" in config and model == "egc-m":
                hints += ["--aggregators", ",".join(json.loads(meta.get("aggregators", "null")) or config["aggregators"])]
            if model.startswith("mpnn"):
                hints += ["--model", model]
            for activation in ("softmax", "sigmoid", "hardtanh"):
                if activation in meta["model"]:
                    hints += ["--activation", activation]
            with self.subTest(os.path.basename(path)):
                seen += 1
                self.fine("import", self.path("checkpoint.pt"), "--from", "authors", "--out", self.path("m.safetensors"), *hints)
                info = json.loads(self.fine("--json", "info", self.path("m.safetensors")))
                self.assertEqual(info["parameters"], int(meta["parameters"]))
                if model.startswith("egc"):
                    self.assertEqual(info["layer"]["self_loops"], "symnorm")
                    self.assertEqual(info["layer"]["weight_order"], "head, aggregator, basis")
                    self.assertEqual(info["layer"]["std"], "sqrt(var + 1e-5)")
                self.fine("export", self.path("m.safetensors"), "--to", "authors", "--out", self.path("back.safetensors"))
                back, _ = read_safetensors(self.path("back.safetensors"))
                self.assertEqual(set(back), set(state))
                # Cifar's layers come after a dropout, which has a place but no state.
                for key, tensor in state.items():
                    self.assertTrue(torch.equal(back[key].reshape(tensor.shape), tensor), key)
                if model in ("egc-s", "egc-m", "gcn", "gin", "sage"):
                    self.check_onnx(tensors, task)
                else:
                    self.refused(2, f'"{model}"', "export", self.path("m.safetensors"), "--onnx", "--out", self.path("no.onnx"))
                    self.assertFalse(os.path.exists(self.path("no.onnx")))
        self.assertGreaterEqual(seen, 5)

    def check_onnx(self, tensors, task):
        self.fine("export", self.path("m.safetensors"), "--onnx", "--out", self.path("m.onnx"))
        batch = {k: v.numpy() for k, v in state_under(tensors, "batch0.").items()}
        x = batch["x"]
        inputs = {"x": x.reshape(len(x), -1), "edge_index": batch["edge_index"]}
        if "graph" in batch and task != "arxiv":
            inputs["graph"] = batch["graph"]
        ours = onnx_numpy.evaluate(self.path("m.onnx"), **inputs)
        theirs = tensors["out.eval0"].numpy()[: len(ours)]
        self.assertLessEqual(np.abs(ours.reshape(theirs.shape) - theirs).max(), 1e-5 * max(1, np.abs(theirs).max()))

    def test_forms_of_a_checkpoint(self):
        tensors, _ = read_safetensors(os.path.join(GOLDEN, "zinc_egc-m.safetensors"))
        state = state_under(tensors, "state0.")
        hints = ["--from", "authors", "--aggregators", "add,std,max", "--out", self.path("m.safetensors")]
        torch.save(state, self.path("plain.pt"))
        torch.save(state, self.path("older.pt"), _use_new_zipfile_serialization=False)
        torch.save({"state_dict": state, "epoch": 7}, self.path("lightning.pt"))
        torch.save({k: torch.nn.Parameter(v) if v.is_floating_point() else v for k, v in state.items()}, self.path("parameters.pt"))
        models = []
        for name in ("plain.pt", "older.pt", "lightning.pt", "parameters.pt"):
            self.fine("import", self.path(name), *hints)
            models.append(read_safetensors(self.path("m.safetensors"))[0])
        for model in models[1:]:
            for key, tensor in models[0].items():
                self.assertTrue(torch.equal(model[key], tensor), key)
        # Settings that make no sense are left out.
        for lr in (float("nan"), -3.0):
            bad = checkpoint_of_the_authors(state)
            bad["hparams"]["lr"] = lr
            torch.save(bad, self.path("checkpoint.pt"))
            self.fine("import", self.path("checkpoint.pt"), *hints)
            self.assertEqual(json.loads(read_safetensors(self.path("m.safetensors"))[1]["train"])["lr"], 0.001)
        # A configuration says everything at once; the settings of training are kept.
        torch.save(checkpoint_of_the_authors(state), self.path("checkpoint.pt"))
        self.fine("import", self.path("checkpoint.pt"), "--from", "authors", "--config", os.path.join(SOURCE, "configs/zinc/egc-m.json"), "--out", self.path("m.safetensors"))
        self.assertEqual(json.loads(read_safetensors(self.path("m.safetensors"))[1]["train"])["wd"], 0.0002)

    def test_what_does_not_fit(self):
        tensors, _ = read_safetensors(os.path.join(GOLDEN, "zinc_egc-m.safetensors"))
        state = state_under(tensors, "state0.")
        out = ["--out", self.path("m.safetensors")]
        torch.save(state, self.path("c.pt"))
        self.refused(4, "--aggregators", "import", self.path("c.pt"), "--from", "authors", *out)
        self.refused(2, "unknown aggregator", "import", self.path("c.pt"), "--from", "authors", "--aggregators", "add,std,mx", *out)
        self.refused(2, "--from", "import", self.path("c.pt"), *out)
        config = os.path.join(SOURCE, "configs/zinc/egc-s.json")
        self.refused(4, "comb_weights must have 32 rows, got 48", "import", self.path("c.pt"), "--from", "authors", "--config", config, *out)
        missing = dict(state)
        del missing["mlp.4.bias"]
        torch.save(missing, self.path("c.pt"))
        self.refused(4, "missing", "import", self.path("c.pt"), "--from", "authors", "--aggregators", "add,std,max", *out)
        torch.save({**state, "extra.weight": torch.ones(2)}, self.path("c.pt"))
        self.refused(4, '"extra.weight"', "import", self.path("c.pt"), "--from", "authors", "--aggregators", "add,std,max", *out)
        torch.save(torch.nn.Linear(2, 2), self.path("c.pt"))
        self.refused(4, "state_dict()", "import", self.path("c.pt"), "--from", "authors", *out)
        torch.save(state, self.path("c.pt"))
        self.refused(4, "--from authors", "import", self.path("c.pt"), "--from", "pyg", "--heads", 4, "--aggregators", "add,std,max", *out)
        config = os.path.join(SOURCE, "configs/zinc/egc-m.json")
        self.refused(2, "cannot be combined with --aggregators", "import", self.path("c.pt"), "--from", "authors", "--config", config, "--aggregators", "add", *out)
        self.refused(2, "the same file as the input", "import", self.path("c.pt"), "--from", "authors", "--config", config, "--out", self.path("c.pt"))
        os.symlink(self.path("c.pt"), self.path("link.pt"))
        self.refused(2, "the same file as the input", "import", self.path("c.pt"), "--from", "authors", "--config", config, "--out", self.path("link.pt"))
        os.mkfifo(self.path("pipe"))
        self.refused(5, "not a regular file", "import", self.path("c.pt"), "--from", "authors", "--config", config, "--out", self.path("pipe"))
        self.refused(4, "nothing.pt", "import", self.path("nothing.pt"), "--from", "authors", *out)
        self.assertFalse(os.path.exists(self.path("m.safetensors")))


class Export(InDirectory):
    def trained(self, *arguments):
        data = self.path("data")
        if not os.path.exists(data):
            self.fine("data", "generate", "molecules", "--size", "0.01", "--out", data)
        self.fine("train", data, "--hidden", 16, "--layers", 2, "--epochs", 2, "--out", self.path("run"), *arguments)
        return self.path("run")

    def test_half(self):
        model = self.trained("--model", "egc-m")
        self.fine("export", model, "--to", "model", "--half", "--out", self.path("half.safetensors"))
        self.assertLess(os.path.getsize(self.path("half.safetensors")), os.path.getsize(os.path.join(model, "best.safetensors")))
        tensors, _ = read_safetensors(self.path("half.safetensors"))
        for name, tensor in tensors.items():
            if tensor.dim() >= 2:
                self.assertEqual(tensor.dtype, torch.float16, name)
            else:
                self.assertNotEqual(tensor.dtype, torch.float16, name)
        scores = [json.loads(self.fine("--json", "eval", m, self.path("data")))["value"] for m in (model, self.path("half.safetensors"))]
        self.assertNotEqual(scores[0], scores[1])
        self.assertLess(abs(scores[0] - scores[1]), 0.01 * scores[0])
        self.refused(2, "--half", "export", model, "--half", "--onnx", "--out", self.path("no"))
        # The whole model again, without loss.
        self.fine("export", model, "--to", "model", "--out", self.path("same.safetensors"))
        whole, _ = read_safetensors(os.path.join(model, "best.safetensors"))
        same, _ = read_safetensors(self.path("same.safetensors"))
        for name, tensor in whole.items():
            self.assertTrue(torch.equal(same[name], tensor), name)

    def test_python_layers_take_exported_ones(self):
        import egc

        model = self.trained("--model", "egc-m", "--aggregators", "symnorm,max", "--self-loops", "all")
        self.fine("export", model, "--out", self.path("state.safetensors"))
        state, meta = read_safetensors(self.path("state.safetensors"))
        self.assertEqual(meta["format"], "pt")
        conv = egc.EGConv(16, 16, ["symnorm", "max"], num_heads=4, num_bases=4)
        prefix = "body.blocks.1.conv."
        conv.load_state_dict(state_under(state, prefix))
        self.assertTrue(torch.equal(conv.bias, state[prefix + "bias"]))

    def test_onnx_of_trained_models(self):
        """All aggregators, loops, activations and tasks that there is a form for."""
        rng = np.random.default_rng(0)
        for k, arguments in enumerate((
            ("--model", "egc-m", "--aggregators", "add,mean,symnorm,max,min,var,std", "--self-loops", "all"),
            ("--model", "egc-m", "--aggregators", "add,mean,symnorm,max,min,var,std", "--self-loops", "none"),
            ("--model", "egc-m", "--aggregators", "mean,min", "--self-loops", "symnorm", "--activation", "softmax"),
            ("--model", "egc-s", "--activation", "sigmoid"),
            ("--model", "egc-s", "--activation", "hardtanh"),
            ("--model", "sage"), ("--model", "gin"), ("--model", "gcn"), ("--model", "mlp"),
            ("--model", "egc-s", "--feed-forward", 2, "--head-layers", 2),
            ("--model", "gcn", "--feed-forward", 1, "--no-norm", "--head-layers", 1),
            ("--model", "egc-m", "--feed-forward", 2, "--norm", "layer", "--virtual-node"),
            ("--model", "gin", "--virtual-node", "--no-residual"),
        )):
            with self.subTest(arguments=arguments):
                model = self.trained(*arguments)
                onnx = self.path("m.onnx")
                self.fine("export", model, "--onnx", "--out", onnx)
                # The graphs of the dataset, as the program predicts them.
                predicted = [float(l.split(",")[1]) for l in self.fine("predict", model, self.path("data")).splitlines()[1:]]
                inputs, graphs = self.first_graphs(20)
                ours = onnx_numpy.evaluate(onnx, **inputs)
                theirs = np.array(predicted[:graphs])
                self.assertLessEqual(np.abs(ours[:, 0] - theirs).max(), 1e-5 * max(1, np.abs(theirs).max()))
                # Loops, isolated nodes and an edge twice change nothing about it being finite.
                odd = onnx_numpy.evaluate(onnx, x=rng.integers(0, 3, (4, 1)), edge_index=np.array([[0, 0, 0], [0, 1, 1]]), graph=np.array([0, 0, 0, 1]))
                none = onnx_numpy.evaluate(onnx, x=rng.integers(0, 3, (4, 1)), edge_index=np.zeros((2, 0), dtype=np.int64), graph=np.array([0, 0, 0, 1]))
                self.assertTrue(np.isfinite(odd).all() and np.isfinite(none).all())
                subprocess.run(["rm", "-rf", self.path("run")], check=True)

    def test_onnx_of_a_network_with_encodings(self):
        """The graph reads them as an input: computed here with powers of the transition matrix."""
        steps = 5
        model = self.trained("--model", "egc-s", "--self-loops", "symnorm", "--encode", f"degree,rwse:{steps}")
        onnx = self.path("m.onnx")
        self.fine("export", model, "--onnx", "--out", onnx)
        inputs, graphs = self.first_graphs(20)
        rows = []
        for g in range(graphs):
            nodes = np.flatnonzero(inputs["graph"] == g)
            a = np.zeros((len(nodes), len(nodes)))
            for source, target in inputs["edge_index"].T:
                if inputs["graph"][source] == g:
                    a[target - nodes[0], source - nodes[0]] += 1
            degree = a.sum(1)
            p = a / np.maximum(degree, 1)[:, None]
            powers = [np.diag(np.linalg.matrix_power(p, k)) for k in range(1, steps + 1)]
            rows.append(np.stack([np.log1p(degree), *powers], axis=1))
        encodings = np.concatenate(rows).astype(np.float32)
        ours = onnx_numpy.evaluate(onnx, encodings=encodings, **inputs)
        lines = self.fine("predict", model, self.path("data")).splitlines()[1:]
        theirs = np.array([float(line.split(",")[1]) for line in lines])[:graphs]
        self.assertLessEqual(np.abs(ours[:, 0] - theirs).max(), 1e-5 * max(1, np.abs(theirs).max()))
        other = onnx_numpy.evaluate(onnx, encodings=encodings[::-1], **inputs)
        self.assertGreater(np.abs(other - ours).max(), 1e-4)
        # PyTorch Geometric's form keeps egc's names; the authors' networks have no place for them.
        self.fine("export", model, "--out", self.path("state.safetensors"))
        state, _ = read_safetensors(self.path("state.safetensors"))
        self.assertEqual(tuple(state["encoding.lin.weight"].shape), (16, 1 + steps))
        self.refused(2, "encodings of nodes (degree, rwse:5)", "export", model, "--to", "authors", "--out", self.path("no"))

    def test_networks_with_features_of_edges(self):
        """EGC's layers go to egc.torch with the arguments in the metadata; everything else is refused by name."""
        from egc import Dataset
        from egc.torch import EGConv

        rng = np.random.default_rng(0)
        edge_index = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
        graphs = [
            {"x": rng.normal(size=(3, 2)), "edge_index": edge_index, "edge_attr": rng.integers(0, [4, 3], (4, 2))}
            for _ in range(30)
        ]
        ids = np.arange(30)
        splits = {"default": {"train": ids[:20], "valid": ids[20:25], "test": ids[25:]}}
        Dataset.from_graphs(graphs, rng.normal(size=30), splits=splits, edge_categories=[4, 3]).save(self.path("data"))
        no = ("--out", self.path("no"))
        run = self.trained("--model", "egc-m", "--aggregators", "symnorm,max", "--self-loops", "symnorm", "--edge-features")
        self.refused(2, "network of egc-m layers that use features of edges", "export", run, "--onnx", *no)
        self.refused(2, "network of egc-m layers that use features of edges", "export", run, "--to", "authors", *no)
        self.fine("export", run, "--out", self.path("state.safetensors"))
        state, meta = read_safetensors(self.path("state.safetensors"))
        prefix = "body.blocks.0.conv"
        arguments = json.loads(meta["pyg"])[prefix]
        self.assertEqual(arguments.pop("class"), "EGConv")
        self.assertEqual((arguments["edge_categories"], arguments["message"]), ([4, 3], "relu"))
        conv = EGConv(**arguments)
        conv.load_state_dict(state_under(state, prefix + "."))
        x, attr = torch.randn(3, 16), torch.tensor(graphs[0]["edge_attr"])
        self.assertEqual(conv(x, torch.tensor(edge_index), edge_attr=attr).shape, (3, 16))
        for model in ("gcn", "gin", "pna"):
            subprocess.run(["rm", "-rf", run], check=True)
            self.trained("--model", model, "--edge-features")
            self.refused(2, f"network of {model} layers that use features of edges", "export", run, "--to", "pyg", *no)
            self.assertFalse(os.path.exists(self.path("no")))

    def first_graphs(self, count):
        import gzip

        def numbers(name):
            return [[int(v) for v in line.split(b",")] for line in gzip.open(self.path(f"data/raw/{name}.csv.gz"))]

        nodes = [n[0] for n in numbers("num-node-list")][:count]
        edges = [n[0] for n in numbers("num-edge-list")][:count]
        info = read_json(self.path("data/dataset.json"))
        x = np.array(numbers("node-feat")[: sum(nodes)])
        pairs = np.array(numbers("edge")[: sum(edges)]).T
        first = np.cumsum([0] + nodes)
        offset = np.repeat(first[:-1], edges)
        pairs = pairs + offset
        if info.get("add_inverse_edge"):
            pairs = np.concatenate([pairs, pairs[::-1]], axis=1)
        graph = np.repeat(np.arange(count), nodes)
        return {"x": x, "edge_index": pairs, "graph": graph}, count

    def test_refused_by_name(self):
        for model in ("gat", "pna", "mpnn-max", "ga-mlp"):
            run = self.trained("--model", model)
            self.refused(2, model, "export", run, "--onnx", "--out", self.path("no.onnx"))
            subprocess.run(["rm", "-rf", run], check=True)
        self.refused(5, "nothing", "export", self.path("nothing"), "--onnx", "--out", self.path("no.onnx"))


class Evil:
    def __init__(self, function, *arguments):
        self.call = (function, arguments)

    def __reduce__(self):
        return self.call


class Hostile(InDirectory):
    """Nothing in a checkpoint runs, and every one of these is refused with exit 4."""

    def corpus(self):
        mark = self.path("executed")
        touch = f"touch {mark}"
        code = f"open({mark!r}, 'w').close()"
        tensors, _ = read_safetensors(os.path.join(GOLDEN, "zinc_egc-m.safetensors"))
        state = state_under(tensors, "state0.")
        rows, columns = state["embedding.weight"].shape
        size = b"K" + bytes([rows]) + b"K" + bytes([columns]) + b"\x86"
        calls = {
            "os.system": Evil(os.system, touch),
            "posix.system": Evil(getattr(sys.modules["posix"], "system"), touch),
            "subprocess.Popen": Evil(subprocess.Popen, ["touch", mark]),
            "subprocess.check_output": Evil(subprocess.check_output, ["touch", mark]),
            "eval": Evil(eval, code),
            "exec": Evil(exec, code),
            "compile": Evil(compile, code, "x", "exec"),
            "open": Evil(open, mark, "w"),
            "__import__": Evil(__import__, "os"),
            "getattr": Evil(getattr, "x", "upper"),
            "io.open": Evil(io.open, mark, "w"),
            "torch.load": Evil(torch.load, mark),
            "pickle.loads": Evil(pickle.loads, pickle.dumps(Evil(os.system, touch))),
        }
        files = {}
        for k, (name, value) in enumerate(calls.items()):
            # Wherever something is looked at: the root, a tensor's place, the network, one more tensor.
            if k % 2 == 0:
                files[f"{name}-root.pkl"] = pickle.dumps(value)
                files[f"{name}-model.pt"] = self.saved({"model": value, "opt": {}})
            else:
                files[f"{name}-value.pkl"] = pickle.dumps({"embedding.weight": value})
                files[f"{name}-tensor.pt"] = self.saved({**state, "extra": value})
        # By hand: opcodes that no pickler writes.
        files["inst.pkl"] = b"(S'" + touch.encode() + b"'\nios\nsystem\n."
        files["obj.pkl"] = b"(cos\nsystem\nS'" + touch.encode() + b"'\no."
        files["extension.pkl"] = b"\x80\x02\x82\x01."
        files["stack-global.pkl"] = b"\x80\x04\x8c\x02os\x94\x8c\x06system\x94\x93\x94\x8c" + bytes([len(touch)]) + touch.encode() + b"\x94\x85\x94R."
        files["build.pkl"] = b"\x80\x02cos\nsystem\nq\x00)\x81}X\x01\x00\x00\x00aK\x01sb."
        files["deep-list.pkl"] = b"(" * 100000 + b"l" * 100000 + b"."
        files["deep-list-2.pkl"] = b"\x80\x02" + b"]" * 200000 + b"a" * 199999 + b"."
        files["deep-tuple.pkl"] = b"\x80\x02)" + b"\x85" * 300000 + b"."
        files["circle.pkl"] = b"\x80\x02]q\x00h\x00a."
        files["huge-text.pkl"] = b"\x80\x04\x8d" + struct.pack("<Q", 1 << 62) + b"abc."
        files["huge-bytes.pkl"] = b"\x80\x04\x8e" + struct.pack("<Q", (1 << 64) - 1) + b"abc."
        files["huge-text-4.pkl"] = b"\x80\x02X" + struct.pack("<I", 0xFFFFFFFF) + b"abc."
        files["negative-long.pkl"] = b"\x80\x02\x8b" + struct.pack("<i", -5) + b"."
        files["huge-long.pkl"] = b"\x80\x02\x8b" + struct.pack("<i", 1 << 30) + b"1."
        files["huge-frame.pkl"] = b"\x80\x04\x95" + struct.pack("<Q", 1 << 60) + b"N."
        files["no-stop.pkl"] = b"\x80\x02}q\x00"
        files["pop-nothing.pkl"] = b"\x80\x020000."
        files["no-mark.pkl"] = b"\x80\x02K\x01t."
        files["memo.pkl"] = b"\x80\x02h\x7f."
        files["protocol-9.pkl"] = b"\x80\x09N."
        files["empty.pt"] = b""
        files["text.pt"] = b"hello, world\n"
        whole = self.saved(state)
        self.assertIn(size, zipfile.ZipFile(io.BytesIO(whole)).read("archive/data.pkl"))
        for share in (0.1, 0.3, 0.5, 0.7, 0.9, 0.99):
            files[f"truncated-{share}.pt"] = whole[: int(len(whole) * share)]
        older = self.saved(state, _use_new_zipfile_serialization=False)
        for share in (0.2, 0.5, 0.8):
            files[f"truncated-older-{share}.pt"] = older[: int(len(older) * share)]
        files["bomb.pt"] = self.bomb()
        files["bomb-storage.pt"] = self.bomb("archive/data/0")
        files["lying-size.pt"] = self.rewritten(whole, lambda p: p.replace(size, b"M\xff\xffM\xff\xff\x86"))
        files["negative-size.pt"] = self.rewritten(whole, lambda p: p.replace(size, b"J\xff\xff\xff\xff" + size[2:]))
        files["no-pickle.pt"] = self.rewritten(whole, lambda p: p, without="data.pkl")
        files["no-storage.pt"] = self.rewritten(whole, lambda p: p, without="data/0")
        files["storage-of-objects.pt"] = self.rewritten(whole, lambda p: p.replace(b"FloatStorage", b"EvilsStorage"))
        files["zip-in-words.pt"] = b"PK\x03\x04" + b"\xff" * 200
        return files, mark, whole

    @staticmethod
    def saved(value, **how):
        file = io.BytesIO()
        torch.save(value, file, **how)
        return file.getvalue()

    @staticmethod
    def bomb(name="archive/data.pkl"):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
            z.writestr(name, b"\0" * (300 << 20))
        return file.getvalue()

    @staticmethod
    def rewritten(whole, change, without=None):
        file = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(file, "w") as new:
            for name in old.namelist():
                data = old.read(name)
                if without is not None and name.endswith(without):
                    continue
                new.writestr(name, change(data) if name.endswith("data.pkl") else data)
        return file.getvalue()

    def test_nothing_is_executed(self):
        files, mark, whole = self.corpus()
        self.assertGreaterEqual(len(files), 50)

        def tried(name):
            return run("import", self.path(name), "--from", "authors", "--aggregators", "add,std,max", "--out", self.path("m.safetensors"))

        # Undamaged it is fine: what is refused below is refused for what was done to it.
        with open(self.path("whole.pt"), "wb") as file:
            file.write(whole)
        self.assertEqual(tried("whole.pt").returncode, 0)
        os.remove(self.path("m.safetensors"))
        for name, content in files.items():
            with open(self.path(name), "wb") as file:
                file.write(content)

        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(tried, files))
        for name, result in zip(files, results):
            with self.subTest(name):
                self.assertEqual(result.returncode, 4, result.stderr)
                self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr[:300])
                self.assertFalse(os.path.exists(mark))
                self.assertFalse(os.path.exists(self.path("m.safetensors")))


if __name__ == "__main__":
    unittest.main()
