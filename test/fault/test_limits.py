# SPDX-License-Identifier: MIT
"""Resources that are short: descriptors, threads, processes, memory, file size, disk."""

import re
import shutil
import subprocess

import harness
import pfw
import pytest


def everything_accounted(run, name, called):
    """Events in the trace plus counted losses are the calls made, or the one line on stderr says how many are missing."""
    found = sum(len(harness.remains(p).named(name)) for p in pfw.traces(run.log))
    lost = 0
    for path in pfw.traces(run.log):
        for record in harness.remains(path).records:
            if record["name"] == "loss":
                lost += record["args"].get("count", 0)
    if found + lost != called:
        said = [int(n) for note in run.notes for n in re.findall(r"(\d+) events (?:are )?lost", note)]
        assert said and found + max(said) >= called, f"{found} found, {lost} counted, of {called}; said: {run.notes}"


@pytest.mark.parametrize("mode", ["function", "hybrid"])
@pytest.mark.parametrize("how", ["loop", "range", "taken"])
def test_the_application_closes_all_descriptors(bench, how, mode):
    run = bench.same("fault/programs/descriptors.c", how, mode=mode)
    assert run.status == 0 and run.count("work") == 31000


@pytest.mark.parametrize("how", ["loop", "range", "taken"])
def test_the_same_where_the_writer_cannot_have_its_own_table(bench, how):
    """Kernels and containers that refuse close_range and unshare."""
    denied = harness.compile_program("fault/programs/denied.c", bare=True)
    wrap = [denied, 1, "close_range,unshare"]
    if bench.run(["/bin/true"], wrap=wrap).status == 97:
        pytest.skip("seccomp filters are not permitted")
    if how == "range":
        pytest.skip("close_range is what is denied here")
    run = bench.same("fault/programs/descriptors.c", how, wrap=wrap, notes="any")
    assert run.status == 0
    everything_accounted(run, "work", 31000)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("limit", [0, 3, 4, 64])
def test_descriptor_limit_and_its_use_are_the_applications(bench, limit, when):
    run = bench.same("fault/programs/nofile.c", limit, when, notes="any")
    assert len(run.notes) <= 1
    if not run.notes:
        assert run.count("work") == 2000
    elif when == "before":
        assert "Too many open files: raise the limit of open files (ulimit -n)" in run.notes[0]
    if limit == 64:
        assert not run.notes


@pytest.mark.parametrize("calls", ["clone,clone3", "close_range", "close_range,unshare", "membarrier", "fallocate"])
def test_system_calls_that_a_container_refuses(bench, calls):
    """The first is what a process sees at its limit of threads (RLIMIT_NPROC, cgroup pids.max)."""
    denied = harness.compile_program("fault/programs/denied.c", bare=True)
    wrap = [denied, 11 if "clone" in calls else 1, calls]
    if bench.run(["/bin/true"], wrap=wrap).status == 97:
        pytest.skip("seccomp filters are not permitted")
    run = bench.same("fault/programs/regions.c", 5000, 1, "fini", wrap=wrap, notes="any")
    assert len(run.notes) <= 1
    everything_accounted(run, "work", 5000)


@pytest.mark.skipif(harness.sanitizer() != "", reason="a sanitizer reserves terabytes of addresses")
@pytest.mark.parametrize("extra_kib", [64, 512, 4096, 70000])
def test_little_memory(bench, extra_kib):
    run = bench.same("fault/programs/memory_limit.c", extra_kib, 3000, notes="any")
    assert len(run.notes) <= 2  # what failed, and at the end how much is missing
    if extra_kib >= 4096:
        assert run.trace().end["args"]["num_events"] > 0, "what is lost stands in the trace"
    if pfw.traces(run.log):
        everything_accounted(run, "work", 3000)
    else:
        assert run.notes, "no trace and no word"


@pytest.mark.skipif(harness.sanitizer() != "", reason="a sanitizer needs memory of its own")
@pytest.mark.parametrize("count", [0, 3000, 100000])
def test_no_memory_once_recording_runs(bench, count):
    """The end event was put together from texts that could not grow, and the writer's thread ended the process by an
    exception."""
    run = bench.same("fault/programs/memory_gone.c", count, notes="any")
    assert run.status == 3
    everything_accounted(run, "work", 1000 + count)
    assert run.trace().end["args"]["num_events"] > 0


