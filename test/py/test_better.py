# SPDX-License-Identifier: MIT
"""Where the Python layer must do better than earlier releases: the checks B1 to B7, B9 and B11 (B8 stands in
test_processes.py, B10 in cuda_test.py)."""

import harness
import pyrun
import pytest

pytestmark = pyrun.need_package()


def events_of(bench, code, **how):
    return pyrun.application(pyrun.run(bench, code, **how))


def args_of(event):
    return {k: v for k, v in event.get("args", {}).items() if k != "hhash"}


def test_b1_args_are_those_of_the_call(bench):
    events = events_of(
        bench,
        """
        f = dft_fn("C")
        @f.log
        def g(x, epoch=0): return x
        @f.log
        def h(epoch, step): return epoch
        @f.log
        def k(*args, step=5, **rest): return rest
        g(1, epoch=7); g(1, 8); g(1); h(5, 6); k(); k(1, 2, step=6, epoch=9)
        class A:
            epoch, step = 1, 2
            @f.log
            def m(self, step): pass
        A().m(4)
        """,
    )
    assert [args_of(e) for e in events] == [
        {"epoch": 7}, {"epoch": 8}, {"epoch": 0}, {"epoch": 5, "step": 6}, {"step": 5}, {"step": 6, "epoch": 9},
        {"epoch": 1, "step": 4},
    ]  # fmt: skip


def test_b2_no_value_raises_into_the_program(bench):
    events = events_of(
        bench,
        """
        class Hostile:
            def __str__(self): raise RuntimeError("str")
            __float__ = __index__ = __str__
            @property
            def shape(self): raise RuntimeError("shape")
        class Getattr:
            def __getattr__(self, name): raise SystemExit("called")
            def __str__(self): return "plain"
        f = dft_fn("C", "n", epoch=None, step="seven")
        values = [None, (3, 4), 2**40, 3 * 2**30, -2**63, 2**63, 2**64 - 1, 2**70, 1.1, True, b"raw", 1j, Hostile()]
        class A:
            @f.log
            def m(self, epoch=None): return epoch
        for value in values:
            a = A(); a.image_size = value; a.step = value
            assert a.m(value) is value
            with f: f.update(args={"v": value, 5: value, "nan": float("nan"), "inf": float("inf")})
            with ai.compute(args={"v": value}, step=value): pass
            dft_fn("C", "n", value, value, value, value)
        f.update(args=7); f.update(args={None: 1}); f.instant("x", "no dict"); f.instant(5, {"a": object})
        """,
    )
    with_v = [e["args"] for e in events if "v" in e.get("args", {}) and "5" in e["args"]]
    assert [a["v"] for a in with_v] == [
        None, "(3, 4)", 2**40, 3 * 2**30, -(2**63), 2**63, 2**64 - 1, str(2**70), 1.1, 1, "b'raw'", "1j", "Hostile",
    ]  # fmt: skip
    assert all(a["nan"] is None and a["inf"] is None and a["step"] == "seven" for a in with_v)
    methods = [args_of(e) for e in events if e["name"] == "A.m"]
    assert methods[2]["step"] == methods[2]["epoch"] == 2**40 and methods[3]["image_size"] == 3 * 2**30


def test_b2_classes_with_getattr_are_not_asked(bench):
    (event,) = events_of(
        bench,
        """
        f = dft_fn("C")
        class A:
            def __getattr__(self, name): raise SystemExit("called for " + name)
            @f.log
            def m(self): return 1
        assert A().m() == 1
        """,
    )
    assert args_of(event) == {}


