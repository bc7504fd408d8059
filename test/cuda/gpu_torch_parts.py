#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What only a machine with an NVIDIA GPU and PyTorch can show; as gpu_parts.py. The Python package is KIT/python."""

import json
import os
import statistics
import subprocess
import sys
import time

import gpu_parts
from gpu_parts import HERE, KIT, WORK, Done, bare, command, end_of, grep_count, plain, result, size_of, tool_env, traced

OPERATIONS = int(os.environ.get("GPU_OPERATIONS", 20_000))
CALLS = ('"cat":"CUDA_RUNTIME_API"', '"cat":"CUDA_DRIVER_API"')
KERNEL, PP = '"cat":"CUDA_KERNEL"', '"cat":"PP"'


def package(prefix, **extra):
    """As a user of the Python package: imported, nothing preloaded."""
    return plain(DFTRACER_ENABLE="1", DFTRACER_LOG_FILE=str(prefix), PYTHONPATH=str(KIT / "python"), **extra)


def python(code, env, limit=90):
    return Done([sys.executable, "-c", code], env, limit)


def spread(figures):
    return f"{statistics.median(figures):.0f} ({min(figures):.0f}..{max(figures):.0f})"


def torch():
    """An operator loop of PyTorch: untraced, bare, traced."""
    program = (
        "import torch,time\nx=torch.ones(64,device='cuda')\n"
        "def loop(n):\n  y=x\n  for _ in range(n): y=y*1.0001\n  torch.cuda.synchronize()\n"
        "loop(2000)\nb=time.perf_counter()\nloop(100000)\nprint('op_ns=%.0f'%((time.perf_counter()-b)*1e4))\n"
    )
    variants = {"untraced": lambda n: plain(), "bare": lambda n: bare(), "traced": lambda n: traced(WORK / f"t{n}" / "t", DFTRACER_DATA_DIR="/nowhere")}
    figures = {v: [] for v in variants}
    for number in range(int(os.environ.get("GPU_TORCH_ROUNDS", 5))):
        for name, environment in variants.items():
            done = Done([sys.executable, "-c", program], environment(number), 60)
            if done.status != 0:
                print(name, done.err[-1500:])
                return result(False, f"{name} ends with {done.status}")
            figures[name].append(done.figure("op_ns"))
    prefix = WORK / "t0" / "t"
    found, lines = grep_count(prefix, '"cat":"CUDA_KERNEL"', '"cat":"CUDA_RUNTIME_API"', '"cat":"CUDA_DRIVER_API"')
    ratios = {v: statistics.median(a / b for a, b in zip(figures[v], figures["bare"])) for v in variants}
    text = "; ".join(f"{v} {statistics.median(f):.0f} ns an op ({min(f):.0f}..{max(f):.0f}), ratio {ratios[v]:.3f}" for v, f in figures.items())
    return result(ratios["traced"] <= 1.10, f"{text}; {found}")


LOOP = """
import os, sys, time, torch
x = torch.ones(64, device="cuda")
def loop(n):
    y = x
    for _ in range(n): y = y * 1.0001
    torch.cuda.synchronize()
loop(2000)
def timed():
    begin = time.perf_counter()
    loop(%d)
    print("op_ns=%%.0f" %% ((time.perf_counter() - begin) / %d * 1e9))
if len(sys.argv) == 1:
    timed()
    print("loop_end=%%.6f" %% time.monotonic())
else:
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[getattr(ProfilerActivity, a) for a in sys.argv[1].split(",")]) as prof:
        timed()
        end = time.monotonic()
    print("loop_end=%%.6f" %% end)
    prof.export_chrome_trace(sys.argv[2])
    print("exported_s=%%.3f" %% (time.monotonic() - end))
sys.stdout.flush()
""" % (OPERATIONS, OPERATIONS)


def profiler():
    """The same loop under the tracer and under torch.profiler: time and bytes an operation, time until the file is there."""
    variants = {"untraced": [], "traced": [], "profiler CUDA": ["CUDA"], "profiler CPU,CUDA": ["CPU,CUDA"]}
    loop, tail, size = ({v: [] for v in variants} for _ in range(3))
    for number in range(int(os.environ.get("GPU_TORCH_ROUNDS", 3))):
        for name, arguments in variants.items():
            prefix, file = WORK / f"p{number}" / "t", WORK / f"p{number}.json"
            env = traced(prefix, DFTRACER_DATA_DIR="/nowhere") if name == "traced" else plain()
            words = [*arguments, file] if arguments else []
            done = Done([sys.executable, "-c", LOOP, *words], env, 60)
            if done.status != 0:
                return result(False, f"{name} ends with {done.status}: {done.err[-800:]}")
            loop[name].append(done.figure("op_ns"))
            ended = time.monotonic() - done.figure("loop_end")
            tail[name].append((done.figure("exported_s") if arguments else ended) * 1e3)
            size[name].append((size_of(prefix) if name == "traced" else os.path.getsize(file) if arguments else 0) / OPERATIONS)
            if file.exists():
                file.unlink()
    text = "; ".join(
        f"{v}: {spread(loop[v])} ns an op, {statistics.median(size[v]):.1f} B an op, {spread(tail[v])} ms from the loop's end to "
        + ("the file" if arguments else "the end of the process")
        for v, arguments in variants.items()
    )
    good = all(statistics.median(size["traced"]) < statistics.median(size[v]) for v in list(variants)[2:])
    return result(good, f"{OPERATIONS} operations, {len(loop['traced'])} rounds; {text}")


