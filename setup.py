"""Builds the operator library with CMake and puts it beside the Python files.

EGC_BUILD_DIR names a build of this tree that is there already; without it one is made, against
Debian's LibTorch or that of EGC_TORCH_DIR, for instance <site-packages>/torch.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution
from wheel.bdist_wheel import bdist_wheel

ROOT = Path(__file__).resolve().parent
VERSION = re.search(r"project\(egc VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def built_libraries(work: Path) -> Path:
    """The directory of libegc_*.so."""
    if "EGC_BUILD_DIR" in os.environ:
        return Path(os.environ["EGC_BUILD_DIR"]) / "lib"
    subprocess.check_call(
        ["cmake", "-G", "Ninja", "-S", str(ROOT), "-B", str(work), "-DCMAKE_BUILD_TYPE=Release", "-DEGC_TESTS=OFF"]
        + ["-DEGC_TORCH_DIR=" + os.environ.get("EGC_TORCH_DIR", "")]
    )
    subprocess.check_call(["cmake", "--build", str(work), "--target", "egc_torch"])
    return work / "lib"


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        target = Path(self.build_lib) / "egc" / "lib"
        target.mkdir(parents=True, exist_ok=True)
        libraries = built_libraries(Path(self.get_finalized_command("build").build_temp).resolve())
        # By the names that the libraries ask each other for; links would be copied as files.
        for name in ("libegc.so", "libegc_torch.so"):
            library = (libraries / name).resolve()
            name = re.sub(r"(\.so\.\d+\.\d+)\.\d+$", r"\1", library.name)
            shutil.copy(library, target / name)


class PlatformWheel(bdist_wheel):
    """Any Python 3, but this platform."""

    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True


setup(
    version=VERSION,
    distclass=WithLibrary,
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel},
)
