# SPDX-License-Identifier: MIT
"""SIGKILL at any moment. The program counts what it has logged in shared memory, so the test knows what must be there."""

import pathlib
import random
import signal
import struct
import time

import harness
import pfw
import pytest

TRIES = 50 if harness.LONG else 10
THREADS = 3
INTERVAL_MS = 100


def counters(path: pathlib.Path) -> list[int]:
    return list(struct.unpack("16Q", path.read_bytes()))[:THREADS]


def kill_at(bench, seconds, env, pause_us=200):
    """(folder, counts a little more than one interval before the kill, counts at the kill)."""
    folder = bench.place("killed")
    shared = folder / "counters"
    process, _ = bench.start([harness.compile_program("fault/programs/killed.c"), shared, THREADS, pause_us], "function", env, folder=folder)
    started = time.monotonic()
    early = max(0.0, seconds - 5 * INTERVAL_MS / 1000)  # on a busy machine the writer wakes late
    before = [0] * THREADS
    if early:
        time.sleep(early)
        before = counters(shared) if shared.exists() else before
    time.sleep(max(0.0, seconds - (time.monotonic() - started)))
    process.send_signal(signal.SIGKILL)
    assert bench.finish(process, folder).status == -signal.SIGKILL
    return folder, before, counters(shared) if shared.exists() else [0] * THREADS


def steps(records) -> list[list[int]]:
    found = [[] for _ in range(THREADS)]
    for record in records:
        if record.get("ph") == pfw.COMPLETE and record["name"] == "step" and "open_at_end" not in record["args"]:
            found[record["args"]["thread"]].append(record["args"]["n"])
    return found


@pytest.mark.parametrize("compression", [1, 0])
def test_a_killed_run_is_readable_and_loses_at_most_the_interval(bench, compression):
    moments = random.Random(7)
    for _ in range(TRIES if compression else 3):
        env = {"DFTRACER_FLUSH_INTERVAL_MS": INTERVAL_MS, "DFTRACER_TRACE_COMPRESSION": compression}
        folder, before, _ = kill_at(bench, moments.uniform(0.0, 1.2), env)
        for path in pfw.traces(folder / "log"):
            records = harness.remains(path).records if compression else plain(path)
            for thread, numbers in enumerate(steps(records)):
                assert numbers == list(range(len(numbers))), "a gap, or an event twice"
                assert len(numbers) >= before[thread], f"{before[thread] - len(numbers)} older than the interval are lost"
        if not pfw.traces(folder / "log"):
            assert sum(before) == 0


def plain(path):
    data = path.read_bytes()
    return [pfw.parse_line(line) for line in data[: data.rfind(b"\n") + 1].splitlines()]


def test_crash_safe_runs_lose_nothing(bench):
    moments = random.Random(11)
    for number in range(TRIES):
        env = {"DFTRACER_CRASH_SAFE": 1, "DFTRACER_FLUSH_INTERVAL_MS": (INTERVAL_MS, 60000)[number % 2]}
        folder, _, at_kill = kill_at(bench, moments.uniform(0.02, 0.7), env)
        done = harness.dftracer("recover", folder / "log")
        assert done.returncode in (0, 1), done.stderr
        found = [[] for _ in range(THREADS)]
        for trace in pfw.read_all(folder / "log"):
            trace.check()
            for thread, numbers in enumerate(steps(trace.records)):
                found[thread] += numbers
        for thread, numbers in enumerate(found):
            assert numbers == list(range(len(numbers))), f"try {number}: a gap, or an event twice"
            assert len(numbers) >= at_kill[thread], f"try {number}: {at_kill[thread] - len(numbers)} completed regions are lost"
        assert not list((folder / "log").glob("*.dfcrash")), "what was recovered is cleared away"


def test_recover_twice_changes_nothing(bench):
    folder, _, _ = kill_at(bench, 0.4, {"DFTRACER_CRASH_SAFE": 1})
    harness.dftracer("recover", folder / "log")
    state = {p: p.read_bytes() for p in pfw.traces(folder / "log")}
    harness.dftracer("recover", folder / "log")
    assert {p: p.read_bytes() for p in pfw.traces(folder / "log")} == state


def test_a_clean_end_of_a_crash_safe_run_leaves_no_crash_file(bench):
    run = bench.same("fault/programs/regions.c", 1000, 3, "open", env={"DFTRACER_CRASH_SAFE": 1})
    assert run.count("work") == 3000
    assert not [p for p in run.log.iterdir() if "dfcrash" in p.name]


@pytest.mark.skipif(harness.sanitizer() == "thread", reason="TSan does not support threads in forked children")
def test_crash_safe_with_forks(bench):
    run = bench.same("fault/programs/nested_forks.c", 3, "exit", env={"DFTRACER_CRASH_SAFE": 1})
    assert len(run.traces()) == 4 and run.count("generation") == 100 + 101 + 102 + 103
    assert not [p for p in run.log.iterdir() if "dfcrash" in p.name]


def test_run_recovers_by_itself(bench):
    """`dftracer run` waits for the program and recovers what a crash left."""
    folder = bench.place("run")
    shared = folder / "counters"
    program = harness.compile_program("fault/programs/ends.c")
    argv = [harness.command(), "run", "-o", folder / "log" / "t", "--", program, "kill", 500, 500]
    run = bench.run(argv, None, folder=folder, env=None, preexec=None)
    assert run.status in (-signal.SIGKILL, 128 + signal.SIGKILL), run.err
    del shared
    found = [e for p in pfw.traces(folder / "log") for e in harness.remains(p).named("work")]
    assert len(found) <= 1000
