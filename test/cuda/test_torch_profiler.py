# SPDX-License-Identifier: MIT
"""torch.profiler under the tracer, with stand-ins for torch (fake_torch/) and CUPTI: who sees the GPU, and what is told."""

import harness
import pyrun
import pytest
import test_programs
from test_programs import statuses

pytestmark = [pyrun.need_package(), test_programs.pytestmark]
TORCH = harness.SOURCE / "test" / "cuda" / "fake_torch"
USE_CUDA = "import ctypes; assert ctypes.CDLL('libcudart.so.13').cudaFree(None) == 0\n"
# Work before, in and after a window of torch.profiler.
WINDOW = USE_CUDA + """
from dftracer.python import dft_fn
import sys, torch.autograd.profiler as profiler
from torch.autograd import ProfilerActivity, work
import torch.autograd as kineto
activities = [getattr(ProfilerActivity, name) for name in sys.argv[1].split(",")]
work()
for _ in range(int(sys.argv[2])):
    with profiler.profile(activities), dft_fn("test", "window"): work()
work()
print("subscribed", kineto.subscribed, "seen", kineto.bytes_seen > 0)
"""
GAP, LEFT = "gpu_unavailable", "left to torch.profiler"


def run(bench, activities="CPU,CUDA", windows=1, code=WINDOW, head=pyrun.HEAD, **more):
    env = test_programs.cuda(PYTHONPATH=f"{pyrun.PACKAGE}:{TORCH}", **more)
    return pyrun.run(bench, code, head=head, arguments=[activities, windows], env=env)


def works(result):
    """How often work() is in the trace. The stand-in brings the same once more by itself, at a flush."""
    kernels = sum(e["cat"] == "CUDA_KERNEL" for e in result.events())
    assert kernels % test_programs.RECORDED["CUDA_KERNEL"] == 0
    return kernels // test_programs.RECORDED["CUDA_KERNEL"] - 1


def gaps(result):
    return [r["args"] for r in result.trace().losses if r["args"]["cause"] == GAP]


def test_without_yield_the_trace_loses_nothing_and_both_are_told_once(bench):
    result = run(bench, windows=3)
    assert result.out == b"subscribed 39 seen False\n"
    assert len(result.notes) == 1 and "torch.profiler" in result.notes[0] and "DFTRACER_CUDA_YIELD=1" in result.notes[0]
    assert not gaps(result) and result.trace().end["args"]["cfg"]["cuda"]["yield"] == 0
    assert [s["state"] for s in statuses(result)] == ["on", "on"]
    assert "torch.profiler" in statuses(result)[1]["detail"]
    assert works(result) == 5


@pytest.mark.parametrize("windows", [1, 3])
def test_with_yield_it_sees_the_gpu_and_the_gap_is_said(bench, windows):
    result = run(bench, windows=windows, DFTRACER_CUDA_YIELD="1")
    assert result.out == b"subscribed 0 seen True\n" and not result.err
    assert works(result) == 2
    assert [g["detail"] for g in gaps(result)] == [LEFT] * windows
    assert all(g["first_ts"] <= g["last_ts"] for g in gaps(result))
    states = [(s["state"], s.get("category")) for s in statuses(result)]
    assert states == [("on", None)] + [("off", None), ("partial", "CUDA_GRAPH"), ("on", None)] * windows
    assert result.trace().end["args"]["cfg"]["cuda"]["yield"] == 1
    assert {c["args"]["source"] for c in result.trace().metadata("clock") if "source" in c["args"]} >= {"realtime"}
    assert "cupti" not in {c["args"].get("source") for c in result.trace().metadata("clock")}


def test_with_yield_a_window_of_the_cpu_alone_gets_cupti_too(bench):
    """torch records the calls of CUDA there."""
    result = run(bench, "CPU", windows=3, DFTRACER_CUDA_YIELD="1")
    assert result.out == b"subscribed 0 seen True\n" and not result.err
    assert works(result) == 2 and len(gaps(result)) == 3


def test_a_window_of_the_cpu_alone_without_yield_is_nobodys_business(bench):
    result = run(bench, "CPU")
    assert not result.err and len(statuses(result)) == 1 and works(result) == 3


@pytest.mark.parametrize("first", ["import torch.autograd.profiler\n", "import dftracer.python\n"])
def test_whether_torch_comes_before_or_after_the_tracer(bench, first):
    result = run(bench, head=first + pyrun.HEAD, DFTRACER_CUDA_YIELD="1")
    assert result.out == b"subscribed 0 seen True\n" and len(gaps(result)) == 1


