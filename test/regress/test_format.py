# SPDX-License-Identifier: MIT
"""Reports of other tools' users, S48 to S58, S77, S78 and S83 to S85 of the case list: trace, clock, build, reading."""

import gzip
import json
import random
import re
import shutil
import subprocess

import harness
import pfw
import pytest

REGIONS = "fault/programs/regions.c"


def cat_lines(*inputs):
    """Events as the product's own reader gives them, and what it said."""
    done = harness.dftracer("cat", "--json", *inputs)
    return [json.loads(line) for line in done.stdout.splitlines() if line.strip()], done


def test_s48_s49_command_line_and_program_name(bench):
    program = bench.folder / 'pro"g\\ra\nm'
    shutil.copy(harness.compile_program(REGIONS), program)
    arguments = ["5", "1", "fini", 'a"b', "a\\", "\x01\x1b\n", "C:\\tmp", "é"]
    run = bench.run([program, *arguments], "function")
    trace = run.trace()
    assert len(trace.named("work")) == 5
    assert trace.resolve(trace.start["args"]["exec_hash"]) == program.name
    assert trace.resolve(trace.start["args"]["cmd_hash"]) == ";".join([str(program), *arguments])


def test_s49_working_directory(bench):
    folder = bench.folder / b'new\nline"\xff'.decode("utf-8", "surrogateescape")
    folder.mkdir()
    run = bench.run([harness.compile_program(REGIONS), 5], "function", cwd=folder)
    trace = run.trace()
    digits = trace.start["args"]["cwd"]
    (record,) = [r for r in trace.metadata("FH") if r["args"]["value"] == digits]
    raw = str(folder).encode("utf-8", "surrogateescape")
    assert record["args"]["name"] == raw.replace(b"\xff", "\ufffd".encode()).decode()
    assert bytes.fromhex(record["args"]["raw_hex"]) == raw


def test_s51_raw_rules(bench):
    text = pfw.inflate(bench.same(REGIONS, 100).trace().path.read_bytes())[0]
    for line in text.splitlines():
        assert line.startswith(b"{") and line.endswith(b"}") and line != b"{}"
    assert text.endswith(b"\n") and b"\n\n" not in text


