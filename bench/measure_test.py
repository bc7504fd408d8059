# SPDX-License-Identifier: MIT
"""Tests of the benchmark's own judgement: verdicts, parsing, and that budgets and counts belong together."""

import tomllib
import unittest
from pathlib import Path

import check_budgets
from measure import callgrind, instructions, report

HERE = Path(__file__).resolve().parent

CALLGRIND = """\
positions: instr line
events: Ir
ob=/lib/one.so
fn=emit
0x10 0 5
0x14 0 7
calls=3 0x40
0x18 0 900
0x1c 0 2
ob=/lib/two.so
fn=take
0x10 0 1
totals: 915
"""


def row(value, **limits):
    return report.Row("t", value, "", limits.get("must"), limits.get("aim"), limits.get("at_least", False), "").verdict


class Verdicts(unittest.TestCase):
    def test_upper_limit_is_held_up_to_the_limit_itself(self):
        self.assertEqual(row(2.0, must=2), "ok")
        self.assertEqual(row(2.1, must=2), "FAIL")

    def test_lower_limit_turns_the_comparison(self):
        self.assertEqual(row(4.1, must=4, aim=7, at_least=True), "ok")
        self.assertEqual(row(3.9, must=4, aim=7, at_least=True), "FAIL")
        self.assertEqual(row(7.5, must=4, aim=7, at_least=True), "ok, aim")

    def test_missing_value_is_no_verdict(self):
        self.assertEqual(row(None, must=2), "-")

    def test_instructions_fail_only_above_tolerance(self):
        self.assertEqual(check_budgets.verdict(103.0, 100.0, 0.03), "ok")
        self.assertEqual(check_budgets.verdict(103.1, 100.0, 0.03), "ABOVE")
        self.assertEqual(check_budgets.verdict(90.0, 100.0, 0.03), "ok, below: update")
        self.assertEqual(check_budgets.verdict(90.0, None, 0.03), "no budget")


class Callgrind(unittest.TestCase):
    def test_costs_of_callees_are_not_counted_at_the_call(self):
        counts = callgrind.parse(CALLGRIND, each=True)
        self.assertEqual(counts.instructions, 915)
        self.assertEqual(dict(counts.executed["/lib/one.so"]), {0x10: 5, 0x14: 7, 0x1C: 2})
        self.assertEqual(dict(counts.executed["/lib/two.so"]), {0x10: 1})


class Budgets(unittest.TestCase):
    def test_a_row_that_no_group_filled_is_named(self):
        table = report.Table(HERE / "budgets.toml")
        table.add("off_c", 0.0)
        self.assertNotIn("off_c", table.unmeasured)
        self.assertIn("off_cpp", table.unmeasured)

    def test_instruction_tables_name_what_is_counted(self):
        counted = {case.name for case in instructions.CASES}
        budgets = tomllib.loads((HERE / "budgets.toml").read_text())
        for name, table in budgets["instructions"].items():
            if isinstance(table, dict):
                self.assertEqual(set(table), counted, name)


if __name__ == "__main__":
    unittest.main()
