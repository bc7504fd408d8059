# SPDX-License-Identifier: MIT
"""Processes of multiprocessing, and what is built on it (concurrent.futures, joblib, PyTorch's DataLoader).

A forked worker is traced by the core. Two things are added here: a worker that was started afresh (spawn, forkserver)
begins to trace when it imports this package, with the configuration that its parent handed down; and since parents end
their workers by SIGTERM, a worker ends its trace first.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from dftracer._native import native


class _Registered:
    """What multiprocessing calls back with; it keeps weak references only."""


_registered = _Registered()
_is_registered = False


def _after_fork(_: Any) -> None:
    native._note_worker()


def _before_fork() -> None:
    global _is_registered
    util = sys.modules.get("multiprocessing.util")
    if util is not None and not _is_registered:
        _is_registered = True
        util.register_after_fork(_registered, _after_fork)


def _was_started_afresh() -> bool:
    process = sys.modules.get("multiprocessing.process")
    if process is None:
        return False
    return bool(process.parent_process() or getattr(process.current_process(), "_inheriting", False))


def watch() -> None:
    """Called once, when tracing is on."""
    os.register_at_fork(before=_before_fork)
    if _was_started_afresh():
        native._note_worker()
        native.initialize()
