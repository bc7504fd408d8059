# SPDX-License-Identifier: MIT
"""The check of traces that come from an AMD GPU must itself be able to fail; here it gets traces made by hand."""

import copy
import json
import subprocess
import sys

import harness
import pytest

SCRIPT = harness.SOURCE / "test" / "hip" / "check_hip_trace.py"
BYTES = (1 << 16) * 4


def event(name, cat, ts, dur, pid=1, type=4, **args):
    return {"name": name, "cat": cat, "type": type, "pid": pid, "tid": 1, "ts": ts, "dur": dur, "ph": 1, "args": args}


def good_trace():
    """What the program `workload` must give, region from 0 to 10,000."""
    lines = [event("HIP_WORKLOAD", "C_APP", 0, 10_000, type=2)]
    lines += [event("CHILD", "C_APP", 1, 1, pid=pid, type=2) for pid in (2, 3)]
    lines.append({"name": "gpu_device", "cat": "dftracer", "type": 4, "ph": 4, "args": {"agent_id": 1}})
    work = {"agent_id": 1, "queue_id": 3, "kernel_id": 7, "grid_x": 1, "workgroup_x": 1, "group_segment_size": 0,
            "private_segment_size": 0, "symbol_hash": "0" * 16}  # fmt: skip
    names = ["void train::scale<float>(float*, int)"] * 3 + ["train::nothing()"] * 401
    for number, name in enumerate(names, 1):
        lines.append(event("hipModuleLaunchKernel", "HIP_RUNTIME_API", number, 3, correlation_id=number))
        lines.append(event(name, "KERNEL_DISPATCH", number + 1, 5, correlation_id=number, dispatch_id=number, **work))
    for way in ("HOST_TO_DEVICE", "DEVICE_TO_HOST", "DEVICE_TO_DEVICE"):
        lines.append(event(f"MEMORY_COPY_{way}", "MEMORY_COPY", 700, 5, bytes=BYTES, src_agent_id=0, dst_agent_id=1))
    for name, ts, dur in (("outer", 800, 50), ("inner", 810, 20), ("mark", 815, 0), ("across", 900, 10)):
        lines.append(event(name, "MARKER_CORE_API", ts, dur))
    return lines


def run(folder, lines, *arguments, raw=""):
    folder.mkdir(exist_ok=True)
    (folder / "t-1.pfw").write_text("".join(json.dumps(line) + "\n" for line in lines) + raw)
    return subprocess.run([sys.executable, SCRIPT, f"{folder}/t*", *arguments], capture_output=True, text=True)


def test_a_good_trace_passes(tmp_path):
    done = run(tmp_path, good_trace(), "--exact")
    assert done.returncode == 0, done.stdout


def test_no_trace_is_a_skip(tmp_path):
    assert subprocess.run([sys.executable, SCRIPT, f"{tmp_path}/none*"], capture_output=True).returncode == 77


def test_a_line_that_is_not_json_fails(tmp_path):
    assert run(tmp_path, good_trace(), raw='{"name":"a\n').returncode == 1


def first(lines, **wanted):
    return next(line for line in lines if all(line.get(k) == v for k, v in wanted.items()))


BROKEN = {
    "a kernel is missing": lambda t: t.remove(first(t, cat="KERNEL_DISPATCH")),
    "a kernel too many": lambda t: t.append(copy.deepcopy(first(t, cat="KERNEL_DISPATCH"))),
    "a kernel without its call": lambda t: first(t, cat="KERNEL_DISPATCH")["args"].update(correlation_id=999_999),
    "a kernel before its call": lambda t: first(t, cat="KERNEL_DISPATCH").update(ts=0),
    "work after the region": lambda t: first(t, cat="MEMORY_COPY").update(ts=9_999),
    "a negative duration": lambda t: first(t, cat="MEMORY_COPY").update(dur=-1),
    "no name": lambda t: first(t, cat="HIP_RUNTIME_API").update(name=""),
    "no grid": lambda t: first(t, cat="KERNEL_DISPATCH")["args"].pop("grid_x"),
    "one dispatch twice": lambda t: first(t, cat="KERNEL_DISPATCH")["args"].update(dispatch_id=2),
    "no bytes of that size": lambda t: first(t, name="MEMORY_COPY_HOST_TO_DEVICE")["args"].update(bytes=1),
    "a range is missing": lambda t: t.remove(first(t, name="across")),
    "a range outside its parent": lambda t: first(t, name="inner").update(dur=100),
    "a mark that lasts": lambda t: first(t, name="mark").update(dur=1),
    "an event of a child": lambda t: first(t, cat="MEMORY_COPY").update(pid=2),
    "a child that lost its region": lambda t: t.remove(first(t, name="CHILD")),
    "no agents": lambda t: t.remove(first(t, name="gpu_device")),
    "no region": lambda t: t.remove(first(t, name="HIP_WORKLOAD")),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_bad_trace_fails(tmp_path, what):
    lines = good_trace()
    BROKEN[what](lines)
    done = run(tmp_path, lines, "--exact")
    assert done.returncode == 1 and " problems" in done.stdout, done.stdout
