# SPDX-License-Identifier: MIT
"""What is measured: each function fills some rows of the table."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from . import programs, traces
from .backends import BackEnd
from .programs import Build, clean_environment
from .report import Table, columns

MIB_OF_THREAD = 0.5
MIB_OF_BUFFER_LIMIT = 64
EVENTS_OF_A_CHUNK = 7000  # fewer than fill one chunk with records of regions without args


@dataclass
class Bench:
    """One call of run.py."""

    build: Build
    scratch: Path
    table: Table
    backends: dict[str, BackEnd]
    quick: bool
    rounds: int

    def amount(self, full: int, quick: int) -> int:
        return quick if self.quick else full

    def has(self, name: str) -> bool:
        return not self.backends[name].missing

    def ours(self, *options, inspect=None, **environment: str):
        return self.backends["dftracer-c"].run(*options, inspect=inspect, **environment)

    def bare(self, *options):
        return self.backends["bare"].run(*options)


def lost_lines(bench: Bench) -> None:
    """Every region of every thread is in the trace, each line is strict JSON, and our own command agrees."""
    total, lost, bad, notes = bench.amount(1_000_000, 128_000), 0, 0, []
    command = bench.build.command()
    for threads in (1, 2, 4, 8, 16, 32, 64):
        regions = total // threads
        args = 4 if threads in (2, 8, 32) else 0

        def inspect(output: Path):
            content = traces.read_strictly(output)
            refusal = traces.validate(command, output) if command else ""
            if refusal:
                notes.append(f"validate at {threads} threads: {refusal}")
            return content

        run = bench.ours("--args", args, "--threads", threads, "--regions", regions, inspect=inspect)
        content = run["inspected"]
        expected = regions + run["warmup"]
        of_threads = sorted(content.regions.values())
        missing = threads * expected - sum(min(n, expected) for n in of_threads)
        surplus = sum(max(0, n - expected) for n in of_threads)
        lost += missing + surplus
        bad += content.bad_lines
        if missing or surplus or content.reported_lost:
            notes.append(f"{threads} threads: {missing} missing, {surplus} surplus, {content.reported_lost} reported")
    checked = "also by dftracer validate" if command else "dftracer validate is not built"
    bench.table.add("lost_events", lost, "; ".join(notes) or f"{7 * total} regions, {checked}")
    bench.table.add("bad_lines", bad)


def sustained(bench: Bench) -> None:
    """Far more events than the buffer holds, timed from the first to the last byte written."""
    for args, full in ((0, 20_000_000), (4, 6_000_000)):
        regions = bench.amount(full, full // 6)
        rates, counted, busiest = [], 0, []
        for _ in range(bench.amount(3, 1)):
            run = bench.ours("--args", args, "--regions", regions,
                             inspect=lambda output: traces.count_lines(output, b'"name":"region"'))
            counted = run["inspected"] - run["warmup"]
            rates.append(regions / (run["loop_wall_ns"] + run["finish_ns"]) * 1000)
            background = run["process_cpu_ns"] - run["thread_cpu_ns"]
            busiest.append(regions / max(background, run["thread_cpu_ns"]) * 1000)
        note = f"{counted} of {regions} in the trace" + ("" if counted == regions else ": LOST")
        note += f"; {median(busiest):.2f} by the processor time of the busier thread"
        bench.table.add(f"sustained_{args}_args", median(rates) if counted == regions else 0.0, note)


def bytes_an_event(bench: Bench) -> None:
    """programs/file_reading.c: what a Python program's reading of many small files leaves in a trace."""
    program = bench.build.program("file_reading")
    files = bench.amount(20_000, 4_000)
    folder = bench.scratch / "reading"
    (folder / "out").mkdir(parents=True)
    (folder / "data").mkdir()
    try:
        environment = clean_environment(DFTRACER_ENABLE="1", DFTRACER_LOG_FILE=str(folder / "out" / "trace"),
                                        DFTRACER_DISABLE_IO="1")  # its own events tell of the calls already
        run = programs.run([program, folder / "data", files], environment, folder)
        written = sum(f.stat().st_size for f in (folder / "out").glob("*.pfw.gz"))
        bench.table.add("bytes_an_event", written / run["events"], f"{files} files, {run['events']} events; no index")
    finally:
        shutil.rmtree(folder)


