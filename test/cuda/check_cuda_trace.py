#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the traces of the program `workload` against what CUDA tracing promises.

    check_cuda_trace.py PATTERN [--graph graph|node] [--no-runtime] [--kernels N]

PATTERN names the traces of one run (.pfw or .pfw.gz). Exit status: 0 all good, 1 not, 77 no trace matches (the program
was skipped: no device).
"""

import argparse
import sys

from gpu_trace import Check, read, traces

CUDA = 14
# Every event of these lies wholly inside the region that issued it, without any tolerance.
INSIDE = (
    "CUDA_RUNTIME_API",
    "CUDA_DRIVER_API",
    "CUDA_MEMCPY",
    "CUDA_MEMCPY_P2P",
    "CUDA_MEMSET",
    "CUDA_KERNEL",
    "CUDA_SYNC",
)
ALWAYS = ("CUDA_DRIVER_API", "CUDA_MEMCPY", "CUDA_MEMSET", "CUDA_KERNEL", "CUDA_SYNC")
PLACE = ("device_id", "context_id", "stream_id", "correlation_id")
CALL = ("cbid", "correlation_id", "return_value", "pid")
LAUNCH = [f"{what}_{axis}" for what in ("grid", "block") for axis in "xyz"]
MEMORY = ("static_shared_memory", "dynamic_shared_memory", "registers_per_thread", "local_memory_per_thread")
# What each event of a category has; more where CUPTI tells more.
ARGS = {
    "CUDA_RUNTIME_API": CALL,
    "CUDA_DRIVER_API": CALL,
    "CUDA_KERNEL": (*PLACE, "grid_id", *LAUNCH, *MEMORY, "symbol_hash"),
    "CUDA_MEMCPY": (*PLACE, "bytes", "copy_kind", "src_kind", "dst_kind"),
    "CUDA_MEMCPY_P2P": (*PLACE, "bytes", "copy_kind", "src_device_id", "dst_device_id", "src_context_id", "dst_context_id"),
    "CUDA_MEMSET": (*PLACE, "bytes", "value"),
    "CUDA_MEMORY": ("device_id", "correlation_id", "address", "pid"),
    "CUDA_SYNC": ("device_id", "context_id", "correlation_id"),
    "CUDA_GRAPH": (*PLACE, "graph_id"),
    "CUDA_MARKER": (),
    "CUDA_UNIFIED_MEMORY": ("counter_kind", "value", "address", "pid"),
    "CUDA_OVERHEAD": ("object_kind", "overhead_kind"),
}
ON_THREADS = ("CUDA_RUNTIME_API", "CUDA_DRIVER_API", "CUDA_MARKER")
FIRST_LANE = 1 << 30
SYNCS = {"StreamSynchronize", "ContextSynchronize"}
RANGES = ["across", "inner", "mark", "outer"]
KERNELS = {"void train::scale<float>(float*, int)": 4, "train::nothing()": 401}
GRAPH_LAUNCHES, GRAPH_NODES = 4, 5
REGION = "CUDA_WORKLOAD"


class CudaCheck(Check):
    def counts(self, events, node_mode):
        kernels = {}
        for event in events:
            if event["cat"] == "CUDA_KERNEL":
                kernels[event["name"]] = kernels.get(event["name"], 0) + 1
        expected = dict(KERNELS)
        if node_mode:
            expected["train::nothing()"] += GRAPH_LAUNCHES * GRAPH_NODES
        self.that(kernels == expected, f"kernels {kernels}, expected {expected}")
        graphs = sum(event["cat"] == "CUDA_GRAPH" for event in events)
        self.that(graphs == (0 if node_mode else GRAPH_LAUNCHES), f"{graphs} graph launches")

    def hidden_nodes(self, records, events):
        """Each launched graph says how many nodes a launch of it hides."""
        nodes = {r["args"]["graph_id"]: r["args"]["nodes"] for r in records if r.get("name") == "gpu_graph"}
        launched = {e["args"].get("graph_id") for e in events if e["cat"] == "CUDA_GRAPH"}
        expected = {graph: GRAPH_NODES for graph in launched}
        self.that(nodes == expected, f"nodes of graphs {nodes}, expected {expected}")

    def args(self, event):
        """Its ids and what else belongs to it, as whole numbers."""
        found = event.get("args", {})
        for key in ARGS.get(event["cat"], ()):
            value = found.get(key)
            good = isinstance(value, str) if key == "symbol_hash" else type(value) is int
            self.that(good, f"{event['cat']} {event['name']} has {key}={value!r}")
        self.that(event["cat"] in ARGS, f"no category of CUDA: {event}")
        self.that("tid" not in found, f"tid among the args: {event}")

    def rows(self, region, records, events):
        """Calls stand on threads of the kernel's numbering, work on lanes that have names."""
        lanes = {r["tid"]: r["args"]["name"] for r in records if r.get("name") == "thread_name" and r["tid"] >= FIRST_LANE}
        for event in events:
            if event["cat"] in ON_THREADS:
                self.that(event["tid"] < FIRST_LANE, f"a call on a lane: {event}")
            else:
                self.that(event["tid"] in lanes, f"work on no lane: {event}")
        callers = {e["tid"] for e in events if e["cat"] in ON_THREADS}
        self.that(region["tid"] in callers, f"no call by thread {region['tid']} of the region")

    def losses(self, records):
        for record in records:
            if record.get("name") == "loss" and record["ph"] == 4:
                self.that(record["args"]["cause"] in ("api_quiet", "gpu_late"), f"lost: {record['args']}")

    def rest(self, records, events):
        """What is there on any machine that can do it."""
        syncs = {event["name"] for event in events if event["cat"] == "CUDA_SYNC"}
        self.that(SYNCS <= syncs, f"synchronisation {syncs}")
        managed = [e for e in events if e["name"] == "cuMemAllocManaged" and e.get("args", {}).get("return_value") == 0]
        refused = [r for r in records if r.get("name") == "gpu_status" and r["args"].get("category") == "CUDA_UNIFIED_MEMORY"]
        moved = [e for e in events if e["cat"] == "CUDA_UNIFIED_MEMORY"]
        self.that(not managed or refused or moved, "no unified memory, and no word why")
        ranges = sorted(event["name"] for event in events if event["cat"] == "CUDA_MARKER")
        self.that(ranges in ([], RANGES), f"ranges {ranges}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pattern")
    parser.add_argument("--graph", default="graph", choices=["graph", "node"])
    parser.add_argument("--no-runtime", action="store_true", help="there was no libcudart")
    args = parser.parse_args()
    files = traces(args.pattern)
    if not files:
        print(f"no trace matches {args.pattern}: skipped")
        return 77
    check = CudaCheck(INSIDE, ("CUDA_DRIVER_API", "CUDA_RUNTIME_API"))
    lines = [record for path in files for record in read(path)]
    events = [r for r in lines if r.get("ph") == 1 and r.get("type") == CUDA]
    regions = [r for r in lines if r.get("name") == REGION]
    check.that(events, "no CUDA event")
    check.that(len(regions) == 1, f"{len(regions)} regions {REGION}")
    found = {event["cat"] for event in events}
    needed = ALWAYS if args.no_runtime else (*ALWAYS, "CUDA_RUNTIME_API")
    for category in needed:
        check.that(category in found, f"no {category}")
    for event in events:
        check.shape(event)
        check.args(event)
    if regions:
        check.rows(regions[0], lines, events)
        check.that({e["pid"] for e in events} <= {regions[0]["pid"]}, "CUDA events of a forked child")
        check.inside(regions[0], events)
    check.counts(events, args.graph == "node")
    check.hidden_nodes(lines, events)
    check.losses(lines)
    check.rest(lines, events)
    check.launches(events, "CUDA_KERNEL")
    check.forked_children(lines)
    return check.result(files, "CUDA", events)


if __name__ == "__main__":
    sys.exit(main())
