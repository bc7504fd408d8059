# SPDX-License-Identifier: MIT
"""Reports of other tools' users, S17 to S47 of the case list, as far as they need no I/O events. README.md says which case
is held where."""

import ctypes.util
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import harness
import pfw
import pytest

HERE = pathlib.Path(__file__).resolve().parent
BOTH = pytest.mark.parametrize("mode", ["function", "hybrid"])


def same_python(bench, script, mode="hybrid", env=None, notes=None, timeout=60, mask=None):
    """A Python program with events, untraced and traced."""
    path = bench.folder / "script.py"
    path.write_text(f"import sys\nsys.path.insert(0, {str(HERE)!r})\nimport python_events\n{script}")
    settings = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"} | (env or {})
    bare = bench.run([sys.executable, path], None, env=settings, timeout=timeout)
    library = harness.preload_library() if mode == "hybrid" else harness.core_library()
    traced = bench.run([sys.executable, path], mode, env=settings | {"DFT_LIBRARY": library}, timeout=timeout)
    return harness.compare(bare, traced, notes, mask)


def test_s17_static_program(bench):
    try:
        program = harness.compile_program("regress/programs/static.c", "-static", bare=True)
    except AssertionError:
        pytest.skip("no static libc here")
    run = bench.same_command([program, "a", "b"])
    assert run.status == 6 and not list(run.log.iterdir())
    folder = bench.place("run")
    done = harness.dftracer("run", "-o", folder / "log" / "t", "--", program, "a", "b")
    assert done.returncode == 6 and done.stdout == "a\nb\n"
    assert "static" in done.stderr, done.stderr


def test_s18_clean_environment(bench):
    assert bench.same_command(["env", "-i", "/bin/echo", "x"]).out == b"x\n"
    script = """
import os, subprocess
python_events.initialize()
python_events.event()
before = dict(os.environ)
print(subprocess.run(["/bin/cat", "/etc/hostname"], env={}, capture_output=True).stdout)
print(sorted(k for k in os.environ if "DFT" not in k and k not in ("LD_PRELOAD", "NVTX_INJECTION64_PATH")), before == dict(os.environ))
print(subprocess.run(["env"], capture_output=True, env={"A": "b"}).stdout)
python_events.event()
"""
    assert same_python(bench, script).count("py") == 2


def test_s18_our_library_never_edits_the_environment(bench):
    env = {"DFTRACER_ENABLE": "1", "DFTRACER_INIT": "PRELOAD", "LD_PRELOAD": harness.preload_library(), "MINE": "x"}
    run = bench.run(["sh", "-c", "env | sort; env -i sh -c 'env | sort'"], "preload", env=env)
    seen = dict(line.split("=", 1) for line in run.out.decode().split("PWD=", 1)[0].splitlines() if "=" in line)
    wanted = harness.environment(run.folder, "preload", env)
    assert {k: v for k, v in seen.items() if k in wanted} == {k: v for k, v in wanted.items() if k in seen}
    # The one exception, in builds with CUDA tracing: NVTX finds its library by a variable alone.
    allowed = ("OLDPWD", "SHLVL", "_", "PWD", "NVTX_INJECTION64_PATH")
    assert [k for k in seen if k not in wanted and k not in allowed] == []
    core = harness.core_library().resolve()
    assert pathlib.Path(seen.get("NVTX_INJECTION64_PATH", core)).resolve() == core


@BOTH
@pytest.mark.parametrize("target", ["log", "/proc/no"])
def test_s24_errno(bench, mode, target):
    env = {"DFTRACER_WRITE_BUFFER_SIZE": "16K"} | ({"DFTRACER_LOG_FILE": "/proc/no/t"} if target != "log" else {})
    run = bench.same("regress/programs/errno.c", mode=mode, env=env, notes="any")
    assert run.status == 0 and b"start 0\n" in run.out
    if target == "log":
        assert not run.notes and run.count("work") == 50000 + 1 + 1 + 1


@BOTH
def test_s25_events_and_allocations_before_init(bench, mode):
    run = bench.same("regress/programs/early.cc", mode=mode)
    assert run.count("in_main") == 100
    assert run.count("constructor") == run.count("global_object") == 1


def allocators():
    names = [ctypes.util.find_library(n) for n in ("jemalloc", "tcmalloc_minimal", "tcmalloc", "mimalloc")]
    found = [n for n in names if n]
    return found or [pytest.param("none", marks=pytest.mark.skip(reason="no other allocator is installed"))]


