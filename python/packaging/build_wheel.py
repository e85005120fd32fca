"""Builds the wheel: a PEP 517 backend with the standard library alone, so that installing needs no network.

The wheel has the Python files, the C++ library, the program, and the models and configurations that are shipped. CMake's
target egc_wheel makes the binaries (cmake/wheel.cmake); shared libraries that not every Linux has are put beside them.

EGC_BUILD_DIR names a configured build directory to use instead of build/wheel, which is made where it is missing.
"""

import base64
import hashlib
import io
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

if sys.version_info < (3, 11):
    raise SystemExit("egc: building needs Python 3.11 or newer; the wheel that it makes runs on 3.8")
import tomllib

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
VERSION = re.search(r"project\(egc VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
DIST_INFO = f"egc-{VERSION}.dist-info"
# Every Linux of the tag has these (PEP 600); libz.so.1 is one that libraries beside ours may need.
EVERYWHERE = re.compile(r"(linux-vdso|ld-linux.*|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|z))\.so[.0-9]*$")
# What CMake asks for where it is missing, and what to install for it.
PACKAGES = {
    "CMAKE_CXX_COMPILER": "a C++20 compiler (Debian: g++)",
    "hwy": "Highway (Debian: libhwy-dev)",
    "fmt": "fmt (Debian: libfmt-dev)",
    "nlohmann_json": "nlohmann-json (Debian: nlohmann-json3-dev)",
}
# Headers that are compiled in: their licenses travel along, as those of what is linked.
HEADERS = ["libcli11-dev", "libfast-float-dev", "libspdlog-dev", "nlohmann-json3-dev"]


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_editable = get_requires_for_build_sdist = get_requires_for_build_wheel


def run(*command):
    """The output of a command; where it fails, its last lines and a sentence."""
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        own = re.findall(r"^egc: .*", result.stdout, re.M)  # said by cmake/wheel.cmake
        missing = [text for name, text in PACKAGES.items() if re.search(rf'(No |provided by "){name}\b', result.stdout)]
        if not own and not missing:
            print(*result.stdout.splitlines()[-40:], sep="\n", file=sys.stderr)
        raise SystemExit(
            own[0]
            if own
            else (
                "egc: install what the build needs: " + ", ".join(missing)
                if missing
                else f"egc: {command[0]} {command[1]} failed; the lines above say why"
            )
        )
    return result.stdout


def build_binaries():
    """The build directory, whose wheel/egc then has lib and bin."""
    for tool, package in (("cmake", "CMake 3.25 or newer"), ("ninja", "Ninja (Debian: ninja-build)"), ("ldd", "ldd")):
        if not shutil.which(tool):
            raise SystemExit(f"egc: building needs {package}, which was not found; install it")
    build = Path(os.environ.get("EGC_BUILD_DIR") or ROOT / "build" / "wheel")
    if not os.environ.get("EGC_BUILD_DIR"):
        options = ["-DCMAKE_BUILD_TYPE=Release", "-DEGC_TESTS=OFF", "-DEGC_TORCH=OFF"]
        options += [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("RDKit", "OpenCVSlic", "CURL")]
        run("cmake", "-G", "Ninja", "-S", str(ROOT), "-B", str(build), *options)
    elif not (build / "CMakeCache.txt").is_file():
        raise SystemExit(f"egc: EGC_BUILD_DIR is {build}, which is no configured build directory")
    run("cmake", "--build", str(build), "--target", "egc_wheel")
    return build


def libraries_beside(binaries):
    """Shared libraries that the binaries need and not every Linux has: {name asked for: file}."""
    clean = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
    out = {}
    for binary in binaries:
        for line in subprocess.check_output(["ldd", str(binary)], text=True, env=clean).splitlines():
            name, _, place = (part.strip() for part in line.partition("=>"))
            if place.startswith("not found"):
                raise SystemExit(f"egc: {binary.name} needs {name}, which was not found; install it")
            if place and not EVERYWHERE.match(name):
                out[name] = Path(place.rsplit(" (", 1)[0]).resolve()
    return {name: file for name, file in out.items() if file not in [b.resolve() for b in binaries]}


def licenses(files):
    """What Debian's packages of these files say of copyright, by name in the wheel."""
    packages = set(HEADERS)
    if shutil.which("dpkg-query"):
        for file in files:
            found = subprocess.run(["dpkg-query", "-S", "*/" + file.name], capture_output=True, text=True).stdout
            packages.update(re.findall(r"^([^:,\s]+)", found)[:1])
    texts = {name: Path("/usr/share/doc", name, "copyright") for name in sorted(packages)}
    return {f"{DIST_INFO}/licenses/{name}.txt": text for name, text in texts.items() if text.is_file()}


def metadata():
    """The files of .dist-info but RECORD."""
    lines = ["Metadata-Version: 2.1", f"Name: {PROJECT['name']}", f"Version: {VERSION}"]
    lines += [f"Summary: {PROJECT['description']}", f"Requires-Python: {PROJECT['requires-python']}"]
    license = ROOT / PROJECT["license"]["file"]
    lines += [f"License: {license.read_text().splitlines()[0]}", f"License-File: {license.name}"]
    lines += [f"Classifier: {name}" for name in PROJECT["classifiers"]]
    lines += [f"Requires-Dist: {name}" for name in PROJECT["dependencies"]]
    for extra, names in PROJECT["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {name}; extra == "{extra}"' for name in names)]
    lines += ["Description-Content-Type: text/markdown", "", (ROOT / PROJECT["readme"]).read_text()]
    scripts = [f"{name} = {function}" for name, function in PROJECT["scripts"].items()]
    wheel = ["Wheel-Version: 1.0", "Generator: egc", "Root-Is-Purelib: false", f"Tag: {tag()}"]
    return {
        f"{DIST_INFO}/METADATA": "\n".join(lines).encode(),
        f"{DIST_INFO}/WHEEL": ("\n".join(wheel) + "\n").encode(),
        f"{DIST_INFO}/entry_points.txt": ("\n".join(["[console_scripts]", *scripts]) + "\n").encode(),
        f"{DIST_INFO}/{license.name}": license.read_bytes(),
    }


def tag():
    """Any Python 3, and a Linux whose C library is at least as new as this one's."""
    name, version = os.confstr("CS_GNU_LIBC_VERSION").split()
    return f"py3-none-manylinux_{version.replace('.', '_')}_{platform.machine()}"


def write_wheel(directory, files):
    """A wheel of {name: bytes or path}, the same bytes every time; programs keep their permission to run."""
    record = []
    name = f"egc-{VERSION}-{tag()}.whl"
    with zipfile.ZipFile(Path(directory, name), "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:

        def add(name, data, mode):
            entry = zipfile.ZipInfo(name)  # of 1980
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, data, compresslevel=9)

        for file, data in sorted(files.items()):
            mode = 0o755 if isinstance(data, Path) and os.access(data, os.X_OK) else 0o644
            data = data.read_bytes() if isinstance(data, Path) else data
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{file},sha256={digest},{len(data)}\n")
            add(file, data, mode)
        add(f"{DIST_INFO}/RECORD", "".join(record) + f"{DIST_INFO}/RECORD,,\n", 0o644)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    build = build_binaries()
    made = build / "wheel"
    (library,) = made.glob("egc/lib/libegc.so.*")
    program = made / "egc" / "bin" / "egc"
    beside = libraries_beside([library, program])
    files = {**metadata(), f"egc/lib/{library.name}": library, "egc/bin/egc": program}
    files.update({f"egc/lib/{name}": file for name, file in beside.items()})
    static = [Path(line) for line in (made / "static_libraries.txt").read_text().split("\n") if line]
    files.update(licenses([*beside.values(), *static]))
    for file in (ROOT / "python" / "egc").rglob("*.py"):
        if file.name != "_location.py":  # of another installation
            files[str(file.relative_to(ROOT / "python"))] = file
    for pattern in ("configs/**/*.json", "pretrained/*.safetensors", "pretrained/*.md", "tables/**/*.json"):
        files.update({f"egc/share/egc/{file.relative_to(ROOT)}": file for file in ROOT.glob(pattern)})
    return write_wheel(wheel_directory, files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """Python files stay where they are; the file that `cmake --install` writes says where the binaries are."""
    made = build_binaries() / "wheel" / "egc"
    text = f"LIBRARY_DIRECTORY = {str(made / 'lib')!r}\nPROGRAM_DIRECTORY = {str(made / 'bin')!r}\n"
    (ROOT / "python" / "egc" / "_location.py").write_text(text)
    return write_wheel(wheel_directory, {**metadata(), "egc.pth": f"{ROOT / 'python'}\n".encode()})


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    Path(metadata_directory, DIST_INFO).mkdir()
    for name, data in metadata().items():
        Path(metadata_directory, name).write_bytes(data)
    return DIST_INFO


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_sdist(sdist_directory, config_settings=None):
    """What git knows of, or in an unpacked sdist all there is."""
    git = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if git.returncode == 0 and git.stdout and (ROOT / ".git").exists():
        names = [name for name in git.stdout.split("\0") if name]
    else:
        files = [file.relative_to(ROOT) for file in ROOT.rglob("*") if file.is_file()]
        made = re.compile(r"(build|runs|\.git|\.cache)/|PKG-INFO$|python/egc/_location\.py$|.*__pycache__/")
        names = [str(file) for file in files if not made.match(str(file))]
    base = f"egc-{VERSION}"
    with tarfile.open(Path(sdist_directory, base + ".tar.gz"), "w:gz") as archive:
        for name in sorted(names):
            archive.add(ROOT / name, f"{base}/{name}", recursive=False)
        information = metadata()[f"{DIST_INFO}/METADATA"]
        entry = tarfile.TarInfo(f"{base}/PKG-INFO")
        entry.size = len(information)
        archive.addfile(entry, io.BytesIO(information))
    return base + ".tar.gz"
