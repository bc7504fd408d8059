# SPDX-License-Identifier: MIT
"""What each use of dftracer.python costs: one JSON line, way -> ns of this thread's processor time a call, less that of the
same code without it. Works with the packages of DFTracer's earlier releases, too.

    calls.py CALLS ROUNDS
"""

import json
import sys
import time

from dftracer.python import ai, dft_fn, dftracer

try:
    from empty_context import Empty
except ImportError:
    Empty = None
CALLS, ROUNDS = int(sys.argv[1]), int(sys.argv[2])
tracer = dftracer.initialize_log()
f = dft_fn("C")


def plain():
    pass


logged = f.log(plain)
of_node = ai.compute.forward(plain)


class Object:
    def plain(self):
        pass

    @f.log
    def logged(self):
        pass


def bare(n):
    for _ in range(n):
        pass


def calls(function):
    def run(n):
        for _ in range(n):
            function()

    return run


def with_of(manager):
    def run(n):
        for _ in range(n):
            with manager:
                pass

    return run


def with_new(n):
    for _ in range(n):
        with dft_fn("C", "n"):
            pass


def with_unnamed(n):
    for _ in range(n):
        with dft_fn("C"):
            pass


def items(n):
    for _ in f.iter(range(n)):
        pass


def log_event(n):
    for _ in range(n):
        tracer.log_event("n", "C", 1, 1)


# way: (code, code without the tracer, share of CALLS)
WAYS = {
    "with_node": (with_of(ai.compute.forward), bare, 1),
    "with_new": (with_new, bare, 1),
    "with_unnamed": (with_unnamed, bare, 0.05),
    "log": (calls(logged), calls(plain), 1),
    "node": (calls(of_node), calls(plain), 1),
    "method": (calls(Object().logged), calls(Object().plain), 1),
    "iter": (items, bare, 1),
    "log_event": (log_event, bare, 1),
}
if Empty is not None:
    WAYS["empty_with"] = (with_of(Empty()), bare, 1)


def cost(code, n):
    begin = time.thread_time_ns()
    code(n)
    return (time.thread_time_ns() - begin) / n


least = {}
for _ in range(ROUNDS):
    for way, (code, without, share) in WAYS.items():
        n = max(int(CALLS * share), 10)
        for key, run in ((way, code), (way + " without", without)):
            least[key] = min(least.get(key, float("inf")), cost(run, n))
print(json.dumps({"same": logged is plain and of_node is plain,
                  "ns": {way: max(least[way] - least[way + " without"], 0.0) for way in WAYS}}))
sys.stdout.flush()
