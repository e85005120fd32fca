"""The package as it is installed: a wheel made without a network, and CMake's own way."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCE = os.environ["EGC_SOURCE"]
BUILD = os.environ["EGC_BUILD_DIR"]
# What every Linux has; all else must be in the wheel.
EVERYWHERE = r"(linux-vdso|.*ld-linux.*|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|z))\.so[.0-9]*"


def clean_environment(**more):
    """Nothing of this build, and no other way to find libraries and Python's files."""
    left_out = ("EGC_LIBRARY", "EGC_BUILD_DIR", "LD_LIBRARY_PATH", "PYTHONPATH")
    return {**{k: v for k, v in os.environ.items() if k not in left_out}, "PATH": "/usr/bin:/bin", **more}


class InDirectory(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.work = os.path.realpath(directory.name)

    def run_it(self, *command, **more):
        result = subprocess.run(command, capture_output=True, text=True, cwd=self.work, **more)
        self.assertEqual(result.returncode, 0, (command, result.stdout[-2000:] + result.stderr[-2000:]))
        return result.stdout

    def check_package(self, packages, library_directory, program_directory):
        """The program runs, from Python too, and finds what is shipped; the package loads where numpy is."""
        program = os.path.join(program_directory, "egc")
        environment = clean_environment(PYTHONPATH=packages)
        version = self.run_it(program, "--version", env=environment)
        self.assertIn("100385 parameters", self.run_it(program, "info", "zinc-egc-m", env=environment))
        self.assertTrue(os.path.isfile(os.path.join(library_directory, self.soname())))
        # Only the file: not what importing the package needs.
        start = "import runpy, sys; sys.argv[1:] = ['--version']; runpy.run_path({!r})['main']()"
        location = self.read_location(packages)
        script = os.path.join(packages, "egc", "_program.py")
        if location is None:
            self.assertEqual(self.run_it(sys.executable, "-c", start.format(script), env=environment), version)
        else:
            self.assertEqual(os.path.realpath(location["LIBRARY_DIRECTORY"]), os.path.realpath(library_directory))
            self.assertEqual(os.path.realpath(location["PROGRAM_DIRECTORY"]), os.path.realpath(program_directory))
        if self.imports_without_torch():
            use = "import egc, sys; assert 'torch' not in sys.modules; print(egc.__file__, egc.__version__)"
            file, imported = self.run_it(sys.executable, "-c", use, env=environment).split()
            self.assertTrue(file.startswith(packages), file)
            self.assertEqual(imported, version.strip())
            command = "import sys; sys.argv[1:] = ['--version']; from egc._program import main; main()"
            self.assertEqual(self.run_it(sys.executable, "-c", command, env=environment), version)

    def read_location(self, packages):
        path = os.path.join(packages, "egc", "_location.py")
        if not os.path.exists(path):
            return None
        names = {}
        with open(path) as file:
            exec(file.read(), names)
        return {k: os.path.join(packages, "egc", v) for k, v in names.items() if k.endswith("_DIRECTORY")}

    def imports_without_torch(self):
        with open(os.path.join(SOURCE, "python", "egc", "__init__.py")) as file:
            return "__version__" in file.read()

    def soname(self):
        with open(os.path.join(SOURCE, "CMakeLists.txt")) as file:
            major, minor = re.search(r"project\(egc VERSION (\d+)\.(\d+)", file.read()).groups()
        return f"libegc.so.{major}.{minor}"


class Wheel(InDirectory):
    def test_wheel(self):
        self.run_it(
            sys.executable, "-m", "pip", "wheel", "--no-index", "--no-deps", "--no-cache-dir", "-w", self.work, SOURCE,
            env={**os.environ, "EGC_BUILD_DIR": BUILD},
        )
        (wheel,) = [name for name in os.listdir(self.work) if name.endswith(".whl")]
        version = self.run_it(os.path.join(BUILD, "bin", "egc"), "--version").split()[-1]
        self.assertRegex(wheel, rf"^egc-{version}-py3-none-manylinux_2_\d+_x86_64\.whl$")
        wheel = os.path.join(self.work, wheel)
        self.assertLess(os.path.getsize(wheel), 12e6)
        with zipfile.ZipFile(wheel) as archive:
            self.assertIsNone(archive.testzip())
            modes = {entry.filename: entry.external_attr >> 16 & 0o777 for entry in archive.infolist()}
            info = {name: archive.read(f"egc-{version}.dist-info/{name}").decode()
                    for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "LICENSE")}
        self.check_names(modes)
        for line in ("Name: egc", f"Version: {version}", "Requires-Dist: numpy", "Requires-Python: >=3.8",
                     "License: MIT License", 'Requires-Dist: torch>=2.1; extra == "torch"', "Provides-Extra: torch"):
            self.assertIn(line + "\n", info["METADATA"])
        self.assertIn("\negc = egc._program:main\n", info["entry_points.txt"])
        self.assertEqual({line.split(",")[0] for line in info["RECORD"].splitlines()}, set(modes))

        place = os.path.join(self.work, "installed")
        self.run_it(
            sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--no-cache-dir", "--target", place, wheel,
        )
        package = os.path.join(place, "egc")
        self.check_package(place, os.path.join(package, "lib"), os.path.join(package, "bin"))
        self.check_binary(os.path.join(package, "lib", self.soname()), package, "$ORIGIN")
        self.check_binary(os.path.join(package, "bin", "egc"), package, "$ORIGIN/../lib")
        self.check_left_out(os.path.join(package, "bin", "egc"))

    def check_names(self, modes):
        python = os.path.join(SOURCE, "python")
        for directory, _, files in os.walk(os.path.join(python, "egc")):
            for file in files:
                if file.endswith(".py") and file != "_location.py":
                    self.assertIn(os.path.relpath(os.path.join(directory, file), python), modes)
        for name in ("egc/bin/egc", f"egc/lib/{self.soname()}", "egc/share/egc/pretrained/zinc-egc-m.safetensors",
                     "egc/share/egc/configs/zinc/egc-m.json", "egc/share/egc/pretrained/README.md"):
            self.assertIn(name, modes)
        self.assertTrue(any(name.startswith("egc/share/egc/tables/") for name in modes))
        self.assertEqual(modes["egc/bin/egc"], 0o755)
        for name in modes:
            self.assertRegex(name, r"^egc(-[0-9.]+\.dist-info)?/")
            self.assertNotRegex(name, r"torch.*\.so|libpython|libicu|_location\.py|\.pyc$")

    def check_binary(self, file, package, path):
        """Needs nothing that only this machine has, and looks only beside itself."""
        dynamic = self.run_it("readelf", "-d", file)
        self.assertEqual(re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic), [path])
        self.assertNotIn(".symtab", self.run_it("readelf", "-S", file), "not stripped")
        for line in self.run_it("ldd", file, env=clean_environment()).splitlines():
            name, _, place = (part.strip() for part in line.partition("=>"))
            self.assertNotIn("torch", name)
            if not re.fullmatch(EVERYWHERE, name.split(" (")[0]):
                self.assertTrue(os.path.realpath(place.split(" (")[0]).startswith(package), line)

    def check_left_out(self, program):
        """What the wheel leaves out is refused in a sentence that says what to do."""
        result = subprocess.run([program, "data", "fetch", "zinc"], capture_output=True, text=True,
                                env=clean_environment(EGC_DATA=self.work))
        self.assertEqual(result.returncode, 5, result)
        self.assertIn("build egc from source", result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)

    def test_wrong_build_directory(self):
        result = subprocess.run(
            [sys.executable, "-c", "import build_wheel; build_wheel.build_wheel('.')"], capture_output=True, text=True,
            env={**os.environ, "EGC_BUILD_DIR": self.work, "PYTHONPATH": os.path.join(SOURCE, "python", "packaging")},
        )
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual(result.stderr, f"egc: EGC_BUILD_DIR is {self.work}, which is no configured build directory\n")


class CMake(InDirectory):
    def test_cmake(self):
        place = os.path.join(self.work, "prefix")
        self.run_it("cmake", "--install", BUILD, "--prefix", place)
        (libraries,) = {os.path.dirname(p) for p in self.run_it("find", place, "-name", self.soname()).split()}
        self.check_package(os.path.join(place, "lib/python3/dist-packages"), libraries, os.path.join(place, "bin"))


if __name__ == "__main__":
    unittest.main()
