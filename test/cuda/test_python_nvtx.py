# SPDX-License-Identifier: MIT
"""NVTX ranges of a Python process in which the tracer is only imported, when there are threads already."""

import harness
import pyrun
import pytest
import test_programs

pytestmark = [pyrun.need_package(), test_programs.pytestmark]
VARIABLE = "NVTX_INJECTION64_PATH"
THREADS = "import ctypes, os, sys, threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
RANGES = """
print(os.environ.get("NVTX_INJECTION64_PATH"))
ctypes.CDLL(sys.argv[1]).main(0, None)
assert ctypes.CDLL("libcudart.so.13").cudaFree(None) == 0
"""


def run(bench, head=THREADS + pyrun.HEAD, **more):
    include = harness.cache_entry("DFT_NVTX_INCLUDE")
    if not include or include.endswith("NOTFOUND"):
        pytest.skip("the toolkit has no NVTX headers")
    library = harness.compile_program("cuda/programs/nvtx.c", f"-isystem{include}", "-shared", "-fPIC", link=False)
    env = test_programs.cuda(**more)
    return pyrun.run(bench, RANGES, head=head, arguments=[library], env=env)


def ranges(result):
    return sorted(e["name"] for e in result.events() if e["cat"] == "CUDA_MARKER")


def test_the_import_sets_the_variable(bench):
    result = run(bench)
    assert "libdftracer_core" in result.out.decode() and not result.err
    assert ranges(result) == ["across", "inner", "mark", "outer"]
    assert [s["state"] for s in test_programs.statuses(result)] == ["on"]


def test_without_threads_the_core_does_and_the_import_leaves_it(bench):
    result = run(bench, head="import ctypes, os, sys\n" + pyrun.HEAD)
    assert ranges(result) == ["across", "inner", "mark", "outer"] and not result.err


@pytest.mark.parametrize("switch", [{"DFTRACER_NVTX": "0"}, {"DFTRACER_CUDA": "0"}])
def test_switched_off_nothing_is_set(bench, switch):
    result = run(bench, **switch)
    assert result.out == b"None\n" and not ranges(result)


def test_the_users_choice_stays_and_is_said(bench):
    result = run(bench, **{VARIABLE: "/some/other.so"})
    assert result.out == b"/some/other.so\n" and not ranges(result)
    (on, partial) = test_programs.statuses(result)
    assert partial["category"] == "CUDA_MARKER" and "something else" in partial["detail"] and on["state"] == "on"


def test_who_takes_it_away_is_told_what_to_set(bench):
    head = THREADS + "from dftracer.python import dftracer\ndel os.environ['NVTX_INJECTION64_PATH']\ndftracer.initialize_log()\n"
    result = run(bench, head=head)
    partial = test_programs.statuses(result)[-1]
    assert f"set {VARIABLE}=/" in partial["detail"] and "libdftracer_core" in partial["detail"], partial
