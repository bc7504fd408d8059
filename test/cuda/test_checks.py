# SPDX-License-Identifier: MIT
"""The checks of traces that come from a GPU must themselves be able to fail; here they get traces made by hand."""

import copy
import gzip
import json
import subprocess
import sys

import check_cuda_trace
import harness
import pytest

HERE = harness.SOURCE / "test" / "cuda"


def event(name, cat, ts, dur, correlation=None, pid=1, type=14):
    args = {} if correlation is None else {"correlation_id": correlation}
    return {"name": name, "cat": cat, "type": type, "pid": pid, "tid": 1, "ts": ts, "dur": dur, "ph": 1, "args": args}


def args_for(cat, **more):
    keys = check_cuda_trace.ARGS[cat]
    return {key: "5f" if key == "symbol_hash" else 1 for key in keys} | more


def good_trace():
    """What the program `workload` must give, region from 0 to 10,000."""
    lane = 1 << 30 | 1
    lines = [event("CUDA_WORKLOAD", "C_APP", 0, 10_000, type=2)]
    lines += [event("CHILD", "C_APP", 1, 1, pid=pid, type=2) for pid in (2, 3)]

    def add(name, cat, ts, **args):
        lines.append(event(name, cat, ts, 5))
        lines[-1].update(args=args_for(cat, **args), tid=1 if cat in check_cuda_trace.ON_THREADS else lane)

    names = ["void train::scale<float>(float*, int)"] * 4 + ["train::nothing()"] * 401
    for number, name in enumerate(names, 1):
        add("cuLaunchKernel", "CUDA_DRIVER_API", number, correlation_id=number)
        add(name, "CUDA_KERNEL", number + 2, correlation_id=number)
    lines.append({"name": "gpu_graph", "cat": "dftracer", "type": 14, "ph": 4, "args": {"graph_id": 2, "nodes": 5}})
    lines.append({"name": "thread_name", "type": 14, "tid": lane, "ph": 4, "args": {"name": "GPU 0 stream 7"}})
    lines.append({"name": "loss", "type": 14, "ph": 4, "args": {"cause": "api_quiet"}})
    for n in range(4):
        add("GraphTrace", "CUDA_GRAPH", 600, graph_id=2, correlation_id=1000 + n)
    for cat in ("CUDA_MEMCPY", "CUDA_MEMSET", "CUDA_RUNTIME_API", "CUDA_UNIFIED_MEMORY"):
        add("one", cat, 700, correlation_id=2000)
    for name in ("StreamSynchronize", "ContextSynchronize"):
        add(name, "CUDA_SYNC", 700, correlation_id=2000)
    add("cuMemAllocManaged", "CUDA_DRIVER_API", 710, return_value=0, correlation_id=3000)
    for name in ("inner", "mark", "outer", "across"):
        add(name, "CUDA_MARKER", 720)
    for line in lines:
        if line.get("args") == {}:  # as in the trace
            del line["args"]
    return lines


def run(script, folder, lines, *arguments, raw=""):
    folder.mkdir(exist_ok=True)
    (folder / "t-1.pfw").write_text("".join(json.dumps(line) + "\n" for line in lines) + raw)
    return subprocess.run([sys.executable, HERE / script, f"{folder}/t*", *arguments], capture_output=True, text=True)


def test_a_good_trace_passes(tmp_path):
    done = run("check_cuda_trace.py", tmp_path, good_trace())
    assert done.returncode == 0, done.stdout


def test_no_trace_is_a_skip(tmp_path):
    done = subprocess.run([sys.executable, HERE / "check_cuda_trace.py", f"{tmp_path}/none*"], capture_output=True, text=True)
    assert done.returncode == 77


def test_a_line_that_is_not_json_fails(tmp_path):
    assert run("check_cuda_trace.py", tmp_path, good_trace(), raw='{"name":"a\n').returncode == 1


@pytest.mark.parametrize("keep", [-1, -200, 100])
def test_a_damaged_file_fails(tmp_path, keep):
    whole = gzip.compress("".join(json.dumps(line) + "\n" for line in good_trace()).encode())
    (tmp_path / "t-1.pfw.gz").write_bytes(whole[:keep])
    done = subprocess.run([sys.executable, HERE / "check_cuda_trace.py", f"{tmp_path}/t*"], capture_output=True, text=True)
    assert done.returncode == 1


