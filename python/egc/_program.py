"""The command `egc`: the program of this package, or the one that `cmake --install` put beside its library."""

import os
import sys
from pathlib import Path


def main():
    try:
        from ._location import PROGRAM_DIRECTORY  # written by `cmake --install`
    except ImportError:
        PROGRAM_DIRECTORY = "bin"  # a wheel has it beside this file
    program = Path(__file__).resolve().parent / PROGRAM_DIRECTORY / "egc"
    try:
        os.execv(program, ["egc", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"egc: cannot run {program}: {error.strerror}")
