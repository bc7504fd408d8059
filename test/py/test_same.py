# SPDX-License-Identifier: MIT
"""What annotated codes rely on, as in earlier releases: the checks E1 to E16 of the Python layer."""

import pathlib
import subprocess
import sys

import harness
import pyrun
import pytest

pytestmark = pyrun.need_package()
PROGRAMS = harness.SOURCE / "test/py/programs"


def test_e1_off_every_call_works_and_leaves_nothing(bench):
    result = pyrun.run(
        bench,
        """
        import dftracer.logger, dftracer.dynamo, dftracer.dbg.logger, dftracer.python.dbg.logger, dftracer.dftracer_dbg
        assert tracer.get_time() == 0 and tracer.get_config("DFTRACER_LOG_FILE") == "" and not DFTRACER_ENABLE
        assert tracer.declare_entity("t", "k") == 0
        tracer.log_event("n", "c", 0, 1, {"a": (0, 1)}); tracer.log_metadata_event("k", "v")
        tracer.set_app_metadata_int("k", 1); tracer.set_app_metadata_string("k", "v"); tracer.mark_used("x")
        tracer.declare_entity_type("t"); tracer.relate_entities(EntityRelation.CONTAINS, 1, 2)
        tracer.enter_event(); tracer.exit_event()
        f = dft_fn("C")
        def plain(x): return x + 1
        for decorated in (f.log(plain), f.log()(plain), f.log_init(plain), f.log_static(plain), ai.compute.forward(plain)):
            assert decorated is plain
        with f as same, ai.data.item, dft_fn("C", "n", epoch=1) as other:
            assert same is f and other.update(args={"a": object()}) is other
        assert list(f.iter(range(3))) == list(ai.dataloader.fetch.iter(range(3))) == [0, 1, 2]
        f.flush(); f.reset(); f.instant("i"); f.log_metadata("a", "b"); assert f.uses("t", "k") == 0
        ai.pipeline.epoch.start(); ai.pipeline.epoch.stop(); ai.pipeline.epoch.start(metadata=True)
        ai.update(epoch=1, step=2, args={"x": 1}); ai.disable(); ai.enable(); ai.compute.derive("x"); ai.checkpoint.init
        tracer.finalize()
        """,
        "off",
    )
    assert result.err == b"" and harness.listing(result.folder / "cwd") == {} and not result.traces()


def test_e2_there_is_one_tracer(bench):
    pyrun.run(
        bench,
        """
        assert dftracer.get_instance() is tracer is dftracer.initialize_log("elsewhere") is dftracer.get_instance()
        """,
    )


def test_e3_forms_of_log(bench):
    events = pyrun.application(
        pyrun.run(
            bench,
            '''
        f = dft_fn("C")
        @f.log
        def a(x: int) -> int:
            "doc a"
            return x
        @f.log()
        def b(): return 2
        @f.log(name="given")
        def c(): return 3
        class K:
            @f.log
            def m(self): return 4
        def d(): return 5
        d = f.log(d)
        assert (a(1), b(), c(), K().m(), d()) == (1, 2, 3, 4, 5)
        assert (a.__name__, a.__doc__, a.__module__) == ("a", "doc a", "__main__")
        assert a.__annotations__ == {"x": int, "return": int} and K.m.__qualname__ == "K.m"
        import inspect, typing, pickle, copy
        assert str(inspect.signature(a)) == "(x: int) -> int" and typing.get_type_hints(a) == a.__annotations__
        assert pickle.loads(pickle.dumps(a)) is a and copy.deepcopy(a) is a and a.__wrapped__(7) == 7
        a.mark = 1; assert a.mark == 1
        assert K().m.__self__.__class__ is K
        ''',
        )
    )
    assert pyrun.names(events) == ["a", "b", "given", "K.m", "d"]
    assert {e["cat"] for e in events} == {"C"}


def test_e4_args_of_init(bench):
    events = pyrun.application(
        pyrun.run(
            bench,
            """
        f = dft_fn("C")
        class A:
            @f.log_init
            def __init__(self, epoch=None, step=None, image_idx=None, image_size=None): self.seen = (epoch, step)
        assert A(epoch=1, step=2, image_idx=3, image_size=4.5).seen == (1, 2)
        assert A(7).seen == (7, None)
        """,
        )
    )
    assert pyrun.names(events) == ["A.__init__"] * 2
    args = events[0]["args"]
    assert [args[k] for k in ("epoch", "step", "image_idx", "image_size")] == [1, 2, 3, 4.5]
    assert {k: v for k, v in events[1]["args"].items() if k != "hhash"} == {"epoch": 7}


