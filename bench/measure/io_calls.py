# SPDX-License-Identifier: MIT
"""The rows of traced I/O: what a preloaded process pays for a call, and whether all of them arrive."""

from __future__ import annotations

import copy
import shutil
import sys
from pathlib import Path
from statistics import median

from . import programs, traces
from .backends import BackEnd
from .programs import ProgramFailed, clean_environment
from .rows import Bench

WAYS = {"read_at_end": 2_000_000, "whole_files": 800_000, "stream": 4_000_000, "untraced_fd": 4_000_000, "filtered_open": 2_000_000}
ANSWERED = ("untraced_fd", "filtered_open")  # without the kernel: io/answered_calls.c
THREADS = 8
READING = """
import os, sys
total = 0
for name in sorted(os.listdir(sys.argv[1])):
    with open(os.path.join(sys.argv[1], name), "rb") as file:
        total += len(file.read())
print(total)
"""


def fill(bench: Bench) -> None:
    library = next(iter(bench.build.folder.glob("lib/libdftracer_preload.so")), None)
    if library is None or bench.build.program("io_calls") is None:
        print("  libdftracer_preload is not built")
        return
    on = dict(DFTRACER_ENABLE="1", DFTRACER_INIT="PRELOAD", DFTRACER_LOG_FILE="{out}/trace",
              DFTRACER_DATA_DIR="{out}/../traced", LD_PRELOAD=str(library))
    backends = {"bare": BackEnd("io-bare", "io_calls", ""), "ours": BackEnd("io", "io_calls", "", **on)}
    for backend in backends.values():
        backend.open(bench.build, bench.scratch)
    comparator = _lttng(bench)
    if comparator:
        backends["lttng"] = comparator
    added, least = _rounds(bench, backends)
    _fill_calls(bench, added, least)
    python_reading(bench, library)
    lost_calls(bench, backends["ours"])


def _lttng(bench: Bench) -> BackEnd | None:
    """The session of the region rows, with a preloaded library of our own that wraps the calls."""
    preload = bench.build.bin / "liblttng_io.so"
    if bench.backends["lttng"].missing or not preload.exists():
        return None
    backend = copy.copy(bench.backends["lttng"])
    backend.name, backend.path = "io-lttng", bench.build.program("io_calls")
    run_in = backend.run_in
    backend.run_in = lambda folder, output, options, environment: run_in(
        folder, output, options, dict(environment, LD_PRELOAD=str(preload)))
    return backend


def _rounds(bench: Bench, backends: dict[str, BackEnd]) -> tuple[dict, dict]:
    """(tracer, way, threads) -> ns that it adds to a call on its thread, one figure a round; and the cheapest call of all
    rounds, which other load on the machine disturbs least."""
    added: dict = {}
    least: dict = {}
    cases = [(way, 1) for way in WAYS] + [("read_at_end", THREADS)]
    for number in range(bench.rounds):
        print(f"  round {number + 1} of {bench.rounds}", flush=True)
        for way, threads in cases:
            names = [name for name in backends if name != "lttng" or way not in ANSWERED]
            costs = {}
            for name in names[number % len(names):] + names[:number % len(names)]:
                share = 4 if name == "lttng" else 1
                calls = bench.amount(WAYS[way], WAYS[way] // 4) // threads // share // 10_000 * 10_000
                try:
                    run = backends[name].run("--way", way, "--threads", threads, "--calls", calls,
                                             **_preloaded(bench, backends[name], way))
                except ProgramFailed as failure:
                    print(f"  {name}: {failure}")
                    del backends[name]
                    continue
                costs[name] = run["thread_cpu_ns"] / (calls * threads)
                case = (name, way, threads)
                least[case] = min(least.get(case, costs[name]), costs[name])
            for name in costs.keys() - {"bare"}:
                added.setdefault((name, way, threads), []).append(costs[name] - costs["bare"])
    return added, least


def _preloaded(bench: Bench, backend: BackEnd, way: str) -> dict[str, str]:
    if way not in ANSWERED:
        return {}
    before = backend.environment.get("LD_PRELOAD", "")
    return dict(LD_PRELOAD=f"{before} {bench.build.bin / 'libanswered_calls.so'}".strip())


def _fill_calls(bench: Bench, added: dict, least: dict) -> None:
    def between_least(way: str, threads: int = 1) -> float:
        return least[("ours", way, threads)] - least[("bare", way, threads)]

    def figure(row: str, way: str) -> None:
        values = added[("ours", way, 1)]
        note = f"{min(values):.1f} to {max(values):.1f}; between the cheapest runs {between_least(way):.1f}"
        bench.table.add(row, max(median(values), 0.0), note)

    for way in ("read_at_end", "whole_files"):
        others = added.get(("lttng", way, 1))
        if not others or len(others) != len(added[("ours", way, 1)]):
            bench.table.add(f"io_{way}_to_lttng", None, f"lttng: {bench.backends['lttng'].missing or 'no result'}")
            continue
        pairs = [a / b for a, b in zip(added[("ours", way, 1)], others)]
        bench.table.add(f"io_{way}_to_lttng", median(pairs), f"{min(pairs):.3f} to {max(pairs):.3f}; LTTng adds {median(others):.0f} ns")
    for way in WAYS:
        figure(f"io_{way}", way)
    many, one = (median(added[("ours", "read_at_end", threads)]) for threads in (THREADS, 1))
    cheapest = f"between the cheapest runs {between_least('read_at_end', THREADS):.1f} and {between_least('read_at_end'):.1f}"
    bench.table.add("io_8_threads", many / one, f"{many:.1f} against {one:.1f} ns; {cheapest}")


def python_reading(bench: Bench, library: Path) -> None:
    files = bench.amount(20_000, 5_000)
    folder = bench.scratch / "python"
    data = folder / "data"
    data.mkdir(parents=True)
    for i in range(files):
        (data / f"f{i}").write_bytes(b"x" * (i % 2000))
    argv = [sys.executable, "-I", "-S", "-c", READING, data]
    ratios = []
    try:
        for number in range(bench.amount(15, 5)):
            out = folder / f"out{number}"
            environment = clean_environment(DFTRACER_ENABLE="1", DFTRACER_INIT="PRELOAD", LD_PRELOAD=str(library),
                                            DFTRACER_LOG_FILE=str(out / "trace"), DFTRACER_DATA_DIR=str(data))
            bare = programs.times_of(argv, clean_environment(), folder)
            ratios.append(programs.times_of(argv, environment, folder)[0] / bare[0])
            shutil.rmtree(out, ignore_errors=True)
    finally:
        shutil.rmtree(folder)
    bench.table.add("io_python", median(ratios), f"{files} files, {min(ratios):.2f} to {max(ratios):.2f} in {len(ratios)} pairs")


def lost_calls(bench: Bench, ours: BackEnd) -> None:
    """open, write, read, close of one file a thread, closed and opened over and over while others do the same."""
    total, lost, notes = bench.amount(800_000, 160_000), 0, []
    for threads in (1, 2, 4, 8, 16, 32, 64):
        turns = total // threads // 4
        run = ours.run("--way", "whole_files", "--threads", threads, "--calls", 4 * turns,
                       inspect=lambda output: [traces.count_lines(output, f'"name":"{n}"'.encode()) for n in ("write", "read")])
        expected = threads * (turns + run["warmup"] // 4)
        written, taken = run["inspected"]
        if written != expected or taken != expected:
            notes.append(f"{threads} threads: {written} writes, {taken} reads of {expected}")
            lost += abs(expected - written) + abs(expected - taken)
    bench.table.add("io_lost", lost, "; ".join(notes) or f"{7 * total} calls")