def test_what_is_demanded_of_args_is_what_an_h200_gives():
    for golden in (harness.SOURCE / "test" / "golden" / "cuda").glob("h200-*.jsonl"):
        lines = [json.loads(line) for line in golden.read_text().splitlines()]
        check = check_cuda_trace.CudaCheck((), ())
        events = [line for line in lines if line["ph"] == 1]
        for event in events:
            check.args(event)
        check.rows(of(lines, "CUDA_DRIVER_API"), lines, events)
        check.rest(lines, events)
        check.losses(lines)
        assert not check.problems, check.problems[:3]


def broken(change):
    lines = copy.deepcopy(good_trace())
    change(lines)
    return lines


def of(lines, cat):
    return next(line for line in lines if line.get("cat") == cat)


@pytest.mark.parametrize("cat", ["CUDA_RUNTIME_API", "CUDA_DRIVER_API", "CUDA_KERNEL", "CUDA_MEMCPY", "CUDA_MEMSET", "CUDA_SYNC"])
def test_one_tick_before_the_region_fails(tmp_path, cat):
    lines = good_trace()
    for line in lines:
        if "ts" in line:
            line["ts"] += 100
    assert run("check_cuda_trace.py", tmp_path, lines).returncode == 0
    of(lines, cat)["ts"] = 99
    done = run("check_cuda_trace.py", tmp_path, lines)
    assert done.returncode == 1 and f"{cat} {of(lines, cat)['name']} at -1.." in done.stdout


@pytest.mark.parametrize("cat", ["CUDA_RUNTIME_API", "CUDA_DRIVER_API", "CUDA_KERNEL", "CUDA_MEMCPY", "CUDA_MEMSET", "CUDA_SYNC"])
def test_one_tick_outside_the_region_fails(tmp_path, cat):
    lines = good_trace()
    target = of(lines, cat)
    target["dur"] = 10_001 - target["ts"]
    done = run("check_cuda_trace.py", tmp_path, lines)
    assert done.returncode == 1 and cat in done.stdout
    target["dur"] -= 1
    assert run("check_cuda_trace.py", tmp_path, lines).returncode == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines.remove(of(lines, "CUDA_KERNEL")),
        lambda lines: lines.remove(of(lines, "CUDA_DRIVER_API")),
        lambda lines: lines.remove(of(lines, "CUDA_GRAPH")),
        lambda lines: of(lines, "CUDA_GRAPH")["args"].update(graph_id=3),
        lambda lines: lines.remove(of(lines, "dftracer")),
        lambda lines: of(lines, "dftracer")["args"].update(nodes=4),
        lambda lines: lines.remove(of(lines, "CUDA_RUNTIME_API")),
        lambda lines: lines.pop(0),
        lambda lines: lines.pop(1),
        lambda lines: of(lines, "CUDA_KERNEL").update(ts=0),
        lambda lines: of(lines, "CUDA_KERNEL").update(name="kernel"),
        lambda lines: of(lines, "CUDA_MEMSET").update(dur=-1),
        lambda lines: of(lines, "CUDA_MEMSET").update(name=""),
        lambda lines: of(lines, "CUDA_MEMSET").update(pid=2),
        lambda lines: of(lines, "CUDA_MEMSET").update(cat="CUDA_MEMSETS"),
        lambda lines: of(lines, "CUDA_KERNEL")["args"].pop("stream_id"),
        lambda lines: of(lines, "CUDA_KERNEL")["args"].update(grid_x="1"),
        lambda lines: of(lines, "CUDA_MEMCPY")["args"].pop("bytes"),
        lambda lines: of(lines, "CUDA_DRIVER_API")["args"].pop("cbid"),
        lambda lines: of(lines, "CUDA_DRIVER_API")["args"].update(tid=1),
        lambda lines: of(lines, "CUDA_DRIVER_API").update(tid=1 << 30 | 1),
        lambda lines: of(lines, "CUDA_KERNEL").update(tid=1),
        lambda lines: of(lines, "CUDA_KERNEL")["args"].update(correlation_id=9999),
        lambda lines: lines[0].update(tid=5),
        lambda lines: lines.remove(of(lines, "CUDA_SYNC")),
        lambda lines: lines.remove(of(lines, "CUDA_UNIFIED_MEMORY")),
        lambda lines: lines.remove(of(lines, "CUDA_MARKER")),
        lambda lines: lines.append({"name": "loss", "ph": 4, "args": {"cause": "gpu_dropped", "count": 1}}),
    ],
)
def test_what_is_missing_or_wrong_fails(tmp_path, change):
    assert run("check_cuda_trace.py", tmp_path, broken(change)).returncode == 1


