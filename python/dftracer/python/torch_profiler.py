# SPDX-License-Identifier: MIT
"""torch.profiler beside the tracer. CUPTI, by which both see the GPU, serves one of them at a time; the core decides who
(DFTRACER_CUDA_YIELD), here it is told when torch.profiler begins and ends. torch is watched for, never imported."""

from __future__ import annotations

import os
import sys
from typing import Any, Callable

from dftracer._native import native

_MODULE = "torch.autograd.profiler"
_NAME = "torch.profiler"


class _Windows:
    """Follows the windows of torch.profiler, which has one at a time."""

    def __init__(self, prepare: Callable[..., Any], disable: Callable[..., Any]) -> None:
        self._prepare, self._disable = prepare, disable
        self._is_open = False

    def prepare(self, *args: Any, **kwargs: Any) -> Any:
        wanted = kwargs.get("activities", args[1] if len(args) > 1 else ())
        sees_gpu = any(getattr(activity, "name", "") == "CUDA" for activity in wanted)
        # Where it has CUPTI, torch uses it for windows of the CPU alone as well; and who is refused once, is for good.
        if self._is_open or not (sees_gpu or self._yields()):
            return self._prepare(*args, **kwargs)
        self._is_open = True
        native._gpu_profiler_begins(_NAME)
        try:
            return self._prepare(*args, **kwargs)
        except BaseException:
            self._end()
            raise

    def disable(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._disable(*args, **kwargs)
        finally:
            if self._is_open:
                self._end()

    @staticmethod
    def _yields() -> bool:
        return str(native.get_config("DFTRACER_CUDA_YIELD")).lower() in ("1", "true", "on", "yes")

    def _end(self) -> None:
        self._is_open = False
        native._gpu_profiler_ends()


def _follow(module: Any) -> None:
    prepare, disable = (getattr(module, name, None) for name in ("_prepare_profiler", "_disable_profiler"))
    if prepare is None or disable is None:
        return  # before 1.8, or a torch that does it in another way
    windows = _Windows(prepare, disable)
    module._prepare_profiler = windows.prepare
    module._disable_profiler = windows.disable


class _Finder:
    """Stands in sys.meta_path until torch's module is looked for, and finds nothing itself."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != _MODULE:
            return None
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find is not None else None
            if spec is not None:
                _follow_after(spec.loader)
                return spec
        return None


def _follow_after(loader: Any) -> None:
    run = getattr(loader, "exec_module", None)
    if run is None:
        return

    def exec_module(module: Any) -> None:
        del loader.exec_module
        run(module)
        _follow(module)

    try:
        loader.exec_module = exec_module
    except AttributeError:
        pass  # a loader of its own kind: torch.profiler is not noticed


def watch() -> None:
    """Called once, when tracing is on."""
    module = sys.modules.get(_MODULE)
    if module is not None:
        _follow(module)
    else:
        sys.meta_path.insert(0, _Finder())


def offer_nvtx() -> None:
    """NVTX looks for its injection library in the environment, at the first call in each library. The core sets it only
    while there are no threads; an import may come later than that."""
    path = native._nvtx_library()
    if path:
        os.environ["NVTX_INJECTION64_PATH"] = path