@pytest.mark.skipif(harness.sanitizer() != "", reason="a sanitizer brings its own allocator")
@pytest.mark.parametrize("first", ["ours", "theirs"])
@pytest.mark.parametrize("allocator", allocators())
def test_s26_preloaded_allocators(bench, allocator, first):
    order = [str(harness.preload_library()), allocator]
    preload = ":".join(order if first == "ours" else order[::-1])
    program = harness.compile_program("fault/programs/regions.c", bare=True)
    bare = bench.run([program, 2000, 4, "open"], None, env={"LD_PRELOAD": allocator})
    traced = bench.run([harness.compile_program("fault/programs/regions.c"), 2000, 4, "open"], "hybrid", env={"LD_PRELOAD": preload})
    assert harness.compare(bare, traced).count("work") == 8000
    argv = [sys.executable, "-c", "import json, threading; print(json.dumps({'a': 1}))"]
    harness.compare(bench.run(argv, None, env={"LD_PRELOAD": allocator}), bench.run(argv, "preload", env={"LD_PRELOAD": preload}))


@BOTH
def test_s27_events_from_thread_exit_destructors(bench, mode):
    run = bench.same("fault/programs/thread_storm.c", 208, mode=mode)
    assert run.count("short_thread") == 208
    assert run.count("late") + sum(run.lost().values()) == 208 * run.fact("rounds")


@BOTH
def test_s28_events_while_the_process_ends(bench, mode):
    program = harness.compile_program("fault/programs/late.cc")
    for _ in range(200 if harness.LONG else 15):
        run = bench.run([program], mode)
        assert run.status == 0, run.err
        trace = run.trace()
        assert trace.records[-1]["name"] == "end" and len(trace.named("before")) == 100


@pytest.mark.parametrize("mode,how", [("function", "exit"), ("function", "fini"), ("hybrid", "exit"), ("hybrid", "_exit")])
def test_s29_each_event_once_in_its_own_process_file(bench, mode, how):
    run = bench.same("regress/programs/fork_each.c", how, mode=mode)
    parent, children = run.fact("parent"), run.facts()["child"]
    assert run.count("work", parent) == 550 == run.count("work")
    assert sorted(run.count("in_child", pid) for pid in children) == [100, 101, 102, 103] and run.count("in_child") == 406
    assert len(run.traces()) == 5
    for trace in run.traces():
        assert len({r["pid"] for r in trace.records}) == 1


@pytest.mark.skipif(harness.sanitizer() == "thread", reason="TSan does not support threads in forked children")
@BOTH
def test_s30_fork_in_a_threaded_program(bench, mode):
    for _ in range(10 if harness.LONG else 3):
        run = bench.same("fault/programs/fork_storm.c", 40, 8, 10, "exit", mode=mode)
        assert run.out == b"40 children, 0 bad\n" and run.count("in_child") == 400


@BOTH
def test_s31_vfork(bench, mode):
    run = bench.same("regress/programs/vforks.c", mode=mode)
    assert run.out == b"ok\n" and run.count("work", run.fact("parent")) == 400
    assert len(run.traces()) == 1, "a vfork child has no file"
    assert {e["pid"] for e in run.events()} == {run.fact("parent")}


def test_s31_python_subprocess_and_shells(bench):
    script = """
import subprocess
python_events.initialize()
for i in range(100):
    python_events.event()
    assert subprocess.run(["true"]).returncode == 0
print("ok")
"""
    assert same_python(bench, script).count("py") == 100
    run = bench.same_command(["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do /bin/true; (exit $i); echo $?; done; echo a | cat | tr a b"])
    assert run.out.endswith(b"9\nb\n")


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_s32_python_workers(bench, method):
    script = f"""
import multiprocessing as mp
def work(i):
    python_events.initialize()
    for _ in range(200):
        python_events.event("worker")
if __name__ == "__main__":
    python_events.initialize()
    mp.set_start_method({method!r})
    workers = [mp.Process(target=work, args=(i,)) for i in range(3)]
    [p.start() for p in workers]
    [p.join() for p in workers]
    print([p.exitcode for p in workers])
"""
    run = same_python(bench, script)
    assert run.out == b"[0, 0, 0]\n"
    events = run.events("worker")
    assert len(events) == 600 and len({e["pid"] for e in events}) == 3


