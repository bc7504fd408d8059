# SPDX-License-Identifier: MIT
"""DFTracer: traces what a job does, into one compact trace on one timeline.

The API is in `dftracer.python`. This package itself imports nothing, so that `import dftracer` is free.
"""

from __future__ import annotations

from typing import Any

__all__ = ["library_path", "preload_path"]


def library_path(name: str) -> str:
    """Where a library of the package lies.

    Args:
        name: `core` or `preload`.
    Returns:
        The absolute path of `libdftracer_<name>.so`.
    Raises:
        FileNotFoundError: when the package was installed without it.
    """
    import os

    here = os.path.dirname(os.path.abspath(__file__))
    for folder in ("lib64", "lib", os.path.join("..", "..", "lib")):
        path = os.path.normpath(os.path.join(here, folder, f"libdftracer_{name}.so"))
        if os.path.exists(path):
            return path
    raise FileNotFoundError(f"libdftracer_{name}.so was not found beside {here}")


def preload_path() -> str:
    """What to put into LD_PRELOAD to trace a program that does not call DFTracer; see also `python -m dftracer run`."""
    return library_path("preload")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from dftracer._native import native

        version = getattr(native, "__version__", None)
        if version is None:
            import importlib.metadata

            version = importlib.metadata.version("dftracer")
        return version
    raise AttributeError(f"module 'dftracer' has no attribute {name!r}")
