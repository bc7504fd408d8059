# SPDX-License-Identifier: MIT
"""The import path of releases 1.x: `from dftracer.logger import dftracer, dft_fn, ai`."""

from dftracer.python import *  # noqa: F401,F403
from dftracer.python import ai, dft_fn, dftracer  # noqa: F401
