#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the traces of the program `workload` against what HIP tracing promises.

    check_hip_trace.py PATTERN [--exact] [--no-calls]

PATTERN names the traces of one run (.pfw or .pfw.gz). --exact: nothing but the program makes work, as over the stand-ins;
on a machine HIP adds kernels of its own for memset and copies on the device. --no-calls: run with DFTRACER_HIP_API=none.
Exit status: 0 all good, 1 not, 77 no trace matches (the program was skipped: no device).
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cuda"))
from gpu_trace import Check, read, traces  # noqa: E402

HIP = 4
CALLS = ("HIP_RUNTIME_API", "HIP_RUNTIME_API_EXT", "HIP_COMPILER_API", "HIP_COMPILER_API_EXT")
# Every event of these lies wholly inside the region that issued it, without any tolerance.
INSIDE = ("HIP_RUNTIME_API", "KERNEL_DISPATCH", "MEMORY_COPY", "MEMORY_ALLOCATION", "MARKER_CORE_API", "HSA_CORE_API",
          "HSA_AMD_EXT_API", "SCRATCH_MEMORY")  # fmt: skip
KERNELS = {"void train::scale<float>(float*, int)": 3, "train::nothing()": 401}
RANGES = {"outer", "inner", "mark", "across"}
BYTES = (1 << 16) * 4
REGION = "HIP_WORKLOAD"
WORK_ARGS = {"KERNEL_DISPATCH": ("correlation_id", "agent_id", "queue_id", "dispatch_id", "kernel_id", "grid_x", "workgroup_x",
                                 "group_segment_size", "private_segment_size", "symbol_hash"),
             "MEMORY_COPY": ("bytes", "src_agent_id", "dst_agent_id")}  # fmt: skip


class HipCheck(Check):
    def kernels(self, events, exact):
        found = {}
        for event in events:
            if event["cat"] == "KERNEL_DISPATCH" and (exact or "train::" in event["name"]):
                found[event["name"]] = found.get(event["name"], 0) + 1
        self.that(found == KERNELS, f"kernels {found}, expected {KERNELS}")
        ids = [e["args"]["dispatch_id"] for e in events if e["cat"] == "KERNEL_DISPATCH"]
        self.that(len(set(ids)) == len(ids), "two kernels with one dispatch_id")

    def args(self, events):
        for event in events:
            for key in WORK_ARGS.get(event["cat"], ()):
                self.that(key in event["args"], f"no {key}: {event}")

    def copies(self, events, exact):
        copies = [e for e in events if e["cat"] == "MEMORY_COPY"]
        whole = [e for e in copies if e["args"]["bytes"] == BYTES]
        names = {e["name"] for e in whole}
        self.that({"MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST"} <= names, f"copies {sorted(names)}")
        if exact:
            self.that(len(copies) == len(whole) == 3, f"{len(copies)} copies")

    def ranges(self, events, exact):
        found = {e["name"]: e for e in events if e["cat"].startswith("MARKER_")}
        self.that(not found and not exact or set(found) == RANGES, f"ranges {sorted(found)}")
        if set(found) == RANGES:
            self.that(found["mark"]["dur"] == 0, f"a mark that lasts: {found['mark']}")
            outer, inner = found["outer"], found["inner"]
            good = outer["ts"] <= inner["ts"] and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"]
            self.that(good, f"{inner} is not inside {outer}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pattern")
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--no-calls", action="store_true")
    parser.add_argument("--no-forks", action="store_true")
    args = parser.parse_args()
    files = traces(args.pattern)
    if not files:
        print(f"no trace matches {args.pattern}: skipped")
        return 77
    check = HipCheck(INSIDE, CALLS)
    lines = [record for path in files for record in read(path)]
    events = [r for r in lines if r.get("ph") == 1 and r.get("type") == HIP]
    regions = [r for r in lines if r.get("name") == REGION]
    check.that(events, "no HIP event")
    check.that(len(regions) == 1, f"{len(regions)} regions {REGION}")
    found = {event["cat"] for event in events}
    for category in ("KERNEL_DISPATCH", "MEMORY_COPY", *(() if args.no_calls else ("HIP_RUNTIME_API",))):
        check.that(category in found, f"no {category}")
    for event in events:
        check.shape(event)
    if regions:
        check.that({e["pid"] for e in events} <= {regions[0]["pid"]}, "HIP events of a forked child")
        check.inside(regions[0], events)
    check.args(events)
    check.kernels(events, args.exact)
    check.copies(events, args.exact)
    check.ranges(events, args.exact)
    if not args.no_calls:
        check.launches([e for e in events if e["cat"] in CALLS or "train::" in e["name"]], "KERNEL_DISPATCH")
    devices = [r["args"] for r in lines if r.get("name") == "gpu_device"]
    check.that(devices, "no agent is described")
    if not args.no_forks:
        check.forked_children(lines)
    return check.result(files, "HIP", events)


if __name__ == "__main__":
    sys.exit(main())