def start_finish(bench: Bench) -> None:
    """A short traced program against the same loop without us; then what each event still in a buffer adds."""
    few = ["--regions", 10, "--warmup", 0]
    wall, cpu = [], []
    folder = bench.scratch / "short"
    for _ in range(bench.amount(41, 11)):
        folder.mkdir()
        bare = programs.times_of([bench.backends["bare"].path, *few], clean_environment(), folder)
        environment = clean_environment(DFTRACER_ENABLE="1", DFTRACER_LOG_FILE=str(folder / "trace"))
        traced = programs.times_of([bench.backends["dftracer-c"].path, *few], environment, folder)
        wall.append((traced[0] - bare[0]) / 1e6)
        cpu.append((traced[1] - bare[1]) / 1e6)
        shutil.rmtree(folder)
    note = f"{min(wall):.1f} to {max(wall):.1f} in {len(wall)} pairs; of it on the processor {median(cpu):.1f}"
    bench.table.add("start_finish", median(wall), note)

    threads, costs = 64, []
    for _ in range(bench.amount(7, 3)):
        held = [bench.ours("--hold", "--threads", threads, "--warmup", 0, "--regions", regions,
                           DFTRACER_FLUSH_INTERVAL_MS="60000")["finish_ns"] for regions in (1, EVENTS_OF_A_CHUNK)]
        costs.append((held[1] - held[0]) / (threads * (EVENTS_OF_A_CHUNK - 1)))
    bench.table.add("finish_an_event", median(costs), f"{threads * EVENTS_OF_A_CHUNK} events in {threads} threads")


def memory(bench: Bench) -> None:
    """Peak resident memory above that of the untraced loop."""
    for threads in (1, 2):
        regions = bench.amount(3_000_000, 900_000) // threads
        options = ["--args", 4, "--threads", threads, "--regions", regions, "--pace", 900_000 // threads]
        added = (bench.ours(*options)["peak_rss_kib"] - bench.bare(*options)["peak_rss_kib"]) / 1024
        bench.table.add(f"memory_paced_{threads}", added - MIB_OF_THREAD * threads, f"{added:.1f} MiB added")
    options = ["--args", 4, "--threads", 2, "--regions", bench.amount(5_000_000, 1_500_000)]
    added = (bench.ours(*options)["peak_rss_kib"] - bench.bare(*options)["peak_rss_kib"]) / 1024
    bench.table.add("memory_flood", added - 2 * MIB_OF_THREAD - MIB_OF_BUFFER_LIMIT, f"{added:.1f} MiB added")


def calls(bench: Bench) -> None:
    """Allocations and locks of the whole process, background threads included, while events are made."""
    regions = bench.amount(2_000_000, 500_000)
    run = bench.ours("--args", 4, "--threads", 2, "--regions", regions,
                     LD_PRELOAD=str(bench.build.bin / "libcount_calls.so"))
    for row, count in (("allocations", run["allocations"]), ("locks", run["locks"])):
        bench.table.add(row, count / (2 * regions), f"{count} in {2 * regions} events")


def waits(bench: Bench) -> None:
    """A flood far above what one background thread drains; waits as the thread sees them and as the trace says. Beside
    it as many threads that never wait: the pauses that the machine itself makes, which are in the figure too."""
    regions = bench.amount(5_000_000, 1_000_000)
    longest, preempted, recorded, machine = [], [], [], []
    for _ in range(bench.amount(3, 1)):
        run = bench.ours("--watch", "--threads", 2, "--regions", regions,
                         inspect=traces.longest_recorded_wait_ns)
        longest.append(run["longest_wait_ns"] / 1e6)
        preempted.append(run["longest_preempted_ns"] / 1e6)
        recorded.append(run["inspected"] / 1e6)
        untraced = bench.bare("--watch", "--threads", 3, "--regions", 4 * regions)
        machine.append(untraced["longest_preempted_ns"] / 1e6)
    note = (f"in the trace's wait records {max(recorded):.2f}; longest preemption {max(preempted):.2f}, "
            f"of 3 untraced threads {max(machine):.2f}")
    bench.table.add("longest_wait", max(max(longest), max(recorded)), note)


def comparison(rounds: dict) -> str:
    """Every back end beside the others: medians over the rounds."""
    lines = [("back end", "0 args", "4 args", "0 args x2", "4 args x2", "total CPU 0/4", "bytes 0/4",
              "peak MiB 4 args", "lost")]
    names = dict.fromkeys(name for name, _, _ in rounds)
    for name in names:
        cells = {key[1:]: runs for key, runs in rounds.items() if key[0] == name}
        figures = [f"{median(r['ns'] for r in cells[c]):.1f}" for c in ((0, 1), (4, 1), (0, 2), (4, 2))]
        pair = [[median(r[what] for r in cells[(a, 1)]) for a in (0, 4)] for what in ("total_ns", "bytes")]
        lost = sum(r["lost"] for runs in cells.values() for r in runs)
        peak = median(r["peak_mib"] for r in cells[(4, 1)])
        lines.append((name, *figures, "{:.0f} / {:.0f}".format(*pair[0]), "{:.1f} / {:.1f}".format(*pair[1]),
                      f"{peak:.1f}", lost))
    return columns(lines)