def test_b3_exceptions_close_and_mark(bench):
    result = pyrun.run(
        bench,
        """
        f = dft_fn("C")
        class Mine(Exception): pass
        @f.log
        def fails(): raise Mine("m")
        for use in (fails, ai.compute.forward(lambda: 1 / 0)):
            try: use()
            except (Mine, ZeroDivisionError) as error: assert error.__traceback__.tb_next is not None
            else: assert False
        for node in (f, ai.data.item):
            try:
                with node: raise Mine
            except Mine: pass
        try:
            with dft_fn("C", "leaves"): raise SystemExit(3)
        except SystemExit: pass
        for x in f.iter(range(9)):
            if x == 2: break
        def consumer():
            for x in f.iter(range(9), name="inner"): yield x
        g = consumer(); next(g); next(g); g.close()
        assert tracer.enter_event() == 1
        """,
    )
    events = pyrun.application(result)
    marks = [(e["name"], e["args"]["exception"]) for e in events if "exception" in e.get("args", {})]
    assert marks == [("fails", "Mine"), ("forward", "ZeroDivisionError"), ("<module>", "Mine"), ("item", "Mine"),
                     ("leaves", "SystemExit")]  # fmt: skip
    assert pyrun.names(events).count("loop.yield") == 3 and pyrun.names(events).count("inner.yield") == 2
    assert not [e for e in events if "open_at_end" in e.get("args", {})]


def test_b4_recursion_and_threads(bench):
    result = pyrun.run(
        bench,
        """
        import threading, time
        @ai.compute.forward
        def deep(n): return deep(n - 1) + 1 if n else 0
        assert deep(9) == 9
        barrier = threading.Barrier(4)
        def work(i):
            with ai.data.item:
                barrier.wait()
                time.sleep(0.02 * (i + 1))
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        [t.start() for t in threads]; [t.join() for t in threads]
        """,
    )
    events = pyrun.application(result)
    deep = sorted((e for e in events if e["name"] == "forward"), key=lambda e: e["ts"] + e["dur"])
    assert len(deep) == 10
    assert all(o["ts"] <= i["ts"] and i["ts"] + i["dur"] <= o["ts"] + o["dur"] for i, o in zip(deep, deep[1:])), deep
    threads = sorted((e for e in events if e["name"] == "item"), key=lambda e: e["dur"])
    assert len({e["tid"] for e in threads}) == 4
    assert all(e["dur"] >= 20_000 * (i + 1) for i, e in enumerate(threads))


def test_b4_tasks_that_interleave_have_their_own_times(bench):
    events = events_of(
        bench,
        """
        import asyncio
        @dft_fn("C").log
        async def decorated(d, step): await asyncio.sleep(d); return step
        async def block(d):
            with ai.data.item: await asyncio.sleep(d)
        async def fails():
            with ai.device.transfer: await asyncio.sleep(0); raise KeyError
        async def main():
            delays = [0.08, 0.02, 0.05]
            assert await asyncio.gather(*(decorated(d, i) for i, d in enumerate(delays))) == [0, 1, 2]
            await asyncio.gather(*map(block, delays), fails(), return_exceptions=True)
            task = asyncio.ensure_future(decorated(10, 3)); await asyncio.sleep(0.01); task.cancel()
            try: await task
            except asyncio.CancelledError: pass
        asyncio.run(main())
        import inspect; assert inspect.iscoroutinefunction(decorated) and inspect.iscoroutine(c := decorated(0, 1)); c.close()
        """,
    )
    for name in ("decorated", "item"):
        times = sorted(e["dur"] for e in events if e["name"] == name and "exception" not in e.get("args", {}))
        assert len(times) == 3 and all(low <= t < low + 25_000 for t, low in zip(times, (20_000, 50_000, 80_000))), times
    marks = {e["name"]: e["args"]["exception"] for e in events if "exception" in e.get("args", {})}
    assert marks == {"transfer": "KeyError", "decorated": "CancelledError"}


