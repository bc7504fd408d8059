# SPDX-License-Identifier: MIT
import tempfile

import pytest


@pytest.fixture
def short():
    """A TMPDIR in which multiprocessing's sockets have names of the length that they may have."""
    with tempfile.TemporaryDirectory(prefix="dft", dir="/tmp") as folder:
        yield {"TMPDIR": folder}
