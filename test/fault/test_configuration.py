# SPDX-License-Identifier: MIT
"""Wrong settings never stop a program: one line names the setting, and the default is used."""

import harness
import pytest

REGIONS = "fault/programs/regions.c"


def with_settings(bench, env, notes=None, count=2000, mode="function"):
    run = bench.same(REGIONS, count, 2, env=env, notes=notes, mode=mode)
    assert run.count("work") == 2 * count
    return run


ABSURD = ["-1", "100000000000000000000", "99999999999999999999999999999999", "abc", "12 parsecs", "0x10", "1e6", " "]


@pytest.mark.parametrize("value", ABSURD)
@pytest.mark.parametrize("name", ["DFTRACER_WRITE_BUFFER_SIZE", "DFTRACER_BUFFER_LIMIT", "DFTRACER_FLUSH_INTERVAL_MS"])
def test_absurd_sizes_and_times(bench, name, value):
    run = with_settings(bench, {name: value}, "any")
    assert len(run.notes) == (1 if value.strip() else len(run.notes)) and len(run.notes) <= 1
    if run.notes:
        assert name in run.notes[0] and value.strip() in run.notes[0]


@pytest.mark.parametrize("value", ["0", "1", "1000"])
@pytest.mark.parametrize("name", ["DFTRACER_WRITE_BUFFER_SIZE", "DFTRACER_BUFFER_LIMIT"])
def test_sizes_that_are_too_small(bench, name, value):
    with_settings(bench, {name: value}, [name])


@pytest.mark.parametrize("size", ["4K", "4096", "64 KiB", "16M", "16 MiB", "200MB"])
def test_sizes_with_units(bench, size):
    with_settings(bench, {"DFTRACER_WRITE_BUFFER_SIZE": size})


@pytest.mark.parametrize("time", ["1", "5ms", "0.5s", "2 s", "1h", "1500"])
def test_times_with_units(bench, time):
    run = with_settings(bench, {"DFTRACER_FLUSH_INTERVAL_MS": time}, "any")
    assert not run.notes or "." in time


@pytest.mark.parametrize("value", ["maybe", "2", "-1", "tru", "\x01"])
def test_values_that_are_no_booleans(bench, value):
    with_settings(bench, {"DFTRACER_INC_METADATA": value}, ["DFTRACER_INC_METADATA"])


@pytest.mark.parametrize("value", ["1", "true", "True", "TRUE", "on", "yes", "YES"])
def test_every_yes_switches_on(bench, value):
    with_settings(bench, {"DFTRACER_ENABLE": value})


@pytest.mark.parametrize("value", ["0", "false", "off", "no", "NO", ""])
def test_every_no_leaves_nothing(bench, value):
    run = bench.same(REGIONS, 100, env={"DFTRACER_ENABLE": value})
    assert not list(run.log.iterdir())


def test_a_switch_that_says_nothing_stays_off(bench):
    run = bench.same(REGIONS, 100, env={"DFTRACER_ENABLE": "enable"}, notes=["DFTRACER_ENABLE"])
    assert not list(run.log.iterdir())


@pytest.mark.parametrize("name,value", [("DFTRACER_TIME_METRIC", "PS"), ("DFTRACER_LOG_LEVEL", "LOUD"), ("DFTRACER_BUFFER_MODE", "hope"), ("DFTRACER_CLOCK", "sundial")])
def test_unknown_choices(bench, name, value):
    run = with_settings(bench, {name: value}, [name])
    assert value in run.notes[0]


def test_an_unknown_mode_records_annotations_only(bench):
    run = bench.same(REGIONS, 100, env={"DFTRACER_INIT": "SOMETIMES"}, notes="any")
    assert run.count("work") == 100 and len(run.notes) <= 1


