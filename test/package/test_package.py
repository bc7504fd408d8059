# SPDX-License-Identifier: MIT
"""A fresh installation, moved away from where it was installed, used as a user would: find_package and pkg-config, C99 and
C++11, and the build tree through find_package. Each program is run with tracing on and must leave a trace."""

import gzip
import os
import pathlib
import re
import shutil
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ["DFT_BUILD_DIR"])
CACHE = dict(re.findall(r"^(\w+):\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE))
VERSION = CACHE["CMAKE_PROJECT_VERSION"]

pytestmark = pytest.mark.skipif(bool(CACHE.get("DFTRACER_SANITIZE")), reason="users link no instrumented build")


def run(*command, **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("install")
    run("cmake", "--install", BUILD, "--prefix", folder / "first")
    shutil.move(folder / "first", folder / "moved")
    return folder / "moved"


def libdir(prefix):
    return next(prefix.rglob("libdftracer_core.so")).parent


def leaves_a_trace(program, folder, **more_environment):
    folder.mkdir()
    environment = {k: v for k, v in os.environ.items() if not k.startswith("DFTRACER_")}
    environment |= {"DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": str(folder / "trace"), **more_environment}
    assert run(program, env=environment).split() == [VERSION]
    (trace,) = folder.glob("trace*.pfw.gz")
    text = gzip.decompress(trace.read_bytes()).decode()
    assert text.count('"answer"') == 1 and '"work"' in text, text


def builds_and_runs(package, tmp_path, kind):
    build = tmp_path / "build"
    run("cmake", "-S", HERE / "consumer", "-B", build, f"-DCMAKE_PREFIX_PATH={package}", f"-DKIND={kind}",
        f"-DCMAKE_C_COMPILER={CACHE['CMAKE_C_COMPILER']}", f"-DCMAKE_CXX_COMPILER={CACHE['CMAKE_CXX_COMPILER']}")
    run("cmake", "--build", build)
    leaves_a_trace(build / "in_c", tmp_path / "c")
    leaves_a_trace(build / "in_cxx", tmp_path / "cxx")


@pytest.mark.parametrize("kind", ["core", "dbg", "legacy"])
def test_find_package_finds_the_installation(installed, tmp_path, kind):
    builds_and_runs(installed, tmp_path, kind)


def test_find_package_finds_the_build_tree(tmp_path):
    builds_and_runs(BUILD, tmp_path, "core")


def test_another_major_version_is_refused(installed, tmp_path):
    other = int(VERSION.split(".")[0]) - 1
    (tmp_path / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.16)\nproject(x NONE)\nfind_package(dftracer {other} REQUIRED)\n")
    done = subprocess.run(["cmake", "-S", tmp_path, "-B", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={installed}"],
                          capture_output=True, text=True)
    assert done.returncode != 0
    assert "dftracer" in done.stderr


@pytest.mark.parametrize("source, compiler, flags", [
    ("main.c", "CMAKE_C_COMPILER", ["-std=c99", "-pedantic"]),
    ("main.cc", "CMAKE_CXX_COMPILER", ["-std=c++11", "-pedantic"]),
])
def test_pkg_config_finds_the_installation(installed, tmp_path, source, compiler, flags):
    environment = os.environ | {"PKG_CONFIG_PATH": str(libdir(installed) / "pkgconfig")}
    assert run("pkg-config", "--modversion", "dftracer", env=environment).strip() == VERSION
    words = run("pkg-config", "--cflags", "--libs", "dftracer", env=environment).split()
    run(CACHE[compiler], *flags, "-Wall", "-Wextra", "-Werror", HERE / "consumer" / source, *words, "-o",
        tmp_path / "program")
    leaves_a_trace(tmp_path / "program", tmp_path / "out")


def test_the_installation_is_whole(installed):
    library = libdir(installed)
    for name in ("core", "preload"):
        assert (library / f"libdftracer_{name}.so").resolve().name == f"libdftracer_{name}.so.{VERSION}"
        assert (library / f"libdftracer_{name}_dbg.so").resolve().name == f"libdftracer_{name}.so.{VERSION}"
    assert (installed / f"etc/modulefiles/dftracer-{VERSION}.lua").is_file()
    assert run(installed / "bin/dftracer", "--version").strip().endswith(VERSION)


def test_nothing_installed_names_the_build_machine(installed):
    places = [str(BUILD).encode(), CACHE["CMAKE_HOME_DIRECTORY"].encode() + b"/"]
    for path in installed.rglob("*"):
        if path.is_file():
            found = [p for p in places if p in path.read_bytes()]
            assert not found, f"{path.relative_to(installed)} contains {found}"


def test_the_installed_command_traces_with_the_installed_library(installed, tmp_path):
    run(installed / "bin/dftracer", "run", "-o", tmp_path / "trace", "--", "sh", "-c", "exit 0", cwd=tmp_path)
