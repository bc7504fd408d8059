# SPDX-License-Identifier: MIT
"""Every way in which a process can end, without FINI: what is in the trace, and that nothing else is different."""

import signal
import subprocess

import harness
import pytest

FIRST, SECOND = 2000, 300


def ended(bench, how, mode, env=None, flushed=True):
    """Runs ends.c both ways. `flushed`: in the traced run the first batch must be on disk before the process is let go,
    which is the promise of the flush interval; else nothing is on disk by then."""
    results = []
    for traced in (False, True):
        program = harness.compile_program("fault/programs/ends.c", bare=not traced)
        settings = {"DFTRACER_FLUSH_INTERVAL_MS": "50" if flushed else "1h"} | (env or {})
        process, folder = bench.start(
            [program, how, FIRST, SECOND], mode if traced else None, env=settings, stdin=subprocess.PIPE
        )
        if traced and flushed:
            harness.wait_until(lambda: harness.on_disk(folder / "log", "work") >= FIRST, "the first batch on disk")
        process.stdin.write(b"x")
        process.stdin.close()
        results.append(bench.finish(process, folder))
    return harness.compare(*results)


# A sanitizer has a thread of its own, so the process does not end with its last thread, and takes over some signals.
COMPLETE = ["return", "exit", "quick_exit", "thread"] + ([] if harness.sanitizer() else ["pthread_exit"])


@pytest.mark.parametrize("mode", ["function", "hybrid"])
@pytest.mark.parametrize("how", COMPLETE)
def test_an_orderly_end_loses_nothing(bench, how, mode):
    run = ended(bench, how, mode, flushed=False)
    assert run.count("work") == FIRST + SECOND + (how == "thread")
    assert run.trace().end is not None


@pytest.mark.parametrize("how", ["exec", "exit"])
def test_the_main_thread_leaves_while_another_ends_the_process(bench, how):
    """The main thread takes the writer's work over when it leaves; the other thread may just have taken it away: that
    was a crash."""
    for lag in (0, 50, 200, 1000, -50, -200, -1000):
        run = bench.same("fault/programs/main_leaves.c", how, lag, mode="hybrid")
        assert run.status == 9
        assert run.count("work") == 200


@pytest.mark.parametrize("how", ["_exit", "_Exit"])
def test_underscore_exit_loses_nothing_under_preload(bench, how):
    run = ended(bench, how, "hybrid", flushed=False)
    assert run.count("work") == FIRST + SECOND
    assert run.trace().end is not None


UNSEEN = [("_exit", "function"), ("_Exit", "function"), ("exit_group", "function"), ("exit_group", "hybrid")]
FAULTS = [] if harness.sanitizer() else ["segv", "bus", "fpe", "ill", "abort"]
FATAL = FAULTS + ["term", "int", "hup", "xcpu", "usr1", "quit", "kill"]


@pytest.mark.parametrize("how,mode", UNSEEN + [(how, "function") for how in FATAL] + [("term", "hybrid")])
def test_an_end_that_nobody_sees_loses_at_most_one_interval(bench, how, mode):
    run = ended(bench, how, mode)
    (path,) = harness.pfw.traces(run.log)
    found = [e["args"]["i"] for e in harness.remains(path).named("work")]
    assert found[:FIRST] == list(range(FIRST))
    assert found[FIRST:] == list(range(len(found) - FIRST)), "a gap, or an event twice"


@pytest.mark.parametrize("mode", ["function", "hybrid"])
@pytest.mark.parametrize("how", FAULTS + ["term", "int", "hup"])
def test_bound_signals_lose_nothing(bench, how, mode):
    run = ended(bench, how, mode, {"DFTRACER_BIND_SIGNALS": "1"}, flushed=False)
    assert run.count("work") == FIRST + SECOND