def truth_trace():
    lines = [{"name": "CM", "cat": "dftracer", "type": 1, "pid": 1, "tid": 1, "ph": 4, "args": {"name": "time_metric", "value": "NS"}}]
    for n in range(20):
        at = 100_000 * n
        lines.append(event("START", "C_APP", at, 5_000, type=2))
        lines.append(event("STOP", "C_APP", at + 6_000, 5_000, type=2))
        lines.append(event("hold", "CUDA_KERNEL", at + 4_000, 4_000, n))
    return lines


def test_truth(tmp_path):
    done = run("check_cuda_truth.py", tmp_path, truth_trace(), "20")
    assert done.returncode == 0 and "20 of 20 inside" in done.stdout
    assert run("check_cuda_truth.py", tmp_path, truth_trace(), "21").returncode == 1
    for begin, duration in ((-1, 8_001), (5_001, 2_000), (4_000, 1_999), (4_000, 7_001)):
        lines = truth_trace()
        of(lines, "CUDA_KERNEL").update(ts=begin, dur=duration)
        assert run("check_cuda_truth.py", tmp_path, lines, "20").returncode == 1, (begin, duration)


def region(name, ts, dur):
    return event(name, "COMPUTE", ts, dur, type=6)


def nesting_trace():
    """One step of examples/pytorch."""
    lines = []
    for number, name in enumerate(("transfer", "forward", "backward", "step"), 1):
        lines += [region(name, 100 * number, 90), event("cudaLaunchKernel", "CUDA_RUNTIME_API", 100 * number + 1, 5, number)]
        lines.append(event("add", "CUDA_MEMCPY" if name == "transfer" else "CUDA_KERNEL", 100 * number + 4, 86, number))
    return lines


def test_nesting(tmp_path):
    done = run("check_nesting.py", tmp_path, nesting_trace())
    assert done.returncode == 0 and "0 problems" in done.stdout, done.stdout
    for change in (
        lambda lines: lines[2].update(dur=87),
        lambda lines: lines[5].update(ts=199),
        lambda lines: lines.pop(1),
        lambda lines: lines.pop(-1),
    ):
        lines = nesting_trace()
        change(lines)
        assert run("check_nesting.py", tmp_path, lines).returncode == 1
    lines = nesting_trace() + [event("cudaLaunchKernel", "CUDA_RUNTIME_API", 195, 2, 9), event("add", "CUDA_KERNEL", 196, 500, 9)]
    assert run("check_nesting.py", tmp_path, lines).returncode == 0, "issued outside of the regions"


def peers_trace():
    """What the program `peers` must give."""

    def work(name, cat, device, **args):
        lines.append(event(name, cat, 1, 1))
        lines[-1].update(tid=10 + device, args={"device_id": device, **args})

    lines = [{"name": "thread_name", "ph": 4, "type": 14, "tid": 10 + d, "args": {"name": f"GPU {d} stream 7"}} for d in (0, 1)]
    lines += [{"name": "gpu_device", "ph": 4, "type": 14, "args": {"uuid": f"u{d}"}} for d in (0, 1)]
    for here, there in ((0, 1), (1, 0)):
        for _ in range(10):
            work("nothing", "CUDA_KERNEL", here)
        for _ in range(3):
            ends = {"src_device_id": here, "dst_device_id": there, "src_context_id": 1 + here, "dst_context_id": 1 + there}
            work("MemcpyPtoP", "CUDA_MEMCPY_P2P", here, bytes=1 << 20, **ends)
        for _ in range(2):
            work("MemcpyHtoD" if here else "MemcpyDtoH", "CUDA_MEMCPY", here, src_kind=3, dst_kind=3)
    return lines


def test_peers(tmp_path):
    done = run("check_peers.py", tmp_path, peers_trace())
    assert done.returncode == 0 and "0 problems" in done.stdout, done.stdout
    for change in (
        lambda lines: lines.remove(of(lines, "CUDA_MEMCPY_P2P")),
        lambda lines: of(lines, "CUDA_MEMCPY_P2P")["args"].update(dst_device_id=0),
        lambda lines: of(lines, "CUDA_MEMCPY_P2P")["args"].update(dst_context_id=1),
        lambda lines: lines.remove(of(lines, "CUDA_MEMCPY")),
        lambda lines: of(lines, "CUDA_KERNEL").update(tid=11),
        lambda lines: of(lines, "CUDA_KERNEL")["args"].update(device_id=1),
        lambda lines: lines[3]["args"].update(uuid="u0"),
    ):
        lines = peers_trace()
        change(lines)
        assert run("check_peers.py", tmp_path, lines).returncode == 1
