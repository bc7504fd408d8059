# SPDX-License-Identifier: MIT
"""Programs that are linked with the tracer and not preloaded: an init call binds their calls, and what that changes in a
process's life."""

import harness
import pfw
import pytest

PROGRAM = "io/programs/annotated.c"
WHOLE = ["open", "write", "pread", "close", "fopen", "fread", "fclose"]  # what io:FILE does
PLUGIN = ["open", "write", "close"]
OF_RUNTIMES = ["fileno"] if harness.sanitizer() == "thread" else []  # what TSan's own fopen and fclose call


# What a runtime of a sanitizer inside the product does not bear: its locks in a forked child; its notes about a stack that
# a vfork child shares and leaves by exec; libraries with definitions of their own.
NOT_UNDER_A_SANITIZER = ("fork", "vfork", "deep:")


def run(bench, *words, **how):
    if harness.sanitizer() and any(word.startswith(NOT_UNDER_A_SANITIZER) for word in words):
        pytest.skip("a sanitizer's runtime in the product does not bear fork with threads, vfork or RTLD_DEEPBIND")
    return bench.same(PROGRAM, *words, **how)


def plugin():
    return harness.compile_program("io/programs/plugin.c", "-shared", "-fPIC", bare=True)


def of_file(traces, name):
    """Names of the I/O events on a file of the current directory, in order."""
    found = []
    for trace in traces:
        for event in trace.events:
            if event["cat"] in ("POSIX", "STDIO") and "fhash" in event["args"]:
                if event["name"] not in OF_RUNTIMES and trace.resolve(event["args"]["fhash"]).endswith("/cwd/" + name):
                    found.append(event["name"])
    return found


def switches(event):
    return {key: event["args"]["cfg"][key] for key in ("io", "posix", "stdio", "bind")}


ON = {"io": 1, "posix": 1, "stdio": 1, "bind": 1}
OFF = {"io": 0, "posix": 0, "stdio": 0, "bind": 0}


def test_an_init_call_binds_and_nothing_before_it_is_seen(bench):
    traces = run(bench, "io:before", "init", "io:a", "io:b").traces()
    assert len(traces) == 1 and traces[0].path.name.endswith("-app.pfw.gz")
    assert not of_file(traces, "before")
    assert of_file(traces, "a") == of_file(traces, "b") == WHOLE
    assert switches(traces[0].start) == switches(traces[0].end) == ON
    types = {e["type"] for e in traces[0].events}
    assert types == {pfw.LAYERS["LIBC_IO"]}


def test_an_init_call_without_binding_does_not_bind(bench):
    (trace,) = run(bench, "no_bind", "io:a", "region").traces()
    assert [e["name"] for e in trace.events] == ["work"]
    assert switches(trace.start) == switches(trace.end) == OFF


def test_a_first_event_without_init_call_does_not_bind(bench):
    (trace,) = run(bench, "region", "io:a").traces()
    assert [e["name"] for e in trace.events] == ["work"]
    assert switches(trace.end) == OFF


def test_an_init_call_after_the_first_event_binds(bench):
    (trace,) = run(bench, "region", "io:a", "init", "io:b").traces()
    assert not of_file([trace], "a") and of_file([trace], "b") == WHOLE
    assert switches(trace.start) == OFF and switches(trace.end) == ON


def test_the_end_call_stops_and_the_next_init_call_starts_again(bench):
    traces = run(bench, "init", "io:a", "fini", "io:no", "region", "init", "io:b", "fini", "no_bind", "io:no2").traces()
    assert len(traces) == 3
    assert of_file(traces, "a") == of_file(traces, "b") == WHOLE
    assert not of_file(traces, "no") and not of_file(traces, "no2")


@pytest.mark.parametrize("init,words", [("init", ["_exit:3"]), ("init", ["fini"]), ("no_bind", [])])
def test_without_io_only_the_life_cycle_is_bound(bench, init, words):
    result = run(bench, init, "io:a", "region", "fork", "region", *words, env={"DFTRACER_DISABLE_IO": "1"})
    (trace,) = result.traces()
    assert [e["name"] for e in trace.events] == ["work", "work"]
    assert switches(trace.end) == OFF | {"bind": int(init == "init")}


@pytest.mark.parametrize("off,kept", [("POSIX", WHOLE[4:]), ("STDIO", WHOLE[:4])])
@pytest.mark.parametrize("mode", ["function", "hybrid"])
def test_one_kind_can_be_switched_off(bench, mode, off, kept):
    (trace,) = run(bench, "init", "io:a", mode=mode, env={f"DFTRACER_DISABLE_{off}": "1"}).traces()
    assert of_file([trace], "a") == kept
    assert switches(trace.end) == ON | {off.lower(): 0}


def test_exit_without_handlers_loses_nothing(bench):
    result = run(bench, "init", "io:a", "region", "_exit:5")
    assert result.status == 5
    (trace,) = result.traces()
    assert of_file([trace], "a") == WHOLE and trace.end is not None and trace.named("work")


def test_a_forked_child_is_traced_beside_its_parent(bench):
    traces = run(bench, "init:../log/t-named-by-the-call", "io:a", "fork", "io:b").traces()
    parent, child = sorted(traces, key=lambda t: t.path.name.endswith("-fork.pfw.gz"))
    assert all(t.path.name.startswith("t-named-by-the-call-") for t in traces)
    assert of_file([child], "child.txt") == WHOLE and switches(child.start) == ON
    assert of_file([parent], "a") == of_file([parent], "b") == WHOLE
    assert not of_file([parent], "child.txt")
    assert parent.one("fork")["args"]["ret"] == child.start["pid"]


