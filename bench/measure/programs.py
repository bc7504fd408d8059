# SPDX-License-Identifier: MIT
"""Finds the programs of a build and runs them: one JSON line of output and what the kernel says they used."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path


class ProgramFailed(RuntimeError):
    """A program of the benchmark ended wrongly; the message says which and how."""


@dataclass
class Run:
    """One finished program: its JSON line, its processor time with that of its children, and its wall time."""

    values: dict
    cpu_ns: int
    wall_ns: int
    stderr: str
    extra: dict = field(default_factory=dict)

    def __getitem__(self, key: str):
        return self.values[key] if key in self.values else self.extra[key]


class Build:
    """A build folder with DFTRACER_BUILD_BENCHMARKS=ON."""

    def __init__(self, folder: Path):
        described = folder / "bench" / "bench.json"
        if not described.exists():
            raise ProgramFailed(f"{described} is missing: configure with -DDFTRACER_BUILD_BENCHMARKS=ON and build")
        self.folder = folder
        self.facts = json.loads(described.read_text())
        self.bin = Path(self.facts["bin"])

    def program(self, name: str) -> Path | None:
        path = self.bin / name
        return path if path.exists() else None

    def command(self) -> Path | None:
        """The dftracer command of this build."""
        found = [p for p in self.folder.glob("**/dftracer") if p.is_file() and os.access(p, os.X_OK)]
        return found[0] if found else None


def clean_environment(**variables: str) -> dict[str, str]:
    """The caller's environment without anything that steers a tracer, and with `variables`."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DFTRACER_", "LTTNG_", "TRACY_", "LD_PRELOAD"))}
    kept.update(variables)
    return kept


def run(argv: list, environment: dict[str, str], folder: Path, time_limit_s: float = 600) -> Run:
    """Runs one program to its end. Its last line of output is the JSON line of regions/harness.c."""
    begin = time.perf_counter_ns()
    with open(folder / "stdout", "w+b") as out, open(folder / "stderr", "w+b") as err:
        child = subprocess.Popen([str(a) for a in argv], env=environment, cwd=folder, stdout=out, stderr=err)
        status, usage = _wait(child, time_limit_s)
        wall_ns = time.perf_counter_ns() - begin
        out.seek(0)
        err.seek(0)
        text, complaint = out.read().decode(), err.read().decode(errors="replace")
    if status != 0:
        raise ProgramFailed(f"{' '.join(map(str, argv))}: exit status {status}: {complaint[-400:]}")
    lines = [line for line in text.splitlines() if line.startswith("{")]
    values = json.loads(lines[-1]) if lines else {}
    return Run(values, int((usage.ru_utime + usage.ru_stime) * 1e9), wall_ns, complaint)


def _wait(child: subprocess.Popen, time_limit_s: float):
    deadline = time.monotonic() + time_limit_s
    pause = 0.0002
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid == child.pid:
            child.returncode = os.waitstatus_to_exitcode(status)
            return child.returncode, usage
        if time.monotonic() > deadline:
            child.kill()
            os.wait4(child.pid, 0)
            child.returncode = -9
            raise ProgramFailed(f"{child.args[0]} did not end within {time_limit_s:.0f} s")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)


def times_of(argv: list, environment: dict[str, str], folder: Path) -> tuple[int, int]:
    """Wall time of a short program, from spawn to reaped, and its processor time, in ns; output goes nowhere."""
    null = os.open(os.devnull, os.O_WRONLY)
    actions = [(os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)]
    here = os.getcwd()
    os.chdir(folder)
    try:
        begin = time.perf_counter_ns()
        pid = os.posix_spawn(str(argv[0]), [str(a) for a in argv], environment, file_actions=actions)
        _, status, usage = os.wait4(pid, 0)
        wall_ns = time.perf_counter_ns() - begin
    finally:
        os.chdir(here)
        os.close(null)
    if status != 0:
        raise ProgramFailed(f"{' '.join(map(str, argv))}: wait status {status}")
    return wall_ns, int((usage.ru_utime + usage.ru_stime) * 1e9)
