"""import egc, with numpy alone: graphs, datasets, predictions and training give what the program gives."""

import csv
import io
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import egc

PROGRAM = os.environ.get("EGC_PROGRAM") or os.path.join(os.path.dirname(egc.__file__), "bin", "egc")


class Temporary(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.work = os.path.realpath(directory.name)

    def path(self, name):
        return os.path.join(self.work, name)


class Importing(unittest.TestCase):
    def test_needs_neither_torch_nor_numpy(self):
        code = "import sys, egc; print('torch' in sys.modules, 'numpy' in sys.modules)"
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        self.assertEqual(out.strip(), "False False")

    def test_a_missing_library_is_told(self):
        code = "import egc"
        result = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "EGC_LIBRARY": "/nowhere"}
        )
        self.assertIn("EGC_LIBRARY may name it", result.stderr)


class Graphs(unittest.TestCase):
    def test_forms(self):
        edges = [[0, 2, 1, 0], [1, 1, 0, 1]]
        first = egc.Graph(edges, 4)
        self.assertEqual((first.num_nodes, first.num_edges, first.is_square), (4, 4, True))
        np.testing.assert_array_equal(first.edge_index, [[1, 0, 0, 2], [0, 1, 1, 1]])
        offsets, sources, weights = first.csr()
        np.testing.assert_array_equal(offsets, [0, 1, 4, 4, 4])
        self.assertIsNone(weights)
        for other in (
            egc.Graph(np.array(edges, np.int32), np.int64(4)),
            egc.Graph.from_csr(offsets, sources),
            pickle.loads(pickle.dumps(first)),
        ):
            np.testing.assert_array_equal(other.edge_index, first.edge_index)
        weighted = egc.Graph(edges, 4, [1.0, 2.0, 3.0, 4.0])
        np.testing.assert_array_equal(weighted.edge_weight, [3, 1, 4, 2])
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(weighted)).edge_weight, weighted.edge_weight)
        pair = egc.Graph(edges, 2, num_sources=3)
        self.assertEqual((pair.num_nodes, pair.num_sources, pair.is_square), (2, 3, False))
        self.assertFalse(pickle.loads(pickle.dumps(pair)).is_square)
        self.assertEqual(egc.Graph([[], []], 3).num_edges, 0)

    def test_scipy_and_networkx(self):
        try:
            import networkx
            import scipy.sparse
        except ImportError:
            self.skipTest("scipy or networkx is not installed")
        matrix = scipy.sparse.coo_matrix(([2.0, 3.0], ([0, 1], [1, 2])), (3, 3))
        for form in (matrix, matrix.tocsr(), scipy.sparse.csc_array(matrix)):
            graph = egc.Graph(form)
            np.testing.assert_array_equal(graph.edge_index, [[0, 1], [1, 2]])
            np.testing.assert_array_equal(graph.edge_weight, [2, 3])
        path = networkx.relabel_nodes(networkx.path_graph(3), {0: "a", 1: "b", 2: "c"})
        np.testing.assert_array_equal(egc.Graph(path).edge_index, [[1, 0, 2, 1], [0, 1, 1, 2]])
        directed = networkx.DiGraph([(0, 1), (0, 0)])
        np.testing.assert_array_equal(egc.Graph(directed).edge_index, [[0, 0], [0, 1]])
        loop = networkx.Graph([(0, 0)])
        self.assertEqual(egc.Graph(loop).num_edges, 1)


class Datasets(Temporary):
    def test_arrays_and_graphs(self):
        data = egc.dataset("molecules")
        self.assertEqual(len(data), 12000)
        graph = data[-1]
        self.assertEqual(graph.x.shape, (graph.num_nodes, 1))
        self.assertLess(graph.edge_index.max(), graph.num_nodes)
        self.assertEqual(len(data.split("train")), 10000)
        with self.assertRaises(ValueError):
            graph.x[0] = 1  # memory of the dataset
        first = data.arrays["edges"]
        del data
        self.assertEqual(first.shape[1], 2)  # the array keeps the memory

    def test_round_trip(self):
        data = egc.dataset("molecules")
        numbers = range(0, 300)
        splits = {"default": {"train": range(200), "valid": range(200, 250), "test": range(250, 300)}}
        mine = egc.Dataset.from_graphs(
            [data[k] for k in numbers],
            y=[data[k].y for k in numbers],
            splits=splits,
            name="mine",
            categories=data.info["categories"],
        )
        mine.save(self.path("mine"))
        again = egc.dataset(self.path("mine"))
        for k in (0, 299):
            for a, b in zip(mine[k], again[k]):
                np.testing.assert_allclose(a, b)
        np.testing.assert_array_equal(again.split("valid"), np.arange(200, 250))

    def test_nodes(self):
        x = np.eye(4, dtype=np.float32)
        data = egc.Dataset.from_graphs([(x, [[0, 1], [1, 2]])], y=[0, 1, 1, 0], task="node-classification")
        np.testing.assert_array_equal(data[0].y, [0, 1, 1, 0])
        self.assertEqual(data.info["num_classes"], 2)