@pytest.mark.skipif(harness.sanitizer() != "", reason="a sanitizer maps memory of its own")
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_a_mapping_that_is_refused_once(bench):
    """Whichever it is of those at the start: half of a text in `start`, or a record that is missing, made the file invalid."""
    program = harness.compile_program("fault/programs/memory_gone.c")
    told = 0
    for number in range(1, 60):
        refusal = f"inject=mmap:error=ENOMEM:when={number}"
        run = bench.run([program], "function", wrap=["strace", "-f", "-qq", "-o", "/dev/null", "-e", refusal])
        if run.status != 2:
            continue  # the loader's own
        told += bool(run.notes)
        if not run.notes:
            everything_accounted(run, "work", 1000)
            assert harness.dftracer("validate", run.log).returncode == 0, number
    assert told > 0


def told_of_trouble(run, reason):
    """First what is wrong, and how much is lost at the end; between them, where writing went on, that it did (and, where
    a big block does not fit and a small one does, once more)."""
    assert re.search(rf"cannot write .*: {reason}: \d+ events lost so far", run.notes[0]), run.notes
    assert re.search(r"^\d+ events are missing from", run.notes[-1]), run.notes
    assert len(run.notes) <= 5 and all("works again" in n for n in run.notes[1:-1:2]), run.notes
    return int(run.notes[-1].split(" ", 1)[0])


@pytest.mark.parametrize("how", ["default", "handled"])
def test_file_size_limit_never_reaches_the_application(bench, how):
    run = bench.same("fault/programs/file_size.c", 65536, 200000, how, notes="any")
    assert run.status == 0 and b"end calls" in run.out
    said = told_of_trouble(run, "File too large")
    (path,) = pfw.traces(run.log)
    assert path.stat().st_size <= 65536
    left = harness.remains(path)
    assert left.tail == 0 and len(left.named("work")) + said == 200000
    assert len(left.named("work")) >= 100
    harness.self_contained(left.records)
    trace = pfw.read(path).check()
    assert sum(r["args"]["count"] for r in trace.losses) == said and trace.end["args"]["lost"] == {"disk_full": said}


@pytest.mark.skipif(harness.sanitizer() != "", reason="a sanitizer cannot start without threads")
def test_file_size_limit_where_the_application_writes_itself(bench):
    """Without a thread of the tracer's own, crash-safe: it is the application's thread that meets the limit."""
    denied = harness.compile_program("fault/programs/denied.c", bare=True)
    wrap = [denied, 11, "clone,clone3"]
    if bench.run(["/bin/true"], wrap=wrap).status == 97:
        pytest.skip("seccomp filters are not permitted")
    env = {"DFTRACER_CRASH_SAFE": 1}
    run = bench.same("fault/programs/file_size.c", 400000, 200000, "default", wrap=wrap, env=env, notes="any")
    assert run.status == 0 and b"end calls 0" in run.out, run.err
    assert any("cannot grow" in note for note in run.notes), run.notes


needs_mount = pytest.mark.skipif(not harness.can_mount(), reason="mounting a tmpfs is not permitted here")


@needs_mount
def test_disk_full(bench):
    with harness.Tmpfs(bench.folder / "small", "size=1m") as disk:
        run = bench.same("fault/programs/full_disk.c", 60000, 10, env=harness.NO_IO | {"DFTRACER_LOG_FILE": disk / "t"}, notes="any")
        said = told_of_trouble(run, "No space left on device")
        (path,) = pfw.traces(disk)
        left = harness.remains(path)
        numbers = [e["args"]["i"] for e in left.named("work")]
        assert left.tail == 0 and 100 < len(numbers) and len(numbers) + said == 60010
        harness.self_contained(left.records)
        trace = pfw.read(path).check()
        assert sum(r["args"]["count"] for r in trace.losses) == said and trace.end["args"]["lost"] == {"disk_full": said}
        gaps = sum(b - a > 1 for a, b in zip(numbers, numbers[1:]))
        assert numbers[:100] == list(range(100)) and gaps <= 2, "a readable prefix is kept"


