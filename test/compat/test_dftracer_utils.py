# SPDX-License-Identifier: MIT
"""The readers that users have: dftracer-utils 0.0.14 from PyPI reads every kind of trace that we write, and counts the same.

Its calls are those that its own documentation shows: the two commands dftracer_validate and dftracer_event_count, and
TraceViewer and Indexer. It keeps its index in a folder of the test; our block index lies beside the trace all the time.
"""

import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys

import harness
import pfw
import pytest

utils = pytest.importorskip("dftracer.utils", reason="dftracer-utils is not installed in this Python")
utils.set_log_level("off")

REGIONS = "fault/programs/regions.c"
KINDS = ["c", "c++", "threads", "members", "forks", "hybrid", "no metadata", "ns", "sec", "names", "values", "losses", "open", "rank", "recovered", "repaired", "exec chain", "io"]


def killed_and_recovered(bench):
    folder = bench.place("killed")
    counters = folder / "counters"
    program = harness.compile_program("fault/programs/killed.c")
    env = {"DFTRACER_CRASH_SAFE": 1, "DFTRACER_FLUSH_INTERVAL_MS": 60000}
    process, _ = bench.start([program, counters, 2, 100], "function", env, folder=folder)
    harness.wait_until(lambda: counters.exists() and sum(struct.unpack("16Q", counters.read_bytes())) > 2000, "some events")
    process.send_signal(signal.SIGKILL)
    bench.finish(process, folder)
    assert harness.dftracer("recover", folder / "log").returncode in (0, 1)
    return folder / "log"


def damaged_and_recovered(bench):
    log = bench.same(REGIONS, 5000, 2, env={"DFTRACER_WRITE_BUFFER_SIZE": "16K"}).log
    (path,) = pfw.traces(log)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])
    assert harness.dftracer("recover", path).returncode == 0
    path.unlink()  # the recovered one stands in for it
    return log


def made(bench, kind):
    """A log directory with traces of that kind."""
    same = bench.same
    if kind == "names":
        strings = bench.folder / "strings"
        pieces = [b'a"b\\', b"\n\t\x01", "日本".encode(), b"\xff\xfe", b"x" * 65535, b"key with spaces"]
        strings.write_text("".join(p.hex() + "\n" for p in pieces))
        return same("fault/programs/names.c", strings).log
    if kind == "losses":
        env = {"DFTRACER_BUFFER_LIMIT": "1M", "DFTRACER_BUFFER_MODE": "drop", "DFTRACER_WRITE_BUFFER_SIZE": "4K"}
        return same(REGIONS, 8000, 4, env=env, notes="any").log
    if kind == "repaired":
        return damaged_and_recovered(bench)
    if kind == "io":
        return bench.same_command(["sh", "-c", "cat /etc/passwd | sort > sorted; ls /etc; exec head -n 1 sorted"]).log
    if kind == "recovered":
        return killed_and_recovered(bench)
    plain = {
        "c": lambda: same(REGIONS, 500),
        "c++": lambda: same("compat/programs/entities.cc"),
        "threads": lambda: same(REGIONS, 500, 8),
        "members": lambda: same(REGIONS, 5000, 4, env={"DFTRACER_WRITE_BUFFER_SIZE": "16K"}),
        "forks": lambda: same("fault/programs/nested_forks.c", 3, "exit"),
        "hybrid": lambda: same(REGIONS, 500, 4, mode="hybrid"),
        "no metadata": lambda: same(REGIONS, 500, 2, env={"DFTRACER_INC_METADATA": "0"}),
        "ns": lambda: same(REGIONS, 500, env={"DFTRACER_TIME_METRIC": "NS"}),
        "sec": lambda: same(REGIONS, 500, env={"DFTRACER_TIME_METRIC": "SEC"}),
        "values": lambda: same("fault/programs/values.c"),
        "open": lambda: same("fault/programs/open_regions.c"),
        "rank": lambda: same(REGIONS, 10, env={"SLURM_PROCID": "3"}),
        "exec chain": lambda: same("fault/programs/exec_chain.c", 2, "execv", mode="hybrid"),
    }
    return plain[kind]().log


@pytest.fixture(scope="module", params=KINDS)
def log(request, tmp_path_factory):
    return made(harness.Bench(tmp_path_factory.mktemp("compat")), request.param)


def shell(name, *arguments):
    """A command of the package, wherever pip has put it."""
    program = shutil.which(name, path=f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}")
    if program is None:
        pytest.skip(f"{name} is not in this Python's folder")
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=120)


def strict(log):
    return [t.check() for t in pfw.read_all(log)]


def timed(traces):
    return sum(len(t.phase(pfw.COMPLETE)) + len(t.phase(pfw.COUNTER)) for t in traces)


def test_validate(log):
    for path in pfw.traces(log):
        done = shell("dftracer_validate", "--files", path, "--log-level", "off")
        assert done.returncode == 0, done.stdout + done.stderr


def test_event_count(log, tmp_path):
    done = shell("dftracer_event_count", "-d", log, "--index-dir", tmp_path / "index")
    assert done.returncode == 0, done.stderr
    assert int(re.findall(r"\d+", done.stdout)[-1]) == timed(strict(log)), done.stdout


def columns(viewer):
    return viewer.collect().to_dict()


