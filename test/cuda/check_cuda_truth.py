#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the recorded times of the kernels of `truth` against what the CPU saw: each start lies in its region START
(launch until the kernel's flag was seen), each end in its region STOP (the CPU's flag until completion was seen).

    check_cuda_truth.py PATTERN [EXPECTED_KERNELS]     exit status as check_cuda_trace.py
"""

import glob
import sys

from gpu_trace import read


def quantiles(values, unit):
    values = sorted(values)
    at = lambda part: values[min(len(values) - 1, int(part * len(values)))] / unit  # noqa: E731
    return f"min {at(0):.2f} p50 {at(0.5):.2f} p99 {at(0.99):.2f} max {values[-1] / unit:.2f} us"


def main():
    files = [f for f in sorted(glob.glob(sys.argv[1])) if f.endswith((".pfw", ".pfw.gz"))]
    if not files:
        print("no trace: skipped")
        return 77
    lines = [record for path in files for record in read(path)]
    metric = next(r["args"]["value"] for r in lines if r["name"] == "CM" and r["args"]["name"] == "time_metric")
    unit = 1000 if metric == "NS" else 1
    times = lambda name, cat=None: sorted(  # noqa: E731
        (r["ts"], r["ts"] + r["dur"]) for r in lines if r.get("ph") == 1 and (r["cat"] == cat if cat else r["name"] == name)
    )
    starts, stops, kernels = times("START"), times("STOP"), times("", "CUDA_KERNEL")
    expected = int(sys.argv[2]) if len(sys.argv) > 2 else len(starts)
    if not len(starts) == len(stops) == len(kernels) == expected:
        print(f"{len(starts)} START, {len(stops)} STOP, {len(kernels)} kernels, expected {expected}")
        return 1
    bad = 0
    for start, stop, kernel in zip(starts, stops, kernels):
        good = start[0] <= kernel[0] <= start[1] and stop[0] <= kernel[1] <= stop[1]
        bad += not good
        if not good and bad <= 5:
            print(f"outside: kernel {kernel[0]}..{kernel[1]} start {start} stop {stop}")
    print(
        f"{expected - bad} of {expected} inside ({metric}); flag seen minus start "
        f"{quantiles([s[1] - k[0] for s, k in zip(starts, kernels)], unit)}; end minus flag raised "
        f"{quantiles([k[1] - s[0] for s, k in zip(stops, kernels)], unit)}; completion seen minus end "
        f"{quantiles([s[1] - k[1] for s, k in zip(stops, kernels)], unit)}"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