@needs_mount
def test_a_small_disk_belongs_to_the_trace_not_to_the_crash_safe_file(bench):
    env = {"DFTRACER_CRASH_SAFE": 1}
    with harness.Tmpfs(bench.folder / "small", "size=256k") as disk:
        run = bench.same("fault/programs/regions.c", 2000, env=env | {"DFTRACER_LOG_FILE": disk / "t"}, notes="any")
        assert len(run.notes) == 1 and "a killed process loses up to one flush interval" in run.notes[0], run.notes
        assert len(pfw.read_one(disk).named("work")) == 2000
    with harness.Tmpfs(bench.folder / "medium", "size=16m") as disk:
        env |= {"DFTRACER_LOG_FILE": disk / "t", "DFTRACER_FLUSH_INTERVAL_MS": 60000}
        run = bench.same("fault/programs/full_disk.c", 200000, 10, env=env, notes="any")
        assert len(run.notes) == 1 and "cannot grow" in run.notes[0], run.notes
        assert len(pfw.read_one(disk).named("work")) == 200010


@needs_mount
def test_disk_full_for_a_while(bench):
    """Room returns: writing goes on, and the trace says exactly how many events are missing. The small limit makes the
    program wait for the writer, so that most of its events have met the full disk when it asks for room."""
    big, small = 30000, 1000
    with harness.Tmpfs(bench.folder / "small", "size=1m") as disk:
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(900 * 1024))
        program = harness.compile_program("fault/programs/full_disk.c")
        env = harness.NO_IO | {"DFTRACER_LOG_FILE": disk / "t", "DFTRACER_BUFFER_LIMIT": "1M", "DFTRACER_FLUSH_INTERVAL_MS": 20}
        process, folder = bench.start([program, big, small, "wait"], "function", env, stdin=subprocess.PIPE)
        harness.wait_until(lambda: b"waiting" in (folder / "out").read_bytes(), "the program to wait")
        ballast.unlink()
        process.stdin.write(b"x")
        process.stdin.close()
        run = bench.finish(process, folder)
        assert run.status == 0 and run.out == b"waiting\ndone\n", run.err
        said = told_of_trouble(run, "No space left on device")
        (path,) = pfw.traces(disk)
        trace = pfw.read(path).check()
        lost = sum(r["args"]["count"] for r in trace.losses if r["args"]["cause"] == "disk_full")
        assert 0 < lost == said and len(trace.named("work")) + lost == big + small
        assert trace.end["args"]["lost"] == {"disk_full": lost}
        harness.self_contained(trace.records)
        assert [e["args"]["i"] for e in trace.named("work")][-small:] == list(range(small)), "what came after is whole"


@pytest.mark.skipif(harness.sanitizer() == "thread", reason="10000 threads take minutes under TSan")
def test_thread_storm(bench):
    threads = 10000
    run = bench.same("fault/programs/thread_storm.c", threads, timeout=120)
    events = run.trace()
    assert len(events.named("short_thread")) == threads
    for event in events.named("short_thread") + events.named("late"):
        assert event["tid"] == event["args"]["tid"]
    late = len(events.named("late"))
    lost = sum(run.lost().values())
    assert late + lost == threads * run.fact("rounds")


@pytest.mark.parametrize("args", [["cat", "--raw"], ["summary"], ["info", "--json"], ["validate"]])
def test_the_command_says_that_its_output_cannot_be_written(bench, args):
    """A copy of a trace that a full disk had cut ended with status 0."""
    run = bench.same("fault/programs/regions.c", 100)
    command = [harness.command(), *args, *pfw.traces(run.log)]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and done.stderr == "dftracer: cannot write the output: No space left on device\n", done
    done = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *command], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "cannot write the output" in done.stderr, done
    done = subprocess.run(["sh", "-c", '"$@" | true', "sh", *command], stderr=subprocess.PIPE, text=True)
    assert done.stderr == "", "a reader that goes is no fault"


def test_pointers_that_nobody_may_read(bench):
    """In calls that fail before the kernel looks at them: what fails untraced must not be a signal traced."""
    run = bench.same("fault/programs/wild.c", mode="preload")
    assert b"link(\"absent\", wild): -1, errno 2" in run.out
    failed = [e for e in run.events("link") if e["args"].get("errno") == 2]
    assert len(failed) == 1