class Predictions(Temporary):
    def test_as_the_program(self):
        model = egc.load("zinc-egc-m")
        self.assertEqual(model.num_parameters, 100385)
        data = egc.dataset("molecules")
        graphs = [(data[k].x % 28, data[k].edge_index) for k in range(20)]
        one_by_one = np.concatenate([np.asarray(model.predict(g)) for g in graphs])
        np.testing.assert_allclose(np.asarray(model.predict(graphs)), one_by_one, rtol=1e-5, atol=1e-5)
        as_dicts = [
            {"node_feat": x, "edge_index": e, "edge_feat": np.zeros((e.shape[1], 1), np.int64), "num_nodes": len(x)}
            for x, e in graphs
        ]
        np.testing.assert_array_equal(np.asarray(model.predict(as_dicts)), np.asarray(model.predict(graphs)))
        model.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            model.predict(graphs)

    def test_a_trained_run(self):
        result = egc.train("graph-props", model="gcn", epochs=2, out=self.path("run"), hidden=16)
        with result.load() as model:
            predicted = model.predict("graph-props")
        text = subprocess.run(
            [PROGRAM, "--quiet", "predict", self.path("run"), "graph-props"], capture_output=True, text=True, check=True
        ).stdout
        rows = list(csv.reader(io.StringIO(text)))[1:]
        self.assertEqual(len(rows), len(predicted))
        theirs = np.array([[float(v) for v in row[-predicted.values.shape[1] :]] for row in rows])
        np.testing.assert_allclose(predicted.values, theirs, rtol=1e-4, atol=1e-4)

    def test_a_model_that_reads_encodings(self):
        data = egc.dataset("molecules")
        split = {"default": {"train": range(150), "valid": range(150, 180), "test": range(180, 200)}}
        graphs = [data[k] for k in range(200)]
        mine = egc.Dataset.from_graphs(
            graphs, [g.y for g in graphs], splits=split, name="mine", categories=data.info["categories"]
        )
        mine.save(self.path("mine"))
        result = egc.train(
            self.path("mine"),
            model="egc-s",
            hidden=16,
            epochs=2,
            encode=["rwse:4", "laplacian:2"],
            out=self.path("run"),
        )
        with result.load() as model:
            self.assertEqual(model.config["encode"], ["rwse:4", "laplacian:2"])
            from_arrays = np.asarray(model.predict(mine))
            np.testing.assert_allclose(np.asarray(model.predict(graphs[180:])), from_arrays[180:], atol=1e-5)
        y = np.array([float(np.ravel(g.y)[0]) for g in graphs[180:]])
        mae = np.abs(from_arrays[180:].ravel() - y).mean()
        np.testing.assert_allclose(mae, result.test, atol=1e-4)

    def test_networks_read_features_of_edges(self):
        rng = np.random.default_rng(0)
        edge_index = np.array([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]])
        ids = np.arange(60)
        splits = {"default": {"train": ids[:40], "valid": ids[40:50], "test": ids[50:]}}
        for attr in (lambda: rng.integers(0, 4, (6, 2)), lambda: rng.normal(size=(6, 3))):
            graphs = [{"x": np.ones((3, 1)), "edge_index": edge_index, "edge_attr": attr()} for _ in ids]
            sums = np.array([g["edge_attr"].sum() for g in graphs])  # which nothing else tells
            y = (sums - sums.mean()) / sums.std()
            mine = egc.Dataset.from_graphs(graphs, y, splits=splits, name="mine")
            with self.subTest(mine.info["edge_features"]):
                data, run = self.path("data-" + mine.info["edge_features"]), self.path(
                    "run-" + mine.info["edge_features"]
                )
                mine.save(data)
                result = egc.train(
                    data,
                    model="egc-m",
                    edge_features=True,
                    message="identity",
                    encode=["degree"],
                    feed_forward=2,
                    optimizer="adamw",
                    schedule="cosine",
                    hidden=16,
                    epochs=40,
                    batch=5,
                    lr=0.01,
                    out=run,
                )
                with result.load() as model:
                    self.assertEqual(
                        [model.config[key] for key in ("edge_features", "message", "encode", "feed_forward")],
                        [True, "identity", ["degree"], 2],
                    )
                    predicted = np.asarray(model.predict(graphs)).ravel()
                    np.testing.assert_allclose(predicted, np.asarray(model.predict(mine)).ravel(), atol=1e-5)
                    one = {**graphs[0], "edge_attr": np.zeros_like(graphs[0]["edge_attr"])}  # a single category
                    self.assertTrue(np.isfinite(np.asarray(model.predict(one))).all())
                    for other in (None, np.zeros((6, 1), int if attr().dtype.kind == "f" else float)):
                        with self.assertRaisesRegex(egc.ModelError, "edge_attr, got"):
                            model.predict({**graphs[0], "edge_attr": other})
                    narrow = graphs[0]["edge_attr"][:, :1]
                    with self.assertRaisesRegex(ValueError, "edge_attr of 2 columns, got 1|features of edges"):
                        model.predict({**graphs[0], "edge_attr": narrow})
                self.assertGreater(np.corrcoef(predicted, y)[0, 1], 0.7)

    def test_settings_of_edges_that_do_not_fit(self):
        for settings, part in (
            ({"edge_features": True, "model": "gcn"}, "graph-props has no features of edges"),
            ({"message": "relu", "model": "egc-s"}, "message needs edge_features"),
        ):
            with self.assertRaisesRegex(ValueError, part):
                egc.train("graph-props", epochs=1, out=self.path("no"), **settings)


