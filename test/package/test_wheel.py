# SPDX-License-Identifier: MIT
"""The wheel, built from the unpacked source distribution, in clean environments: without LD_LIBRARY_PATH, in a folder with
blanks, after the environment was moved, and in every Python from 3.9 on that is here (DFT_PYTHONS: more of them, by `:`)."""

import gzip
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import zipfile

import harness
import pytest

pytest.importorskip("scikit_build_core", reason="scikit-build-core is not installed in this Python")
pytestmark = pytest.mark.skipif(bool(harness.sanitizer()), reason="users install no instrumented build")
VERSION = harness.cache_entry("CMAKE_PROJECT_VERSION")

SMOKE = """
import os, sys
import dftracer
from dftracer.python import ai, dft_fn, dftracer as tracer
import dftracer.dftracer as native
assert dftracer.__version__ == native.__version__ and os.path.exists(dftracer.preload_path())
tracer.initialize_log()
with dft_fn("smoke", "block") as d: d.update(args={"n": 2**40})
@ai.compute.forward
def f(x): return x
class A:
    step = 3
    @dft_fn("smoke").log
    def m(self, epoch): return epoch
def g():
    yield 1
assert f(1) == 1 and A().m(4) == 4 and list(dft_fn("s").log(g)()) == [1] == list(ai.dataloader.fetch.iter([1]))
open(sys.argv[1], "w").write("x")
"""


def clean(**more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DFTRACER_", "LD_", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"))}
    return kept | more


def run(*command, status=0, **how):
    how.setdefault("env", clean())
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **how)
    assert done.returncode == status, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def write_changes(archive: pathlib.Path, folder: pathlib.Path):
    """Unpacks a source archive over what is there, touching only files that differ, so that builds are incremental."""
    with tarfile.open(archive) as tar:
        members = [m for m in tar.getmembers() if m.isfile()]
        wanted = {pathlib.Path(*pathlib.Path(m.name).parts[1:]): m for m in members}
        there = [p for p in folder.rglob("*") if p.is_file() and p.relative_to(folder).parts[0] != "build"]
        for old in [p for p in there if p.relative_to(folder) not in wanted]:
            old.unlink()
        for name, member in wanted.items():
            data = tar.extractfile(member).read()
            path = folder / name
            if not path.exists() or path.read_bytes() != data:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)


@pytest.fixture(scope="session")
def sdist(tmp_path_factory):
    out = tmp_path_factory.mktemp("sdist")
    code = f"import sys; sys.path.insert(0, 'scripts'); import pip_backend; pip_backend.build_sdist({str(out)!r})"
    run(sys.executable, "-c", code, cwd=harness.SOURCE)
    (archive,) = out.glob("*.tar.gz")
    return archive


@pytest.fixture(scope="session")
def wheel(sdist, tmp_path_factory):
    source, out = harness.BUILD / "wheel" / "source", tmp_path_factory.mktemp("wheel")
    write_changes(sdist, source)
    settings = {f"cmake.define.{k}": harness.cache_entry(k) for k in
                ("CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER", "CMAKE_C_COMPILER_LAUNCHER", "CMAKE_CXX_COMPILER_LAUNCHER",
                 "DFTRACER_WERROR")}  # fmt: skip
    # Seen from it the sources lie where they lie for the build under test: a compiler cache takes them for the same.
    settings["build-dir"] = str(source / "build" / harness.BUILD.name)
    given = [f"-C{k}={v}" for k, v in settings.items() if v]
    isal = harness.SOURCE / "_deps" / "isal"
    if isal.exists():
        given.append(f"-Ccmake.define.DFTRACER_ISAL_ROOT={isal}")
    run(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index", "-w", out, *given, source,
        env=clean(CMAKE_BUILD_PARALLEL_LEVEL=os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count()))))  # fmt: skip
    (made,) = out.glob("*.whl")
    return made


def install(python, wheel, folder):
    run(python, "-m", "venv", folder)
    run(folder / "bin/python", "-m", "pip", "install", "--no-index", "--no-deps", "--disable-pip-version-check", wheel)
    return folder


@pytest.fixture(scope="session")
def environment(wheel, tmp_path_factory):
    return install(sys.executable, wheel, tmp_path_factory.mktemp("with blanks") / "an environment")


def smoke(environment, folder, *prefix, **variables):
    """Runs the program, traced, and returns the names in its trace."""
    folder.mkdir()
    (folder / "program.py").write_text(SMOKE)
    env = clean(DFTRACER_LOG_FILE=str(folder / "t"), **variables)
    run(*prefix, environment / "bin/python", folder / "program.py", folder / "written", env=env, cwd="/")
    (trace,) = folder.glob("t*.pfw.gz")
    text = gzip.decompress(trace.read_bytes()).decode()
    for name in ("block", "forward", "A.m", "fetch.block", "write"):
        assert f'"name":"{name}"' in text, f"{name} is not in the trace"
    return text


def test_the_source_distribution_is_whole_and_small(sdist):
    with tarfile.open(sdist) as tar:
        names = {pathlib.PurePath(*pathlib.PurePath(n).parts[1:]).as_posix() for n in tar.getnames()}
    assert {"CMakeLists.txt", "LICENSE", "pyproject.toml", "scripts/pip_backend.py", "scripts/build_isal.sh",
            "spec/options.toml", "python/dftracer/python/__init__.py", "src/python/module.cc"} <= names  # fmt: skip
    assert not [n for n in names if n.startswith(("test/", "bench/", "build/", ".git/"))]
    assert sdist.name == f"dftracer-{VERSION}.tar.gz"


