# SPDX-License-Identifier: MIT
"""Instructions of one loop of a program, counted by valgrind's callgrind: the same on a busy and on a quiet machine."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from .programs import ProgramFailed, clean_environment

# One choice of string functions on every processor; else libc takes those of the machine it runs on.
ONE_LIBC_PATH = "glibc.cpu.hwcaps=-AVX2,-AVX_Fast_Unaligned_Load,-AVX512F,-AVX512VL,-ERMS,-FSRM,-BMI2"


@dataclass
class Counts:
    """What ran inside the function: instructions, and by object and address how often each was executed."""

    instructions: int = 0
    executed: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(int)))

    def locked(self) -> int:
        """Executed instructions that lock the bus: a lock prefix, or an exchange with memory."""
        total = 0
        for binary, addresses in self.executed.items():
            total += sum(addresses.get(a, 0) for a in locked_addresses(binary))
        return total


@lru_cache
def locked_addresses(binary: str) -> frozenset[int]:
    if not Path(binary).is_file():
        return frozenset()
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", binary], capture_output=True, text=True, check=True)
    found = re.findall(r"^\s*([0-9a-f]+):\s+(?:lock |xchg\s+.*\()", text.stdout, re.MULTILINE)
    return frozenset(int(a, 16) for a in found)


def count(argv: list, function: str, folder: Path, environment: dict[str, str], each: bool = False) -> Counts:
    """Runs `argv` under callgrind and counts within `function` on whatever thread runs it. `each`: by address."""
    out = folder / "callgrind.out"
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", f"--toggle-collect={function}",
               "--compress-strings=no", "--compress-pos=no", f"--dump-instr={'yes' if each else 'no'}"]
    done = subprocess.run([*command, *map(str, argv)], cwd=folder, capture_output=True, text=True, check=False,
                          env=clean_environment(GLIBC_TUNABLES=ONE_LIBC_PATH, **environment), timeout=300)
    if done.returncode != 0 or not out.exists():
        raise ProgramFailed(f"callgrind of {argv[0]}: exit status {done.returncode}: {done.stderr[-500:]}")
    return parse(out.read_text(), each)


def parse(text: str, each: bool) -> Counts:
    counts = Counts()
    binary, called = "", False
    for line in text.splitlines():
        if line.startswith("totals:"):
            counts.instructions = int(line.split()[1])
        elif line.startswith("ob="):
            binary = line[3:]
        elif line.startswith("calls="):
            called = True
        elif each and line.startswith("0x"):
            if not called:  # the line behind `calls=` is the cost of the callee
                parts = line.split()
                counts.executed[binary][int(parts[0], 16)] += int(parts[-1])
            called = False
    return counts
