# SPDX-License-Identifier: MIT
"""E19, E21 and B10, on a machine with an NVIDIA GPU and PyTorch: kernels lie in the regions that issued them, torch.profiler and the
tracer take turns or say who sees nothing, their views agree, NVTX ranges and operations of a compiled model are recorded.
Exit status 77 where that cannot be run.

    cuda_test.py      (with the package in PYTHONPATH or installed)

With DFTRACER_CUDA_TEST_LOG=PREFIX the traces stay, as PREFIX-1..., one number for each program that was run.
"""

import collections
import glob
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zlib

SKIP = 77
KERNELS, RUNTIME = "CUDA_KERNEL", "CUDA_RUNTIME_API"
SLACK_US = 50

NOTHING = "from dftracer.python import dftracer; dftracer.initialize_log()"
WORK = """
import sys, torch
from dftracer.python import ai, dft_fn, dftracer
from dftracer.python.torch import trace_handler
tracer = dftracer.initialize_log()
@dft_fn("test").log
def region(step):
    x = torch.randn(512, 512).to("cuda")
    y = (x + 1) @ x
    total = y.sum()
    torch.cuda.synchronize()
    return total
region(-1)  # whatever is done once
for step in range(3): region(step)
"""
PROFILED = WORK + """
from torch.profiler import ProfilerActivity, profile, schedule
gpu = []
def handler(prof):
    trace_handler(prof)
    gpu.append(sum(str(e.device_type).endswith("CUDA") for e in prof.events()))
for window in range(2):
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], on_trace_ready=handler): region(10 + window)
    region(20 + window)
print("windows", *gpu)
"""
CPU_ONLY = WORK + """
from torch.profiler import ProfilerActivity, profile
with profile(activities=[ProfilerActivity.CPU]): region(10)
region(20)
"""
NVTX = """
import sys, threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
from dftracer.python import dftracer
dftracer.initialize_log()
import torch
x = torch.ones(8, device="cuda")
with torch.cuda.nvtx.range("a range"): x = x + 1
torch.cuda.synchronize()
"""
COMPILED = """
import sys, torch
from dftracer.python import dftracer, dynamo
dftracer.initialize_log()
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.fc = torch.nn.Conv2d(1, 2, 3), torch.nn.Linear(18, 3)
    def forward(self, x):
        x = torch.nn.functional.max_pool2d(torch.relu(self.conv(x)), 2)
        return self.fc(x.view(x.size(0), -1))
net, x = Net().cuda(), torch.ones(2, 1, 8, 8, device="cuda")
wanted = net(x)
assert torch.allclose(dynamo.compile(net, autograd=sys.argv[1] == "1")(x), wanted)
torch.cuda.synchronize()
"""


PROGRAMS = itertools.count(1)
KEPT = os.environ.pop("DFTRACER_CUDA_TEST_LOG", None)


def traces(prefix):
    return sorted(glob.glob(glob.escape(prefix) + "-*.pfw.gz"))


def records(prefix):
    for path in traces(prefix):
        data = pathlib.Path(path).read_bytes()
        while data:
            member = zlib.decompressobj(wbits=31)
            for line in member.decompress(data).splitlines():
                yield json.loads(line)
            data = member.unused_data


class Traced:
    """What a program left: its output and the records of its traces."""

    def __init__(self, code, *arguments, **environment):
        with tempfile.TemporaryDirectory() as folder:
            prefix = f"{KEPT or folder + '/t'}-{next(PROGRAMS)}"
            for old in traces(prefix):
                os.unlink(old)
            env = os.environ | {"DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": prefix, "DFTRACER_DISABLE_IO": "1"}
            command = [sys.executable, "-c", code, *arguments]
            done = subprocess.run(command, env=env | environment, capture_output=True, text=True)
            if done.returncode != 0:
                raise AssertionError(f"the program ends with {done.returncode}: {done.stdout}{done.stderr}")
            self.out, self.err = done.stdout, done.stderr
            self.records = list(records(prefix))
        self.events = [r for r in self.records if r["ph"] == 1]
        self.kernels = [e for e in self.events if e["cat"] == KERNELS]
        self.notes = [line for line in self.err.splitlines() if line.startswith("dftracer: ")]

    def is_built_with(self, part):
        return any(e["args"]["build"][part] for e in self.events if e["name"] == "end" and e["cat"] == "dftracer")

    def notes_of(self, name):
        return [r["args"] for r in self.records if r["ph"] != 1 and r["name"] == name]

    def gaps(self):
        return [loss for loss in self.notes_of("loss") if loss["cause"] == "gpu_unavailable"]

    def region(self, step):
        (found,) = (e for e in self.events if e["name"] == "region" and e["args"].get("step") == step)
        return found

    def of_region(self, step, slack=0):
        return [k for k in self.kernels if inside(k, self.region(step), slack)]


