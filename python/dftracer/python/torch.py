# SPDX-License-Identifier: MIT
"""torch.profiler's events in the trace, and events of PyTorch's own calls (torch_calls).

    from dftracer.python.torch import trace_handler
    with torch.profiler.profile(on_trace_ready=trace_handler): ...
    with torch.profiler.profile(on_trace_ready=trace_handler.chain(other_handler)): ...
"""

from __future__ import annotations

from typing import Any, Callable, Optional

from dftracer._native import ON
from dftracer.python.common import get_time_scale
from dftracer.python.logger import dftracer
from dftracer.python.torch_calls import trace_collectives, trace_dataloaders

__all__ = ["get_time_scale", "trace_collectives", "trace_dataloaders", "trace_handler"]

CATEGORY = "PP"


def _origin_us(prof: Any) -> Optional[float]:
    """When the profiler's time 0 was, in microseconds since 1970; None when this torch does not say."""
    results = getattr(getattr(prof, "profiler", prof), "kineto_results", None)
    for name, unit in (("trace_start_ns", 1e-3), ("trace_start_us", 1.0)):
        ask = getattr(results, name, None)
        if ask is not None:
            try:
                return float(ask()) * unit
            except Exception:
                return None
    return None


def _number(event: Any, *names: str) -> Any:
    for name in names:
        value = getattr(event, name, None)
        if isinstance(value, (int, float)):
            return value
    return 0


def _shape_ranks(event: Any) -> int:
    shapes = getattr(event, "input_shapes", None) or ()
    return sum(len(shape) for shape in shapes if isinstance(shape, (list, tuple)))


def _write(tracer: dftracer, event: Any, origin: float, per_us: float, share: Any) -> None:
    begin = float(event.time_range.start)
    duration = max(float(event.time_range.end) - begin, 0.0)
    kind = getattr(event, "device_type", 0)
    ints = {
        "device": int(getattr(kind, "value", 0)) if not isinstance(kind, int) else kind,
        "cpu_memory": _number(event, "cpu_memory_usage", "self_cpu_memory_usage"),
        "is_remote": int(bool(getattr(event, "is_remote", False))),
        "device_memory_usage": _number(event, "device_memory_usage", "cuda_memory_usage"),
        "input_size": _shape_ranks(event),
    }
    floats = {
        "total_cpu_percent": share(_number(event, "self_cpu_time_total"), 0),
        "total_device_percent": share(_number(event, "self_device_time_total", "self_cuda_time_total"), 1),
    }
    name = str(getattr(event, "key", None) or event.name)
    tracer.log_event(name, CATEGORY, int((origin + begin) * per_us), int(duration * per_us), ints, floats)


class _TraceHandler:
    def __init__(self, then: Optional[Callable[[Any], Any]] = None):
        self._then = then

    def chain(self, other: Callable[[Any], Any]) -> _TraceHandler:
        """The same handler, which calls `other` afterwards, such as torch.profiler.tensorboard_trace_handler(...)."""
        return _TraceHandler(other)

    def __call__(self, prof: Any) -> None:
        if ON:
            self._write_all(prof)
        if self._then is not None:
            self._then(prof)

    def _write_all(self, prof: Any) -> None:
        tracer = dftracer.get_instance()
        tracer.mark_used("torch_profiler")
        per_us = get_time_scale() / 1e6
        events = list(prof.events() or ())
        totals = [
            sum(_number(e, "self_cpu_time_total") for e in events) or 1,
            sum(_number(e, "self_device_time_total", "self_cuda_time_total") for e in events) or 1,
        ]
        origin = _origin_us(prof)
        if origin is None or origin < 1e15:  # not said, or not since 1970: the last event ended just now
            last = max((float(e.time_range.end) for e in events), default=0.0)
            origin = tracer.get_time() / per_us - last
        for event in events:
            _write(tracer, event, origin, per_us, lambda part, of: 100.0 * part / totals[of])


#: Pass it as `torch.profiler.profile(on_trace_ready=trace_handler)`: each event of the profiler becomes an event of
#: category PP, with int args device, cpu_memory, is_remote, device_memory_usage, input_size and float args
#: total_cpu_percent, total_device_percent (shares of the window's own times).
trace_handler = _TraceHandler()
