# SPDX-License-Identifier: MIT
"""The name of the debug build of earlier releases: the same module."""

from dftracer.python.torch import *  # noqa: F401,F403
