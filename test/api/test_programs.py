# SPDX-License-Identifier: MIT
"""What annotated programs leave in their traces: every macro, old names, threads, exceptions, several lives."""

import shutil
import subprocess

import harness
import pfw
import pytest

INT64_MIN, INT64_MAX, UINT64_MAX = -(2**63), 2**63 - 1, 2**64 - 1


def args_of(event):
    return {k: v for k, v in event.get("args", {}).items() if k != "hhash"}


def entity_id(kind: str, key: str) -> str:
    """FNV-1a with the format's offset basis, written here once more."""
    value = 1469598103934665603
    for byte in kind.encode() + b"\x1f" + key.encode():
        value = (value ^ byte) * 1099511628211 % 2**64
    return f"{value or 1:016x}"


def check_entities(trace):
    (kind,) = trace.metadata("ET")
    assert args_of(kind) == {"type": "file", "role": 1, "description": "what is read"}
    entities = {r["args"]["id"]: args_of(r) for r in trace.metadata("EH")}
    part, whole = entity_id("file", "part"), entity_id("file", "whole")
    assert entities[part] == {"id": part, "type": "file", "store": 2, "uri": "/data/part"}
    assert entities[whole] == {"id": whole, "type": "file", "store": 3, "uri": ""}
    (relation,) = trace.metadata("ER")
    assert args_of(relation) == {"relation": 19, "subject": part, "object": whole}
    assert len(entities) == len(trace.metadata("EH")), "an entity twice"
    return entities


def check_process_notes(trace, layer, layer_number):
    assert trace.app == {"answer": 42, "model": "small"}
    assert trace.used.get(layer) == 1 and trace.used.get("mine") == 1
    (note,) = [r for r in trace.metadata("CM") if r["args"]["name"] == "key"]
    assert note["type"] == layer_number and note["args"]["value"] == "value"


def test_every_c_macro(bench):
    trace = bench.same("api/programs/every_macro.c", flags=("-std=c99",)).trace()
    assert {e["cat"] for e in trace.events} == {"C_APP"} and {e["type"] for e in trace.events} == {2}
    check_process_notes(trace, "C_APP", 2)
    entities = check_entities(trace)
    early, whole = trace.named("function_region")
    values = {
        "int": 1,
        "str": "text",
        "int_type": 2,
        "str_type": "value",
        "int64": INT64_MIN,
        "uint64": UINT64_MAX,
        "double": 0.1,
    }
    assert args_of(early) == values | {"bool": 1}
    relations = args_of(whole).pop("relations")
    assert relations == {
        "updated": ["0000000000001234"],
        "used": [entity_id("file", "in")],
        "generated": [entity_id("file", "out")],
    }
    assert entity_id("file", "in") in entities
    inner = args_of(trace.one("inner"))
    assert inner["int64"] == INT64_MAX and inner["double"] == 1e300 and inner["int"] == -1 and inner["bool"] == 1
    assert args_of(trace.one("guarded")) == {"yes": 1}
    assert not trace.named("no_instant") and "no" not in trace.app
    for name in ("checkpoint", 'with "quotes"'):
        instant = trace.one(name)
        assert instant["dur"] == 0 and instant["args"]["instant"] == 1
    assert args_of(trace.one("counted")) == {"n": 3}
    assert trace.start["args"]["process_id"] == 7


@pytest.mark.parametrize("standard", ["c++11", "c++17"])
def test_every_cxx_macro(bench, standard):
    trace = bench.same("api/programs/every_macro.cc", flags=(f"-std={standard}",)).trace()
    check_process_notes(trace, "CPP_APP", 9)
    check_entities(trace)
    (run,) = trace.named("run")
    assert run["cat"] == "CPP_APP" and run["type"] == 9
    assert args_of(run)["n"] == 4 and args_of(run)["kind"] == "loop"
    assert args_of(run)["relations"]["updated"] == ["0000000000000005"]
    assert [args_of(e)["half"] for e in trace.named("lambda_region")] == [0.0, 0.5, 1.0, 1.5]
    assert [args_of(e)["value"] for e in trace.named("doubled")] == [2, 0.5]
    assert len(trace.named("Worker")) == 1 and len(trace.named("~Worker")) == 1
    assert args_of(trace.one("first")) == {"flag": 1}
    assert args_of(trace.one("second")) == {"text": "std", "relations": {"generated": ["0000000000000007"]}}
    named = trace.one("named 1")
    assert (named["cat"], named["type"]) == ("OWN", 6)
    assert args_of(named)["long"] == 2**40 and args_of(named)["unsigned"] == 4000000000 and args_of(named)["float"] == 0.25
    assert trace.one("quick")["cat"] == "OWN"
    for name in ("thrower", "outer"):
        assert args_of(trace.one(name)) == {"exception": "app::Failure"}
    assert args_of(trace.one("guarded")) == {"yes": 1}
    assert trace.one("checkpoint")["args"]["instant"] == 1


