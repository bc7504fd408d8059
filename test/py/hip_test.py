# SPDX-License-Identifier: MIT
"""On a machine with an AMD GPU and PyTorch for ROCm: kernels lie in the regions that issued them and belong to calls of
HIP. Exit status 77 where that cannot be run.

    hip_test.py      (with the package in PYTHONPATH or installed)
"""

import sys

from cuda_test import NOTHING, Traced, WORK, inside

SKIP = 77
KERNELS, CALLS = "KERNEL_DISPATCH", "HIP_RUNTIME_API"


def test_kernels_lie_in_their_regions():
    events = Traced(WORK).events
    regions = [e for e in events if e["name"] == "region"]
    kernels = [e for e in events if e["cat"] == KERNELS]
    assert len(regions) == 4 and len(kernels) >= 12, (len(regions), len(kernels))
    strays = [k["name"] for k in kernels if not any(inside(k, r) for r in regions)]
    assert not strays, strays


def test_kernels_belong_to_calls():
    events = Traced(WORK).events
    calls = {e["args"]["correlation_id"] for e in events if e["cat"] == CALLS}
    kernels = [e for e in events if e["cat"] == KERNELS]
    assert kernels and all(k["args"]["correlation_id"] in calls for k in kernels)
    assert all(k["args"]["grid_x"] > 0 and not k["name"].isdigit() for k in kernels)


def main():
    try:
        import torch
    except ImportError:
        return SKIP
    on_amd = getattr(torch.version, "hip", None) and torch.cuda.is_available()
    if not on_amd or not Traced(NOTHING).is_built_with("hip"):
        print("no AMD GPU, or the tracer is built without HIP tracing")
        return SKIP
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print(f"{name}: ok", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
