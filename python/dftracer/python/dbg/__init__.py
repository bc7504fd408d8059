# SPDX-License-Identifier: MIT
"""The import path of the debug build of earlier releases; all names are the ordinary ones."""

from dftracer.python import *  # noqa: F401,F403