@pytest.mark.parametrize("moment_us", [0, 500, 1000, 2000, 5000])
def test_s33_killed_during_shutdown(bench, moment_us):
    earlier = bench.run([harness.compile_program("fault/programs/regions.c"), 100], "function")
    content = {p: p.read_bytes() for p in earlier.log.iterdir()}
    run = bench.run([harness.compile_program("regress/programs/kill_at_end.c"), 20000, moment_us], "function", folder=earlier.folder)
    assert run.status in (0, -signal.SIGKILL)
    for path, data in content.items():
        assert path.read_bytes() == data, "an earlier run's trace was touched"
    for path in pfw.traces(run.log):
        numbers = [e["args"]["i"] for e in harness.remains(path).named("work")]
        assert numbers == list(range(len(numbers)))


def test_s34_python_signals(bench):
    script = """
import os, signal, time
python_events.initialize()
python_events.event()
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(10)
except KeyboardInterrupt:
    print("interrupted")
print(signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGHUP))
"""
    for bound in (0, 1):
        assert same_python(bench, script, env={"DFTRACER_BIND_SIGNALS": bound}).count("py") == 1


def test_s34_faulthandler_still_prints(bench):
    script = """
import ctypes, faulthandler
faulthandler.enable()
python_events.initialize()
python_events.event()
ctypes.string_at(0)
"""
    for bound in (0, 1):
        run = same_python(bench, script, env={"DFTRACER_BIND_SIGNALS": bound, "DFTRACER_FLUSH_INTERVAL_MS": 10}, mask=rb"0x[0-9a-f]+")
        assert run.status == -signal.SIGSEGV and b"Segmentation fault" in run.err
        if bound:
            assert run.count("py") == 1


@BOTH
def test_s35_events_in_a_signal_handler(bench, mode):
    run = bench.same("fault/programs/in_handler.c", 200, mode=mode)
    assert run.count("handled") == run.fact("handled") and run.count("work") == run.fact("work")


@BOTH
def test_s36_the_application_closes_all_descriptors(bench, mode):
    run = bench.same("fault/programs/descriptors.c", "loop", mode=mode)
    assert run.out == b"all empty\n" and run.count("work") == 31000


def test_s37_relative_prefix_and_chdir(bench):
    run = bench.run([harness.compile_program("fault/programs/leaves.c")], "function", env={"DFTRACER_LOG_FILE": "out/t"})
    out = run.folder / "cwd" / "out"
    assert sorted(len(t.named("work")) for t in pfw.read_all(out)) == [5, 20]
    assert not pathlib.Path("/out").exists()


def test_s38_one_pid_three_images(bench):
    inner = harness.compile_program("fault/programs/regions.c")
    chain = harness.compile_program("fault/programs/leaves.c")
    run = bench.run(["sh", "-c", f"exec sh -c 'exec {inner} 70 1 open'"], "hybrid")
    assert run.status == 0 and run.count("work") == 70
    run = bench.run(["sh", "-c", f"exec {chain} {inner} 30"], "hybrid")
    assert sorted(len(t.named("work")) for t in run.traces()) == [0, 5, 20, 30]  # the shell has its own calls only


def test_s39_exported_preload(bench):
    """A preload exported in a shell start-up file must disturb no tool."""
    (bench.folder / "hello.c").write_text("int main(void) { return 0; }\n")
    tools = [
        ["bash", "-c", "seq 100 | grep 7 | sort -rn | head -3; diff <(echo a) <(echo b)"],
        ["gcc", "-fsyntax-only", str(bench.folder / "hello.c")],
        ["git", "--version"],
        ["ls", "/"],
        [sys.executable, "-c", "import venv, json, ssl; print('ok')"],
        ["tar", "cf", "/dev/null", str(bench.folder / "hello.c")],
    ]
    for argv in tools:
        if shutil.which(argv[0]):
            run = bench.same_command(argv)
            assert {e["cat"] for e in run.events()} <= {"POSIX", "STDIO"}


def test_s39_our_tools_are_never_traced(bench):
    run = bench.run([harness.compile_program("fault/programs/regions.c"), 100], "function")
    before = harness.listing(run.log)
    env = {"DFTRACER_ENABLE": "1", "DFTRACER_INIT": "PRELOAD", "LD_PRELOAD": str(harness.preload_library()), "DFTRACER_LOG_FILE": str(run.log / "t")}
    for arguments in (["validate", run.log], ["info", run.log], ["summary", run.log], ["--help"]):
        done = harness.dftracer(*arguments, env=env)
        assert done.returncode == 0, done.stderr
    assert harness.listing(run.log) == before


