# SPDX-License-Identifier: MIT
"""Processes that make processes: every image has its own file, every event is in exactly one of them."""

import collections
import shutil

import harness
import pfw
import pytest

BOTH = pytest.mark.parametrize("mode", ["function", "hybrid"])


def in_right_files(run):
    """Every record of a file carries one pid, and the thread ids of single-threaded children are their pids."""
    for trace in run.traces():
        assert len({r["pid"] for r in trace.records}) == 1, trace.path


@pytest.mark.skipif(harness.sanitizer() == "thread", reason="TSan does not support threads in forked children")
@pytest.mark.parametrize("mode,how", [("function", "exit"), ("hybrid", "_exit")])
def test_fork_storm_while_threads_log(bench, mode, how):
    children, amount = (1000, 10) if mode == "function" or harness.LONG else (300, 10)
    run = bench.same("fault/programs/fork_storm.c", children, 4, amount, how, mode=mode, timeout=180)
    assert run.out == b"%d children, 0 bad\n" % children
    per_child = collections.Counter()
    for event in run.events("in_child"):
        assert event["pid"] == event["tid"] == event["args"]["pid"]
        per_child[event["pid"]] += 1
    assert len(per_child) == children and set(per_child.values()) == {amount}
    assert run.count("beside") == run.fact("beside") and run.count("work") == 10
    in_right_files(run)


@pytest.mark.skipif(harness.sanitizer() == "thread", reason="TSan does not support threads in forked children")
def test_children_that_end_at_once_leave_no_empty_files(bench):
    """By `_exit` that nobody intercepts, while the writer has just begun: their events are lost, their names are not."""
    children = 200
    run = bench.same("fault/programs/fork_storm.c", children, 4, 3, "_exit", mode="function", timeout=180)
    files = pfw.traces(run.log)
    assert len(files) == children + 1
    for path in files:
        left = harness.remains(path)
        assert left.tail == 0 and len(left.named("start")) == 1, path


@pytest.mark.parametrize("mode,how", [("function", "exit"), ("hybrid", "exit"), ("hybrid", "_exit")])
def test_nested_forks(bench, mode, how):
    run = bench.same("fault/programs/nested_forks.c", 4, how, mode=mode)
    facts = run.facts()
    for depth in range(5):
        (pid,) = facts[f"pid{depth}"]
        assert [e["args"]["depth"] for e in run.events("generation", pid)] == [depth] * (100 + depth)
        assert run.count("afterwards", pid) == (depth < 4)
    assert len(run.traces()) == 5
    in_right_files(run)


@pytest.mark.skipif(harness.sanitizer() == "thread", reason="TSan does not support threads in forked children")
@pytest.mark.parametrize("safe", [0, 1])
@pytest.mark.parametrize("how", ["clone", "_Fork"])
def test_children_that_no_fork_handler_sees(bench, how, safe):
    run = bench.same("fault/programs/raw_children.c", how, env={"DFTRACER_CRASH_SAFE": safe})
    assert run.out == b"died 0\n"
    assert run.count("work", run.pid) == 20


def test_files_of_forked_children_can_be_read_alone(bench):
    run = bench.same("fault/programs/nested_forks.c", 2, "exit")
    for trace in run.traces():
        assert trace.start is not None and trace.end is not None
        assert trace.metadata("HH") and trace.metadata("CM")
        args = trace.start["args"]
        for key in ("cwd", "exec_hash", "cmd_hash"):
            assert trace.resolve(args[key])
    assert sorted(t.path.name.rsplit("-", 1)[1] for t in run.traces()) == ["app.pfw.gz", "fork.pfw.gz", "fork.pfw.gz"]


EXECS = ["execl", "execlp", "execle", "execv", "execvp", "execve", "execvpe", "fexecve"]


