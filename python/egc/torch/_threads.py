"""egc computes on torch's threads, and on as many: two pools would compete for the cores."""

import ctypes
import threading

import torch

from .._library import lib

_here = threading.local()


def follow_torch():
    """Before a call: torch counts threads for each of Python's."""
    threads = torch.get_num_threads()
    if getattr(_here, "threads", 0) != threads:
        lib.egc_set_num_threads_here(threads)
        _here.threads = threads


def _openmp_of_torch():
    """The address of GOMP_parallel in the OpenMP library that torch has loaded; None if there is none.
    GCC's, LLVM's and Intel's have it."""
    try:
        with open("/proc/self/maps") as maps:
            files = {line.split(None, 5)[-1].strip() for line in maps if "omp" in line and ".so" in line}
    except OSError:
        return None
    openmp = [f for f in files if f.rpartition("/")[2].startswith(("libgomp", "libomp", "libiomp"))]
    for place in sorted(openmp, key=lambda f: "torch" not in f):
        try:
            return ctypes.cast(ctypes.CDLL(place).GOMP_parallel, ctypes.c_void_p).value
        except (OSError, AttributeError):
            continue
    return None


lib.egc_set_parallel(_openmp_of_torch())
