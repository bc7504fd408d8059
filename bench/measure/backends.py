# SPDX-License-Identifier: MIT
"""How each tracer is run: environment, command line, helping processes, and what it wrote and lost."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from . import programs
from .programs import Build, Run, clean_environment


def folder_bytes(folder: Path) -> int:
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())


class BackEnd:
    """One way to run the regions. `scale`: share of the region count that it gets (slow tracers get less)."""

    def __init__(self, name: str, program: str, what: str, scale: float = 1.0, **environment: str):
        self.name, self.program, self.what, self.scale = name, program, what, scale
        self.environment = environment
        self.missing = "not opened"
        self.path: Path | None = None

    def open(self, build: Build, scratch: Path) -> None:
        """Looks for what it needs; sets `missing` when it is not there. `close` undoes it."""
        self.path = build.program(self.program)
        self.scratch = scratch
        self.missing = "" if self.path else "not installed"

    def close(self) -> None:
        pass

    def run(self, *options, inspect=None, **environment: str) -> Run:
        """A run in a fresh folder, removed afterwards; run.extra has `bytes`, `lost`, `total_cpu_ns` and, as
        `inspected`, what `inspect` made of the written files."""
        folder = self.scratch / self.name
        shutil.rmtree(folder, ignore_errors=True)
        output = folder / "out"
        output.mkdir(parents=True)
        try:
            result = self.run_in(folder, output, [str(o) for o in options], environment)
            if inspect:
                result.extra["inspected"] = inspect(output)
            return result
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def run_in(self, folder: Path, output: Path, options: list[str], environment: dict[str, str]) -> Run:
        variables = {k: v.replace("{out}", str(output)) for k, v in {**self.environment, **environment}.items()}
        result = programs.run([self.path, *options], clean_environment(**variables), folder)
        result.extra.update(bytes=folder_bytes(output), lost=0, total_cpu_ns=result["process_cpu_ns"])
        return result


class Uftrace(BackEnd):
    def open(self, build: Build, scratch: Path) -> None:
        super().open(build, scratch)
        if not shutil.which("uftrace"):
            self.missing = "not installed"

    def run_in(self, folder, output, options, environment):
        argv = ["uftrace", "record", "--no-pager", "--no-libcall", "--buffer=4m", "-d", output / "data"]
        argv += ["-A", "region_4@arg1,arg2,arg3/s,fparg1/64", self.path, *options]
        result = programs.run(argv, clean_environment(**environment), folder)
        lost = sum(int(n) for n in re.findall(r"LOST (\d+)", result.stderr))
        result.extra.update(bytes=folder_bytes(output), lost=lost, total_cpu_ns=result.cpu_ns)
        return result


class Lttng(BackEnd):
    """LTTng-UST with a session daemon that lives only as long as this back end is open.

    The daemon of root has one place per machine (of another user: under LTTNG_HOME), so a daemon that is already
    running is not ours and makes the comparison impossible."""

    pid_file = Path("/var/run/lttng/lttng-sessiond.pid")
    daemon = 0

    def open(self, build: Build, scratch: Path) -> None:
        super().open(build, scratch)
        if self.missing or not shutil.which("lttng-sessiond") or not shutil.which("lttng"):
            self.missing = "not installed"
            return
        self.home = scratch / "lttng-home"
        self.home.mkdir()
        if os.getuid() != 0:
            self.pid_file = self.home / ".lttng" / "lttng-sessiond.pid"
        if self._daemon_pid():
            self.missing = "not run: an LTTng session daemon that is not ours is running"
            return
        self.variables = dict(LTTNG_HOME=str(self.home), HOME=str(self.home))
        with open(self.home / "daemon.log", "wb") as log:  # a pipe would be held open by the daemon
            subprocess.run(["lttng-sessiond", "--background", "--no-kernel"], env=clean_environment(**self.variables),
                           stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=60, check=False)
        self.daemon = self._daemon_pid()
        if not self.daemon:
            self.missing = "not run: its session daemon does not start"

    def _daemon_pid(self) -> int:
        try:
            pid = int(self.pid_file.read_text())
            return pid if "lttng" in Path(f"/proc/{pid}/comm").read_text() else 0
        except (OSError, ValueError):
            return 0

    def close(self) -> None:
        if not self.daemon:
            return
        os.kill(self.daemon, signal.SIGTERM)
        for _ in range(200):
            if not Path(f"/proc/{self.daemon}").exists():
                return
            time.sleep(0.05)
        os.kill(self.daemon, signal.SIGKILL)

    def _lttng(self, *arguments: str) -> str:
        done = subprocess.run(["lttng", "--no-sessiond", *arguments], env=clean_environment(**self.variables),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            raise programs.ProgramFailed(f"lttng {' '.join(arguments)}: {done.stderr[-300:]}")
        return done.stdout + done.stderr

    def _daemon_cpu_ns(self) -> int:
        """Processor time of the session daemon and the consumers it started."""
        ticks = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(stat.parent.name) == self.daemon or int(fields[1]) == self.daemon:
                ticks += int(fields[11]) + int(fields[12])
        return ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK")

    def run_in(self, folder, output, options, environment):
        before = self._daemon_cpu_ns()
        self._lttng("create", "bench", f"--output={output}")
        try:
            self._lttng("enable-channel", "-u", "--buffers-uid", "--subbuf-size=4M", "--num-subbuf=16", "bench")
            self._lttng("enable-event", "-u", "dftracer_bench:*", "-c", "bench")
            self._lttng("start")
            variables = dict(self.variables, LTTNG_UST_REGISTER_TIMEOUT="-1", **environment)
            result = programs.run([self.path, *options], clean_environment(**variables), folder)
            said = self._lttng("stop")
            size = folder_bytes(output)
        finally:
            self._lttng("destroy", "bench")
        lost = sum(int(n) for n in re.findall(r"(\d+) events? (?:were|was) discarded", said))
        outside = self._daemon_cpu_ns() - before
        result.extra.update(bytes=size, lost=lost, total_cpu_ns=result["process_cpu_ns"] + outside)
        return result


def all_backends() -> dict[str, BackEnd]:
    on = dict(DFTRACER_ENABLE="1", DFTRACER_LOG_FILE="{out}/trace")
    backends = [
        BackEnd("bare", "regions_bare", "the loop itself", scale=10),
        BackEnd("copy", "regions_copy", "two clock readings and a copied record"),
        BackEnd("dftracer-c", "regions_dftracer", "DFTracer, C macros", scale=3, **on),
        BackEnd("dftracer-cpp", "regions_dftracer_cpp", "DFTracer, C++ macros", scale=3, **on),
        BackEnd("off-c", "regions_dftracer", "DFTracer not enabled, C macros", scale=10),
        BackEnd("off-cpp", "regions_dftracer_cpp", "DFTracer not enabled, C++ macros", scale=10),
        BackEnd("compiled-out", "regions_compiled_out", "DFTRACER_DISABLE", scale=10),
        Lttng("lttng", "regions_lttng", "LTTng-UST, begin and end event"),
        Uftrace("uftrace", "regions_uftrace", "uftrace record, -pg", scale=0.5),
        BackEnd("spdlog", "regions_spdlog", "spdlog async, one line a region", scale=0.2, BENCH_OUTPUT="{out}/log"),
        BackEnd("quill", "regions_quill", "Quill, one line a region", BENCH_OUTPUT="{out}/log"),
        BackEnd("tracy", "regions_tracy", "Tracy without a server", scale=0.5),
        BackEnd("original", "regions_original", "DFTracer 2.2.0 from PyPI, metadata on", scale=0.2,
                DFTRACER_INC_METADATA="1", **on),
    ]
    return {b.name: b for b in backends}