def test_s52_many_members_in_every_reader(bench):
    run = bench.same(REGIONS, 20000, 2, env={"DFTRACER_WRITE_BUFFER_SIZE": "32K"})
    trace = run.trace()
    assert trace.members > 20
    data = trace.path.read_bytes()
    lines = len(trace.lines)
    assert gzip.decompress(data).count(b"\n") == lines
    assert subprocess.run(["zcat", trace.path], capture_output=True).stdout.count(b"\n") == lines
    both = bench.folder / "both.pfw.gz"
    other = bench.same(REGIONS, 300).trace()
    both.write_bytes(data + other.path.read_bytes())
    (row,) = [r for r in harness.summary_rows(both) if r["name"] == "work"]
    assert row["count"] == 40300
    squeezed = bench.folder / "one.pfw.gz"
    squeezed.write_bytes(gzip.compress(gzip.decompress(data)))
    (row,) = [r for r in harness.summary_rows(squeezed) if r["name"] == "work"]
    assert row["count"] == 40000
    split = bench.folder / "inside.pfw.gz"
    text = gzip.decompress(data)
    middle = text.index(b"\n", len(text) // 2) - 20
    split.write_bytes(gzip.compress(text[:middle]) + gzip.compress(text[middle:]))
    (row,) = [r for r in harness.summary_rows(split) if r["name"] == "work"]
    assert row["count"] == 40000, "a line that spans two members"


def test_s53_cut_anywhere(bench):
    run = bench.same(REGIONS, 3000, 2, env={"DFTRACER_WRITE_BUFFER_SIZE": "32K"})
    path = run.trace().path
    data = path.read_bytes()
    good = [json.loads(l) for l in run.trace().lines]
    cut = bench.folder / "cut.pfw.gz"
    moments = random.Random(5)
    for at in [5, 12, len(data) - 8, len(data) - 1] + [moments.randrange(20, len(data)) for _ in range(50 if harness.LONG else 12)]:
        cut.write_bytes(data[:at])
        done = harness.dftracer("validate", cut)
        edges = member_edges(data)
        assert done.returncode == (0 if at in edges else 1), f"cut at {at}: {done.stdout}{done.stderr}"
        if at not in edges:
            assert re.search(rf"{re.escape(str(cut))}: the file ends in.*\(byte {at} of the file\)", done.stdout + done.stderr)
        records, told = cat_lines(cut)
        assert told.returncode == (0 if at in edges else 1)
        whole = sum(1 for edge in edges if edge <= at)
        assert len(records) >= lines_of(data, edges, whole)
        assert [r["id"] for r in records if "id" in r] == [r["id"] for r in good if "id" in r][: sum("id" in r for r in records)]


def member_edges(data):
    edges, at = [], 0
    while at < len(data):
        at += int.from_bytes(data[at + 16 : at + 20], "little")
        edges.append(at)
    return edges


def lines_of(data, edges, count):
    """Events (metadata not counted) in the first members."""
    text = gzip.decompress(data[: edges[count - 1]]) if count else b""
    return sum(1 for l in text.splitlines() if b'"id":' in l)


def test_s54_long_command_line_and_deep_directory(bench):
    folder = bench.folder
    program = harness.compile_program(REGIONS)
    argument = "é" * 60000
    run = bench.run([program, 5, 1, "fini", *[argument] * 10], "function")
    trace = run.trace()
    assert run.status == 0 and len(trace.named("work")) == 5
    assert trace.resolve(trace.start["args"]["cmd_hash"]).startswith(f"{program};5;1;fini;é")
    script = "import os, sys\nfor i in range(40):\n    os.mkdir('d' * 200); os.chdir('d' * 200)\nos.execv(sys.argv[1], sys.argv[1:])\n"
    (folder / "deep.py").write_text(script)
    run = bench.run(["python3", folder / "deep.py", program, 7], "function")
    assert run.status == 0 and run.count("work") == 7, run.err
    subprocess.run(["rm", "-rf", run.folder / "cwd"], check=True)


def test_s55_half_a_second_everywhere(bench):
    run = bench.same("fault/programs/clock.c")
    event = run.trace().one("half")
    assert 500000 <= event["dur"] < run.fact("monotonic_us") + 1000
    assert abs(event["ts"] - run.fact("wall_us")) < 1_000_000
    (row,) = [r for r in harness.summary_rows(run.log) if r["name"] == "half"]
    for key in ("total_us", "self_us", "min_us", "mean_us", "p50_us", "p99_us", "max_us"):
        assert abs(row[key] - event["dur"]) <= event["dur"] * 0.02, key
    assert abs(row["total_us"] - event["dur"]) <= 1
    done = harness.dftracer("summary", "--csv", run.log)
    assert re.search(rf"half.*\b{event['dur']}\b", done.stdout), done.stdout
    records, _ = cat_lines(run.log, "--name", "half")
    assert [r["dur_ns"] // 1000 for r in records] == [event["dur"]]
    run = bench.same("fault/programs/clock.c", env={"DFTRACER_TIME_METRIC": "NS"})
    (row,) = [r for r in harness.summary_rows(run.log) if r["name"] == "half"]
    assert 500000 <= row["total_us"] < 600000 + run.fact("monotonic_us") - 500000


@pytest.mark.parametrize("metric", ["US", "NS"])
def test_s56_s57_nesting_and_order(bench, metric):
    count, threads = (100000, 2) if harness.LONG else (10000, 2)
    run = bench.same("regress/programs/nest.c", count, threads, env={"DFTRACER_TIME_METRIC": metric})
    trace = run.trace()
    lanes = {}
    for event in (e for e in trace.events if e["type"] == pfw.LAYERS["C_APP"]):
        assert type(event["ts"]) is int and type(event["dur"]) is int
        lanes.setdefault(event["tid"], []).append(event)
    assert len(lanes) == threads
    for events in lanes.values():
        assert sum(e["cat"] == "C_APP" for e in events) == 3 * count
        if metric == "NS":
            assert sum(1 for e in events if e["dur"]) > count
        stack = []
        for event in sorted(events, key=lambda e: (e["ts"], -e["dur"], -e["id"])):
            begin, end = event["ts"], event["ts"] + event["dur"]
            while stack and stack[-1] <= begin and not (stack[-1] == begin == end):
                stack.pop()
            assert not stack or end <= stack[-1], "a child ends after its parent"
            stack.append(end)


def exported_versions(library, prefix):
    text = subprocess.run(["objdump", "-T", library], capture_output=True, text=True, check=True).stdout
    return {tuple(map(int, v.split("."))) for v in re.findall(rf"{prefix}_([0-9.]+)", text)}


needs_binutils = pytest.mark.skipif(not (shutil.which("objdump") and shutil.which("readelf")), reason="binutils are not installed")
LIBRARIES = pytest.mark.parametrize("library", ["core", "preload"])


def path_of(library):
    return harness.core_library() if library == "core" else harness.preload_library()


@needs_binutils
@LIBRARIES
def test_s77_no_private_glibc_symbols(library):
    text = subprocess.run(["readelf", "-Ws", "--dyn-syms", path_of(library)], capture_output=True, text=True, check=True).stdout
    assert not re.search(r"_dl_sym\b|__libc_dlsym|GLIBC_PRIVATE", text)


@pytest.mark.skipif(harness.sanitizer() != "" or harness.cache_entry("DFTRACER_COVERAGE") == "ON", reason="a plain build is asked for")
@needs_binutils
@LIBRARIES
def test_s78_floor_of_symbol_versions(library):
    """What docs and README state: it runs where it was built and on newer systems, and on older ones down to this floor."""
    versions = exported_versions(path_of(library), "GLIBC")
    built_on = tuple(map(int, subprocess.run(["ldd", "--version"], capture_output=True, text=True).stdout.splitlines()[0].split()[-1].split(".")))
    assert max(versions) <= max((2, 34), min(built_on, (2, 38))), max(versions)
    assert not exported_versions(path_of(library), "GLIBCXX"), "libstdc++ is inside"
    needed = subprocess.run(["readelf", "-d", path_of(library)], capture_output=True, text=True).stdout
    assert "libstdc++" not in needed and "libgcc_s" not in needed


def counts(path):
    done = harness.dftracer("info", "--json", path)
    return done.returncode, json.loads(done.stdout) if done.stdout else None


@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "none"])
@pytest.mark.parametrize("packed", [False, True])
def test_s83_the_last_event_counts(bench, number, newline, packed):
    lines = [json.dumps({"id": n + 1, "name": "e", "cat": "C_APP", "type": 2, "pid": 5, "tid": 5, "ts": 100 + n, "dur": 1, "ph": 1}) for n in range(number)]
    glue = "\n" if newline == "none" else newline
    text = (glue.join(lines) + ("" if newline == "none" or not lines else glue)).encode()
    path = bench.folder / ("x.pfw.gz" if packed else "x.pfw")
    path.write_bytes(gzip.compress(text) if packed else text)
    records, _ = cat_lines(path)
    assert len(records) == number
    if number:
        (row,) = harness.summary_rows(path)
        assert row["count"] == number


