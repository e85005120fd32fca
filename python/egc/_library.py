"""Finds and loads the operators: torch.ops.egc and torch.classes.egc."""

import os
from pathlib import Path

import torch

_NAME = "libegc_torch.so"


def _find() -> Path:
    chosen = os.environ.get("EGC_LIBRARY")
    if chosen:
        places = [Path(chosen)]
    else:
        here = Path(__file__).resolve().parent
        places = sorted((here / "lib").glob(_NAME + "*"))  # a wheel has them beside it
        try:
            from ._location import LIBRARY_DIRECTORY  # written by `cmake --install`

            places.append((here / LIBRARY_DIRECTORY / _NAME).resolve())
        except ImportError:
            pass
    for place in places:
        if place.is_file():
            return place
    raise ImportError(
        f"egc: {_NAME} was not found"
        + "".join(f", not as {place}" for place in places)
        + "; the environment variable EGC_LIBRARY may name it"
    )


library_path = _find()
torch.ops.load_library(str(library_path))
