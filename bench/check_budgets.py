#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the instructions of an event under callgrind and holds them against [instructions] of bench/budgets.toml.

    bench/check_budgets.py [BUILD]            fails when one is more than 3 % above its budget
    bench/check_budgets.py [BUILD] --update   writes what was counted as the new budgets

Without BUILD the programs are built in build/bench first.

The counts depend on the compiler, so each compiler and processor has a table of its own; one without a table is counted
and passes. Exit status: 0 within, 1 above, 2 cannot count."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from measure import instructions, report
from measure.programs import Build, ProgramFailed

HERE = Path(__file__).resolve().parent
BUDGETS = HERE / "budgets.toml"


def table_name(facts: dict) -> str:
    """`GNU 12.2.0` on `x86_64`, compressed by nothing that matters here: gnu-12-x86_64-release."""
    family, version = facts["compiler"].split()
    return f"{family}-{version.split('.')[0]}-{facts['processor']}-{facts['build_type']}".lower()


def build_programs() -> Path:
    """A release build of what is counted, in the usual folder."""
    folder = HERE.parent / "build" / "bench"
    targets = sorted({f"bench_{case.program}" for case in instructions.CASES} | {"dftracer_preload"})
    options = ["-DDFTRACER_BUILD_BENCHMARKS=ON", "-DDFTRACER_BUILD_TYPE=Release", f"-DDFTRACER_PYTHON_EXE={sys.executable}"]
    commands = [["cmake", "-S", HERE.parent, "-B", folder, *options],
                ["cmake", "--build", folder, "--parallel", str(os.cpu_count()), "--target", *targets]]
    for command in commands:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise ProgramFailed(f"{' '.join(map(str, command))} failed:\n{done.stdout[-3000:]}")
    return folder


def verdict(counted: float, budget: float | None, tolerance: float) -> str:
    if budget is None:
        return "no budget"
    if counted > budget * (1 + tolerance):
        return "ABOVE"
    return "ok, below: update" if counted < budget * (1 - tolerance) else "ok"


def update(name: str, counted: dict[str, float]) -> None:
    text = BUDGETS.read_text()
    section = f'[instructions."{name}"]\n' + "".join(f"{key} = {value:.1f}\n" for key, value in counted.items())
    pattern = re.compile(r'\[instructions\."' + re.escape(name) + r'"\]\n(?:[^\[\n].*\n)*')
    found = pattern.search(text)
    text = text[:found.start()] + section + text[found.end():] if found else text.rstrip("\n") + "\n" + section
    BUDGETS.write_text(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=Path, nargs="?", help="build folder with DFTRACER_BUILD_BENCHMARKS=ON")
    parser.add_argument("--update", action="store_true", help="write the counts into bench/budgets.toml")
    arguments = parser.parse_args()
    if not shutil.which("valgrind"):
        print("valgrind is not installed: apt-get install valgrind", file=sys.stderr)
        return 2
    budgets = tomllib.loads(BUDGETS.read_text())["instructions"]
    try:
        build = Build((arguments.build or build_programs()).resolve())
        with tempfile.TemporaryDirectory(prefix="dftracer-bench-") as folder:
            counted = {c.name: instructions.an_event(build, c, Path(folder) / "run") for c in instructions.CASES}
    except ProgramFailed as failure:
        print(failure, file=sys.stderr)
        return 2
    name = table_name(build.facts)
    own = budgets.get(name, {})
    lines = [("instructions an event", "counted", "budget", "verdict")]
    lines += [(key, f"{value:.1f}", own.get(key, "-"), verdict(value, own.get(key), budgets["tolerance"]))
              for key, value in counted.items()]
    print(report.columns(lines))
    if arguments.update:
        update(name, counted)
        print(f"budgets.toml: [instructions.\"{name}\"] now holds these counts; say in the commit why they moved")
        return 0
    if not own:
        print(f"no budgets for {name} yet: bench/check_budgets.py --update writes them")
    above = [line[0] for line in lines[1:] if line[3] == "ABOVE"]
    if above:
        print(f"above budget: {', '.join(above)}. If that is meant: bench/check_budgets.py --update, "
              "and say in the commit why")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
