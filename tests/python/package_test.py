"""The package as it is installed: a wheel made without a network, and CMake's own way."""

import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCE = os.environ["EGC_SOURCE"]
BUILD = os.environ["EGC_BUILD_DIR"]

USE = """
import torch, egc
assert egc.__file__.startswith({place!r}), egc.__file__
assert str(egc.library_path).startswith({place!r}), egc.library_path
print(egc.EGConv(4, 8)(torch.randn(3, 4), torch.tensor([[0, 1], [1, 2]])).shape)
"""


class Installed(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.work = os.path.realpath(directory.name)

    def run_it(self, *command, **more):
        result = subprocess.run(command, capture_output=True, text=True, **more)
        self.assertEqual(result.returncode, 0, result.stdout[-2000:] + result.stderr[-2000:])
        return result.stdout

    def use(self, place, path):
        clean = {k: v for k, v in os.environ.items() if k not in ("EGC_LIBRARY", "PYTHONPATH")}
        clean["PYTHONPATH"] = path
        out = self.run_it(sys.executable, "-c", USE.format(place=place), env=clean, cwd=self.work)
        self.assertEqual(out.strip(), "torch.Size([3, 8])")

    def test_wheel(self):
        tree = os.path.join(self.work, "source")
        self.copy(tree)  # pip builds within the tree: not within ours
        self.run_it(
            sys.executable, "-m", "pip", "wheel", "--no-index", "--no-deps", "--no-build-isolation",
            "--no-cache-dir", "-w", self.work, tree, env={**os.environ, "EGC_BUILD_DIR": BUILD},
        )
        (wheel,) = [name for name in os.listdir(self.work) if name.endswith(".whl")]
        version = self.run_it(os.path.join(BUILD, "bin", "egc"), "--version").split()[-1]
        self.assertRegex(wheel, rf"^egc-{version}-py3-none-linux_\w+\.whl$")
        with zipfile.ZipFile(os.path.join(self.work, wheel)) as archive:
            names = archive.namelist()
            metadata = archive.read(f"egc-{version}.dist-info/METADATA").decode()
        for line in ("Name: egc", f"Version: {version}", "Requires-Dist: torch", "Requires-Python: >=3.8"):
            self.assertIn(line + "\n", metadata)
        self.assertIn("License", metadata)
        self.assertEqual(len([n for n in names if ".so" in n]), 2, names)
        place = os.path.join(self.work, "installed")
        self.run_it(
            sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--no-cache-dir",
            "--target", place, os.path.join(self.work, wheel),
        )
        self.use(place, place)

    def copy(self, tree):
        """What packaging needs of the source."""
        os.makedirs(os.path.join(tree, "docs"))
        for name in ("pyproject.toml", "setup.py", "CMakeLists.txt", "LICENSE", "python", "docs/python.md"):
            self.run_it("cp", "-r", os.path.join(SOURCE, name), os.path.join(tree, name))

    def test_cmake(self):
        place = os.path.join(self.work, "prefix")
        self.run_it("cmake", "--install", BUILD, "--prefix", place)
        self.use(place, os.path.join(place, "lib/python3/dist-packages"))

    def test_without_the_library(self):
        clean = {k: v for k, v in os.environ.items() if k != "EGC_LIBRARY"}
        result = subprocess.run([sys.executable, "-c", "import egc"], capture_output=True, text=True, env=clean)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("EGC_LIBRARY may name it", result.stderr)


if __name__ == "__main__":
    unittest.main()
