# SPDX-License-Identifier: MIT
import os

import harness

os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(harness.BUILD / "hypothesis"))