def test_the_wheel_is_one_for_all_pythons_and_holds_each_library_once(wheel):
    assert wheel.name.startswith(f"dftracer-{VERSION}-cp39-abi3-linux_")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    libraries = sorted(n for n in names if ".so" in n and "simdjson" not in n)
    assert libraries == ["dftracer/dftracer.abi3.so", "dftracer/lib64/libdftracer_core.so", "dftracer/lib64/libdftracer_preload.so"]
    assert {"dftracer/bin/dftracer", f"dftracer-{VERSION}.data/scripts/dftracer", "dftracer/py.typed", "dftracer/dftracer.pyi",
            "dftracer/include/dftracer/dftracer.h", "dftracer/share/cmake/dftracer/dftracer-config.cmake"} <= set(names)  # fmt: skip


def test_e22_import_trace_and_command_from_a_folder_with_blanks(environment, tmp_path):
    smoke(environment, tmp_path / "function", DFTRACER_ENABLE="1")
    smoke(environment, tmp_path / "by command", environment / "bin/dftracer", "run", "-q", "-o", tmp_path / "by command/t", "--")
    smoke(environment, tmp_path / "by module", environment / "bin/python", "-m", "dftracer", "run", "-q", "-o",
          tmp_path / "by module/t", "--")  # fmt: skip
    preload = run(environment / "bin/python", "-c", "import dftracer; print(dftracer.preload_path())", cwd="/").strip()
    assert pathlib.Path(preload).is_file()


def test_e22_every_library_loads_and_every_program_starts(environment):
    package = next(environment.rglob("site-packages/dftracer"))
    for library in package.rglob("*.so*"):
        run(sys.executable, "-c", f"import ctypes; ctypes.CDLL({str(library)!r})", cwd="/")
    for program in (package / "bin/dftracer", environment / "bin/dftracer"):
        assert run(program, "--version", cwd="/").strip().endswith(VERSION)


def test_e22_after_the_environment_was_moved(wheel, tmp_path):
    install(sys.executable, wheel, tmp_path / "first")
    shutil.move(tmp_path / "first", tmp_path / "moved")
    smoke(tmp_path / "moved", tmp_path / "function", DFTRACER_ENABLE="1")
    smoke(tmp_path / "moved", tmp_path / "command", tmp_path / "moved/bin/dftracer", "run", "-q", "-o", tmp_path / "command/t", "--")


def other_pythons():
    found = [p for n in range(9, 15) if (p := shutil.which(f"python3.{n}"))] + os.environ.get("DFT_PYTHONS", "").split(":")
    tell = "import sys, sysconfig; print('%d.%d' % sys.version_info[:2], sysconfig.get_config_var('Py_GIL_DISABLED') or 0)"
    versions = {}
    for python in filter(None, found):
        done = subprocess.run([python, "-c", tell], capture_output=True, text=True)
        version, _, free = done.stdout.strip().partition(" ")
        if done.returncode == 0 and free == "0" and version != "%d.%d" % sys.version_info[:2]:
            versions.setdefault(version, python)
    return versions


@pytest.mark.parametrize("version", [f"3.{n}" for n in range(9, 15)])
def test_the_wheel_in_other_pythons(wheel, tmp_path, version):
    python = other_pythons().get(version)
    if python is None:
        pytest.skip(f"no other Python {version} here")
    smoke(install(python, wheel, tmp_path / "e"), tmp_path / "run", DFTRACER_ENABLE="1")


def test_c_programs_build_against_the_wheel(environment, tmp_path):
    package = next(environment.rglob("site-packages/dftracer"))
    consumer = harness.SOURCE / "test/package/consumer"
    run("cmake", "-S", consumer, "-B", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={package}", "-DKIND=core",
        f"-DCMAKE_C_COMPILER={harness.cache_entry('CMAKE_C_COMPILER')}",
        f"-DCMAKE_CXX_COMPILER={harness.cache_entry('CMAKE_CXX_COMPILER')}")  # fmt: skip
    run("cmake", "--build", tmp_path / "b")
    assert run(tmp_path / "b/in_c").split() == [VERSION]


def test_build_variables_reach_cmake():
    code = "import sys; sys.path.insert(0, 'scripts'); import os, pip_backend as b; b._prepare(); print(os.environ['SKBUILD_CMAKE_ARGS'])"
    variables = {
        "DFTRACER_ENABLE_MPI": "ON", "DFTRACER_BUILD_TYPE": "Debug", "DFTRACER_CUDA_PATH": "/opt/my cuda",
        "DFTRACER_CMAKE_ARGS": "-DA=1;-DB='x y' -DC=2", "SKBUILD_CMAKE_ARGS": "-DZ=0", "DFTRACER_LOG_FILE": "not an option",
    }  # fmt: skip
    out = run(sys.executable, "-c", code, cwd=harness.SOURCE, env=clean(**variables)).strip().split(";")
    assert out == ["-DZ=0", "-DDFTRACER_BUILD_TYPE=Debug", "-DDFTRACER_CUDA_PATH=/opt/my cuda", "-DDFTRACER_ENABLE_MPI=ON",
                   "-DA=1", "-DB=x y", "-DC=2"]  # fmt: skip
