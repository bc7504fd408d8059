# SPDX-License-Identifier: MIT
"""Ways to a file that the cases of other tools' users leave out: directories that move under their descriptors, files that
get their name late, libc's asynchronous transfers, the C++ library."""

import re

import harness
import pytest

pytestmark = pytest.mark.skipif(harness.sanitizer() != "", reason="the preload library of a sanitizer build cannot be preloaded")


def calls(run):
    """(name, file below the run's folder, args) of each I/O event."""
    (trace,) = run.traces()
    root = str(run.folder / "cwd") + "/"
    found = []
    for event in trace.events:
        if event["cat"] in ("POSIX", "STDIO"):
            digits = event["args"].get("fhash")
            found.append((event["name"], trace.resolve(digits).replace(root, "") if digits else None, event["args"]))
    return found


def test_names_while_directories_move(bench):
    """From a directory's descriptor a name begins with the name by which that was opened, from the working directory with
    that of the moment; an open file keeps its name."""
    found = [(name, file) for name, file, _ in calls(bench.same("io/programs/moved.c", "directory", mode="preload", link=False))]
    assert [f for n, f in found if n == "openat"] == ["old/file", "new/sub/here"]
    assert ("open", "new/above") in found and ("renameat", "old/file") in found and ("unlinkat", "old/renamed") in found
    assert [f for n, f in found if n == "write"] == ["old/file", "new/sub/here", "old/file", "old/file"]
    assert found[-2:] == [("close", "old/file"), ("close", "old")]


def test_a_file_that_gets_its_name_late(bench):
    run = bench.run([harness.compile_program("io/programs/moved.c", bare=True), "nameless"], "preload")
    if run.status == 77:
        pytest.skip("this file system makes no file without a name")
    assert run.status == 0
    (opened,) = [file for name, file, args in calls(run) if name == "open" and file != "late"]
    assert re.fullmatch(r"#\d+", opened)
    assert [(n, f) for n, f, _ in calls(run) if f == opened] == [(n, opened) for n in ("open", "write", "linkat", "write", "close")]
    assert [(n, a["ret"]) for n, f, a in calls(run) if f == "late"][1:] == [("read", 7), ("close", 0)]


def test_asynchronous_transfers_of_libc(bench):
    found = calls(bench.same("io/programs/posix_aio.c", flags=("-Wl,--no-as-needed", "-lrt"), mode="preload", link=False))
    asked = [(n, f, a.get("count"), a.get("offset"), a["ret"]) for n, f, a in found if n in ("aio_write", "aio_read")]
    assert asked == [("aio_write", "file", 8, 16, 0), ("aio_write", "file", 4, 0, 0), ("aio_read", "file", 4, 16, 0)]
    assert [a["ret"] for n, f, a in found if n == "aio_return"] == [8, 4, 4, 0]
    assert [(n, f) for n, f, _ in found if n in ("lio_listio", "aio_fsync")] == [("lio_listio", None), ("aio_fsync", "file")]


def test_the_streams_of_the_cxx_library(bench):
    found = calls(bench.same("io/programs/fstreams.cc", flags=("-std=c++17",), mode="preload", link=False))
    moved = {}
    for name, file, args in found:
        if name in ("write", "writev", "read", "fread", "fwrite") and args["ret"] > 0:
            way = "in" if "read" in name else "out"
            moved[file, way] = moved.get((file, way), 0) + args["ret"]
    assert moved["made", "out"] == 20001 and moved["made", "in"] in (20001, 40002), moved  # copied by reading, or by the kernel
    about = [(n, f) for n, f, _ in found if f in ("copy", "moved")]
    assert ("rename", "copy") in about and ("truncate", "moved") in about and ("remove", "moved") in about
