# SPDX-License-Identifier: MIT
"""`python -m dftracer ...` is the command `dftracer ...`, wherever this package lies."""

import os
import sys


def command_path() -> str:
    """The binary of the command that came with this package."""
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in ("bin", os.path.join("..", "..", "bin")):
        path = os.path.normpath(os.path.join(here, folder, "dftracer"))
        if os.access(path, os.X_OK):
            return path
    raise SystemExit(f"dftracer: the command was not found beside {here}: install the package again")


if __name__ == "__main__":
    path = command_path()
    os.execv(path, [path, *sys.argv[1:]])