def test_s40_wrong_library_path(bench):
    program = harness.compile_program("fault/programs/regions.c")
    run = bench.run([program, 10], "hybrid", env={"LD_PRELOAD": "/no/such/libdftracer_preload.so"})
    assert run.status == 0 and b"cannot be preloaded" in run.err
    assert not run.notes


def test_s40_run_on_a_bad_log_directory(bench):
    (bench.folder / "file").write_text("")
    done = harness.dftracer("run", "-o", bench.folder / "file" / "t", "--", harness.compile_program("fault/programs/regions.c"), 10)
    assert done.stdout.startswith("10 regions"), done.stderr
    assert str(bench.folder / "file") in done.stderr


def test_s42_distinct_names_grow_linearly_with_a_small_constant(bench):
    count = 1000000 if harness.LONG else 100000
    small = bench.same("regress/programs/distinct.c", count // 10).fact("peak_kib")
    run = bench.run([harness.compile_program("regress/programs/distinct.c"), count], "function", timeout=120)
    large = run.fact("peak_kib")
    text = pfw.inflate(run.trace().path.read_bytes())[0] if not harness.LONG else b""
    assert harness.LONG or text.count(b'"cat":"DISTINCT"') == count
    if not harness.sanitizer():
        per_name = (large - small) * 1024 / (count * 0.9)
        assert per_name < 400, f"{per_name:.0f} bytes a name of 30"


def test_s43_a_line_longer_than_the_block(bench):
    strings = bench.folder / "strings"
    strings.write_text((b"y" * 100000).hex() + "\n")
    run = bench.same("fault/programs/names.c", strings, env={"DFTRACER_WRITE_BUFFER_SIZE": "4K"})
    assert len([e for e in run.events() if e["name"] == "y" * 100000]) == 1
    assert not run.trace().losses


def test_s47_many_short_processes(bench):
    count = 2000 if harness.LONG else 200
    program = harness.compile_program("fault/programs/regions.c")
    run = bench.run(["sh", "-c", f"seq {count} | xargs -P 8 -I{{}} {program} 3"], "function", timeout=120)
    assert run.status == 0
    assert len(pfw.traces(run.log)) == count
    done = subprocess.run(["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", harness.command(), "validate", run.log], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (row,) = [r for r in harness.summary_rows(run.log) if r["name"] == "work"]
    assert row["count"] == 3 * count


@pytest.mark.parametrize("order", ["ours:theirs", "theirs:ours"])
def test_s23_another_interposer_of_the_life_cycle(bench, order):
    if harness.sanitizer():
        pytest.skip("a sanitizer's runtime must be first among the preloaded")
    shim = harness.compile_program("regress/programs/shim.c", "-shared", "-fPIC", bare=True)
    preload = order.replace("ours", str(harness.preload_library())).replace("theirs", str(shim))
    bare = bench.run([harness.compile_program("regress/programs/shimmed.c", bare=True)], None, env={"LD_PRELOAD": shim})
    traced = bench.run([harness.compile_program("regress/programs/shimmed.c")], "hybrid", env={"LD_PRELOAD": preload})
    run = harness.compare(bare, traced)
    assert {k: len(v) for k, v in run.facts().items()} == {k: len(v) for k, v in bare.facts().items()}
    assert run.count("work") == 40 and len(run.traces()) == 4


@pytest.mark.parametrize("times", [1, 3])
def test_s20_loaded_and_unloaded_at_run_time(bench, times):
    program = harness.compile_program("regress/programs/loads.c", bare=True)
    for mode in ("function", "hybrid"):
        run = bench.run([program, harness.core_library(), times], mode)
        assert run.status == 0 and run.out == b"ok\n" and not run.err, run.err
        assert run.count("loaded") == 100 * times


@BOTH
def test_s75_threads_older_than_the_tracer(bench, mode):
    run = bench.same("regress/programs/late_init.c", mode=mode)
    events = run.events("old_thread")
    assert len(events) == 300 and all(e["tid"] == e["args"]["tid"] for e in events) and len({e["tid"] for e in events}) == 3
