# SPDX-License-Identifier: MIT
"""Floods, small limits and drop mode; and every setting that changes what a line looks like."""

import re
import subprocess

import harness
import pfw
import pytest

REGIONS = "fault/programs/regions.c"
THREADS = 8
MANY = 200000 if harness.LONG else 15000


def test_flood_at_the_smallest_limit_loses_nothing(bench):
    env = {"DFTRACER_BUFFER_LIMIT": "1M"}
    run = bench.same(REGIONS, MANY, THREADS, env=env, timeout=120)
    trace = run.trace()
    tids = run.facts()["tid"]
    per_thread = {tid: [] for tid in tids}
    for event in trace.named("work"):
        per_thread[event["tid"]].append(event["args"]["i"])
    assert len(tids) == len(set(tids)) == THREADS
    for numbers in per_thread.values():
        assert numbers == list(range(MANY))
    assert trace.end["args"].get("lost", {}) == {} and not trace.losses


@pytest.mark.parametrize("threads", [1, THREADS])
def test_drop_mode_counts_exactly(bench, threads):
    env = harness.NO_IO | {"DFTRACER_BUFFER_LIMIT": "1M", "DFTRACER_BUFFER_MODE": "drop", "DFTRACER_WRITE_BUFFER_SIZE": "4K"}
    count = MANY * THREADS // threads
    run = bench.same(REGIONS, count, threads, env=env, timeout=120, notes="any")
    trace = run.trace()
    lost = sum(r["args"]["count"] for r in trace.losses if r["args"]["cause"] == "buffer_full")
    assert len(trace.named("work")) + lost == count * threads
    assert trace.end["args"].get("lost", {}) == ({"buffer_full": lost} if lost else {})
    assert [n.split(" ", 1)[0] for n in run.notes] == ([str(lost)] if lost else []), run.notes
    for record in trace.losses:
        assert record["args"]["first_ts"] <= record["args"]["last_ts"] and record["args"]["bytes"] > 0
    done = harness.dftracer("info", trace.path)
    assert done.returncode == 0 and (not lost or str(lost) in re.sub(r"[ ,_']", "", done.stdout)), "losses come first"


