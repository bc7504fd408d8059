# SPDX-License-Identifier: MIT
"""E21, E19 and B10, on a machine with an NVIDIA GPU and PyTorch: kernels lie in the regions that issued them, torch.profiler's view of a
kernel agrees with the tracer's own, and operations of a compiled model are recorded. Exit status 77 where that cannot be run.

    cuda_test.py      (with the package in PYTHONPATH or installed)
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zlib

SKIP = 77
KERNELS, RUNTIME = "CUDA_KERNEL", "CUDA_RUNTIME_API"

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
for step in range(3): region(step)
"""
PROFILED = WORK + """
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA], on_trace_ready=trace_handler):
    for step in range(3, 6): region(step)
region(6)
"""
COMPILED = """
import torch
from dftracer.python import dftracer, dynamo
dftracer.initialize_log()
net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)).cuda()
x = torch.ones(4, 8, device="cuda")
assert torch.allclose(dynamo.compile(net)(x), net(x))
"""


def records(folder):
    for path in sorted(pathlib.Path(folder).glob("t*.pfw.gz")):
        data = path.read_bytes()
        while data:
            member = zlib.decompressobj(wbits=31)
            for line in member.decompress(data).splitlines():
                yield json.loads(line)
            data = member.unused_data


def traced(code):
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {"DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": f"{folder}/t", "DFTRACER_DATA_DIR": folder}
        subprocess.run([sys.executable, "-c", code], env=env, check=True)
        return [r for r in records(folder) if r["ph"] == 1]


def inside(event, region):
    return region["ts"] <= event["ts"] and event["ts"] + event["dur"] <= region["ts"] + region["dur"]


def test_kernels_lie_in_their_regions():
    events = traced(WORK)
    regions = [e for e in events if e["name"] == "region"]
    kernels = [e for e in events if e["cat"] == KERNELS]
    assert len(regions) == 3 and len(kernels) >= 9, (len(regions), len(kernels))
    assert [e for e in events if e["cat"] == RUNTIME], "no call of the runtime API"
    strays = [k["name"] for k in kernels if not any(inside(k, r) for r in regions)]
    assert not strays, strays


def test_the_profilers_kernels_agree_with_ours():
    events = traced(PROFILED)
    theirs = [e for e in events if e["cat"] == "PP" and e["args"].get("device", 0) == 1]
    ours = [e for e in events if e["cat"] == KERNELS]
    assert theirs and ours
    for event in theirs:
        if any(o["name"] == event["name"] for o in ours):
            nearest = min(abs(o["ts"] - event["ts"]) for o in ours if o["name"] == event["name"])
            assert nearest <= 50, (event["name"], nearest)
    last = [e for e in events if e["name"] == "region"][-1]
    assert [k for k in ours if inside(k, last)], "no kernel of ours after torch.profiler"


def test_operations_of_a_compiled_model():
    assert len([e for e in traced(COMPILED) if e["cat"] == "dynamo"]) >= 3


def main():
    try:
        import torch
    except ImportError:
        return SKIP
    if not torch.cuda.is_available() or not any(e["cat"] in (KERNELS, RUNTIME) for e in traced(WORK)):
        print("no GPU, or the tracer is built without CUDA tracing")
        return SKIP
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print(f"{name}: ok", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
