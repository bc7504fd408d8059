# SPDX-License-Identifier: MIT
"""What cmake/hip.cmake finds, and the one line that says it."""

import os
import pathlib
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PROJECT = f"""
cmake_minimum_required(VERSION 3.24)
project(detection LANGUAGES CXX)
include({SOURCE}/cmake/hip.cmake)
dft_detect_hip()
message(STATUS "has=${{DFT_HAS_HIP_TRACING}} include=${{DFT_ROCPROF_INCLUDE}}")
"""


@pytest.fixture
def detect(tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)

    def run(*settings, enable="DFTRACER_ENABLE_HIP_TRACING=ON", **environment):
        env = {k: v for k, v in os.environ.items() if k not in ("ROCM_PATH", "CMAKE_PREFIX_PATH")}
        command = ["cmake", "-S", tmp_path, "-B", tmp_path / "b", f"-DDFT_ROCM_DEFAULT_ROOT={tmp_path / 'default'}"]
        command += [f"-D{enable}"] + [f"-D{setting}" for setting in settings]
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env={**env, **environment})
        assert done.returncode == 0, done.stdout + done.stderr
        lines = [line for line in done.stdout.splitlines() if "HIP tracing" in line]
        return lines, next(line for line in done.stdout.splitlines() if line.startswith("-- has="))

    return run


def rocm(root, good=True, release=(1, 0, 0)):
    folder = root / "include/rocprofiler-sdk"
    folder.mkdir(parents=True)
    (folder / "rocprofiler.h").write_text("#pragma once\n" if good else "#include <hsa/hsa_that_is_not_there.h>\n")
    (folder / "registration.h").write_text("#pragma once\n")
    names = ("MAJOR", "MINOR", "PATCH")
    text = "".join(f"#define ROCPROFILER_VERSION_{name} {number}\n" for name, number in zip(names, release))
    (folder / "version.h").write_text(text)
    return root


def test_without_an_sdk_the_built_in_declarations_are_used(detect, tmp_path):
    lines, result = detect()
    assert len(lines) == 1 and "built-in declarations" in lines[0] and str(tmp_path / "default") in lines[0], lines
    assert result == "-- has=1 include="


def test_the_sdk_of_rocm_path_is_compared_and_no_other(detect, tmp_path):
    rocm(tmp_path / "default")
    mine = rocm(tmp_path / "mine", release=(1, 2, 3))
    for settings, environment in ([f"ROCM_PATH={mine}"], {}), ([], {"ROCM_PATH": str(mine)}):
        lines, result = detect(*settings, **environment)
        assert len(lines) == 1 and "held against rocprofiler-sdk 1.2.3" in lines[0], lines
        assert result == f"-- has=1 include={mine / 'include'}"
    assert detect(f"ROCM_PATH={tmp_path / 'nowhere'}")[1] == "-- has=1 include="


def test_the_standard_places_come_next(detect, tmp_path):
    default = rocm(tmp_path / "default")
    assert detect("ROCM_PATH=")[1] == f"-- has=1 include={default / 'include'}"
    prefix = rocm(tmp_path / "prefix")
    assert detect(f"CMAKE_PREFIX_PATH={prefix}")[1] == f"-- has=1 include={prefix / 'include'}"


def test_headers_that_do_not_compile_are_said_and_not_compared(detect, tmp_path):
    rocm(tmp_path / "default", good=False)
    lines, result = detect()
    assert len(lines) == 1 and "do not compile" in lines[0], lines
    assert result == "-- has=1 include="


def test_switched_off_nothing_is_looked_for(detect, tmp_path):
    rocm(tmp_path / "default")
    assert detect(enable="DFTRACER_ENABLE_HIP_TRACING=OFF") == ([], "-- has=0 include=")


def test_dynamic_detection_takes_what_is_there(detect, tmp_path):
    lines, result = detect(enable="DFTRACER_ENABLE_DYNAMIC_DETECTION=ON")
    assert len(lines) == 1 and "left out" in lines[0] and result == "-- has=0 include="
    default = rocm(tmp_path / "default")
    assert detect(enable="DFTRACER_ENABLE_DYNAMIC_DETECTION=ON")[1] == f"-- has=1 include={default / 'include'}"