@pytest.mark.parametrize("how", EXECS)
def test_each_image_of_an_exec_chain_has_its_own_file(bench, how):
    run = bench.same("fault/programs/exec_chain.c", 3, how, mode="hybrid")
    assert run.status == 3 and run.out.count(b"<a b> <> <z>") == 3
    traces = run.traces()
    assert len(traces) == 4
    assert len({t.start["pid"] for t in traces}) == 1
    assert sorted(t.named("image")[0]["args"]["left"] for t in traces) == [0, 1, 2, 3]
    for trace in traces:
        assert len(trace.named("image")) == len(trace.named("after_failure")) == 10
        assert trace.end is not None


def test_an_exec_chain_without_preload_keeps_what_is_older_than_the_interval(bench):
    """Without an init call nothing is bound: at most one interval is lost, and the next image never damages what is
    there."""
    run = bench.same("fault/programs/exec_chain.c", 3, "execv", env={"DFTRACER_FLUSH_INTERVAL_MS": 1000})
    found = [e for p in pfw.traces(run.log) for e in harness.remains(p).named("image")]
    assert len([e for e in found if e["args"]["left"] == 0]) == 10
    assert len(found) <= 40 and pfw.traces(run.log)


def test_every_way_to_start_a_child(bench):
    run = bench.same("fault/programs/spawns.c", mode="hybrid")
    assert run.count("work", run.fact("parent")) == 20
    children = run.facts()["child"]
    assert len(children) == len(set(children)) == 6
    for pid in children:
        assert run.count("work", pid) == 20
    in_right_files(run)


def test_every_way_to_start_a_child_without_preload(bench):
    run = bench.same("fault/programs/spawns.c")
    assert run.count("work", run.fact("parent")) == 20
    for pid in run.facts()["child"]:
        assert run.count("work", pid) == 20


@BOTH
def test_a_daemon(bench, mode):
    run = bench.same("fault/programs/daemon.c", mode=mode)
    harness.wait_until(lambda: run.facts().get("daemon"), "the daemon's end")
    pid = run.fact("daemon")
    trace = harness.wait_until(lambda: finished(run, pid), "the daemon's trace")
    assert len(trace.named("in_daemon")) == 1000


def finished(run, pid):
    for path in pfw.traces(run.log):
        records = harness.remains(path).records
        if records and records[0]["pid"] == pid and records[-1]["name"] == "end":
            return pfw.read(path).check()
    return None


def test_preload_of_a_process_that_records_nothing_leaves_no_file(bench):
    run = bench.same_command(["/bin/true"], env=harness.NO_IO)
    assert not list(run.log.iterdir())
    run = bench.same_command(["sh", "-c", "exec /bin/true"], env=harness.NO_IO)
    assert not list(run.log.iterdir())


def test_a_shell_and_its_children_leave_nothing_without_io(bench):
    run = bench.same_command(["sh", "-c", "true | cat; (exit 3)"], env=harness.NO_IO)
    assert run.status == 3 and not list(run.log.iterdir())


def test_a_fork_is_an_event_of_the_parent(bench):
    run = bench.same_command(["sh", "-c", "(exit 3)"])
    (fork,) = [e for e in run.events() if e["name"] in ("fork", "vfork")]
    assert run.status == 3 and fork["args"]["ret"] > 0 and fork["cat"] == "POSIX"


def test_the_library_switched_off_does_nothing(bench):
    bare = bench.run([harness.compile_program("fault/programs/regions.c", bare=True), 100])
    env = {"LD_PRELOAD": harness.preload_library(), "DFTRACER_ENABLE": "0"}
    off = bench.run([harness.compile_program("fault/programs/regions.c"), 100], "off", env=env)
    harness.compare(bare, off)
    assert not list(off.log.iterdir())


@BOTH
def test_hybrid_and_function_name_their_files(bench, mode):
    run = bench.same("fault/programs/regions.c", 10, mode=mode)
    assert run.trace().path.name.endswith("-app.pfw.gz" if mode == "function" else "-preload.pfw.gz")
    assert run.trace().metadata("HH")[0]["args"]["value"] == run.trace().start["args"]["hhash"]


