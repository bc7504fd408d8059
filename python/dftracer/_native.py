# SPDX-License-Identifier: MIT
"""The native module, or what stands in for it where it cannot be loaded: then nothing is traced, and nothing breaks."""

from __future__ import annotations

import os
import warnings
from typing import Any

native: Any
try:
    from dftracer import dftracer as native
except ImportError as _missing:
    from dftracer import _fallback as native

    if os.environ.get("DFTRACER_ENABLE", "").strip().lower() in ("1", "true", "on", "yes"):
        warnings.warn(
            f"dftracer: DFTRACER_ENABLE is set, but the native module cannot be loaded ({_missing}): "
            "nothing is traced: install the package again",
            RuntimeWarning,
            stacklevel=2,
        )

#: Whether anything can be recorded in this process. False for good when the configuration does not switch tracing on.
ON: bool = native.is_on()