def test_s84_odd_files_in_the_folder(bench):
    folder = bench.folder / "mixed"
    folder.mkdir()
    run = bench.same(REGIONS, 50)
    shutil.copy(run.trace().path, folder / "good.pfw.gz")
    (folder / "empty.pfw.gz").write_bytes(b"")
    (folder / "noise.pfw.gz").write_bytes(bytes(random.Random(1).randrange(256) for _ in range(5000)))
    (folder / "text.pfw").write_bytes(b"this is no trace\n")
    (folder / "folder.pfw").mkdir()
    (folder / "dangling.pfw.gz").symlink_to("/no/such/file")
    done = harness.dftracer("summary", "--json", folder)
    assert done.returncode == 1
    (row,) = [r for r in json.loads(done.stdout)["rows"] if r["name"] == "work"]
    assert row["count"] == 50
    for name in ("noise.pfw.gz", "text.pfw", "dangling.pfw.gz"):
        assert name in done.stderr, f"{name} is not named: {done.stderr}"
    assert "good.pfw.gz" not in done.stderr
    done = harness.dftracer("validate", folder)
    assert done.returncode == 1 and "noise.pfw.gz" in done.stdout + done.stderr


RANKS = [
    ({}, None, None),
    ({"SLURM_PROCID": "3"}, "3", "SLURM_PROCID"),
    ({"FLUX_TASK_RANK": "4", "SLURM_PROCID": "3"}, "4", "FLUX_TASK_RANK"),
    ({"PMI_RANK": "5", "SLURM_PROCID": "3"}, "5", "PMI_RANK"),
    ({"MV2_COMM_WORLD_RANK": "6"}, "6", "MV2_COMM_WORLD_RANK"),
    ({"PMIX_RANK": "7", "PMI_RANK": "5"}, "7", "PMIX_RANK"),
    ({"OMPI_COMM_WORLD_RANK": "8", "PMIX_RANK": "7"}, "8", "OMPI_COMM_WORLD_RANK"),
    ({"RANK": "9", "LOCAL_RANK": "1", "SLURM_PROCID": "3"}, "9", "RANK"),
    ({"RANK": "9"}, None, None),
    ({"SLURM_PROCID": "many"}, None, None),
    ({"OMPI_COMM_WORLD_RANK": ""}, None, None),
]


@pytest.mark.parametrize("env,rank,source", RANKS)
def test_s85_rank_from_the_launcher(bench, env, rank, source):
    trace = bench.same(REGIONS, 5, env=env, notes="any").trace()
    records = [r["args"] for r in trace.metadata("PR") if r["args"]["name"] == "rank"]
    if rank is None:
        assert not records
    else:
        assert [(r["value"], r["source"]) for r in records] == [(rank, source)]
        assert any(r["args"]["name"] == f"Rank {rank}" for r in trace.metadata("process_name"))


def test_s85_children_carry_the_rank(bench):
    run = bench.same("fault/programs/nested_forks.c", 1, "exit", env={"SLURM_PROCID": "3"})
    for trace in run.traces():
        assert [r["args"]["value"] for r in trace.metadata("PR") if r["args"]["name"] == "rank"] == ["3"]