@pytest.mark.skipif(not shutil.which("unshare") or not harness.can_unshare("-pf"), reason="pid namespaces are not permitted")
def test_same_pid_twice_on_one_host(bench):
    """Two containers that share a host name and a log directory: pid 1 in both."""
    program = harness.compile_program("fault/programs/regions.c")
    first = bench.run([program, 100], "function", wrap=["unshare", "-pf"])
    (before,) = pfw.traces(first.log)
    content = before.read_bytes()
    second = bench.run([program, 200], "function", wrap=["unshare", "-pf"], folder=first.folder)
    names = [p.name for p in pfw.traces(first.log)]
    assert len(names) == 2 and any(n.endswith("-app-2.pfw.gz") for n in names)
    assert before.read_bytes() == content, "the first trace was touched"
    assert second.count("work") == 300


@pytest.mark.skipif(not harness.can_unshare("-upf"), reason="host name namespaces are not permitted")
def test_same_pid_on_two_hosts(bench):
    program = harness.compile_program("fault/programs/regions.c")
    folder = bench.place("hosts")
    for host in ("alpha", "beta"):
        wrap = ["unshare", "-upf", "sh", "-c", f'hostname {host} 2>/dev/null || echo {host} > /proc/sys/kernel/hostname; exec "$@"', "sh"]
        run = bench.run([program, 100], "function", wrap=wrap, folder=folder)
    traces = run.traces()
    assert len(traces) == 2 and not any("-2.pfw" in t.path.name for t in traces)
    assert sorted(t.metadata("HH")[0]["args"]["name"] for t in traces) == ["alpha", "beta"]
    assert run.count("work") == 200


@pytest.mark.skipif(harness.sanitizer() == "thread", reason="TSan does not support threads in forked children")
@BOTH
def test_a_child_needs_no_lock_of_libc_that_its_parent_held(bench, mode):
    run = bench.same("fault/programs/zone_forks.c", 40, mode=mode)
    assert run.out == b"40 children, 0 bad\n"
    assert run.count("in_child") == 40


@pytest.mark.skipif(harness.sanitizer() == "thread", reason="TSan does not support threads in forked children")
@BOTH
def test_fork_handlers_of_the_application_may_have_events(bench, mode):
    """They must not meet the locks that the tracer holds for the fork."""
    run = bench.same("fault/programs/fork_handlers.c", mode=mode)
    parent, child = run.fact("parent"), run.fact("child")
    assert run.count("in_prepare", parent) == run.count("in_parent_handler", parent) == 1
    assert run.count("in_child_handler", child) == 1 and run.count("work", child) == 20
    in_right_files(run)


def configured(bench, log_file):
    """Settings by a file alone, and the folder that it names."""
    config = bench.folder / "job.yaml"
    config.write_text(f"enable: true\ntracer:\n  init: PRELOAD\n  log_file: {log_file}\n")
    return {"DFTRACER_CONFIGURATION": config, "DFTRACER_ENABLE": None, "DFTRACER_INIT": None, "DFTRACER_LOG_FILE": None}


def test_children_write_where_the_configuration_file_says(bench):
    target = bench.folder / "by-file" / "t"
    program = harness.compile_program("fault/programs/exec_chain.c")
    run = bench.run([program, 2, "execv"], "preload", env=configured(bench, target))
    assert run.status == 3 and not run.notes
    assert sorted(t.named("image")[0]["args"]["left"] for t in pfw.read_all(target.parent)) == [0, 1, 2]
    assert not list(run.log.iterdir()) and not list((run.folder / "cwd").iterdir())


def test_a_relative_prefix_of_the_configuration_file_counts_from_the_first_directory(bench):
    program = harness.compile_program("fault/programs/leaves.c")
    child = harness.compile_program("fault/programs/regions.c")
    run = bench.run([program, child, 30], "preload", env=configured(bench, "out/t"))
    assert run.status == 0 and not run.notes
    traces = [t.check() for t in pfw.read_all(run.folder / "cwd" / "out")]
    assert sorted(len(t.named("work")) for t in traces) == [5, 20, 30]
