# SPDX-License-Identifier: MIT
"""PyTorch on the CPU: E18 to E20, B8 (S70), and the training loop. Runs with the first Python that has torch: this one, or
the system's (Debian's python3-torch). What its torch is too old for is skipped, and said."""

import os
import shutil
import subprocess
import sys

import harness
import pyrun
import pytest

pytestmark = pyrun.need_package()
ASK = "import torch; print(torch.__version__)"


def find():
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python):
            done = subprocess.run([python, "-c", ASK], capture_output=True, text=True)
            if done.returncode == 0:
                return python, done.stdout.strip()
    return None, ""


PYTHON, VERSION = find()
needs_torch = pytest.mark.skipif(PYTHON is None, reason="no Python with torch (Debian: python3-torch)")
needs_torch_2 = pytest.mark.skipif(not VERSION or VERSION.startswith("1."), reason=f"torch {VERSION or 'none'}: needs 2")


def run(bench, code, *args, **how):
    return pyrun.run(bench, code, *args, python=PYTHON, env={"OMP_NUM_THREADS": "1", **how.pop("env", {})}, timeout=120, **how)


LOADER = """
import os, sys, torch
from dftracer.python import ai, dftracer
class Files(torch.utils.data.Dataset):
    def __len__(self): return 8
    @ai.data.item
    def __getitem__(self, i):
        with open(f"data-{i}", "rb") as f: return torch.tensor(list(f.read()))
if __name__ == "__main__":
    dftracer.initialize_log()
    method, workers, persistent = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "1"
    for i in range(8):
        with open(f"data-{i}", "wb") as f: f.write(bytes([i] * 64))
    loader = torch.utils.data.DataLoader(Files(), batch_size=2, num_workers=workers, persistent_workers=persistent,
                                         multiprocessing_context=method if workers else None)
    for epoch in range(2):
        assert sorted(int(b.sum()) for b in ai.dataloader.fetch.iter(loader)) == [64, 320, 576, 832]
"""


@needs_torch
@pytest.mark.parametrize("persistent", ["0", "1"])
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_b8_dataloader_workers(bench, method, persistent):
    result = run(bench, LOADER, io=True, head="", arguments=[method, "4", persistent])
    items = [e for e in pyrun.application(result) if e["name"] == "item"]
    reads = [
        (e["pid"], os.path.basename(t.resolve(e["args"]["fhash"])))
        for t in result.traces() for e in t.named("read")
        if "fhash" in e["args"] and e["args"].get("ret", 0) > 0 and "/data-" in t.resolve(e["args"]["fhash"])
    ]  # fmt: skip
    assert len(items) == 16 and len({e["pid"] for e in items}) == (4 if persistent == "1" else 8)
    assert sorted(name for _, name in reads) == sorted(f"data-{i}" for i in range(8) for _ in range(2))
    assert {pid for pid, _ in reads} == {e["pid"] for e in items}
    assert all(t.end is not None for t in result.traces())
    assert pyrun.names(pyrun.application(result)).count("fetch.block") == 8


@needs_torch
def test_a_training_loop_and_tensors_as_args(bench):
    events = pyrun.application(
        run(
            bench,
            """
        import torch
        model = torch.nn.Linear(4, 2)
        class Net(torch.nn.Module):
            def __init__(self): super().__init__(); self.l = torch.nn.Linear(4, 2)
            @ai.compute.forward
            def forward(self, x): return self.l(x)
            @dft_fn("net").log
            def other(self, x, step=0): return x
        net, x = Net(), torch.zeros(8, 4)
        with dft_fn("C", "t", step=torch.tensor(5)) as d: d.update(args={"x": x, "s": torch.tensor(2.5), "dtype": x.dtype})
        for step in range(3):
            ai.update(step=step)
            loss = net(x).sum()
            with ai.compute.backward: loss.backward()
            net.other(x, step=step)
        assert net(torch.ones(1, 4)).shape == (1, 2)
        """,
        )
    )
    assert pyrun.names(events) == ["t"] + ["forward", "backward", "Net.other"] * 3 + ["forward"]
    assert events[0]["args"]["x"] == "torch.float32torch.Size([8, 4])" and events[0]["args"]["dtype"] == "torch.float32"
    assert [e["args"]["step"] for e in events[1:10:3]] == [0, 1, 2]


PROFILED = """
import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from dftracer.python.torch import trace_handler
others = []
x = torch.ones(64, 64)
with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=2), record_shapes=True,
             on_trace_ready=trace_handler.chain(others.append)) as prof:
    for step in range(4):
        with dft_fn("train", "step", step=step), record_function("model_forward"):
            for i in range(20): x = x @ x * 0.01
        prof.step()
assert len(others) == 1
"""


