"""Training, as the program's `egc train` does it."""

import contextlib
import ctypes
import json
import os
import re
import signal
import threading

from ._library import EPOCH, encoded, fail, lib, whole
from .dataset import Dataset
from .model import load

INTERRUPTED = 130


class TrainResult:
    """What was trained: ``directory``, ``runs``, and for each run an outcome (a dictionary)."""

    def __init__(self, report):
        self.directory = report["directory"]
        self.runs = report["runs"]
        self.outcomes = report["outcomes"]

    @property
    def test(self):
        """The test scores of the runs."""
        return [outcome.get("test") for outcome in self.outcomes]

    def load(self, *, ensemble=False):
        """The trained model."""
        return load(self.directory, ensemble=ensemble)

    def __repr__(self):
        return f"TrainResult({self.directory!r}, {self.outcomes})"


def train(
    dataset=None,
    model=None,
    *,
    callback=None,
    out=None,
    resume=None,
    config=None,
    parameters=None,
    seed=0,
    seeds=1,
    overwrite=False,
    until=None,
    checkpoint_every=1,
    data_dir=None,
    **settings,
):
    """Trains a network, as ``egc train`` does: the same run directory, checkpoints, report and numbers.

    ``dataset``: name or directory (a ``Dataset`` of your own: ``save`` it first). ``callback(epoch)`` gets a
    dictionary after each epoch; if it returns False, the run stops with a checkpoint and ``egc.Interrupted``
    is raised, as KeyboardInterrupt on Ctrl-C; ``train(resume=directory)`` continues. ``settings``: the
    program's flags without dashes, for instance epochs=20, hidden=64, aggregators=["add", "max"].
    """
    if isinstance(dataset, Dataset):
        raise TypeError(
            "egc.train: a run needs its dataset on disk to resume; dataset.save(directory) it, and train on the directory"
        )
    if callback is not None and not callable(callback):
        raise TypeError(f"egc.train: callback must be a function, got {type(callback).__name__}")
    if not isinstance(overwrite, bool):
        raise TypeError(f"egc.train: overwrite must be True or False, got {type(overwrite).__name__}")
    if config is not None and os.path.isdir(config):
        raise IsADirectoryError(f"egc.train: config must be a JSON file, {config} is a directory")
    request = {
        "dataset": _text(dataset, "dataset"),
        "model": _text(model, "model"),
        "config": _text(config, "config"),
        "out": _text(out, "out"),
        "resume": _text(resume, "resume"),
        "parameters": _count(parameters),
        "seed": whole(seed, "egc.train: seed", 0, 2**64 - 1),
        "seeds": whole(seeds, "egc.train: seeds", 1, 10000),
        "overwrite": overwrite,
        "until": None if until is None else whole(until, "egc.train: until", 1, 2**30),
        "checkpoint_every": whole(checkpoint_every, "egc.train: checkpoint_every", 1, 2**30),
        "data_dir": _text(data_dir, "data_dir"),
        "settings": {key: value for key, value in settings.items() if value is not None},
    }
    try:
        text = json.dumps(request, default=_plain, allow_nan=False).encode()
    except (ValueError, RecursionError):
        bad = [f"{k}={v}" for k, v in settings.items() if isinstance(v, float) and v - v != 0]
        raise ValueError(
            f"egc.train: a setting must be a finite number, a text or a list of them, got {', '.join(bad) or 'a nested one'}"
        ) from None
    except TypeError as error:
        raise TypeError(f"egc.train: a setting is no text, number or list: {error}") from None
    raised = []
    interrupts = []  # signals that came meanwhile

    @EPOCH
    def on_epoch(line, _):  # without a line it only gives Python a chance to see Ctrl-C
        try:
            if line is not None and callback is not None and _is_false(callback(json.loads(line))):
                return 1
            return 1 if interrupts else 0
        except BaseException as error:  # must not pass through C
            raised.append(error)
            return 1

    report = ctypes.c_void_p()
    with _ctrl_c_noted(interrupts):
        status = lib.egc_train(text, on_epoch, None, ctypes.byref(report))
    try:
        if raised:
            raise raised[0]
        if interrupts and status == INTERRUPTED:
            raise KeyboardInterrupt
        if status:
            fail(status, _in_python)
        return TrainResult(json.loads(ctypes.string_at(report).decode("utf-8", "replace")))
    finally:
        lib.egc_free(report)


@contextlib.contextmanager
def _ctrl_c_noted(interrupts):
    """Ctrl-C is noted: an exception from the handler would be raised on entering a callback, and lost in C."""
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: interrupts.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _in_python(sentence):
    """Flags of the program as arguments: --checkpoint-every is checkpoint_every."""
    return re.sub(r"--([a-z][a-z-]*)", lambda flag: flag.group(1).replace("-", "_"), sentence)


def _plain(value):
    """numpy's numbers as Python's."""
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        return value.item()
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(type(value).__name__)


def _is_false(answer):
    return type(answer).__name__ in ("bool", "bool_") and not answer


def _count(value):
    """A number of parameters, also as "100k" or "2M"."""
    if isinstance(value, str) and re.fullmatch(r"[0-9.]+[kM]?", value):
        return int(float(value.rstrip("kM")) * {"k": 1000, "M": 1000000}.get(value[-1], 1))
    return value


def _text(value, what):
    return None if value is None else encoded(value, f"egc.train: {what}").decode("utf-8", "surrogateescape")
