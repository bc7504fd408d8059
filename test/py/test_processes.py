# SPDX-License-Identifier: MIT
"""Processes that Python starts: E17, B8, S70 to S72. Every worker is traced without a call of its own, its file can be read
by itself, and nothing is lost however it ends."""

import os
import sys

import harness
import pyrun
import pytest

pytestmark = pyrun.need_package()

WORK = """
import os, sys, multiprocessing, concurrent.futures, time
from dftracer.python import ai, dft_fn, dftracer
f = dft_fn("WORK")
@f.log
def work(step):
    with open(os.path.join(os.environ["TMPDIR"], "made-%s" % step), "w") as file: file.write("x" * 10)
    return step * 2
@ai.data.item
def unused(): pass
"""
METHODS = ["fork", "spawn", "forkserver"]


def written_files(result):
    """(pid, number) of each write of a file that a worker made."""
    found = []
    for trace in result.traces():
        for event in trace.events:
            if event["name"] == "write" and "fhash" in event["args"]:
                name = os.path.basename(trace.resolve(event["args"]["fhash"]))
                if name.startswith("made-"):
                    found.append((event["pid"], int(name[5:])))
    return found


def whole(result, count, io=True):
    """Each step once, in the trace of the process that did it; every trace complete."""
    events = [e for e in pyrun.application(result) if e["name"] == "work"]
    assert sorted(e["args"]["step"] for e in events) == list(range(count)), events
    # A worker may be ended before it got anything to do, while it is still importing: nobody knows it for one yet.
    assert all(t.end is not None for t in result.traces() if any(e["type"] == 6 for e in t.events))
    if io:
        assert sorted(n for _, n in written_files(result)) == list(range(count))
        by_step = {e["args"]["step"]: e["pid"] for e in events}
        assert all(by_step[n] == pid for pid, n in written_files(result))
    assert {e["pid"] for e in events} <= {t.start["pid"] for t in result.traces()}
    return {e["pid"] for e in events}


def main_of(body):
    return WORK + "if __name__ == '__main__':\n" + "".join(f"    {line}\n" for line in body.strip().splitlines())


@pytest.mark.parametrize("mode", ["function", "preload"])
@pytest.mark.parametrize("method", METHODS)
def test_e17_pools(bench, method, mode):
    body = f"""
dftracer.initialize_log({"os.environ['DFT_LOG']" if mode == "function" else ""})
with multiprocessing.get_context("{method}").Pool(3) as pool: assert pool.map(work, range(12)) == [2 * i for i in range(12)]
"""
    log = bench.folder / "1-function" / "log" / "t-of-call"
    result = pyrun.run(bench, main_of(body), mode, io=True, head="", env={"DFT_LOG": str(log)})
    assert len(whole(result, 12)) >= 1
    if mode == "function":
        assert all(t.path.name.startswith("t-of-call-") for t in result.traces())


@pytest.mark.parametrize("method", METHODS)
def test_s71_processes_and_executors(bench, method):
    body = f"""
dftracer.initialize_log()
context = multiprocessing.get_context("{method}")
made = [context.Process(target=work, args=(i,)) for i in range(3)]
for p in made: p.start()
for p in made: p.join(); assert p.exitcode == 0
with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool: list(pool.map(work, range(3, 6)))
"""
    result = pyrun.run(bench, main_of(body), io=True, head="")
    assert len(whole(result, 6)) >= 4


def test_s71_workers_of_decorators_only(bench):
    body = """
work(0)
with multiprocessing.get_context("spawn").Pool(1) as pool: pool.map(work, range(1, 4))
"""
    assert len(whole(pyrun.run(bench, main_of(body), io=True, head=""), 4, io=False)) == 2


@pytest.mark.parametrize("end", ["os._exit(0)", "sys.exit(0)", "pass", "os.abort()", "os.kill(os.getpid(), 9)"])
def test_every_end_of_a_child(bench, end):
    result = pyrun.run(
        bench,
        f"""
        import os, sys, time
        with dft_fn("C", "parent"): pass
        pid = os.fork()
        if pid == 0:
            for i in range(100):
                with dft_fn("C", "child"): pass
            if "9" in {end!r} or "abort" in {end!r}: time.sleep(1.5)
            {end}
            os._exit(0)
        os.waitpid(pid, 0)
        """,
        env={"DFTRACER_FLUSH_INTERVAL_MS": "100"},
    )
    found = harness.remains(next(p for p in result.log.iterdir() if "-fork.pfw" in p.name))
    assert len(found.named("child")) == 100 and not found.named("parent")