def test_memory_stays_within_its_bound(bench):
    """S42 in small: a flood of one thread against a limit of 8 MiB."""
    program = harness.compile_program(REGIONS)
    peaks = []
    for count in (100000, 1500000 if not harness.LONG else 20000000):
        run = bench.run([program, count, 1], "function", env={"DFTRACER_BUFFER_LIMIT": "8M"}, timeout=120)
        assert run.status == 0, run.err
        peaks.append(run.fact("peak_kib") // 1024)
    if not harness.sanitizer():
        assert peaks[1] < 8 + 32, f"{peaks} MiB"
        assert peaks[1] - peaks[0] < 12, f"{peaks} MiB: grows with the number of events"


METRICS = {"NS": 1000, "US": 1, "MS": 1 / 1000, "SEC": 1 / 1000000}


@pytest.mark.parametrize("metric", METRICS)
def test_time_metric(bench, metric):
    run = bench.same("fault/programs/clock.c", env={"DFTRACER_TIME_METRIC": metric})
    trace = run.trace()
    assert [r["args"]["value"] for r in trace.metadata("CM") if r["args"]["name"] == "time_metric"] == [metric]
    event = trace.one("half")
    scale = METRICS[metric]
    assert abs(event["ts"] - run.fact("wall_us") * scale) <= 1e6 * scale + 1
    assert 500000 * scale - 1 <= event["dur"] <= run.fact("monotonic_us") * scale + 1
    if metric == "NS":
        assert any(e["ts"] % 1000 for e in trace.events), "real nanoseconds"
        assert len({e["ts"] for e in trace.named("tiny")}) > 500


@pytest.mark.parametrize("source", ["monotonic", "tsc", "auto"])
def test_clock_sources_agree(bench, source):
    run = bench.same("fault/programs/clock.c", env={"DFTRACER_CLOCK": source, "DFTRACER_TIME_METRIC": "NS"}, notes="any")
    trace = run.trace()
    event = trace.one("half")
    assert 500_000_000 <= event["dur"] <= run.fact("monotonic_us") * 1000 + 1_000_000
    outer, inner = trace.named("outer"), trace.named("work")
    for a, b in zip(outer, inner):
        assert a["ts"] <= b["ts"] and b["ts"] + b["dur"] <= a["ts"] + a["dur"]
    starts = [e["ts"] for e in sorted(trace.named("tiny"), key=lambda e: e["id"])]
    assert starts == sorted(starts), "time runs backwards in one thread"


def test_without_metadata(bench):
    run = bench.same(REGIONS, 500, 2, env={"DFTRACER_INC_METADATA": "0"})
    trace = run.trace()
    assert len(trace.named("work")) == 1000 and all("args" not in e for e in trace.events)
    assert trace.start["args"]["hhash"] and trace.end["args"]["num_events"] > 1000


def test_without_compression(bench):
    run = bench.same(REGIONS, 500, 2, env={"DFTRACER_TRACE_COMPRESSION": "0"})
    trace = run.trace()
    assert trace.path.name.endswith("-app.pfw") and trace.members == 0
    assert len(trace.named("work")) == 1000 and trace.end is not None
    assert harness.dftracer("validate", trace.path).returncode == 0


def test_without_thread_ids(bench):
    run = bench.same(REGIONS, 500, 3, env={"DFTRACER_DISABLE_TIDS": "1"})
    trace = run.trace()
    assert len(trace.named("work")) == 1500
    assert len({e["tid"] for e in trace.events}) == 1
    run = bench.same(REGIONS, 500, 3, env={"DFTRACER_DISABLE_TIDS": "0"})
    assert {e["tid"] for e in run.events("work")} == set(run.facts()["tid"])


def test_members_hold_whole_lines_and_say_their_size(bench):
    run = bench.same(REGIONS, 5000, 2, env={"DFTRACER_WRITE_BUFFER_SIZE": "16K"})
    trace = run.trace()
    assert trace.members > 10
    data = trace.path.read_bytes()
    at = members = 0
    while at < len(data):
        assert data[at : at + 4] == b"\x1f\x8b\x08\x04" and data[at + 12 : at + 16] == b"DF\x0c\x00"
        size, _, lines = (int.from_bytes(data[at + 16 + 4 * k : at + 20 + 4 * k], "little") for k in range(3))
        text, count = pfw.inflate(data[at : at + size])
        assert count == 1 and text.endswith(b"\n") and text.count(b"\n") == lines
        at += size
        members += 1
    assert members == trace.members


def test_the_flush_interval_holds_while_the_program_is_idle(bench):
    """Few events, far below a block: they are on disk soon after the interval, the program still waiting."""
    program = harness.compile_program("fault/programs/ends.c")
    process, folder = bench.start([program, "return", 3, 2], "function", {"DFTRACER_FLUSH_INTERVAL_MS": "30"}, stdin=subprocess.PIPE)
    harness.wait_until(lambda: harness.on_disk(folder / "log", "work") == 3, "three events on disk")
    assert process.poll() is None
    process.stdin.write(b"x")
    process.stdin.close()
    run = bench.finish(process, folder)
    assert run.count("work") == 5


def test_s58_wall_clock_step(bench):
    shim = harness.compile_program("fault/programs/clock_shim.c", "-shared", "-fPIC", bare=True)
    for mode in ("function", "hybrid"):
        step = bench.folder / f"step-{mode}"
        preload = f"{shim} {harness.preload_library()}" if mode == "hybrid" else shim
        program = harness.compile_program("fault/programs/clock.c")
        env = {"LD_PRELOAD": preload, "DFT_CLOCK_STEP": step}
        if harness.sanitizer():
            pytest.skip("a sanitizer's runtime must be first among the preloaded")
        run = bench.run([program, step], mode, env=env)
        assert run.status == 0 and step.exists()
        trace = run.trace()
        event = trace.one("half")
        assert abs(event["dur"] - run.fact("monotonic_us")) < 100000
        assert abs(event["ts"] - run.fact("wall_us")) < 1_000_000
        later = [e["ts"] for e in trace.named("tiny")]
        assert min(later) >= event["ts"] + event["dur"]


@pytest.mark.skipif(not harness.can_unshare("-T", "-f"), reason="time namespaces are not permitted")
def test_s58_a_shifted_monotonic_clock(bench):
    """A container whose monotonic clock is a day ahead: the trace shows wall time all the same."""
    program = harness.compile_program("fault/programs/clock.c")
    run = bench.run([program], "function", wrap=["unshare", "-T", "-f", "--monotonic", "86400", "--boottime", "86400"])
    assert run.status == 0, run.err
    event = run.trace().one("half")
    assert abs(event["ts"] - run.fact("wall_us")) < 1_000_000 and abs(event["dur"] - run.fact("monotonic_us")) < 100000


@pytest.mark.parametrize("keys,rounds", [(100_000, 1), (10, 20_000)])
def test_any_amount_of_app_metadata_is_in_the_end_event(bench, keys, rounds):
    """Each key once with its last value, well within the time that a process may take to end."""
    run = bench.same("fault/programs/app_metadata.c", keys, rounds)
    args = run.trace().end["args"]
    assert args["app"] == {f"key{i}": (rounds - 1) * 1000 + i for i in range(keys)}
    assert {k for k in args["used"] if k.startswith("key")} == set(args["app"])