def test_b4_generators_are_timed_by_their_life(bench):
    """Also S73: consumers' time is not the generator's own, whatever way it ends."""
    events = events_of(
        bench,
        """
        import time, inspect, types
        f = dft_fn("C")
        @f.log
        def g(n, epoch=1):
            "doc"
            try:
                for i in range(n): time.sleep(0.01); got = yield i
            except GeneratorExit: time.sleep(0.01); raise
            return got
        assert inspect.isgeneratorfunction(g) and g.__name__ == "g" and g.__doc__ == "doc"
        assert str(inspect.signature(g)) == "(n, epoch=1)" and isinstance(g(1), types.GeneratorType)
        assert list(g(5)) == [0, 1, 2, 3, 4]
        it = g(100); next(it); it.close()
        it = g(100); next(it); del it
        it = g(3); next(it)
        try: it.throw(ValueError)
        except ValueError: pass
        else: assert False
        for x in g(2): time.sleep(0.05)
        def outer(): return (yield from g(1))
        it = outer(); next(it)
        try: it.send("sent")
        except StopIteration as stop: assert stop.value == "sent"
        unused = g(3); del unused
        """,
    )
    assert len(events) == 6 and all(e["args"]["epoch"] == 1 for e in events)
    active = [e["args"]["active_ns"] for e in events]
    assert 50_000 <= events[0]["dur"] < 80_000 and events[0]["args"]["resumes"] == 6
    assert 20_000 <= events[1]["dur"] and active[1] >= 20_000_000
    assert 20_000 <= events[2]["dur"]
    assert [e["args"].get("exception") for e in events] == [None, None, None, "ValueError", None, None]
    assert events[4]["dur"] >= 120_000 and 20_000_000 <= active[4] < 60_000_000


def test_b4_async_generators(bench):
    events = events_of(
        bench,
        """
        import asyncio, inspect
        @dft_fn("C").log
        async def g(n):
            for i in range(n):
                await asyncio.sleep(0.01)
                try: got = yield i
                except KeyError: yield "thrown"
        assert inspect.isasyncgenfunction(g)
        async def main():
            assert [x async for x in g(3)] == [0, 1, 2]
            a = g(3); assert await a.asend(None) == 0 and await a.athrow(KeyError()) == "thrown"; await a.aclose()
            a = g(3); await a.asend(None)
            try: await a.athrow(ValueError())
            except ValueError: pass
        asyncio.run(main())
        """,
    )
    assert [e["args"].get("exception") if "args" in e else None for e in events] == [None, None, "ValueError"]
    assert events[0]["dur"] >= 30_000


def test_b5_args_stay_on_their_own_event(bench):
    events = events_of(
        bench,
        """
        ai.compute.disable()
        @ai.compute.forward(args={"x": 1})
        def a(): pass
        @ai.compute.forward
        def b(): pass
        a(); b()
        ai.compute.enable()
        a(); b()
        with ai.data.item as node:
            node.update(args={"mine": 1})
            with ai.data.item: pass
        with ai.data.item: pass
        f = dft_fn("C", "f")
        with f: f.update(args={"own": 1})
        with f: f.update(step=5)
        with f: pass
        """,
    )
    assert [(e["name"], args_of(e)) for e in events] == [
        ("forward", {"x": 1}), ("forward", {}), ("item", {}), ("item", {"mine": 1}), ("item", {}),
        ("f", {"own": 1}), ("f", {"step": 5}), ("f", {"step": 5}),
    ]  # fmt: skip


def test_b6_off_costs_nothing(bench):
    pyrun.run(
        bench,
        """
        import sys
        def plain(): pass
        assert dft_fn("C").log(plain) is plain and ai.compute.forward(args={"x": 1})(plain) is plain
        heavy = {"torch", "numpy", "inspect", "asyncio", "logging", "multiprocessing", "importlib.metadata"}
        assert not heavy & set(sys.modules), heavy & set(sys.modules)
        """,
        "off",
    )


def test_b6_importing_loads_no_library_when_on_either(bench):
    pyrun.run(bench, "import sys; assert not {'torch', 'numpy', 'inspect'} & set(sys.modules)\n")


