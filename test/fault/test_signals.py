# SPDX-License-Identifier: MIT
"""The application's signals: its handlers, its ignored ones, its masks; and emitting from handlers."""

import harness
import pfw
import pytest

PROGRAM = "fault/programs/handlers.c"
BOTH = pytest.mark.parametrize("bound", [0, 1])


@BOTH
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_handler_of_the_application_runs_once(bench, when, bound):
    run = bench.same(PROGRAM, when, env={"DFTRACER_BIND_SIGNALS": bound})
    assert run.status == 7 and run.out == b"calls 1\n"
    assert run.count("work") == 1000


@BOTH
def test_ignored_signals_stay_ignored(bench, bound):
    run = bench.same(PROGRAM, "ignored", env={"DFTRACER_BIND_SIGNALS": bound})
    assert run.status == 0 and run.count("work") == 1000


@BOTH
def test_a_program_that_recovers_from_its_own_faults(bench, bound):
    run = bench.same(PROGRAM, "recovers", env={"DFTRACER_BIND_SIGNALS": bound})
    assert run.status == 0 and run.out == b"recovered 3 times\n"
    assert run.count("work") == 1500


@pytest.mark.parametrize("mode", ["function", "hybrid"])
def test_dispositions_and_mask_are_untouched(bench, mode):
    run = bench.same(PROGRAM, "query", mode=mode)
    assert b"15 default" in run.out and b"blocked 0" in run.out


@BOTH
def test_two_fatal_signals_at_once(bench, bound):
    run = bench.same(PROGRAM, "two", env={"DFTRACER_BIND_SIGNALS": bound})
    assert run.status < 0
    if bound:
        assert run.count("work") == 500


@BOTH
@pytest.mark.parametrize("mode", ["function", "hybrid"])
def test_children_inherit_what_they_would_untraced(bench, bound, mode):
    """The upper half of the masks is left out: signal 33 is the C library's own, and any program with a thread takes it."""
    env = {"DFTRACER_BIND_SIGNALS": bound}
    bare = bench.run([harness.compile_program(PROGRAM, bare=True), "inherited"], None, env=env)
    traced = bench.run([harness.compile_program(PROGRAM), "inherited"], mode, env=env)
    assert harness.compare(bare, traced, mask=rb"(?<=\t)[0-9a-f]{8}").count("work") == 100


@BOTH
def test_stack_overflow_kills_as_untraced(bench, bound):
    run = bench.same(PROGRAM, "overflow", env={"DFTRACER_BIND_SIGNALS": bound, "DFTRACER_FLUSH_INTERVAL_MS": 20})
    assert run.status == -11


@BOTH
def test_a_handler_for_one_signal_only(bench, bound):
    run = bench.same(PROGRAM, "reset", env={"DFTRACER_BIND_SIGNALS": bound})
    assert run.status == -11 and run.out == b"once\n"
    if bound:
        assert run.count("work") == 500


@BOTH
def test_a_handler_runs_on_the_stack_that_it_asked_for(bench, bound):
    run = bench.same(PROGRAM, "own_stack", env={"DFTRACER_BIND_SIGNALS": bound})
    assert run.out == b"calls 1\n" and run.count("work") == 1000


SIGNALS = pytest.mark.parametrize("number", [10, 15])  # one that is never bound, and one that may be


@BOTH
@SIGNALS
def test_siginterrupt_has_its_way(bench, number, bound):
    run = bench.same(PROGRAM, number, "interrupted", mode="hybrid", env={"DFTRACER_BIND_SIGNALS": bound})
    assert run.out == b"interrupted does not\n"


@SIGNALS
def test_siginterrupt_has_its_way_with_the_library_switched_off(bench, number):
    env = {"DFTRACER_ENABLE": 0, "LD_PRELOAD": harness.preloaded()}
    run = bench.run([harness.compile_program(PROGRAM, bare=True), number, "interrupted"], "off", env=env)
    assert run.out == b"interrupted does not\n"


@pytest.mark.parametrize("safe", [0, 1])
def test_a_fork_in_a_handler_whose_child_returns_into_the_recorder(bench, safe):
    forks = 2000 if harness.LONG else 300
    run = bench.same("fault/programs/forked_inside.c", forks, env={"DFTRACER_CRASH_SAFE": safe}, timeout=180)
    assert run.out == b"died 0\n"


@pytest.mark.parametrize("forks", [False, True])
def test_emitting_in_a_handler_that_interrupts_an_emit(bench, forks):
    wanted = 20000 if harness.LONG else 600
    run = bench.same("fault/programs/in_handler.c", wanted, *(["fork"] if forks else []), timeout=120)
    (path,) = [p for p in pfw.traces(run.log) if "-app" in p.name]  # the children end by _exit, unseen without preload
    trace = pfw.read(path).check()
    assert {e["pid"] for e in trace.events} == {run.fact("pid")}
    assert len(trace.named("handled")) == run.fact("handled")
    assert sorted(e["args"]["i"] for e in trace.named("work")) == list(range(run.fact("work")))


@pytest.mark.parametrize("mode", ["function", "hybrid"])
def test_a_handler_that_jumps_out_of_the_start_leaves_the_rest_traced(bench, mode):
    run = bench.same("fault/programs/jumps.c", mode=mode)
    assert run.out == b"left\n"
    assert len([e for e in run.events("access") if e["args"].get("mode") == 4]) == 1000
