# SPDX-License-Identifier: MIT
"""The table of measured rows beside what bench/budgets.toml asks for, and the machine it was measured on."""

from __future__ import annotations

import os
import platform
import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Row:
    title: str
    value: float | None
    unit: str
    must: float | None
    aim: float | None
    at_least: bool
    note: str

    def _holds(self, limit: float) -> bool:
        return self.value >= limit if self.at_least else self.value <= limit

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "-"
        if self.must is not None and not self._holds(self.must):
            return "FAIL"
        if self.aim is not None:
            return "ok, aim" if self._holds(self.aim) else "ok"
        return "ok" if self.must is not None else ""


class Table:
    """Rows in the order in which they were measured."""

    def __init__(self, budgets: Path):
        self.budgets = tomllib.loads(budgets.read_text())["row"]
        self.rows: list[Row] = []
        self.unmeasured = list(self.budgets)

    def add(self, key: str, value: float | None, note: str = "") -> None:
        budget = self.budgets[key]
        self.unmeasured.remove(key)
        row = Row(budget["title"], value, budget["unit"], budget.get("must"), budget.get("aim"),
                  budget.get("at_least", False), note)
        self.rows.append(row)
        print(f"  {row.title}: {_number(value)} {row.unit} {note}", flush=True)

    @property
    def failed(self) -> list[Row]:
        return [r for r in self.rows if r.verdict == "FAIL"]

    def __str__(self) -> str:
        lines = [("measure", "value", "", "must", "aim", "verdict", "note")]
        for r in self.rows:
            sign = ">= " if r.at_least else "<= "
            limits = [sign + _number(x) if x is not None else "" for x in (r.must, r.aim)]
            lines.append((r.title, _number(r.value), r.unit, *limits, r.verdict, r.note))
        return columns(lines)


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.1f}" if abs(value) >= 100 else f"{value:.2f}" if abs(value) >= 1 else f"{value:.4f}"


def columns(lines: list[tuple]) -> str:
    widths = [max(len(str(line[i])) for line in lines) for i in range(len(lines[0]))]
    texts = ["  ".join(str(cell).ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
    texts.insert(1, "-" * max(map(len, texts)))
    return "\n".join(texts)


def machine(facts: dict) -> str:
    model = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    load = os.getloadavg()
    return (f"{os.cpu_count()} x {model}, Linux {platform.release()}, {facts['compiler']}, {facts['build_type']}, "
            f"compressor {facts['compressor']}; load average at the start {load[0]:.1f} {load[1]:.1f} {load[2]:.1f}")
