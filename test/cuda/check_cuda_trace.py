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
    if regions:
        check.that({e["pid"] for e in events} <= {regions[0]["pid"]}, "CUDA events of a forked child")
        check.inside(regions[0], events)
    check.counts(events, args.graph == "node")
    check.hidden_nodes(lines, events)
    check.launches(events, "CUDA_KERNEL")
    check.forked_children(lines)
    return check.result(files, "CUDA", events)


if __name__ == "__main__":
    sys.exit(main())