BROKEN = {
    "empty": b"",
    "garbage": bytes(range(256)) * 8,
    "no enable": b"tracer:\n  log_level: ERROR\n",
    "tabs": b"enable: true\ntracer:\n\tlog_level: ERROR\n",
    "unclosed": b"enable: [true\n",
    "a list": b"- enable\n- true\n",
    "a word": b"enable\n",
    "two documents": b"enable: true\n---\nenable: false\n",
    "wrong types": b"enable: {a: b}\ntracer: 7\nfeatures: [1, 2]\ninternal: true\n",
    "unknown keys": b"enable: true\nsurprise: 1\ntracer:\n  surprise: 2\n",
    "deep": b"enable: true\nx: " + b"[" * 20000 + b"]" * 20000 + b"\n",
    "aliases": b"enable: true\na: &a [x, x, x, x, x, x, x, x]\n" + b"".join(b"%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c]\n" % ((c + 1,) * 2 + (c,) * 6) for c in range(97, 110)),
    "utf-16": "enable: true\n".encode("utf-16"),
    "huge": b"enable: true\n" + b"# nothing\n" * 200000,
}


@pytest.mark.parametrize("mode", ["function", "hybrid"])
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_never_stops_the_program(bench, name, mode):
    path = bench.folder / "settings.yaml"
    path.write_bytes(BROKEN[name])
    run = bench.same(REGIONS, 100, env={"DFTRACER_CONFIGURATION": path}, notes="any", mode=mode)
    assert run.count("work") == 100, "the environment switches on"
    assert len(run.notes) <= 16 and all(str(path) in note for note in run.notes), run.notes
    if name in ("garbage", "tabs", "unclosed", "a list", "a word"):
        assert run.notes


@pytest.mark.parametrize("what", ["missing", "folder", "device", "too long"])
def test_a_file_that_is_none(bench, what):
    (bench.folder / "folder").mkdir()
    path = {"missing": bench.folder / "none.yaml", "folder": bench.folder / "folder", "device": "/dev/null", "too long": "/" + "y" * 5000}[what]
    for enable in ("1", None):
        run = bench.same(REGIONS, 100, env={"DFTRACER_CONFIGURATION": path, "DFTRACER_ENABLE": enable}, notes="any")
        assert len(run.notes) <= (2 if what == "too long" else 1) and (run.notes or what == "device")
        assert run.count("work") == (100 if enable else 0)


def test_environment_overrides_the_file(bench):
    path = bench.folder / "settings.yaml"
    path.write_text("enable: true\nfeatures:\n  metadata: false\n")
    run = bench.same(REGIONS, 10, env={"DFTRACER_CONFIGURATION": path, "DFTRACER_ENABLE": None})
    assert all("args" not in e for e in run.events("work"))
    run = bench.same(REGIONS, 10, env={"DFTRACER_CONFIGURATION": path, "DFTRACER_ENABLE": None, "DFTRACER_INC_METADATA": "1"})
    assert [e["args"]["i"] for e in run.events("work")] == list(range(10))
    run = bench.same(REGIONS, 10, env={"DFTRACER_CONFIGURATION": path, "DFTRACER_ENABLE": "0"})
    assert not list(run.log.iterdir())


@pytest.mark.parametrize("section", ["tracer", "profiler"])
def test_both_section_names(bench, section):
    path = bench.folder / "settings.yaml"
    target = bench.folder / "elsewhere" / "t"
    path.write_text(f"enable: true\n{section}:\n  log_file: {target}\n  time_metric: NS\n")
    env = {"DFTRACER_CONFIGURATION": path, "DFTRACER_ENABLE": None, "DFTRACER_LOG_FILE": None}
    bench.same(REGIONS, 10, env=env)
    trace = harness.pfw.read_one(target.parent)
    assert [r["args"]["value"] for r in trace.metadata("CM") if r["args"]["name"] == "time_metric"] == ["NS"]


def test_options_of_parts_that_do_not_exist_get_one_line(bench):
    with_settings(bench, {"DFTRACER_ENABLE_AGGREGATION": "1"}, ["DFTRACER_ENABLE_AGGREGATION"])
    with_settings(bench, {"DFTRACER_ENABLE_PAPI_TRACING": "1"}, ["DFTRACER_ENABLE_PAPI_TRACING"])