def test_the_tracer_that_comes_later_goes_on_beside_the_subscription(bench):
    """The first window comes before the init call."""
    code = "from dftracer.python import dftracer\n" + WINDOW.replace("\nwork()\nprint", "\ndftracer.initialize_log()\nwork()\nprint")
    result = run(bench, code=code, head="", DFTRACER_CUDA_YIELD="1")
    assert result.out == b"subscribed 0 seen True\n" and not result.err
    assert works(result) == 1
    assert [s["state"] for s in statuses(result)] == ["partial", "on"]


def test_cuda_that_comes_within_a_window(bench):
    code = WINDOW.replace(USE_CUDA, "").replace("(activities), dft_fn(\"test\", \"window\"): work()", "(activities), dft_fn('test', 'window'):\n      " + USE_CUDA.strip() + "; work()")
    code = code.replace("\nwork()\nfor", "\nfor")
    result = run(bench, code=code, DFTRACER_CUDA_YIELD="1")
    assert result.out == b"subscribed 0 seen True\n" and not result.err
    assert works(result) == 1
    (gap,), (window,) = gaps(result), result.trace().named("window")
    assert gap["detail"] == LEFT and gap["first_ts"] <= window["ts"] and window["ts"] + window["dur"] <= gap["last_ts"]


def test_cuda_that_comes_within_a_window_that_never_ends(bench):
    code = WINDOW.replace(USE_CUDA, "").replace("\nwork()\n", "\n").replace("\nwork()\nprint", "\nprint")
    code = code.replace("print(", "profiler.profile(activities).__enter__()\n" + USE_CUDA + "work()\nprint(")
    result = run(bench, windows=0, code=code, DFTRACER_CUDA_YIELD="1")
    (gap,) = gaps(result)
    assert gap["detail"] == LEFT and gap["first_ts"] < gap["last_ts"] and not result.err


def test_a_window_that_is_open_at_the_end(bench):
    code = WINDOW.replace("\nwork()\nprint", "\nprofiler.profile(activities).__enter__()\nprint")
    result = run(bench, windows=0, code=code, DFTRACER_CUDA_YIELD="1")
    assert [g["detail"] for g in gaps(result)] == [LEFT] and not result.err


def test_a_window_that_fails_to_open_gives_the_gpu_back(bench):
    code = WINDOW.replace(
        "activities = ", "def fail(*_): raise ValueError\nkineto.ctypes.c_void_p = fail\nactivities = ")  # fmt: skip
    code = code.replace("    with profiler", "   try:\n    with profiler").replace("\nwork()\nprint", "\n   except ValueError: pass\nwork()\nprint")
    result = run(bench, code=code, DFTRACER_CUDA_YIELD="1")
    assert result.out == b"subscribed None seen False\n" and len(gaps(result)) == 1
    assert works(result) == 2


def test_a_torch_that_takes_cupti_without_asking(bench):
    """As PyTorch does it that comes after 2.12: the window is missing, the rest is not, and it is said."""
    result = run(bench, windows=2, FAKE_KINETO="newer")
    assert result.out == b"subscribed 0 seen True\n"
    assert works(result) + 1 == 2 and len(gaps(result)) == 2  # what the stand-in brings by itself has gone to torch, too
    assert len(result.notes) == 2 and "is missing" in result.notes[1] and "DFTRACER_CUDA_YIELD=1" in result.notes[1], result.notes
    gap, window = gaps(result)[0], result.trace().named("window")[0]
    assert gap["first_ts"] <= window["ts"] and window["ts"] + window["dur"] <= gap["last_ts"]
    result = run(bench, windows=2, FAKE_KINETO="newer", DFTRACER_CUDA_YIELD="1")
    assert works(result) == 2 and not result.err


def test_off_torch_is_left_alone(bench):
    code = "import sys\nfinders = len(sys.meta_path)\nfrom dftracer.python import dftracer\nassert len(sys.meta_path) == finders\n" + WINDOW
    env = test_programs.cuda(PYTHONPATH=f"{pyrun.PACKAGE}:{TORCH}")
    result = pyrun.run(bench, code, "off", head="", arguments=["CUDA", 1], env=env)
    assert result.out == b"subscribed 0 seen True\n" and not result.traces()