@pytest.mark.parametrize("flags", [("-O0",), ("-O2",), ("-O2", "-fomit-frame-pointer")])
@pytest.mark.parametrize("compiler", [c for c in ("g++", "clang++") if shutil.which(c) and not (c == "clang++" and harness.sanitizer())])
def test_exceptions_are_named_whatever_compiled_the_program(bench, monkeypatch, compiler, flags):
    monkeypatch.setenv("CXX", compiler)
    trace = bench.same("api/programs/every_macro.cc", flags=flags).trace()
    assert {args_of(trace.one(name))["exception"] for name in ("thrower", "outer")} == {"app::Failure"}


def test_old_names(bench):
    trace = bench.same("api/programs/old_names.c").trace()
    region = trace.one("old_region")
    assert (region["cat"], region["type"]) == ("OLD", 2)
    shown = args_of(region)
    assert {k: shown[k] for k in "abcd"} == {"a": 1, "b": "two", "c": 3, "d": "four"}
    assert shown["relations"]["used"] == [entity_id("t", "k")] * 2
    assert args_of(trace.one("old_metadata")) == {}
    assert trace.app == {"number": 1, "text": "old"}


@pytest.fixture(autouse=True)
def link_bare_builds_of_function_callers(monkeypatch):
    """harness.Bench.same builds the untraced twin without the library. Programs that call functions themselves need it
    even then: they run with tracing off instead."""
    real = harness.compile_program

    def compile_program(name, *flags, bare=False, link=True):
        if bare and (name.endswith(("old_names.c", "four_lives.c", "threads.cc", "same_signature.c"))):
            return real(name, *flags, bare=False, link=True)
        return real(name, *flags, bare=bare, link=link)

    monkeypatch.setattr(harness, "compile_program", compile_program)


@pytest.mark.parametrize("program", ["own_finalize.c", "same_signature.c"])
def test_own_functions_of_the_generic_names_stay_the_programs(bench, program):
    run = bench.same(f"api/programs/{program}")
    assert run.out == b"own\n"
    assert run.count("own") == 1 and run.trace().end is not None


def test_headers_inside_extern_c(bench):
    trace = bench.same("api/programs/in_extern_c.cc").trace()
    assert trace.one("main")["type"] == 9 and args_of(trace.one("c_function")) == {"n": 0}


def test_four_lives_in_one_process(bench):
    run = bench.same("api/programs/four_lives.c")
    traces = {name: t for t in run.traces() for name in [e["name"] for e in t.events]}
    assert set(traces) == {"closed", "open", "third_open", "fourth"}
    assert len({t.path for t in traces.values()}) == 4, "each life has its own file"
    assert all(t.end is not None and t.start is not None for t in traces.values())
    assert args_of(traces["closed"].one("closed")) == {"when": "before"}
    assert args_of(traces["open"].one("open")) == {"when": "before", "open_at_end": 1}
    assert args_of(traces["third_open"].one("third_open")) == {"open_at_end": 1}
    assert args_of(traces["fourth"].one("fourth")) == {"still": 1}
    assert traces["closed"].app == {"life": "closed"} and traces["open"].app == {"life": "open"}


def test_one_half_of_a_program_may_be_compiled_out(bench, tmp_path):
    source = harness.SOURCE / "test" / "api" / "programs" / "mixed_disabled.cc"
    folder = harness.core_library().parent
    for order in (("off.o", "on.o"), ("on.o", "off.o")):
        for name, flags in (("off.o", ["-DHALF_OFF", "-DDFTRACER_DISABLE"]), ("on.o", [])):
            line = ["g++", "-O0", "-std=c++11", f"-I{harness.SOURCE}/include", "-c", source, "-o", tmp_path / name, *flags]
            subprocess.run(list(map(str, line)), check=True)
        program = tmp_path / "mixed"
        line = ["g++", *(str(tmp_path / o) for o in order), f"-L{folder}", "-ldftracer_core", f"-Wl,-rpath,{folder}"]
        subprocess.run([*line, "-o", str(program)], check=True)
        run = bench.run([program], "function")
        assert run.status == 0, run.err
        assert [e["name"] for e in run.events()] == ["always"]
        assert args_of(run.trace().one("always")) == {"n": 1}


THREADS, ROUNDS = 8, 200