def test_e5_static_methods(bench):
    events = pyrun.application(
        pyrun.run(
            bench,
            """
        f = dft_fn("C", epoch=9)
        class A:
            @staticmethod
            @f.log_static
            def a(x): return x
            @f.log_static
            @staticmethod
            def b(x): return x
            @f.log_static()
            @staticmethod
            def c(x): return x
            @f.log_static(name="named")
            @staticmethod
            def d(x): return x
            @f.log
            @classmethod
            def e(cls, x): return x
        for each in (A, A()):
            assert [each.a(1), each.b(2), each.c(3), each.d(4), each.e(5)] == [1, 2, 3, 4, 5]
        """,
        )
    )
    assert pyrun.names(events) == ["A.a", "A.b", "A.c", "named", "A.e"] * 2
    assert all(e["args"]["epoch"] == 9 for e in events)


def test_e6_iter(bench):
    result = pyrun.run(
        bench,
        """
        f = dft_fn("C")
        assert list(f.iter(range(3))) == [0, 1, 2]
        assert list(f.iter([5], name="files", iter_name="number_of_file")) == [5]
        assert list(f.iter(enumerate("ab"))) == [(0, "a"), (1, "b")]
        def broken():
            yield 1
            raise KeyError("source")
        try:
            for x in f.iter(broken(), name="broken"): pass
        except KeyError as error: assert error.args == ("source",)
        else: assert False
        """,
    )
    events = pyrun.application(result)
    assert pyrun.names(events) == (
        ["loop.iter", "loop.yield"] * 3 + ["files.iter", "files.yield"] + ["loop.iter", "loop.yield"] * 2
        + ["broken.iter", "broken.yield", "broken.iter"]
    )  # fmt: skip
    assert [e["args"]["step"] for e in events[:6]] == [1, 1, 2, 2, 3, 3]
    assert events[6]["args"]["number_of_file"] == 1
    assert events[-1]["args"]["exception"] == "KeyError"


def test_e7_a_block_and_its_args(bench):
    (event,) = pyrun.application(
        pyrun.run(
            bench,
            """
        with dft_fn("block", "step") as d:
            d.update(step=1, args={"a": 1, "b": 2.5, "c": "x", "t": TagValue(3, TagDType.INT), "u": TagValue("4")})
        """,
        )
    )
    assert (event["cat"], event["name"]) == ("block", "step")
    args = event["args"]
    assert (args["step"], args["a"], args["b"], args["c"], args["t"], args["u"]) == (1, 1, 2.5, "x", 3, "4")
    assert type(args["a"]) is type(args["t"]) is int


def test_e8_flush_and_reset(bench):
    events = pyrun.application(
        pyrun.run(
            bench,
            """
        import time
        with dft_fn("C", "flushed") as d:
            d.uses("t", "k")
            d.flush()
        d = dft_fn("C", "since")
        time.sleep(0.03)
        d.flush()
        with dft_fn("C", "again") as d:
            d.uses("t", "k")
            time.sleep(0.03)
            d.reset()
        """,
        )
    )
    assert pyrun.names(events) == ["flushed", "since", "again"]
    assert "relations" in events[0]["args"] and "relations" not in events[2].get("args", {})
    assert events[1]["dur"] >= 30_000 > events[2]["dur"]


TREE = {
    "compute": ["forward", "backward", "step"],
    "data": ["preprocess", "item"],
    "dataloader": ["fetch"],
    "comm": "send receive barrier bcast reduce all_reduce gather all_gather scatter reduce_scatter all_to_all".split(),
    "device": ["transfer"],
    "checkpoint": ["capture", "restart"],
    "pipeline": ["epoch", "train", "evaluate", "test"],
}


def test_e9_the_tree(bench):
    wanted = [("ai_root", "ai_root", "")]
    for category, children in TREE.items():
        wanted += [(category, category, category)] + [(category, name, f"{category}.{name}") for name in children]
    for category in ("data", "checkpoint", "other"):
        wanted += [(category, f"{category}.io.{name}", f"{category}.io.{name}") for name in ("open", "read", "write", "close")]
    wanted += [("other", "other", "other"), ("other", "other.log", "other.log")]
    result = pyrun.run(
        bench,
        f"""
        import functools
        for cat, name, path in {wanted!r}:
            node = functools.reduce(getattr, path.split(".") if path else [], ai)
            assert (node.cat, node.name) == (cat, name), (path, node.cat, node.name)
            with node: pass
        collate = ai.data.preprocess.derive("collate")
        assert collate is ai.data.preprocess.derive("collate") and collate.name == "preprocess.collate"
        assert ai.checkpoint.init is ai.checkpoint.init and ai.checkpoint.init.name == "checkpoint.init"
        assert compute is ai.compute and comm is ai.comm and str(ComputeEvent.FORWARD) == "forward" == ComputeEvent.FORWARD
        ai.compute.create_children({{"loss": "my_loss"}}); assert ai.compute.loss.name == "my_loss"
        assert isinstance(ai, AI) and isinstance(ai.compute, Compute) and isinstance(ai.data.io, IO)
        """,
    )
    assert [(e["cat"], e["name"]) for e in pyrun.application(result)] == [(c, n) for c, n, _ in wanted]