@pytest.mark.parametrize("end, status", [("raise ValueError('in child')", 1), ("sys.exit(3)", 3)])
def test_s72_a_forked_child_that_fails_inside_a_region(bench, end, status):
    result = pyrun.run(
        bench,
        f"""
        import os, sys
        with dft_fn("C", "around"):
            pid = os.fork()
            if pid == 0:
                with dft_fn("C", "inside"): {end}
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == {status}
        """,
    )
    assert (b"Traceback" in result.err) == (status == 1)
    parent, child = sorted(result.traces(), key=lambda t: "-fork" in t.path.name)
    name = "ValueError" if status == 1 else "SystemExit"
    assert child.one("inside")["args"]["exception"] == child.one("around")["args"]["exception"] == name
    assert "exception" not in parent.one("around").get("args", {}) and not parent.named("inside")
    assert child.one("around")["ts"] >= parent.one("around")["ts"] and child.end


def test_e17_threads_write_files(bench):
    result = pyrun.run(
        bench,
        WORK + "dftracer.initialize_log()\nimport threading\n"
        "ts = [threading.Thread(target=work, args=(i,)) for i in range(4)]\n[t.start() for t in ts]; [t.join() for t in ts]\n",
        io=True,
        head="",
    )
    assert len(whole(result, 4)) == 1
    assert len({e["tid"] for e in pyrun.application(result)}) == 4


def test_s75_threads_that_were_there_before(bench):
    result = pyrun.run(
        bench,
        """
        import threading, queue, os
        go, ids = threading.Event(), []
        def body(i):
            go.wait()
            with open(os.path.join(os.environ["TMPDIR"], "made-%d" % i), "w") as f: f.write("x")
            ids.append(threading.get_native_id())
        threads = [threading.Thread(target=body, args=(i,)) for i in range(3)]
        for t in threads: t.start()
        from dftracer.python import dftracer
        tracer = dftracer.initialize_log(); go.set()
        for t in threads: t.join()
        tracer.set_app_metadata_string("ids", " ".join(map(str, ids)))
        """,
        io=True,
        head="",
    )
    trace = result.trace()
    writers = {e["tid"] for e in trace.named("write") if "/tmp/made-" in trace.resolve(e["args"]["fhash"])}
    assert writers == {int(i) for i in trace.app["ids"].split()}


def test_initialize_binds_io_and_data_dirs_reach_spawned_workers(bench):
    body = """
os.mkdir("only")
dftracer.initialize_log(data_dir=os.path.abspath("only"))
def write(name):
    with open(name, "w") as f: f.write("x")
write("only/in"); write("out")
multiprocessing.get_context("spawn").Process(target=work, args=(0,)).start()
"""
    result = pyrun.run(bench, main_of(body), io=True, head="")
    names = {os.path.basename(t.resolve(e["args"]["fhash"])) for t in result.traces() for e in t.named("write")
             if "fhash" in e["args"]}  # fmt: skip
    assert names == {"in"} and len(whole(result, 1, io=False)) == 1


def test_python_m_dftracer_run(bench):
    folder = bench.place("run")
    code = pyrun.script(bench, "import os\nopen(os.environ['TMPDIR'] + '/made-1', 'w').write('y')\nwith dft_fn('C', 'n'): pass\n")
    argv = [sys.executable, "-m", "dftracer", "run", "-q", "-o", folder / "log" / "t", "--", sys.executable, code]
    result = bench.run(argv, None, env=pyrun.environment(), folder=folder)
    assert result.status == 0, result.err
    assert result.trace().one("n") and written_files(result)


def test_hybrid_the_calls_arguments_and_the_preloaded_tracer(bench):
    result = pyrun.run(
        bench,
        "open(os.environ['TMPDIR'] + '/made-1', 'w').write('y')\ndftracer.initialize_log()\nwith dft_fn('C', 'n'): pass\n",
        "preload",
        head="import os\nopen(os.environ['TMPDIR'] + '/made-0', 'w').write('y')\nfrom dftracer.python import *\n",
        io=True,
    )
    assert result.trace().one("n") and sorted(n for _, n in written_files(result)) == [0, 1]


def test_s71_workers_of_joblib(bench):
    """Its workers have no main program: functions come to them in parts (cloudpickle)."""
    pytest.importorskip("joblib")
    body = """
import joblib
dftracer.initialize_log()
assert joblib.Parallel(n_jobs=2)(joblib.delayed(work)(i) for i in range(6)) == [2 * i for i in range(6)]
"""
    whole(pyrun.run(bench, main_of(body), io=True, head=""), 6)