TRAINING = """
import time, torch
torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True)
model = torch.nn.TransformerEncoder(layer, 6).cuda()
optimizer = torch.optim.AdamW(model.parameters())
x = torch.randn(8, 64, 256, device="cuda")
def step():
    optimizer.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
for _ in range(5): step()
torch.cuda.synchronize()
begin = time.perf_counter()
for _ in range(60): step()
torch.cuda.synchronize()
print("step_us=%.0f" % ((time.perf_counter() - begin) / 60 * 1e6))
"""


def quiet():
    """Training of a transformer: how many calls the quiet mode leaves, and what each mode costs."""
    variants = {
        "untraced": lambda p: plain(),
        "bare": lambda p: bare(),
        "quiet": lambda p: traced(p, DFTRACER_DATA_DIR="/nowhere"),
        "all": lambda p: traced(p, DFTRACER_DATA_DIR="/nowhere", DFTRACER_CUDA_API="all"),
    }
    times, counts = {v: [] for v in variants}, {}
    for number in range(int(os.environ.get("GPU_TRAINING_ROUNDS", 2))):
        for name, environment in variants.items():
            prefix = WORK / f"{name}{number}" / "t"
            done = python(TRAINING, environment(prefix))
            if done.status != 0:
                return result(False, f"{name} ends with {done.status}: {done.err[-800:]}")
            times[name].append(done.figure("step_us"))
            if name in ("quiet", "all"):
                found, _ = grep_count(prefix, KERNEL, *CALLS)
                counts[name] = {**found, "bytes": size_of(prefix)}
                print(name, [end["args"].get("gpu", {}).get("records") for end in end_of(prefix)])
    calls = {v: sum(counts[v][c] for c in CALLS) for v in counts}
    ratio = calls["all"] / max(1, calls["quiet"])
    text = "; ".join(f"{v} {spread(t)} us a step" for v, t in times.items())
    good = ratio >= 5 and counts["quiet"][KERNEL] == counts["all"][KERNEL] > 0
    return result(good, f"{ratio:.1f} times fewer calls ({calls}); {counts}; {text}")


def cuda_test():
    """test/py/cuda_test.py."""
    done = Done([sys.executable, HERE / "cuda_test.py"], plain(PYTHONPATH=str(KIT / "python")), 230)
    print(done.out, done.err[-1500:])
    return result(done.status == 0, f"status {done.status}: " + "; ".join(l[:300] for l in done.out.splitlines() if l.startswith("test_")))


def example():
    """examples/pytorch: kernels nest in the regions that issued them."""
    texts, good = [], True
    for name, more in (("synchronized", ["--synchronize"]), ("profiled, yielding", ["--synchronize", "--profile"])):
        prefix = WORK / name.replace(" ", "") / "t"
        folder = WORK / "data"
        folder.mkdir(exist_ok=True)
        words = [KIT / "train.py", "--device", "cuda", "--epochs", "4", "--folder", folder, *more]
        env = package(prefix, DFTRACER_CUDA_YIELD="1", DFTRACER_DATA_DIR=str(folder))
        done = Done([sys.executable, *words], env, 90)
        check = subprocess.run([sys.executable, HERE / "check_nesting.py", f"{prefix}*"], capture_output=True, text=True)
        valid = subprocess.run(command(["validate", prefix.parent]), capture_output=True, text=True, env=tool_env())
        good = good and done.status == 0 and check.returncode == 0 and valid.returncode == 0
        print(name, done.err[-800:], check.stdout[-1500:], check.stderr[-500:])
        found, _ = grep_count(prefix, PP)
        last = (check.stdout.strip().splitlines() or ["nothing"])[-1]
        texts.append(f"{name}: status {done.status}, validate {valid.returncode}, {found[PP]} PP events, {last}")
        if check.returncode != 0:
            gpu_parts.keep(prefix, f"example-{len(texts)}")
    return result(good, "; ".join(texts))


if __name__ == "__main__":
    gpu_parts.run_part(globals())
