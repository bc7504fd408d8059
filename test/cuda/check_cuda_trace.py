#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the traces of the program `workload` against what CUDA tracing promises.

    check_cuda_trace.py PATTERN [--graph graph|node] [--no-runtime] [--kernels N]

PATTERN names the traces of one run (.pfw or .pfw.gz). Exit status: 0 all good, 1 not, 77 no trace matches (the program
was skipped: no device).
"""

import argparse
import glob
import gzip
import json
import sys

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


def read(path):
    opened = gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8")
    with opened as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield json.loads(line)
            except ValueError as error:
                raise SystemExit(f"{path}:{number}: not JSON: {error}: {line[:200]}")


class Check:
    def __init__(self):
        self.problems = []

    def that(self, good, text):
        if not good:
            self.problems.append(text)

    def shape(self, event):
        self.that(event.get("name"), f"no name: {event}")
        self.that(event["ts"] >= 0 and event["dur"] >= 0, f"negative time: {event}")

    def inside(self, region, events):
        begin, end = region["ts"], region["ts"] + region["dur"]
        for event in events:
            if event["cat"] not in INSIDE:
                continue
            first, last = event["ts"], event["ts"] + event["dur"]
            self.that(
                begin <= first and last <= end,
                f"{event['cat']} {event['name']} at {first - begin}..{last - begin} of the region's 0..{end - begin}",
            )

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

    def launches(self, events):
        """Each kernel has the API call that launched it: same correlation id, and it does not start before it."""
        calls = {e["args"]["correlation_id"]: e for e in events if e["cat"] in ("CUDA_DRIVER_API", "CUDA_RUNTIME_API")}
        for event in events:
            if event["cat"] == "CUDA_KERNEL":
                call = calls.get(event["args"]["correlation_id"])
                self.that(call is not None, f"kernel without its launch: {event}")
                self.that(call is None or call["ts"] <= event["ts"], f"kernel before its launch: {event}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pattern")
    parser.add_argument("--graph", default="graph", choices=["graph", "node"])
    parser.add_argument("--no-runtime", action="store_true", help="there was no libcudart")
    args = parser.parse_args()
    files = sorted(f for f in glob.glob(args.pattern) if f.endswith((".pfw", ".pfw.gz")))
    if not files:
        print(f"no trace matches {args.pattern}: skipped")
        return 77
    check = Check()
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
    check.launches(events)
    children = [r for r in lines if r.get("name") == "CHILD"]
    check.that(len(children) == 2, f"{len(children)} of 2 forked children recorded their region")
    for text in check.problems[:20]:
        print(text)
    counts = {c: sum(e["cat"] == c for e in events) for c in sorted(found)}
    print(f"{len(files)} traces, {len(events)} CUDA events, {len(check.problems)} problems: {counts}")
    return 1 if check.problems else 0


if __name__ == "__main__":
    sys.exit(main())
