# SPDX-License-Identifier: MIT
"""What the environment says, once, at import. The tracer itself reads its configuration: see docs/configuration.md."""

from __future__ import annotations

import os

from dftracer._native import ON

__all__ = [
    "DFTRACER_ENABLE",
    "DFTRACER_ENABLE_ENV",
    "DFTRACER_INIT_PRELOAD",
    "DFTRACER_INIT_PRELOAD_ENV",
    "DFTRACER_LOG_LEVEL",
    "DFTRACER_LOG_LEVEL_ENV",
    "DFTRACER_TIME_METRIC_ENV",
]

DFTRACER_ENABLE_ENV = "DFTRACER_ENABLE"
DFTRACER_INIT_PRELOAD_ENV = "DFTRACER_INIT"
DFTRACER_LOG_LEVEL_ENV = "DFTRACER_LOG_LEVEL"
DFTRACER_TIME_METRIC_ENV = "DFTRACER_TIME_METRIC"

#: Whether this process can be traced. Decided by the native module, so that a configuration file counts, too.
DFTRACER_ENABLE: bool = ON
#: Whether the environment asks for the preload library.
DFTRACER_INIT_PRELOAD: bool = os.environ.get(DFTRACER_INIT_PRELOAD_ENV, "").upper() == "PRELOAD"
#: ERROR, WARN, INFO or DEBUG.
DFTRACER_LOG_LEVEL: str = os.environ.get(DFTRACER_LOG_LEVEL_ENV, "ERROR").upper()
if DFTRACER_LOG_LEVEL not in ("ERROR", "WARN", "INFO", "DEBUG"):
    DFTRACER_LOG_LEVEL = "ERROR"