def test_e10_update_and_switches(bench):
    events = pyrun.application(
        pyrun.run(
            bench,
            """
        ai.update(epoch=3, step=4)
        with ai.data.io.read: pass
        ai.compute.disable()
        with ai.compute.forward, ai.compute.forward(enable=True), ai.data.item(enable=False): pass
        ai.disable()
        with ai.data.item, ai.compute: pass
        ai.enable()
        with ai.compute.backward(enable=None, step=8): pass
        """,
        )
    )
    assert pyrun.names(events) == ["data.io.read", "forward", "backward"]
    assert [(e["args"]["epoch"], e["args"]["step"]) for e in events] == [(3, 4), (3, 4), (3, 8)]


def test_e11_start_and_stop_as_metadata(bench):
    result = pyrun.run(
        bench,
        """
        before = tracer.get_time()
        ai.pipeline.epoch.start(metadata=True); ai.pipeline.epoch.stop(metadata=True)
        tracer.set_app_metadata_int("before", before)
        """,
    )
    notes = {r["args"]["name"]: r["args"]["value"] for r in result.trace().metadata("CM")}
    before = result.trace().app["before"]
    assert before <= int(notes["epoch.start"]) <= int(notes["epoch.end"]) < before + 10_000_000
    assert not pyrun.application(result)


@pytest.mark.parametrize(
    "words, events",
    [("", 67), ("--disable dataloader", 52), ("--disable device", 61), ("--disable compute", 43),
     ("--disable checkpoint", 64), ("--disable all", 0)],
)  # fmt: skip
def test_e12_the_example_program(bench, words, events):
    result = pyrun.run(bench, PROGRAMS / "ai_logging.py", arguments=words.split())
    assert len(pyrun.application(result)) == events


def test_e12_epochs_as_metadata(bench):
    result = pyrun.run(bench, PROGRAMS / "ai_logging.py", arguments=["--epoch-as-metadata"])
    notes = [r for r in result.trace().metadata("CM") if r["args"]["name"].startswith("epoch.")]
    assert len(pyrun.application(result)) + len(notes) == 67 and len(notes) == 6


def test_e13_kinds_of_iteration_events(bench):
    events = pyrun.application(
        pyrun.run(
            bench,
            """
        it = ai.dataloader.fetch.iter
        assert list(it(range(2), include_iter=False)) == [0, 1] == list(it(range(2), include_block=False))
        assert list(it(range(2), include_iter=False, include_block=False)) == [0, 1]
        list(it([1], iter_name="wait", block_name="work"))
        """,
        )
    )
    assert pyrun.names(events) == ["fetch.block"] * 2 + ["fetch.iter"] * 2 + ["wait", "work"]
    assert [e["args"]["count"] for e in events] == [1, 2, 1, 2, 1, 1]


@pytest.mark.parametrize("disabled, expected", [(None, 16), ("data", 8), ("checkpoint", 8), ("other", 16)])
def test_e14_io_nodes(bench, disabled, expected):
    events = pyrun.application(
        pyrun.run(
            bench,
            f"""
        disabled = {disabled!r}
        if disabled: getattr(ai, disabled).disable()
        for category in (ai.data, ai.checkpoint):
            for node in (category.io.open, category.io.read, category.io.write, category.io.close):
                node(lambda: None)()
                with node: pass
        for node in (ai.other.io.open, ai.other.io.read, ai.other.io.write, ai.other.io.close, ai.other.log):
            node(lambda: None)()
            with node: pass
        """,
        )
    )
    assert len([e for e in events if e["cat"] != "other"]) == expected
    other = [e for e in events if e["cat"] == "other"]
    assert len(other) == (0 if disabled == "other" else 10)
    assert len([e for e in other if e["name"] == "other.log"]) == (0 if disabled == "other" else 2)


