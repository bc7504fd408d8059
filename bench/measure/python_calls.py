# SPDX-License-Identifier: MIT
"""The rows of the Python package: what its uses cost, beside those of the original's release 2.2.0."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median

from . import programs
from .programs import ProgramFailed, clean_environment
from .rows import Bench

SCRIPT = Path(__file__).resolve().parent.parent / "python" / "calls.py"
BUDGETS = {"with_node": "python_region", "log": "python_log", "node": "python_node", "iter": "python_item",
           "with_new": "python_new_region", "method": "python_method"}  # fmt: skip


def fill(bench: Bench) -> None:
    package = bench.build.folder / "python"
    if not list((package / "dftracer").glob("dftracer*.so")):
        print("  the Python package is not built")
        return
    original = Path(bench.build.facts["original"])
    sources = {"ours": [package, bench.build.bin]}
    if _imports(original):
        sources["original"] = [original, bench.build.bin]
    figures: dict = {}
    for number in range(bench.rounds):
        print(f"  round {number + 1} of {bench.rounds}", flush=True)
        for name, paths in sources.items():
            for on in (True, False):
                _measure(bench, figures, name, paths, on)
    _rows(bench, figures)
    _comparison(figures)


def _imports(original: Path) -> bool:
    environment = clean_environment(PYTHONPATH=str(original))
    done = subprocess.run([sys.executable, "-c", "import dftracer.python, dftracer.dftracer"], env=environment, capture_output=True)
    if done.returncode != 0:
        print("  original: not installed (pip install --target DIR dftracer==2.2.0, DFTRACER_BENCH_ORIGINAL_DIR=DIR)")
    return done.returncode == 0


def _measure(bench: Bench, figures: dict, name: str, paths: list, on: bool) -> None:
    """Appends one figure a round to each (tracer, on or off, way)."""
    folder = bench.scratch / "python-calls"
    folder.mkdir()
    variables = dict(PYTHONPATH=":".join(map(str, paths)), PYTHONDONTWRITEBYTECODE="1")
    if on:
        variables.update(DFTRACER_ENABLE="1", DFTRACER_LOG_FILE=str(folder / "trace"), DFTRACER_DISABLE_IO="1",
                         DFTRACER_INC_METADATA="1")  # fmt: skip
    calls = bench.amount(40_000, 20_000) // (10 if name == "original" and on else 1)
    try:
        run = programs.run([sys.executable, SCRIPT, calls, 3 if name == "original" else 12], clean_environment(**variables), folder)
        for way, ns in run["ns"].items():
            figures.setdefault((name, on, way), []).append(ns)
        figures[(name, on, "same")] = run["same"]
    except ProgramFailed as failure:
        print(f"  {name}: {failure}")
    finally:
        shutil.rmtree(folder)


def _spread(values: list) -> str:
    return f"{min(values):.0f} to {max(values):.0f}"


def _rows(bench: Bench, figures: dict) -> None:
    for way, row in BUDGETS.items():
        values = figures.get(("ours", True, way))
        if values:
            theirs = figures.get(("original", True, way))
            beside = f"; release 2.2.0 {median(theirs):.0f} ({_spread(theirs)})" if theirs else ""
            bench.table.add(row, median(values), _spread(values) + beside)
    ours, empty = figures.get(("ours", False, "with_node")), figures.get(("ours", False, "empty_with"))
    if ours and empty:
        pairs = [a / b for a, b in zip(ours, empty)]
        bench.table.add("python_off_with", median(pairs), f"{min(pairs):.2f} to {max(pairs):.2f}; {median(ours):.0f} against {median(empty):.0f} ns")
    if ("ours", False, "same") in figures:
        bench.table.add("python_off_decorator", 0 if figures[("ours", False, "same")] else 1, "0: the function itself is returned")


def _comparison(figures: dict) -> None:
    ways = sorted({way for _, _, way in figures if way != "same"})
    print("  ns of thread CPU a call (off / on)")
    for way in ways:
        columns = []
        for name in ("ours", "original"):
            pair = [figures.get((name, on, way)) for on in (False, True)]
            columns.append(f"{name} " + " / ".join(f"{median(v):.0f}" if v else "-" for v in pair))
        print(f"    {way:14}" + "   ".join(columns))
