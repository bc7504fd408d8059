# SPDX-License-Identifier: MIT
"""Holds the I/O events of a traced run against what strace saw of an untraced run of the same program.

Compared are, for each program image, kind of call and file: how many calls, and for calls that move data how many bytes.
Files that our filter excludes are left out on both sides. Of pipes and sockets only the bytes count: how many reads they
take depends on who was faster."""

from __future__ import annotations

import collections
import dataclasses
import os
import re

import strace

# What the built-in exclusions leave out (docs/io.md).
EXCLUDED = re.compile(r"/(proc|sys)(/|$)|/dev(?!/shm)(/|$)|.*\.so(\.\d+)*$")


@dataclasses.dataclass
class Names:
    """Makes names of two runs comparable: their folders, links, and `masks` (pattern, replacement). A
    name that becomes empty is not compared."""

    folder: str
    masks: tuple = ()
    known: dict = dataclasses.field(default_factory=dict)

    def __post_init__(self):
        self.folder = os.path.realpath(self.folder)

    def plain(self, name: str) -> str | None:
        """None for files that are not compared."""
        if name not in self.known:
            self.known[name] = self._plain(name)
        return self.known[name]

    def _plain(self, name: str) -> str | None:
        kind = re.match(r"(pipe|socket|memfd):|anon_inode:", name)
        if kind:
            return kind.group(0).rstrip(":")
        if not name.startswith("/") or EXCLUDED.match(name):
            return None
        name = os.path.join(os.path.realpath(os.path.dirname(name)), os.path.basename(name))
        if not name.startswith(self.folder):
            name = os.path.realpath(name)
        if EXCLUDED.match(name):
            return None
        name = name.replace(self.folder, "~")
        for pattern, replacement in self.masks:
            name = re.sub(pattern, replacement, name)
        return name


Tally = dict  # (image, kind, file) -> [calls, bytes]


def _add(tally: Tally, image: str, kind: str, file: str, ret: int) -> None:
    moved = ret if kind in strace.MOVES_DATA and ret > 0 else 0
    if file in ("pipe", "socket", "anon_inode"):
        if moved:
            tally[image, kind, file][1] += moved
        return
    tally[image, kind, file][0] += 1
    tally[image, kind, file][1] += moved


def tally_of_strace(calls: list[strace.Call], names: Names) -> Tally:
    tally: Tally = collections.defaultdict(lambda: [0, 0])
    for call in calls:
        file = names.plain(call.file) if call.file else None
        if file:
            _add(tally, call.image, call.kind, file, call.ret)
    return dict(tally)


def image_of(trace) -> str:
    """The last part of the first word of the command line."""
    start = trace.start
    return trace.resolve(start["args"]["cmd_hash"]).split(";")[0].rsplit("/", 1)[-1] if start else ""


def io_events(run, category: str):
    """(image, event, name of its file or None) of every I/O event."""
    for trace in run if isinstance(run, list) else run.traces():
        image, files = image_of(trace), {}
        for record in trace.metadata("FH"):
            files[record["args"]["value"]] = record["args"]["name"]
        for event in trace.events:
            if event["cat"] == category:
                yield image, event, files.get(event["args"].get("fhash"))


def tally_of_trace(run, names: Names) -> Tally:
    tally: Tally = collections.defaultdict(lambda: [0, 0])
    for image, event, file in io_events(run, "POSIX"):
        kind = strace.FUNCTIONS.get(event["name"])
        plain = names.plain(file) if kind and file else None
        if plain:
            _add(tally, image, kind, plain, event["args"].get("ret", 0))
    return dict(tally)


def differences(calls: list[strace.Call], run, names: tuple[Names, Names]) -> list[str]:
    """One line for each program, kind of call and file that differ. Calls of constructors may be missing."""
    wanted = tally_of_strace(calls, names[0])
    least = tally_of_strace([c for c in calls if not c.in_constructor], names[0])
    found = tally_of_trace(run, names[1])
    lines = []
    for key in sorted(wanted.keys() | found.keys()):
        one, other = wanted.get(key, [0, 0]), found.get(key, [0, 0])
        low = least.get(key, [0, 0])
        if not all(l <= o <= w for l, o, w in zip(low, other, one)):
            lines.append(f"{' '.join(key)}: strace {one[0]} calls, {one[1]} bytes; trace {other[0]}, {other[1]}")
    return lines


# ------------------------------------------------------------------------------------------------------ inside of libc

READERS = ("fread", "fgets", "fgetc", "getc", "getline", "getdelim", "getchar", "gets", "getw")
WRITERS = ("fwrite", "fputs", "fputc", "putc", "puts", "putchar", "putw", "fprintf", "vfprintf", "printf", "vprintf", "dprintf", "vdprintf")
# What a program may have called when libc fills a stream's buffer: __uflow and __underflow come from macros of stdio.h;
# getc leaves no frame of its own.
FILLS = (*READERS, "uflow", "underflow", "default_uflow", "fscanf", "vfscanf", "isoc99_fscanf", "isoc99_vfscanf", "isoc23_fscanf", "fseek", "fseeko", "ungetc")


def _fills(entry: str | None) -> bool:
    plain = (entry or "").removeprefix("_IO_").lstrip("_").removesuffix("_chk").removesuffix("_unlocked").removesuffix("64")
    return plain in FILLS


def stream_bytes_of_strace(calls: list[strace.Call], names: Names) -> dict:
    """(image, `read` or `write`, file) -> bytes that libc moved on behalf of streams."""
    sums: dict = collections.Counter()
    for call in calls:
        if call.kind not in ("read", "write", "writev") or call.ret <= 0 or not call.file or call.by_program:
            continue
        way = "read" if call.kind == "read" else "write"
        file = names.plain(call.file)
        if file and call.entry and (way == "write" or _fills(call.entry)):
            sums[call.image, way, file] += call.ret
    return sums


def stream_bytes_of_trace(run, names: Names) -> dict:
    sums: dict = collections.Counter()
    for image, event, file in io_events(run, "STDIO"):
        plain = names.plain(file) if file else None
        way = "read" if event["name"] in READERS else "write" if event["name"] in WRITERS else None
        if plain and way:
            sums[image, way, plain] += event["args"].get("bytes", 0)
    return +sums


def stream_differences(calls: list[strace.Call], run, names: tuple[Names, Names]) -> list[str]:
    wanted, found = stream_bytes_of_strace(calls, names[0]), stream_bytes_of_trace(run, names[1])
    return [
        f"{' '.join(key)}: strace {wanted[key]} bytes; trace {found[key]}"
        for key in sorted(wanted.keys() | found.keys())
        if wanted[key] != found[key]
    ]
