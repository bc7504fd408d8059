# SPDX-License-Identifier: MIT
"""Instructions, and locked instructions, of one event: the difference of a longer and a shorter run of one program."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from . import callgrind
from .programs import Build, ProgramFailed
from .rows import Bench


@dataclass(frozen=True)
class Case:
    """A program whose `function` handles as many events as it is told. The longer run's records fit into one chunk,
    so that a change of chunk, which other threads' timing decides, is not in the figure."""

    name: str
    program: str
    function: str
    options: tuple
    shorter: int
    longer: int
    on: bool = True
    counted_option: tuple = ("--regions",)
    preload: bool = False


def io_case(way: str, function: str, shorter: int, longer: int) -> Case:
    options = ("--way", way)
    return Case(f"io_{way}", "io_calls", function, options, shorter, longer, counted_option=("--calls",), preload=True)


CASES = (
    Case("region_0_args", "regions_dftracer", "bench_loop_0", ("--args", 0, "--warmup", 100), 300, 1300),
    Case("region_4_args", "regions_dftracer", "bench_loop_4", ("--args", 4, "--warmup", 100), 200, 700),
    Case("region_0_args_cpp", "regions_dftracer_cpp", "bench_loop_0", ("--args", 0, "--warmup", 100), 300, 1300),
    Case("region_4_args_cpp", "regions_dftracer_cpp", "bench_loop_4", ("--args", 4, "--warmup", 100), 200, 700),
    Case("off_region_0_args", "regions_dftracer", "bench_loop_0", ("--args", 0), 1000, 11000, on=False),
    Case("off_region_4_args", "regions_dftracer", "bench_loop_4", ("--args", 4), 1000, 11000, on=False),
    Case("off_region_0_args_cpp", "regions_dftracer_cpp", "bench_loop_0", ("--args", 0), 1000, 11000, on=False),
    Case("line_0_args", "encode_lines", "bench_encode_lines", (0,), 1000, 11000, on=False, counted_option=()),
    Case("line_4_args", "encode_lines", "bench_encode_lines", (4,), 1000, 11000, on=False, counted_option=()),
    io_case("read_at_end", "read_at_end", 400, 2400),
    io_case("whole_files", "whole_files", 400, 1600),
    io_case("untraced_fd", "read_at_end", 400, 2400),
    io_case("filtered_open", "open_close", 400, 2400),
    Case("line_gpu_kernel", "encode_lines", "bench_encode_kernel_lines", (18,), 1000, 11000, on=False,
         counted_option=()),
)


def count(build: Build, case: Case, events: int, folder: Path, each: bool = False) -> callgrind.Counts:
    program = build.program(case.program)
    if program is None:
        raise ProgramFailed(f"{case.program} is not built")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment = {"DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": str(folder / "trace")} if case.on else {}
    if case.preload:
        library = build.folder / "lib" / "libdftracer_preload.so"
        environment |= {"DFTRACER_INIT": "PRELOAD", "DFTRACER_DATA_DIR": str(folder / "traced"),
                        "LD_PRELOAD": str(library)}
    argv = [program, *case.options, *case.counted_option, events]
    return callgrind.count(argv, case.function, folder, environment, each)


def an_event(build: Build, case: Case, folder: Path) -> float:
    counts = [count(build, case, n, folder).instructions for n in (case.shorter, case.longer)]
    return (counts[1] - counts[0]) / (case.longer - case.shorter)


def fill(bench: Bench) -> None:
    """What a compiled-out region leaves, and locked instructions an event on the application thread within a chunk;
    the note says over many chunks."""
    loops = [an_event(bench.build, Case("", program, "bench_loop_0", ("--args", 0), 1000, 11000, on=False),
                      bench.scratch / "callgrind") for program in ("regions_compiled_out", "regions_bare")]
    bench.table.add("compiled_out", loops[0] - loops[1], f"a turn of the loop: {loops[0]:.1f} and {loops[1]:.1f}")
    within = 0.0
    for case in CASES[:2]:
        locked = [count(bench.build, case, n, bench.scratch / "callgrind", each=True).locked()
                  for n in (case.shorter, case.longer)]
        within = max(within, (locked[1] - locked[0]) / (case.longer - case.shorter))
    events = bench.amount(40_000, 10_000)
    amortised = count(bench.build, CASES[1], events, bench.scratch / "callgrind", each=True).locked()
    note = f"{amortised} in {events} events with four args, chunk changes and start included"
    bench.table.add("locked_instructions", within, note)
