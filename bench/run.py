#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the benchmarks of a build against the budgets in bench/budgets.toml and prints one table.

    bench/run.py BUILD [--quick] [--only regions,memory,...] [--rounds N]

Exit status 1 when a `must` is not held, 2 when the benchmarks cannot run."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from measure import instructions, io_calls, python_calls, regions, report, rows
from measure.backends import all_backends
from measure.programs import Build, ProgramFailed

HERE = Path(__file__).resolve().parent
GROUPS = {
    "regions": None,  # all back ends against each other; see _regions
    "sustained": rows.sustained,
    "bytes": rows.bytes_an_event,
    "start": rows.start_finish,
    "memory": rows.memory,
    "calls": rows.calls,
    "instructions": instructions.fill,
    "lost": rows.lost_lines,
    "waits": rows.waits,
    "io": io_calls.fill,
    "python": python_calls.fill,
}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=Path, help="build folder configured with DFTRACER_BUILD_BENCHMARKS=ON")
    parser.add_argument("--quick", action="store_true", help="smaller amounts and fewer rounds: for a look, not a note")
    parser.add_argument("--only", default=",".join(GROUPS), help="groups, by comma: " + " ".join(GROUPS))
    parser.add_argument("--rounds", type=int, help="rounds of the region rows (7; quick: 3)")
    parser.add_argument("--scratch", type=Path, help="where traces are written (default: /dev/shm, else the temporary folder)")
    arguments = parser.parse_args()
    arguments.groups = arguments.only.split(",")
    unknown = [g for g in arguments.groups if g not in GROUPS]
    if unknown:
        parser.error(f"unknown group {', '.join(unknown)}; there are {' '.join(GROUPS)}")
    return arguments


def scratch_folder(wanted: Path | None) -> Path:
    parent = wanted or (Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else None)
    return Path(tempfile.mkdtemp(prefix="dftracer-bench-", dir=parent))


def run_groups(bench: rows.Bench, groups: list[str]) -> str:
    comparison = ""
    for group in groups:
        print(group, flush=True)
        if group == "regions":
            rounds = regions.measure(bench)
            regions.fill(bench, rounds)
            comparison = rows.comparison(rounds)
        elif bench.has("dftracer-c"):
            GROUPS[group](bench)
        else:
            print("  libdftracer_core is not built")
    return comparison


def main() -> int:
    arguments = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that daemons are ended
    try:
        build = Build(arguments.build.resolve())
    except ProgramFailed as failure:
        print(failure, file=sys.stderr)
        return 2
    scratch = scratch_folder(arguments.scratch)
    backends = all_backends()
    rounds = arguments.rounds or (3 if arguments.quick else 7)
    bench = rows.Bench(build, scratch, report.Table(HERE / "budgets.toml"), backends, arguments.quick, rounds)
    machine = report.machine(build.facts)
    try:
        for backend in backends.values():
            wanted = "regions" in arguments.groups or backend.program in ("regions_bare", "regions_dftracer")
            if wanted or ("io" in arguments.groups and backend.name == "lttng"):
                backend.open(build, scratch)
        comparison = run_groups(bench, arguments.groups)
    except ProgramFailed as failure:
        print(failure, file=sys.stderr)
        return 2
    finally:
        for backend in backends.values():
            backend.close()
        shutil.rmtree(scratch, ignore_errors=True)
    print(f"\n{machine}\n")
    if comparison:
        print("ns of the application threads a region (x2: on two threads), total CPU, bytes, memory added:")
        print(comparison)
        absent = [f"{b.name}: {b.missing}" for b in backends.values() if b.missing]
        print("\n".join(absent) + "\n")
    print(bench.table)
    if set(arguments.groups) == set(GROUPS) and bench.table.unmeasured:
        print(f"budgets without a measurement: {', '.join(bench.table.unmeasured)}")
    return 1 if bench.table.failed else 0


if __name__ == "__main__":
    sys.exit(main())