@needs_torch
def test_e20_the_profilers_events_lie_in_the_regions_that_made_them(bench):
    events = pyrun.application(run(bench, PROFILED))
    forward = [e for e in events if e["cat"] == "PP" and e["name"] == "model_forward"]
    steps = {e["args"]["step"]: e for e in events if e["name"] == "step"}
    multiplications = [e for e in events if e["cat"] == "PP" and e["name"] == "aten::mm"]
    assert len(forward) == 2 and len(multiplications) == 40
    assert {"device", "cpu_memory", "is_remote", "device_memory_usage", "input_size", "total_cpu_percent"} <= set(forward[0]["args"])
    assert multiplications[0]["args"]["input_size"] == 4
    slack = 50 if not VERSION.startswith("1.") else 20_000  # an old torch does not say when its time began
    for event, step in zip(sorted(forward, key=lambda e: e["ts"]), (2, 3)):
        assert steps[step]["ts"] - slack <= event["ts"]
        assert event["ts"] + event["dur"] <= steps[step]["ts"] + steps[step]["dur"] + slack


@needs_torch
def test_e20_off_the_handler_calls_the_next_one_only(bench):
    assert not run(bench, PROFILED, "off").traces()


COMPILED = """
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.fc = torch.nn.Conv2d(1, 2, 3), torch.nn.Linear(18, 3)
    def forward(self, x):
        x = torch.nn.functional.max_pool2d(torch.relu(self.conv(x)), 2)
        return self.fc(x.view(x.size(0), -1))
net, x = Net(), torch.ones(2, 1, 8, 8)
wanted = net(x)
"""


@needs_torch_2
@pytest.mark.parametrize("autograd", [True, False])
def test_e19_operations_of_a_compiled_model(bench, autograd):
    code = COMPILED + f"assert torch.allclose(dynamo.compile(net, autograd={autograd})(x), wanted)\n"
    events = pyrun.application(run(bench, code))
    assert len(events) >= 4 and {e["cat"] for e in events} == {"dynamo"}
    assert all(e["args"]["grad_enabled"] in (0, 1) for e in events)
    assert not run(bench, code, "off").traces()


@needs_torch
def test_e19_off_and_old_torch(bench):
    run(bench, COMPILED + "assert dynamo.compile(net) is net and dynamo.compile()(net) is net\n"
        "assert dynamo.count_parameters(net) == 77\n", "off")  # fmt: skip
    if VERSION.startswith("1."):
        run(bench, COMPILED + "try: dynamo.compile(net)\nexcept RuntimeError as e: assert 'PyTorch 2' in str(e)\nelse: assert 0\n")


SAMPLE = """
import sys
import numpy as np
if sys.argv[1] == "h5": import h5py
f = dft_fn("SAMPLES")
@f.log
def write(i):
    if sys.argv[1] == "npz": np.savez(f"sample-{i}.npz", x=np.ones((16, 16)))
    elif sys.argv[1] == "h5":
        with h5py.File(f"sample-{i}.h5", "w") as file: file["x"] = np.ones((16, 16))
    else:
        from PIL import Image
        Image.fromarray(np.full((16, 16), 7, dtype=np.uint8)).save(f"sample-{i}.{sys.argv[1]}")
@f.log
def read(i):
    if sys.argv[1] == "npz": return np.load(f"sample-{i}.npz")["x"].sum()
    if sys.argv[1] == "h5":
        with h5py.File(f"sample-{i}.h5") as file: return file["x"][()].sum()
    from PIL import Image
    return np.asarray(Image.open(f"sample-{i}.{sys.argv[1]}")).sum()
for i in f.iter(range(3)): write(i)
for i in f.iter(range(3)): assert read(i) > 0
"""


@pytest.mark.parametrize("io, dirs", [(True, "all"), (True, "here"), (False, "all")])
@pytest.mark.parametrize("kind", ["npz", "png", "jpeg", "h5"])
def test_e18_formats(bench, kind, io, dirs):
    needed = {"npz": "numpy", "h5": "h5py"}.get(kind, "PIL")
    python = next((p for p in (sys.executable, "/usr/bin/python3")
                   if shutil.which(p) and not subprocess.run([p, "-c", f"import {needed}, numpy"], capture_output=True).returncode), None)
    if python is None:
        pytest.skip(f"no Python with {needed}")
    folder = bench.place("e18")
    env = {"DFTRACER_DATA_DIR": "all" if dirs == "all" else str(folder / "cwd")}
    result = pyrun.run(bench, SAMPLE, io=io, python=python, arguments=[kind], env=env, folder=folder)
    assert len(pyrun.application(result)) == 6 + 12
    trace = result.trace()
    with_file = [e for e in trace.events if "fhash" in e.get("args", {})]
    of_samples = [e for e in with_file if "sample-" in trace.resolve(e["args"]["fhash"])]
    assert bool([e for e in of_samples if e["name"] in ("write", "pwrite", "fwrite")]) == io == bool([e for e in of_samples if "read" in e["name"]])
    if dirs == "here":
        paths = {trace.resolve(e["args"]["fhash"]) for e in with_file}
        assert paths and all(p.startswith(str(folder / "cwd")) for p in paths), paths


