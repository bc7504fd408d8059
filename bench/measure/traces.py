# SPDX-License-Identifier: MIT
"""Reads what a traced run wrote, line by line and strictly, without the reader under test."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Content:
    """What a trace holds: regions by thread, lines that are no valid record, and what the tracer said it lost."""

    regions: Counter = field(default_factory=Counter)
    bad_lines: int = 0
    reported_lost: int = 0

    @property
    def total(self) -> int:
        return sum(self.regions.values())


def _refuse(constant: str):
    raise ValueError(f"{constant} is no JSON")


def read_strictly(folder: Path, name: str = "region") -> Content:
    content = Content()
    for path in sorted(folder.glob("*.pfw.gz")):
        with gzip.open(path, "rb") as lines:
            for line in lines:
                try:
                    record = json.loads(line, parse_constant=_refuse)
                    _take(record, name, content)
                except (ValueError, KeyError, TypeError):
                    content.bad_lines += 1
    return content


def _take(record: dict, name: str, content: Content) -> None:
    if record["ph"] == 1 and record["name"] == name:
        if record["ts"] <= 0 or record["dur"] < 0:
            raise ValueError("impossible time")
        content.regions[record["tid"]] += 1
    elif record["name"] == "loss" and record["ph"] == 4:
        content.reported_lost += int(record["args"].get("count", 1))


def count_lines(folder: Path, text: bytes) -> int:
    """Lines that hold `text`: for traces too long for read_strictly."""
    total = 0
    for path in sorted(folder.glob("*.pfw.gz")):
        unpacked = subprocess.Popen(["zcat", path], stdout=subprocess.PIPE)
        counted = subprocess.run(["grep", "-c", "-F", text], stdin=unpacked.stdout, capture_output=True, check=False)
        total += int(counted.stdout)
        if unpacked.wait() != 0:
            return -1
    return total


def longest_recorded_wait_ns(folder: Path) -> int:
    """The longest stop of an application thread that the trace itself reports."""
    longest = 0
    for path in sorted(folder.glob("*.pfw.gz")):
        found = subprocess.run(["zgrep", "-F", '"name":"wait"', path], capture_output=True, check=False)
        for line in found.stdout.splitlines():
            longest = max(longest, int(json.loads(line)["args"]["ns"]))
    return longest


def validate(command: Path, folder: Path) -> str:
    """Empty when `dftracer validate` accepts the folder's traces, else what it says."""
    done = subprocess.run([command, "validate", folder], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else (done.stderr or done.stdout)[-300:]
