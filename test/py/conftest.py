# SPDX-License-Identifier: MIT
import os
import tempfile

import harness
import pytest

os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(harness.BUILD / "hypothesis"))


@pytest.fixture
def short():
    """A TMPDIR in which multiprocessing's sockets have names of the length that they may have."""
    with tempfile.TemporaryDirectory(prefix="dft", dir="/tmp") as folder:
        yield {"TMPDIR": folder}
