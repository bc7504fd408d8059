# SPDX-License-Identifier: MIT
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "support"))

import harness  # noqa: E402


@pytest.fixture
def bench(tmp_path_factory):
    """Its folder's name is short: multiprocessing puts sockets under TMPDIR, and a socket's name has 107 bytes at most."""
    return harness.Bench(tmp_path_factory.mktemp("t"))