@pytest.mark.parametrize("metadata", ["1", "0"])
def test_e15_entities(bench, metadata):
    trace = pyrun.run(
        bench,
        """
        from dftracer import dftracer as native
        assert native.entity_hex(native.entity_hash("protein_structure", "MGYP0001")) == "8f0de68c04eea0bf"
        tracer.declare_entity_type("dataset", EntityRole.INPUT, "files")
        one = tracer.declare_entity("dataset", "a", EntityStore.LOCAL_DISK, "file:///a")
        assert one == tracer.declare_entity("dataset", "a") == native.entity_hash("dataset", "a") != 0
        two = tracer.declare_entity("dataset", 2)
        assert two == native.entity_hash("dataset", "2")
        tracer.relate_entities(EntityRelation.CONTAINS, one, two)
        tracer.relate_entities(EntityRelation.USED, one, two); tracer.relate_entities(EntityRelation.CONTAINS, one, 0)
        with dft_fn("C", "n") as d:
            assert d.uses("dataset", "a") == one and d.generates("model", "m") != 0
            d.relate(EntityRelation.CONTAINS, two).relate(EntityRelation.UPDATED, two)
        """,
        env={"DFTRACER_INC_METADATA": metadata},
    ).trace()
    assert len(trace.metadata("EH")) == 3 and len(trace.metadata("ET")) == 1 and len(trace.metadata("ER")) == 1
    relations = trace.one("n")["args"]["relations"]
    ids = {r["args"]["type"] + str(i): r["args"]["id"] for i, r in enumerate(trace.metadata("EH"))}
    assert sorted(relations) == ["generated", "updated", "used"]
    assert {i for each in relations.values() for i in each} == set(ids.values())


def test_e16_notes_of_the_process(bench):
    trace = pyrun.run(
        bench,
        """
        for i in range(3):
            tracer.set_app_metadata_int("n", 2**40 + i); tracer.set_app_metadata_string("s", "text"); tracer.mark_used("mine")
        """,
    ).trace()
    assert trace.app["n"] == 2**40 + 2 and trace.app["s"] == "text"
    assert trace.used["mine"] == 1 and trace.used["python_function"] == 1


def test_the_native_module_has_the_signatures_of_earlier_releases(bench):
    trace = pyrun.run(
        bench,
        """
        import dftracer.dftracer as n
        n.initialize(log_file=None, data_dirs=None, process_id=-1); n.initialize()
        level = n.enter_event(); assert isinstance(level, int); n.exit_event()
        n.log_event("e", "c", n.get_time(), 5, {"i": (0, 1)}, {"s": (0, "x")}, {"f": (0, 1.5)}, {n.EntityRelation.USED: [n.declare_entity("t", "k")]})
        n.log_event(name="e2", cat="c", start_time=7, duration=8)
        n.log_metadata_event("k", "v"); assert n.get_config("DFTRACER_TIME_METRIC") == "US" and n.get_config("X") == ""
        assert n.get_config("DFTRACER_LOG_FILE").endswith("/log/t")
        n.finalize()
        """,
    ).trace()
    args = trace.one("e")["args"]
    assert (args["i"], args["s"], args["f"], len(args["relations"]["used"])) == (1, "x", 1.5, 1)
    assert (trace.one("e")["dur"], trace.one("e2")["ts"], trace.one("e2")["dur"]) == (5, 7, 8)


def test_older_import_paths_give_the_same_objects(bench):
    pyrun.run(
        bench,
        """
        import dftracer.python as new, dftracer.logger as old, dftracer.dbg.logger as debug, dftracer.python.logger as deep
        import dftracer.python.ai_common, dftracer.python.ai_init, dftracer.python.common, dftracer.python.dbg.torch
        from dftracer.dynamo import create_backend as other
        assert new.ai is old.ai is debug.ai and new.dft_fn is old.dft_fn is deep.dft_fn and new.dftracer is old.dftracer
        assert other is create_backend and new.__version__ == __import__("dftracer").__version__
        assert new.get_iter_block_name("x") == "x.block" and new.get_time_scale() == 1e6
        assert new.get_default_args(lambda a, b=2: 0) == {"b": 2}
        """,
    )


def test_all_public_names_are_there():
    listed = pathlib.Path(PROGRAMS / "public_names.txt").read_text().split()
    code = "import dftracer.python as p, sys; sys.exit(' '.join(n for n in sys.argv[1:] if not hasattr(p, n)) or 0)"
    done = subprocess.run([sys.executable, "-c", code, *listed], env=pyrun.environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