def test_a_signal_from_outside_with_bound_signals(bench):
    """SIGTERM to a process that waits in a system call, as a batch system sends it."""
    program = harness.compile_program("fault/programs/ends.c")
    process, folder = bench.start([program, "return", FIRST, 0], "function", {"DFTRACER_BIND_SIGNALS": "1", "DFTRACER_FLUSH_INTERVAL_MS": "1h"}, stdin=subprocess.PIPE)
    harness.wait_until(lambda: (folder / "out").read_bytes(), "the program to wait")
    process.send_signal(signal.SIGTERM)
    run = bench.finish(process, folder)
    assert run.status == -signal.SIGTERM
    assert run.count("work") == FIRST


def test_an_end_without_any_event_after_init_keeps_its_file(bench):
    run = bench.same("fault/programs/regions.c", 0, 1, "open")
    assert run.trace().start is not None and run.trace().end is not None


@pytest.mark.parametrize("how", ["uncaught", "noexcept", "rethrown", "caught", "exit"])
@pytest.mark.parametrize("bound", [0, 1])
def test_exceptions_pass_and_end_the_program_as_untraced(bench, how, bound):
    run = bench.same("fault/programs/throws.cc", how, env={"DFTRACER_BIND_SIGNALS": bound, "DFTRACER_FLUSH_INTERVAL_MS": "50"})
    if how in ("caught", "rethrown"):
        for name in ("inner", "outer"):
            (event,) = run.events(name)
            assert "out_of_range" in event["args"]["exception"]
    if how == "exit":
        (event,) = run.events("around_exit")
        assert event["args"]["open_at_end"] == 1
    if bound or how in ("caught", "rethrown", "exit"):
        assert run.count("before") == 100
    if bound and how in ("uncaught", "noexcept"):
        assert run.count("inner") + run.count("outer") >= 2, "regions open at the crash"


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("mode", ["function", "hybrid"])
def test_events_from_whatever_runs_at_the_end_are_safe(bench, quick, mode):
    for _ in range(5):
        run = bench.same("fault/programs/late.cc", *(["quick"] if quick else []), mode=mode, notes="any")
        trace = run.trace()
        assert len(trace.named("before")) == 100
        assert trace.end is not None
        late = ["in_at_quick_exit"] if quick else ["in_atexit", "in_static_destructor", "in_elf_destructor"]
        lost = sum(trace.end["args"].get("lost", {}).values())
        for name in late:
            assert len(trace.named(name)) <= 1
        if quick:
            assert len(trace.named("in_at_quick_exit")) == 1, "registered after the tracer's, so it runs before"
        else:
            assert len(trace.named("in_atexit")) == 1 or lost or run.notes, "an atexit handler's event is lost silently"


@pytest.mark.skipif(harness.sanitizer() == "thread", reason="TSan does not follow a fork of a process with threads")
def test_open_regions_are_written_and_marked(bench):
    run = bench.same("fault/programs/open_regions.c")
    parent, child = run.fact("parent"), run.fact("child")
    (event,) = run.events("left_open", parent)
    assert event["args"]["open_at_end"] == 1
    (event,) = run.events("across_fork", parent)
    assert "open_at_end" not in event.get("args", {}) and "inherited" not in event.get("args", {})
    assert run.count("work", parent) == 10 and run.count("work", child) == 20
    for event in run.events("across_fork", child) + run.events("left_open", child):
        assert event["args"]["inherited"] == 1


@pytest.mark.parametrize("how", ["init", "implicit"])
@pytest.mark.parametrize("mode", ["function", "hybrid"])
def test_recording_again_after_fini(bench, how, mode):
    run = bench.same("fault/programs/again.c", 4, how, mode=mode)
    only_init_starts_again = mode == "function" and how == "implicit"
    assert run.count("work") == (100 if only_init_starts_again else 400)
    ids = [(t.path, e["id"]) for t in run.traces() for e in t.events]
    assert len(ids) == len(set(ids))
    if mode == "hybrid":
        assert len(run.traces()) == 1, "HYBRID keeps one file"
        assert "-preload" in run.trace().path.name
    else:
        assert len(run.traces()) == (1 if only_init_starts_again else 4)
