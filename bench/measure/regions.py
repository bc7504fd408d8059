# SPDX-License-Identifier: MIT
"""The region rows: all back ends in interleaved rounds, so that what disturbs the machine disturbs them alike."""

from __future__ import annotations

from statistics import median

from .programs import ProgramFailed
from .rows import Bench

CASES = ((0, 1), (4, 1), (0, 2), (4, 2))  # args, threads


def measure(bench: Bench) -> dict:
    """(back end, args, threads) -> one figure a round: ns a region on the application thread, the bare loop's taken
    off, and the rest of what is compared."""
    names = [name for name, backend in bench.backends.items() if not backend.missing]
    rounds: dict = {}
    for number in range(bench.rounds):
        print(f"  round {number + 1} of {bench.rounds}", flush=True)
        for args, threads in CASES:
            floor = _one(bench, "bare", args, threads, None)
            turn = names[number % len(names):] + names[:number % len(names)]
            for name in turn:
                try:
                    figures = floor if name == "bare" else _one(bench, name, args, threads, floor)
                except ProgramFailed as failure:
                    bench.backends[name].missing = f"failed: {failure}"
                    names.remove(name)
                    continue
                rounds.setdefault((name, args, threads), []).append(figures)
    complete = [n for n in bench.backends if all(len(rounds.get((n, *c), [])) == bench.rounds for c in CASES)]
    return {(n, *c): rounds[(n, *c)] for n in complete for c in CASES}


def _one(bench: Bench, name: str, args: int, threads: int, floor: dict | None) -> dict:
    backend = bench.backends[name]
    regions = int(bench.amount(1_000_000, 200_000) * backend.scale)
    run = backend.run("--args", args, "--threads", threads, "--regions", regions // threads)
    taken_off = floor or {"ns": 0, "total_ns": 0, "peak_mib": 0}
    return {
        "ns": run["thread_cpu_ns"] / regions - taken_off["ns"],
        "total_ns": run["total_cpu_ns"] / regions - taken_off["total_ns"],
        "bytes": run["bytes"] / regions,
        "peak_mib": run["peak_rss_kib"] / 1024 - taken_off["peak_mib"],
        "lost": run["lost"],
    }


def fill(bench: Bench, rounds: dict) -> None:
    ours = "dftracer-c"
    for args in (0, 4):
        _ratio(bench, rounds, f"region_{args}_args_to_lttng", (ours, args, 1), ("lttng", args, 1))
    for args in (0, 4):
        _median(bench, rounds, f"region_{args}_args", ours, args)
    for args in (0, 4):
        _ratio(bench, rounds, f"region_{args}_args_to_tracy", (ours, args, 1), ("tracy", args, 1))
    for args in (0, 4):
        _ratio(bench, rounds, f"region_{args}_args_2_threads", (ours, args, 2), (ours, args, 1))
    for row, name in (("off_c", "off-c"), ("off_cpp", "off-cpp")):
        _median(bench, rounds, row, name, 0)
    for args in (0, 4):
        _median(bench, rounds, f"total_cpu_{args}_args", ours, args, "total_ns")
    for args in (0, 4):
        _ratio(bench, rounds, f"region_{args}_args_to_original", (ours, args, 1), ("original", args, 1))


def _missing(bench: Bench, rounds: dict, *names: str) -> str:
    return "; ".join(f"{n}: {bench.backends[n].missing or 'no result'}" for n in names if (n, 0, 1) not in rounds)


def _median(bench: Bench, rounds: dict, row: str, name: str, args: int, what: str = "ns") -> None:
    missing = _missing(bench, rounds, name)
    if missing:
        bench.table.add(row, None, missing)
        return
    values = [r[what] for r in rounds[(name, args, 1)]]
    bench.table.add(row, max(median(values), 0.0), f"{min(values):.1f} to {max(values):.1f}")


def _ratio(bench: Bench, rounds: dict, row: str, above: tuple, below: tuple) -> None:
    """Median of the ratios of paired rounds."""
    missing = _missing(bench, rounds, above[0], below[0])
    if missing:
        bench.table.add(row, None, missing)
        return
    pairs = [a["ns"] / b["ns"] for a, b in zip(rounds[above], rounds[below])]
    bench.table.add(row, median(pairs), f"{min(pairs):.3f} to {max(pairs):.3f}")