FETCHING = """
import sys
import torch
from dftracer.python.torch import trace_dataloaders
assert trace_dataloaders() == trace_dataloaders() == (len(sys.argv) > 1)
loader = torch.utils.data.DataLoader(list(range(8)), batch_size=2, num_workers=int("0"))
for epoch in range(2):
    ai.update(epoch=epoch)
    assert [b.tolist() for b in loader] == [[0, 1], [2, 3], [4, 5], [6, 7]]
"""


@needs_torch
@pytest.mark.parametrize("workers", ["0", "2"])
def test_batches_of_any_dataloader(bench, workers):
    code = FETCHING.replace('"0"', f'"{workers}"')
    events = pyrun.application(run(bench, code, arguments=["on"]))
    assert [(e["name"], e["cat"], e["args"]["epoch"], e["args"].get("batch")) for e in events] == [
        ("fetch", "dataloader", epoch, batch) for epoch in range(2) for batch in (0, 1, 2, 3, None)
    ]
    assert {e["args"]["num_workers"] for e in events} == {int(workers)} and not any("exception" in e["args"] for e in events)
    assert not run(bench, code, "off").traces()


COLLECTIVES = """
import sys
import os, torch, torch.distributed as d
from dftracer.python.torch import trace_collectives
assert trace_collectives() == trace_collectives() == (len(sys.argv) > 1)
d.init_process_group("gloo", init_method="file://" + os.path.abspath("meeting"), rank=0, world_size=1)
x = torch.ones(3, 5)
d.all_reduce(x, d.ReduceOp.SUM, d.group.WORLD)
d.broadcast(tensor=x, src=0)
d.all_gather([torch.empty(3, 5)], x)
d.barrier()
try: d.all_reduce("no tensor")
except Exception as e: print(type(e).__name__)
"""


@needs_torch
def test_collectives_are_named_as_torch_names_them(bench):
    result = run(bench, COLLECTIVES, arguments=["on"])
    events = [e for e in pyrun.application(result) if e["name"].startswith("gloo:")]
    names = pyrun.names(events)
    last = len(names) - 1 - names[::-1].index("gloo:barrier")  # some torch meets at a barrier when it starts
    assert names[last - 3 :] == [f"gloo:{n}" for n in ("all_reduce", "broadcast", "all_gather", "barrier", "all_reduce")]
    for event in events[last - 3 : last]:
        assert event["cat"] == "comm"
        assert {k: event["args"][k] for k in ("bytes", "dtype", "group_size", "rank")} == {
            "bytes": 60, "dtype": "torch.float32", "group_size": 1, "rank": 0
        }  # fmt: skip
    assert "exception" in events[-1]["args"] and "bytes" not in events[-1]["args"]
    off = run(bench, COLLECTIVES, "off")
    assert off.out == result.out and off.out and not off.traces()


@needs_torch
@pytest.mark.parametrize("more", [[], ["--profile"]])
def test_the_example(bench, more):
    example = harness.SOURCE / "examples/pytorch/train.py"
    words = ["--device", "cpu", "--epochs", "2", "--files", "8", "--folder", "."]
    result = run(bench, example, io=True, arguments=words + more)
    assert result.out.count(b"epoch ") == 2
    events = pyrun.application(result)
    main = [e for e in events if e["pid"] == result.pid]
    names = pyrun.names(main)
    for name in ("transfer", "forward", "backward", "step", "fetch.iter", "fetch.block"):
        assert names.count(name) == 4, name
    assert (names.count("train"), names.count("epoch.block"), names.count("capture")) == (1, 2, 1)
    items = [e for e in events if e["name"] == "item"]
    assert len(items) == 16 and {e["pid"] for e in items}.isdisjoint({result.pid})
    assert [e["args"]["rows"] for e in main if e["name"] == "forward"] == [256] * 4
    assert bool([e for e in main if e["cat"] == "PP"]) == bool(more)
    reads = [
        e for t in result.traces() for e in t.events
        if "read" in e["name"] and "fhash" in e["args"] and t.resolve(e["args"]["fhash"]).endswith(".pt")
    ]  # fmt: skip
    assert {e["pid"] for e in reads} >= {e["pid"] for e in items}
