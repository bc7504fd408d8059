# SPDX-License-Identifier: MIT
"""What scripts/gates names exists: CTest is silent about an expression of which a part matches nothing."""

import pathlib
import re

SOURCE = pathlib.Path(__file__).resolve().parents[2]
GATES = (SOURCE / "scripts/gates").read_text()


def alternatives(expression):
    """a|b\\.(c|d) -> a, b.c, b.d"""
    for head, group in re.findall(r"([^|(]+)(?:\(([^)]*)\))?", expression):
        yield from ((head + tail).replace("\\", "") for tail in (group.split("|") if group else [""]))


def test_the_programs_that_sanitizers_run_are_there():
    (expression,) = re.findall(r"-R '\^\((.*)\)\$'", GATES)
    names = set(alternatives(expression))
    assert {"hip.programs", "cuda.programs", "fault.recording"} <= names
    assert names <= {f"{file.parent.name}.{file.stem[5:]}" for file in (SOURCE / "test").glob("*/test_*.py")}


def test_the_units_that_thread_sanitizer_runs_are_there():
    (expression,) = re.findall(r"with_sanitizer tsan '\^\((.*)\)\\\.'", GATES)
    files = [*(SOURCE / "src").rglob("CMakeLists.txt"), *(SOURCE / "test").rglob("CMakeLists.txt")]
    text = "".join(file.read_text() for file in files)
    known = set(re.findall(r"dft_unit_tests\(\w+ (\w+)", text))
    known |= {part.split("\n")[0].split()[0] for part in text.split("dft_layer(")[1:] if " TESTS " in part.split("\n\n")[0]}
    assert set(expression.split("|")) <= known, known
