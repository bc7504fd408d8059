#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the traces of a program that waits for the GPU at the end of each of its regions (examples/pytorch with --synchronize)
against the promise that GPU work lies in the region that issued it, exactly.

    check_nesting.py PATTERN      exit status 1 when it does not, 77 when no trace matches
"""

import bisect
import collections
import glob
import sys

from check_cuda_trace import read

WORK = ("CUDA_KERNEL", "CUDA_MEMCPY", "CUDA_MEMSET")
CALLS = ("CUDA_RUNTIME_API", "CUDA_DRIVER_API")
REGIONS = ("transfer", "forward", "backward", "step")  # those that end with a synchronisation


def load(pattern):
    by_process = collections.defaultdict(list)
    for path in sorted(f for f in glob.glob(pattern) if f.endswith((".pfw", ".pfw.gz"))):
        for record in read(path):
            if record.get("ph") == 1:
                by_process[record["pid"]].append(record)
    return by_process


def region_at(regions, time):
    """The last that begins at or before a time, if it has not ended by then. They follow each other."""
    at = bisect.bisect_right(regions, (time, float("inf"))) - 1
    return regions[at] if at >= 0 and time <= regions[at][1] else None


def main():
    by_process = load(sys.argv[1])
    if not by_process:
        print("no trace matches: skipped")
        return 77
    inside, outside, problems = collections.Counter(), collections.Counter(), []
    for events in by_process.values():
        regions = sorted((e["ts"], e["ts"] + e["dur"], e["name"]) for e in events if e["type"] == 6 and e["name"] in REGIONS)
        calls = {e["args"]["correlation_id"]: e for e in events if e["cat"] in CALLS}
        for work in (e for e in events if e["cat"] in WORK):
            call = calls.get(work["args"]["correlation_id"])
            if call is None:
                problems.append(f"no call for {work}")
                continue
            region = region_at(regions, call["ts"])
            if region is None:
                outside[work["cat"]] += 1
                continue
            inside[f"{region[2]} {work['cat']}"] += 1
            if not (region[0] <= call["ts"] + call["dur"] <= region[1] and region[0] <= work["ts"] and work["ts"] + work["dur"] <= region[1]):
                problems.append(f"{work['name']} at {work['ts'] - region[0]}+{work['dur']} of {region[2]}'s 0..{region[1] - region[0]}")
    for problem in problems[:20]:
        print(problem)
    kernels = {name for name in REGIONS if inside[f"{name} CUDA_KERNEL"] != 0}
    missing = {"forward", "backward", "step"} - kernels
    print(f"{len(problems)} problems; inside {dict(sorted(inside.items()))}; outside of regions {dict(outside)}; without kernels {missing}")
    return 1 if problems or missing else 0


if __name__ == "__main__":
    sys.exit(main())