def test_b7_ctrl_c_is_an_ordinary_interrupt(bench):
    process, folder = pyrun.start(
        bench,
        """
        import signal, sys, time
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
        try:
            with dft_fn("C", "waits"):
                print("ready", flush=True)
                time.sleep(60)
        except KeyboardInterrupt: sys.exit(9)
        """,
    )
    harness.wait_until(lambda: b"ready" in (folder / "out").read_bytes(), "the program")
    process.send_signal(2)
    result = bench.finish(process, folder)
    assert result.status == 9
    assert result.trace().one("waits")["args"]["exception"] == "KeyboardInterrupt" and result.trace().end


def test_b7_an_interrupt_while_the_tracer_asks_a_value_is_not_lost(bench):
    result = pyrun.run(
        bench,
        """
        import os, signal, sys, time
        class Slow:
            def __str__(self): os.kill(os.getpid(), signal.SIGINT); time.sleep(1); return "late"
        try:
            with dft_fn("C", "n") as d:
                d.update(args={"v": Slow()})
                time.sleep(1)
        except KeyboardInterrupt: sys.exit(7)
        """,
        status=7,
    )
    assert result.trace().one("n")


def test_b7_import_from_a_thread_and_handlers_of_the_program(bench):
    result = pyrun.run(
        bench,
        """
        import os, signal, threading
        got = []
        signal.signal(signal.SIGTERM, lambda *a: got.append(a[0]))
        def work():
            from dftracer.python import dft_fn, dftracer
            dftracer.initialize_log()
            with dft_fn("C", "in thread"): pass
        t = threading.Thread(target=work); t.start(); t.join()
        os.kill(os.getpid(), signal.SIGTERM)
        assert got == [signal.SIGTERM]
        """,
        head="",
    )
    assert result.trace().one("in thread")


def test_b9_a_missing_native_module_is_said_once(bench, tmp_path):
    import shutil

    package = tmp_path / "package"
    shutil.copytree(pyrun.PACKAGE / "dftracer", package / "dftracer", ignore=shutil.ignore_patterns("*.so"))
    code = "with dft_fn('C', 'n'), ai.compute.forward: pass\nassert list(dft_fn('C').iter([1])) == [1]\n"
    result = pyrun.run(bench, code, env={"PYTHONPATH": str(package)})
    assert result.err.count(b"dftracer: DFTRACER_ENABLE is set") == 1 and not result.traces()
    quiet = pyrun.run(bench, code, "off", env={"PYTHONPATH": str(package)})
    assert quiet.err == b""


def test_b11_the_process_id_of_the_call_is_in_the_trace(bench):
    trace = pyrun.run(bench, "dftracer.initialize_log(process_id=12)\n", head="from dftracer.python import *\n").trace()
    assert trace.start["args"]["process_id"] == 12 and trace.start["pid"] != 12


def test_with_in_unusual_ways(bench):
    events = events_of(
        bench,
        """
        from contextlib import ExitStack
        n = ai.device.transfer
        with ExitStack() as stack:
            assert stack.enter_context(n) is n
            stack.enter_context(ai.data.item)
            stack.enter_context(n)
        assert n.__enter__() is n
        n.__exit__(None, None, None)
        n.__exit__(None, None, None)
        enter = n.__enter__; enter(); enter(); n.__exit__(KeyError, None, None); n.__exit__(None, None, None)
        exit_early = n.__exit__
        with n: exit_early(None, None, None)
        type(n).__enter__(n); type(n).__exit__(n, None, None, None)
        def swap():
            with n: yield
        a, b = swap(), swap()
        next(a); next(b); next(a, None); next(b, None)
        try: type(n).__enter__(5)
        except TypeError: pass
        """,
    )
    assert pyrun.names(events) == ["transfer", "item"] + ["transfer"] * 8
    assert [e["args"]["exception"] for e in events if "args" in e] == ["KeyError"]
    a, b = events[-2:]
    assert a["ts"] <= b["ts"] and a["ts"] + a["dur"] <= b["ts"] + b["dur"]