def test_a_vfork_child_leaves_its_parents_tables_alone(bench):
    (trace,) = run(bench, "init", "io:a", "vfork", "io:b").traces()
    assert of_file([trace], "a") == of_file([trace], "b") == WHOLE
    assert {e["pid"] for e in trace.events} == {trace.start["pid"]}


def test_an_exec_ends_the_trace_and_a_failed_one_does_not(bench):
    traces = run(bench, "init", "io:a", "exec:/nonexistent", "io:b", "self", "init", "io:c").traces()
    assert len(traces) == 2 and all(t.end is not None for t in traces)
    assert of_file(traces, "a") == of_file(traces, "b") == of_file(traces, "c") == WHOLE


@pytest.mark.parametrize("how", ["plugin", "deep"])
def test_a_library_that_is_loaded_later_is_bound(bench, how):
    (trace,) = run(bench, "init", "io:a", f"{how}:{plugin()}", "io:b").traces()
    assert of_file([trace], "plugin.txt") == PLUGIN
    assert trace.end["args"]["dlopen"] == 1


def test_a_library_whose_functions_nobody_looks_up_is_bound_within_an_interval(bench):
    env = {"DFTRACER_FLUSH_INTERVAL_MS": "20"}
    (trace,) = run(bench, "init", f"silent:{plugin()}", env=env).traces()
    assert of_file([trace], "plugin.txt") == PLUGIN


@pytest.mark.parametrize("flags", [("-Wl,-z,now",), ("-Wl,-z,lazy",), ("-no-pie", "-fno-pie"), ("-fno-plt",)])
def test_however_the_program_is_linked(bench, flags):
    (trace,) = run(bench, "init", "io:a", flags=flags).traces()
    assert of_file([trace], "a") == WHOLE


@pytest.mark.skipif(harness.sanitizer() == "thread", reason="TSan takes over the handlers")
@pytest.mark.parametrize("mode", ["function", "hybrid"])
@pytest.mark.parametrize("bound", [0, 1])
def test_the_tracers_handlers_do_not_show(bench, mode, bound):
    result = run(bench, "init", "signals", "io:a", "signals", "kill:15", mode=mode, env={"DFTRACER_BIND_SIGNALS": bound})
    assert result.status == -15 and result.out.count(b" 0") == 0
    if bound:
        (trace,) = result.traces()
        assert of_file([trace], "a") == WHOLE and trace.end is not None


def test_the_directories_of_the_init_call(bench):
    result = run(bench, "init:,/nowhere:in", "io:a", "io:in")
    (trace,) = result.traces()
    assert not of_file([trace], "a") and of_file([trace], "in") == WHOLE


ALL_LEFT_OUT = r"no file was traced: all \d+ .* DFTRACER_DATA_DIR"


@pytest.mark.parametrize("mode", ["function", "hybrid"])
def test_a_run_whose_files_are_all_left_out_says_so_once(bench, mode):
    result = run(bench, "init", "io:a", "fork", "io:b", mode=mode, notes=[ALL_LEFT_OUT], env={"DFTRACER_DATA_DIR": "/nowhere"})
    assert not any(of_file([t], name) for t in result.traces() for name in ("a", "b", "child.txt"))


def test_a_run_with_one_traced_file_says_nothing(bench):
    result = run(bench, "init:,in", "io:a", "io:in")
    assert of_file(result.traces(), "in") == WHOLE


def test_a_call_without_args_still_names_its_host(bench):
    (trace,) = run(bench, "init", "sync").traces()
    assert trace.one("sync")["args"] == {"hhash": trace.start["args"]["hhash"]}
    (trace,) = run(bench, "init", "sync", env={"DFTRACER_INC_METADATA": "0"}).traces()
    assert "args" not in trace.one("sync")


def test_the_init_call_of_a_preloaded_mode_does_not_bind_without_the_preload_library(bench):
    (trace,) = run(bench, "init", "io:a", "region", env={"DFTRACER_INIT": "PRELOAD"}).traces()
    assert [e["name"] for e in trace.events] == ["work"]


def test_with_the_preload_library_in_function_mode_the_init_call_starts_io_and_each_call_is_one_event(bench):
    env = {"LD_PRELOAD": harness.preloaded()}
    bare = bench.run([harness.compile_program(PROGRAM, bare=True), "io:no", "init", "io:a"], None)
    traced = bench.run([harness.compile_program(PROGRAM), "io:no", "init", "io:a"], "function", env=env)
    (trace,) = harness.compare(bare, traced).traces()
    assert of_file([trace], "a") == WHOLE and not of_file([trace], "no")
    assert trace.path.name.endswith("-app.pfw.gz") and switches(trace.end) == ON


def test_a_program_that_is_not_traced_is_not_bound(bench):
    for env in ({}, {"DFTRACER_ENABLE": "0"}):
        result = bench.run([harness.compile_program(PROGRAM), "init", "io:a", "region", "slots"], "off", env=env)
        assert result.status == 0 and result.out == b"libc\n" and not result.traces()
    result = bench.run([harness.compile_program(PROGRAM), "init", "io:a", "region", "slots"], "function")
    assert result.out == b"dftracer\n"