def test_trace_viewer(log, tmp_path):
    for number, trace in enumerate(strict(log)):
        assert utils.schemas.detect(str(trace.path)) == "dftracer"
        viewer = utils.TraceViewer(str(trace.path), index_path=str(tmp_path / f"index{number}"))
        events = columns(viewer.phase("events"))
        ours = trace.phase(pfw.COMPLETE)
        assert sorted(zip(events["name"], events["pid"], events["tid"], events["ts"], events["dur"])) == sorted(
            (r["name"], r["pid"], r["tid"], r["ts"], r["dur"]) for r in ours
        )
        assert sorted(columns(viewer.phase("metadata"))["name"]) == sorted(r["name"] for r in trace.phase(pfw.METADATA))


def test_filter_and_groups(log, tmp_path):
    for number, trace in enumerate(strict(log)):
        viewer = utils.TraceViewer(str(trace.path), index_path=str(tmp_path / f"index{number}"))
        names = {r["name"] for r in trace.phase(pfw.COMPLETE) if re.fullmatch(r"\w+", r["name"]) and len(r["name"]) < 100}
        for name in list(names)[:3]:
            rows = viewer.phase("events").filter(f'name == "{name}"').collect().shape[0]
            assert rows == sum(r["name"] == name for r in trace.phase(pfw.COMPLETE))
        grouped = viewer.phase("events").group_by("name").agg("count", "sum:dur").collect().to_dict()
        assert len(grouped["name"]) == len({r["name"] for r in trace.phase(pfw.COMPLETE)})


def test_time_metric(log, tmp_path):
    for number, trace in enumerate(strict(log)):
        viewer = utils.TraceViewer(str(trace.path), index_path=str(tmp_path / f"index{number}"))
        (unit,) = [r["args"]["value"] for r in trace.metadata("CM") if r["args"]["name"] == "time_metric"]
        assert str(viewer.time_metric()).lower() == unit.lower()


def test_folder_and_hash_records(log, tmp_path):
    copy = tmp_path / "log"
    shutil.copytree(log, copy)
    if not pfw.traces(copy):
        pytest.fail("no trace")
    index = utils.Indexer(str(copy))
    index.ensure_indexed()
    hosts = index.rowset("hosts").to_dict()
    strings = index.rowset("strings").to_dict()
    index.close()
    digits = {r["args"]["value"] for t in strict(log) for r in t.metadata("HH")}
    assert digits <= {str(v) for column in hosts.values() for v in column}
    commands = {r["args"]["value"] for t in strict(log) for r in t.metadata("SH")}
    assert commands <= {str(v) for column in strings.values() for v in column}
    # TraceViewer of 0.0.14 given a folder or a list shows the rows of one of its files, whoever wrote them
    viewer = utils.TraceViewer(str(copy), index_path=str(tmp_path / "index"))
    assert viewer.phase("events").collect().shape[0] in [len(t.phase(pfw.COMPLETE)) for t in strict(log)]


def test_our_block_index_lies_beside_and_disturbs_nothing(log):
    for path in pfw.traces(log):
        index = path.with_name(path.name.replace(".pfw.gz", "") + ".dfi")
        if pfw.read(path).end is not None:
            assert index.is_file(), "a finished trace has its index"
        assert ".pfw" not in index.name


GPU = sorted((harness.SOURCE / "test" / "golden").glob("*/*.jsonl"))


@pytest.mark.parametrize("lines", GPU, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_records_of_every_kind(tmp_path, lines):
    """The golden lines: every record kind of the encoder, and what CUDA and HIP tracing write."""
    path = tmp_path / "log" / "golden.pfw.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress(lines.read_bytes()))
    records = [json.loads(line) for line in lines.read_text().splitlines()]
    done = shell("dftracer_validate", "--files", path, "--log-level", "off")
    assert done.returncode == 0, done.stdout + done.stderr
    viewer = utils.TraceViewer(str(path), index_path=str(tmp_path / "index"))
    events = columns(viewer.phase("events"))
    ours = [r for r in records if r["ph"] == pfw.COMPLETE]
    assert sorted(zip(events["name"], events["tid"], events["ts"], events["dur"])) == sorted(
        (r["name"], r["tid"], r["ts"], r["dur"]) for r in ours
    )
    kernels = [r for r in ours if r["cat"] in ("CUDA_KERNEL", "KERNEL_DISPATCH")]
    if kernels:
        found = columns(viewer.phase("events").filter(f'cat == "{kernels[0]["cat"]}"'))
        key = "correlation_id"
        assert sorted(found[f"args.{key}"]) == sorted(r["args"][key] for r in kernels)
        assert {r["tid"] for r in kernels} == set(found["tid"]), "lanes"


def test_exact_values(tmp_path):
    log = made(harness.Bench(tmp_path), "c++")
    (path,) = pfw.traces(log)
    viewer = utils.TraceViewer(str(path), index_path=str(tmp_path / "index"))
    rows = viewer.phase("events").filter('name == "step"').collect().to_dict()
    assert sorted(rows["args.number"]) == list(range(100))
    assert set(rows["args.big"]) == {2**62} and set(rows["args.real"]) == {1.25}
    assert set(rows["args.text"]) == {f'x"y\\z\n{i}' for i in range(100)}
    assert set(rows["args.relations.used.0"]) == {"8f0de68c04eea0bf"}
    assert set(rows["args.relations.generated.0"]) == {"d824b0bb91487885"}