def test_s74_unmatched_starts_and_stops(bench):
    result = pyrun.run(
        bench,
        """
        import time
        e = ai.pipeline.epoch
        e.start(); e.start(); e.stop(); e.stop(); e.stop()
        for x in ai.dataloader.fetch.iter(range(5)):
            if x == 1: break
        for epoch in range(2):
            ai.dataloader.fetch.start()
            with ai.compute.step: time.sleep(0.01)
        ai.dataloader.fetch.stop()
        e.start()
        """,
    )
    trace = result.trace()
    epochs = trace.named("epoch")
    assert [args_of(x).get("unmatched") for x in epochs] == [1, None, None]
    assert args_of(epochs[2])["open_at_end"] == 1
    assert [args_of(x).get("unmatched") for x in trace.named("fetch")] == [1, None]
    assert (trace.app["python_unmatched_starts"], trace.app["python_unmatched_stops"]) == (2, 2)


def test_a_value_whose_text_ends_the_event(bench):
    events = events_of(
        bench,
        """
        n = ai.pipeline.epoch
        class Ends:
            def __str__(self): n.stop(); return "ended"
        n.start(); n.update(args={"a": Ends(), "b": 1})
        n.start(); n.update(step=Ends(), args={"c": 2}); n.start(); n.stop()
        with n: n.__enter__(); n.update(args={"d": type("X", (), {"__str__": lambda s: n.__exit__(None, None, None) or "x"})()})
        """,
    )
    assert pyrun.names(events) == ["epoch"] * 5


def test_log_twice_on_one_function_and_many_users_of_one_object(bench):
    events = events_of(
        bench,
        """
        f = dft_fn("C")
        @f.log(name="outer")
        @ai.compute.forward
        @f.log
        def x(): f.update(args={"k": 1})
        x(); x()
        """,
    )
    assert pyrun.names(events) == ["x", "forward", "outer"] * 2
    assert [args_of(e) for e in events] == [{"k": 1}, {}, {}] * 2


def test_everything_can_be_pickled(bench):
    result = pyrun.run(
        bench,
        """
        import copy, pickle, sys
        f = dft_fn("C", "n")
        @f.log
        def plain(x): return x + 1
        @f.log
        def gen(): yield 1
        @f.log
        async def co(): return 2
        class A:
            @f.log
            def m(self): return 3
        def again(x): return pickle.loads(pickle.dumps(x))
        assert again(plain) is plain and again(gen) is gen and again(co) is co and again(A.m) is A.m and again(A().m)() == 3
        assert (again(f).cat, again(f).name) == ("C", "n") and copy.copy(f).name == "n"
        assert again(ai) is ai and again(ai.data.io.read) is ai.data.io.read
        assert again(ai.compute.derive("d")).name == "compute.d"
        try: import cloudpickle
        except ImportError: sys.exit(0)
        apart = [pickle.loads(cloudpickle.dumps(x)) for x in (plain, gen, co)]
        assert apart[0] is not plain and apart[0](1) == 2 and list(apart[1]()) == [1] and f.name == "n"
        """,
        env={"DFTRACER_INC_METADATA": "1"},
    )
    assert "A.m" in pyrun.names(pyrun.application(result))


@pytest.mark.parametrize("metric, scale", [("NS", 10**9), ("US", 10**6), ("MS", 10**3), ("SEC", 1)])
def test_times_are_in_the_unit_of_the_trace(bench, metric, scale):
    trace = pyrun.run(
        bench,
        """
        import time
        now = time.time()
        t = tracer.get_time()
        assert abs(t / get_time_scale() - now) < 2, (t, now)
        tracer.log_event("given", "c", t - 5, 3)
        d = dft_fn("C", "since"); d.flush()
        tracer.set_app_metadata_int("t", t)
        """,
        env={"DFTRACER_TIME_METRIC": metric},
    ).trace()
    assert (trace.one("given")["ts"], trace.one("given")["dur"]) == (trace.app["t"] - 5, 3)
    assert abs(trace.one("since")["ts"] - trace.app["t"]) <= 2 * scale