def test_eight_threads(bench):
    run = bench.same("api/programs/threads.cc")
    trace = run.trace()
    assert not trace.losses
    tids = run.facts()["tid"]
    assert len(set(tids)) == THREADS
    outer = trace.named("outer")
    assert len(outer) == THREADS * ROUNDS
    assert {(e["args"]["thread"], e["args"]["round"]) for e in outer} == {
        (t, r) for t in range(THREADS) for r in range(ROUNDS)
    }
    for thread in range(THREADS):
        assert len({e["tid"] for e in outer if e["args"]["thread"] == thread}) == 1
    for e in outer:
        i = e["args"]["round"]
        assert args_of(e) == {
            "thread": e["args"]["thread"], "round": i, "big": 2**62 + i, "ubig": UINT64_MAX, "third": 1 / 3, "odd": i % 2,
        }  # fmt: skip
    check_nesting(trace, tids)
    fails = trace.named("fail")
    assert len(fails) == THREADS * ROUNDS // 10 * 3
    assert {args_of(e)["exception"] for e in fails} == {"(anonymous namespace)::Failure"}
    assert len(trace.named("caught")) == THREADS * ROUNDS // 10
    handed = trace.one("handed")
    assert handed["tid"] == run.fact("other") and args_of(handed) == {"by": 2}


def check_nesting(trace, tids):
    """inner lies in right, left and right lie in outer, on every thread."""
    for tid in tids:
        mine = [e for e in trace.events if e["tid"] == tid]
        spans = {n: sorted((e["ts"], e["ts"] + e["dur"]) for e in mine if e["name"] == n) for n in ("outer", "left", "right", "inner")}
        assert {len(s) for s in spans.values()} == {ROUNDS}
        for outer, left, right, inner in zip(*(spans[n] for n in ("outer", "left", "right", "inner"))):
            assert outer[0] <= left[0] <= right[0] <= inner[0]
            assert inner[1] <= right[1] <= outer[1] and left[1] <= inner[1]


@pytest.mark.parametrize("program", ["api/programs/every_macro.c", "api/programs/every_macro.cc"])
def test_off_leaves_no_trace(bench, program):
    run = bench.same(program, mode="off")
    assert run.traces() == [] and list(run.log.iterdir()) == []


def example(name):
    return harness.BUILD / "examples" / "wordcount" / name


@pytest.mark.parametrize("name,layer", [("wordcount", 9), ("wordcount_c", 2)])
def test_word_count_shows_every_file_and_thread(bench, tmp_path, name, layer):
    texts = tmp_path / "texts"
    texts.mkdir()
    for i in range(5):
        (texts / f"{i}.txt").write_text("One two, two. " * 3000 + "end\n" * i)
    (texts / "empty").write_text("")
    run = bench.same_command([example(name), "--threads", "3", "--repeat", "2", texts], mode="function")
    assert run.out.splitlines()[0] == f"12 files, {2 * (5 * 42000 + 4 * 10)} bytes, 90020 words, 3 different".encode()
    trace = run.trace()
    assert {e["type"] for e in trace.events} == {layer, 3}  # and the calls that read the files
    assert len(trace.named("count_file")) == len(trace.named("read_file")) == 12
    assert len(trace.named("count_block")) == 2 * 5 * 3
    assert sum(e["args"]["words"] for e in trace.named("count_block")) == 90020
    assert len({e["tid"] for e in trace.named("thread done")}) == 3
    assert len(trace.metadata("EH")) == 6
    assert trace.app == {"directory": str(texts), "threads": 3}


def test_the_two_word_counts_agree(bench):
    outputs = [bench.run([example(n), "--top", "100", harness.SOURCE / "docs"], None).out for n in ("wordcount", "wordcount_c")]
    assert outputs[0] == outputs[1] and len(outputs[0].splitlines()) == 101


def test_word_count_names_its_mistakes(bench, tmp_path):
    for name in ("wordcount", "wordcount_c"):
        assert bench.run([example(name), "--what"], None).status == 2
        assert bench.run([example(name), tmp_path / "missing"], None).status == 1


def test_the_strict_reader_is_strict(tmp_path):
    """The tests stand on it: damage that it must name."""
    import gzip

    line = b'{"name":"a","cat":"c","type":2,"pid":1,"tid":1,"ts":1,"dur":0,"id":1,"ph":1}\n'
    path = tmp_path / "x.pfw.gz"
    path.write_bytes(gzip.compress(line) + gzip.compress(line.replace(b'"id":1', b'"id":2')))
    assert len(pfw.read(path).check().events) == 2
    whole = gzip.compress(line)
    damage = [
        whole[:-1], whole[:-9], whole + b"x", b"", gzip.compress(line[:-1]), gzip.compress(line + line),
        gzip.compress(b'{"a":NaN}\n'), gzip.compress(b'{"a":1,"a":2}\n'), gzip.compress(b'{"a":"\xff"}\n'),
        gzip.compress(b'{"a":"\\ud800"}\n'), gzip.compress(b"[1]\n"), gzip.compress(b"\n"), gzip.compress(b'{"ph":7}\n'),
    ]  # fmt: skip
    for data in damage:
        path.write_bytes(data)
        with pytest.raises(pfw.TraceError):
            pfw.read(path).check()
