# SPDX-License-Identifier: MIT
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "support"))

import harness  # noqa: E402


@pytest.fixture
def bench(tmp_path):
    return harness.Bench(tmp_path)
