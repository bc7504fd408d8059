# SPDX-License-Identifier: MIT
"""Runs Python programs with the package of the build tree, as test/support/harness.py runs compiled ones.

    trace = pyrun.run(bench, '''
        with dft_fn("cat", "name"): pass
    ''').trace()

The code stands behind `from dftracer.python import *` and an initialize_log(); I/O is off unless `io` is set.
"""

from __future__ import annotations

import pathlib
import sys
import textwrap

import harness
import pytest

PACKAGE = harness.BUILD / "python"
HEAD = "from dftracer.python import *\ntracer = dftracer.initialize_log()\n"


def need_package():
    """For a module's `pytestmark`: skips where the build has no Python package, or is instrumented."""
    reason = ""
    if not list((PACKAGE / "dftracer").glob("dftracer*.so")):
        reason = "the build has no Python package (DFTRACER_BUILD_PYTHON_BINDINGS)"
    elif harness.sanitizer():
        reason = "this Python is not built with the sanitizer that the product is"
    return pytest.mark.skipif(bool(reason), reason=reason)


def environment(**more) -> dict:
    return {"PYTHONPATH": f"{PACKAGE}:{pathlib.Path(__file__).parent}", "PYTHONDONTWRITEBYTECODE": "1", **more}


def script(bench, code: str, head: str = HEAD) -> pathlib.Path:
    """A file with `head` and the dedented code; relative imports find what lies beside it."""
    path = bench.folder / f"script{bench.runs}.py"
    path.write_text(head + textwrap.dedent(code))
    return path


def start(bench, code, mode="function", io=False, head=HEAD, python=sys.executable, env=None, **how):
    """Like bench.start, for code or the path of a program."""
    path = code if isinstance(code, pathlib.Path) else script(bench, code, head)
    extra = environment(**({} if io else harness.NO_IO), **(env or {}))
    arguments = how.pop("arguments", ())
    return bench.start([python, path, *arguments], mode, env=extra, **how)


def run(bench, code, mode="function", status=0, timeout=harness.TIMEOUT, **how) -> harness.Result:
    """Runs to the end; the exit status must be `status`, and stderr empty unless it may be anything (`status` None)."""
    result = bench.finish(*start(bench, code, mode, **how), timeout=timeout)
    if status is not None:
        assert result.status == status, f"{result.status}\n{result.out.decode()}\n{result.err.decode()}"
    return result


def same(bench, code, mode="function", notes=None, **how) -> harness.Result:
    """The program off and on: the same output, status and files."""
    path = code if isinstance(code, pathlib.Path) else script(bench, code, how.pop("head", HEAD))
    bare = run(bench, path, None, status=None, **how)
    return harness.compare(bare, run(bench, path, mode, status=None, **how), notes)


def application(result) -> list[dict]:
    """The events of the Python layer, of all traces."""
    return [e for t in result.traces() for e in t.events if e["type"] == 6]


def names(events) -> list[str]:
    return [e["name"] for e in events]
