# SPDX-License-Identifier: MIT
"""The real HIP and rocprofiler-sdk, where ROCm is installed, with or without a GPU; skipped elsewhere. Without a GPU the
calls fail, and are recorded all the same; the program must not notice.

The SDK up to 0.x ends a process that asks it for agents on a machine without AMD's driver, which the tracer therefore never
does; from 1.0 on a test may."""

import ctypes
import os
import pathlib
import subprocess
import sys

import harness
import pytest

DRIVER = pathlib.Path("/sys/class/kfd/kfd/topology/nodes").exists()


def can_load(*names):
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def has_rocm():
    """In a process of its own: HIP starts threads as it is loaded."""
    pid = os.fork()
    if pid == 0:
        os._exit(0 if can_load(*(f"libamdhip64.so{n}" for n in ("", ".7", ".6", ".5"))) else 1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


pytestmark = pytest.mark.skipif(
    harness.cache_entry("DFTRACER_ENABLE_HIP_TRACING") != "ON" or not has_rocm(), reason="a build without HIP tracing, or no ROCm"
)


def asks():
    return [harness.compile_program("hip/programs/asks.c", link=False)]


def passed_on():
    return {k: os.environ[k] for k in ("LD_LIBRARY_PATH", "ROCM_PATH", "HSA_MODEL_LIB", "HSA_MODEL_TOPOLOGY", "HSA_TOOLS_LIB") if k in os.environ}


def test_a_program_is_unharmed(bench):
    run = harness.compare(bench.run(asks(), None, env=passed_on()), bench.run(asks(), "preload", env=passed_on()), notes="any")
    assert run.status == 0 and harness.dftracer("validate", run.log).returncode == 0
    if not DRIVER:
        assert not [e for e in run.events() if e["type"] == 4]


@pytest.mark.skipif(can_load("librocprofiler-sdk.so.1") is None, reason="no rocprofiler-sdk 1.x")
@pytest.mark.skipif(can_load("librocprofiler-register.so.0") is None, reason="HIP was built without rocprofiler-register")
def test_its_calls_are_recorded_though_they_fail(bench):
    env = passed_on() | {"DFTRACER_HIP_TOPOLOGY": "/"}
    bare, run = bench.run(asks(), None, env=env), bench.run(asks(), "preload", env=env)
    # The SDK itself warns on stderr that the driver is missing.
    assert (run.status, run.out) == (bare.status, bare.out), run.err
    names = [e["name"] for e in run.events() if e["cat"] == "HIP_RUNTIME_API"]
    assert {"hipMalloc", "hipDeviceSynchronize"} <= set(names), (names, run.err)
    assert harness.dftracer("validate", run.log).returncode == 0


@pytest.mark.parametrize("extra", [{}, {"DFTRACER_TIME_METRIC": "NS"}])
def test_the_program_for_machines_passes_its_check(bench, extra):
    """A null GPU stands for a device: HSA's own way to have a model of one, which computes nothing."""
    words = ["no-results"] if "HSA_MODEL_LIB" in os.environ else []
    run = bench.run([harness.BUILD / "test/hip/dft_hip_workload", *words], "function", env=passed_on() | extra)
    if run.status == 77:
        pytest.skip("no HIP device")
    if b"fork: Cannot allocate memory" in run.err:
        pytest.skip("this machine has too little memory for a fork of what HIP has mapped")
    assert run.status == 0, run.err
    command = [sys.executable, harness.SOURCE / "test/hip/check_hip_trace.py", f"{run.log}/t*"]
    check = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    assert check.returncode == 0, check.stdout + check.stderr
