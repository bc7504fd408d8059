# SPDX-License-Identifier: MIT
"""How much stack recording needs: programs with the smallest threads and handlers that are possible run as untraced."""

import ctypes

import harness
import pytest

CALLS = ["open", "inherited", "fopen", "rename", "link", "chdir", "long", "long_rename", "fork", "region", "exec", "exit", "_exit"]
LEAVE = ["exec", "exit", "_exit"]
PROGRAM = "fault/programs/small_stack.c"
MOST = 4096  # bytes of stack that recording may add to a call; docs/io.md says so

pytestmark = pytest.mark.skipif(harness.sanitizer() != "", reason="sanitizers make frames several times as large")


def signal_frame() -> int:
    getauxval = ctypes.CDLL(None).getauxval
    getauxval.restype = ctypes.c_ulong
    return getauxval(51)  # AT_MINSIGSTKSZ; 0: an older kernel


@pytest.mark.parametrize("warm", [(), ("warm",)], ids=["first", "later"])
@pytest.mark.parametrize("call", CALLS)
def test_the_smallest_thread(bench, call, warm):
    bench.same(PROGRAM, "thread", call, *warm, mode="hybrid")


@pytest.mark.parametrize("warm", [(), ("warm",)], ids=["first", "later"])
@pytest.mark.parametrize("call", CALLS)
def test_a_handler_on_a_small_alternate_stack(bench, call, warm):
    if signal_frame() > 4096:
        pytest.skip("the kernel's own frame takes most of an alternate stack of 8 KiB")
    bench.same(PROGRAM, "handler", call, *warm, mode="hybrid")


@pytest.mark.parametrize("where", ["thread", "handler"])
def test_the_init_call(bench, where):
    run = bench.same(PROGRAM, where, "init", mode="function")
    assert run.traces()


@pytest.mark.parametrize("warm", [(), ("warm",)], ids=["first", "later"])
@pytest.mark.parametrize("call", [c for c in CALLS if c not in LEAVE])
def test_what_recording_adds(bench, call, warm):
    bare = bench.run([harness.compile_program(PROGRAM, bare=True), "measure", call, *warm])
    traced = bench.run([harness.compile_program(PROGRAM), "measure", call, *warm], "hybrid")
    added = traced.fact("used") - bare.fact("used")
    assert added <= MOST, f"{call}: {added} bytes"