def inside(event, region, slack=0):
    return region["ts"] - slack <= event["ts"] and event["ts"] + event["dur"] <= region["ts"] + region["dur"] + slack


def names(events):
    return collections.Counter(e["name"] for e in events)


def test_kernels_lie_in_their_regions():
    run = Traced(WORK)
    assert len(run.kernels) >= 12 and [e for e in run.events if e["cat"] == RUNTIME], names(run.events)
    regions = [e for e in run.events if e["name"] == "region"]
    strays = [k["name"] for k in run.kernels if not any(inside(k, r) for r in regions)]
    assert len(regions) == 4 and not strays, strays


def test_without_yield_the_trace_is_whole_and_both_are_told():
    run = Traced(PROFILED)
    assert run.out == "windows 0 0\n", run.out
    assert len(run.notes) == 1 and "torch.profiler" in run.notes[0] and "DFTRACER_CUDA_YIELD=1" in run.notes[0], run.err
    assert not run.gaps(), run.gaps()
    assert all(names(run.of_region(step)) == names(run.of_region(0)) for step in (10, 11, 20, 21)), names(run.kernels)


def test_with_yield_they_take_turns_and_their_views_agree():
    run = Traced(PROFILED, DFTRACER_CUDA_YIELD="1")
    print(run.err[-300:], run.notes_of("gpu_status"))
    assert "0" not in run.out.split()[1:] and not run.notes, (run.out, run.err)
    suspects = collections.Counter(e["args"]["clock_suspect"] for e in run.events if "clock_suspect" in e["args"])
    assert not suspects and {c["source"] for c in run.notes_of("clock") if "source" in c} == {"realtime"}, suspects
    gaps = run.gaps()
    assert [g["detail"] for g in gaps] == ["left to torch.profiler"] * 2
    theirs = [e for e in run.events if e["cat"] == "PP" and e["args"].get("device", 0) != 0]
    ours = names(run.of_region(0))
    for window, gap in enumerate(gaps):
        region = run.region(10 + window)
        assert gap["first_ts"] <= region["ts"] and region["ts"] + region["dur"] <= gap["last_ts"]
        assert not run.of_region(10 + window, SLACK_US), "recorded while it was given up"
        seen = names(e for e in theirs if inside(e, region, SLACK_US))
        assert all(seen[name] == count for name, count in ours.items()), (ours, seen)
        assert names(run.of_region(20 + window)) == ours, "not as before after torch.profiler"


def test_windows_of_the_cpu_alone():
    """torch records the calls of CUDA there, so it gets CUPTI too; without yield it goes without."""
    run = Traced(CPU_ONLY, DFTRACER_CUDA_YIELD="1")
    assert len(run.gaps()) == 1 and not run.of_region(10), run.gaps()
    assert names(run.of_region(20)) == names(run.of_region(0)), names(run.kernels)
    run = Traced(CPU_ONLY)
    assert not run.gaps() and not run.notes, (run.gaps(), run.notes)
    assert names(run.of_region(10)) == names(run.of_region(20)) == names(run.of_region(0)), names(run.kernels)


def test_nvtx_ranges_when_the_tracer_is_only_imported():
    run = Traced(NVTX)
    assert "a range" in names(e for e in run.events if e["cat"] == "CUDA_MARKER"), run.notes_of("gpu_status")
    assert [s["state"] for s in run.notes_of("gpu_status")] == ["on"], run.notes_of("gpu_status")


def test_operations_of_a_compiled_model():
    for autograd in ("0", "1"):
        operations = [e for e in Traced(COMPILED, autograd).events if e["cat"] == "dynamo"]
        assert len(operations) >= 4, names(operations)
        assert all(e["args"]["grad_enabled"] in (0, 1) for e in operations)
    assert not Traced(COMPILED, "1", DFTRACER_ENABLE="0").records


def main():
    try:
        import torch
    except ImportError:
        return SKIP
    if not torch.cuda.is_available():
        print("no GPU")
        return SKIP
    if not Traced(NOTHING).is_built_with("cuda"):
        print("the tracer is built without CUDA tracing")
        return SKIP
    failed = 0
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            try:
                test()
                print(f"{name}: ok", flush=True)
            except AssertionError as error:
                failed += 1
                print(f"{name}: FAILED: {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
