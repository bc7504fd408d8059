# SPDX-License-Identifier: MIT
"""An option or a flag of a part that does not exist is refused by name, and a misspelt one is not taken for nothing."""

import os
import pathlib
import re
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
OPTIONS = (SOURCE / "cmake/options.cmake").read_text()
SWITCHES = re.findall(r'^ +"(DFTRACER_\w+)\|', OPTIONS.split("ABSENT_VALUES")[0], re.MULTILINE)
VALUES = re.findall(r'^ +"(DFTRACER_\w+)\|', OPTIONS.split("DFTRACER_ABSENT_VALUES")[1], re.MULTILINE)
AUTOBUILD_FLAGS = """--enable-mpi --with-mpi=/x --enable-hdf5 --with-hdf5=/x
    --enable-ftracing --enable-papi --enable-variorum --build-variorum=ALWAYS
    --generate-interfaces --enable-hwloc --enable-dlio-tests --enable-paper-tests --with-dfanalyzer""".split()


def options(*settings):
    """The part of cmake/options.cmake that refuses, without a project around it."""
    command = ["cmake", *(f"-D{s}" for s in settings), "-P", SOURCE / "cmake/options.cmake"]
    return " ".join(subprocess.run(command, capture_output=True, text=True).stderr.split())


def autobuild(*flags, **environment):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("DFTRACER_")}
    return subprocess.run([SOURCE / "autobuild.sh", *flags], capture_output=True, text=True, env=clean | environment)


def test_the_lists_are_read():
    assert "DFTRACER_ENABLE_MPI" in SWITCHES and "DFTRACER_MPI_IMPL" in VALUES


@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch_of_a_part_that_is_not_here_is_refused(name):
    assert f"{name}=ON: this version of DFTracer does not have" in options(f"{name}=ON")
    assert name not in options(f"{name}=OFF")


@pytest.mark.parametrize("name", VALUES)
def test_a_value_for_a_part_that_is_not_here_is_refused(name):
    assert f"{name}=/x: this version of DFTracer does not have" in options(f"{name}=/x")


@pytest.mark.parametrize("setting", ["DFTRACER_DISABLE_HWLOC=OFF", "DFTRACER_BUILD_VARIORUM=ALWAYS", "BUILD_SHARED_LIBS=OFF"])
def test_an_option_with_another_default_is_refused_too(setting):
    assert f"{setting}: this version of DFTracer does not have" in options(setting)


def test_a_misspelt_option_and_a_wrong_value_end_the_configuration(tmp_path):
    for setting, words in [("DFTRACER_ENABLE_CUDA=ON", "DFTRACER_ENABLE_CUDA: DFTracer has no such build option"),
                           ("DFTRACER_SANITIZE=fast", "accepted are address, undefined, thread"),
                           ("DFTRACER_COMPRESSOR=lz4", "accepted are isal, libdeflate, zlib"),
                           ("DFTRACER_BUILD_TYPE=Fast", "accepted are Release")]:
        done = subprocess.run(["cmake", "-S", SOURCE, "-B", tmp_path / setting, f"-D{setting}"], capture_output=True, text=True)
        assert done.returncode != 0 and words in " ".join(done.stderr.split()), done.stderr


@pytest.mark.parametrize("flag", AUTOBUILD_FLAGS)
def test_autobuild_refuses_what_is_not_here(flag):
    done = autobuild(flag, "--dry-run")
    assert done.returncode == 2 and "this version of DFTracer does not have" in done.stderr, done.stderr


@pytest.mark.parametrize("flags", [["--no-such-flag"], ["--jobs", "none"], ["--build-type", "Fast"], ["--install-mode", "x"], ["--build-dir"]])
def test_a_wrong_flag_is_a_usage_error(flags):
    done = autobuild(*flags)
    assert done.returncode == 2 and done.stderr.startswith("autobuild: ") and "Usage:" in done.stderr


def test_a_dry_run_says_everything_and_does_nothing(tmp_path):
    done = autobuild("--dry-run", "--no-deps", "--enable-tests", "--build-dir", tmp_path / "b", "--install-prefix",
                     tmp_path / "p", DFTRACER_WERROR="ON", DFTRACER_CMAKE_ARGS="-DA=1;-DB=2")
    assert done.returncode == 0, done.stderr
    for word in ("-DDFTRACER_ENABLE_TESTS=ON", "-DDFTRACER_WERROR=ON", "'-DA=1' '-DB=2'", "--install", f"={tmp_path}/p"):
        assert word in done.stdout, word
    assert not list(tmp_path.iterdir())


def test_install_mode_pip_installs_with_pip():
    done = autobuild("--install-mode", "pip", "--dry-run", "--no-deps", "--python", "python3")
    assert done.returncode == 0 and "'-m' 'pip' 'install'" in done.stdout
