#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the trace of the program `peers` against what copies between two GPUs promise.

    check_peers.py PATTERN      exit status 1 when it does not hold, 77 when no trace matches
"""

import collections
import glob
import sys

from check_cuda_trace import read

DIRECT, STAGED, KERNELS, BYTES = 6, 2, 10, 1 << 20  # as in programs/peers.cc


def problems_of(records):
    events = [r for r in records if r.get("ph") == 1 and r.get("type") == 14]
    direct = [e for e in events if e["cat"] == "CUDA_MEMCPY_P2P"]
    ends = collections.Counter((e["args"].get("src_device_id"), e["args"].get("dst_device_id")) for e in direct)
    if ends != {(0, 1): DIRECT // 2, (1, 0): DIRECT // 2}:
        yield f"copies with peer access by their ends: {dict(ends)}"
    for e in direct:
        args = e["args"]
        if e["name"] != "MemcpyPtoP" or args["bytes"] != BYTES or args["device_id"] != args["src_device_id"]:
            yield f"a copy with peer access: {e}"
        if args["src_context_id"] == args["dst_context_id"]:
            yield f"one context at both ends: {e}"
    staged = [e for e in events if e["cat"] == "CUDA_MEMCPY" and e["args"]["src_kind"] == e["args"]["dst_kind"] == 3]
    kinds = collections.Counter((e["name"], e["args"]["device_id"]) for e in staged)
    if kinds != {("MemcpyDtoH", 0): STAGED, ("MemcpyHtoD", 1): STAGED}:
        yield f"copies without peer access: {dict(kinds)}"
    kernels = collections.Counter(e["args"]["device_id"] for e in events if e["cat"] == "CUDA_KERNEL")
    if kernels != {0: KERNELS, 1: KERNELS}:
        yield f"kernels by device: {dict(kernels)}"
    names = {r["tid"]: r["args"]["name"] for r in records if r.get("name") == "thread_name"}
    for e in events:
        if e["cat"] in ("CUDA_KERNEL", "CUDA_MEMCPY_P2P") and not names.get(e["tid"], "").startswith(f"GPU {e['args']['device_id']} "):
            yield f"on the lane {names.get(e['tid'])!r}: {e}"
    devices = [r["args"] for r in records if r.get("name") == "gpu_device"]
    if len({d.get("uuid") for d in devices}) < 2:
        yield f"devices: {devices}"


def main():
    files = sorted(f for f in glob.glob(sys.argv[1]) if f.endswith((".pfw", ".pfw.gz")))
    if not files:
        print("no trace matches: skipped")
        return 77
    records = [record for path in files for record in read(path)]
    problems = list(problems_of(records))
    for problem in problems[:20]:
        print(problem)
    lanes = sorted(r["args"]["name"] for r in records if r.get("name") == "thread_name" and "GPU" in str(r["args"].get("name")))
    counts = collections.Counter(r["cat"] for r in records if r.get("type") == 14 and r.get("ph") == 1)
    print(f"{len(problems)} problems; lanes {lanes}; {dict(sorted(counts.items()))}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