class Training(Temporary):
    def lines(self, run):
        with open(os.path.join(run, "metrics.jsonl")) as file:
            return [json.loads(line) for line in file]

    def test_as_the_program(self):
        seen = []
        result = egc.train(
            "graph-props",
            model="egc-m",
            epochs=3,
            hidden=16,
            aggregators=["add", "max"],
            norm=False,
            out=self.path("a"),
            callback=seen.append,
        )
        flags = "--model egc-m --epochs 3 --hidden 16 --aggregators add,max --no-norm --out".split()
        subprocess.run(
            [PROGRAM, "--quiet", "train", "graph-props", *flags, self.path("b")], check=True, capture_output=True
        )
        for ours, theirs, told in zip(self.lines(self.path("a")), self.lines(self.path("b")), seen):
            for line in (ours, theirs, told):
                line.pop("seconds")
            self.assertEqual(ours, theirs)
            self.assertEqual(told, theirs)
        self.assertEqual(len(seen), 3)
        self.assertEqual(result.outcomes[0]["epochs"], 3)

    def test_stopping_and_resuming(self):
        full = egc.train("graph-props", model="gin", epochs=4, hidden=16, out=self.path("full"))
        with self.assertRaises(egc.Interrupted):
            egc.train(
                "graph-props",
                model="gin",
                epochs=4,
                hidden=16,
                out=self.path("half"),
                callback=lambda e: e["epoch"] < 2,
            )
        again = egc.train(resume=self.path("half"))
        self.assertEqual(again.test, full.test)

    def test_an_exception_of_the_callback_comes_home(self):
        def fail(epoch):
            raise ZeroDivisionError("mine")

        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            egc.train("graph-props", model="gcn", epochs=4, hidden=16, out=self.path("run"), callback=fail)

    def test_interrupt(self):
        code = f"import egc; egc.train('molecules', model='egc-s', epochs=1000, out={self.path('run')!r}, callback=lambda e: print('epoch', flush=True))"
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        process.stdout.readline()
        time.sleep(0.05)  # in the middle of an epoch
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
        self.assertLess(time.monotonic() - begin, 20)
        self.assertIn("KeyboardInterrupt", error)
        self.assertTrue(os.path.exists(os.path.join(self.path("run"), "last.ckpt")))

    def test_other_threads_run_meanwhile(self):
        ticks, stop = [], threading.Event()

        def tick():
            while not stop.is_set():
                ticks.append(time.monotonic())
                time.sleep(0.001)

        thread = threading.Thread(target=tick)
        thread.start()
        egc.train("graph-props", model="gcn", epochs=2, hidden=32, out=self.path("run"))
        stop.set()
        thread.join()
        gaps = [b - a for a, b in zip(ticks, ticks[1:])]
        self.assertGreater(len(ticks), 20)
        self.assertLess(sorted(gaps)[len(gaps) // 2], 0.05)  # the lock was not held


if __name__ == "__main__":
    unittest.main()
