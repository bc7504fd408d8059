# SPDX-License-Identifier: MIT
"""torch.compile with an event for each operation of the graph.

    @dynamo.compile
    class Model(torch.nn.Module): ...      # or a function, or a module object

The graph runs operation by operation, without a compiler behind it: this shows what the model does, not how fast a
compiled one is. Times are those of the host. torch is imported at the first use only.
"""

from __future__ import annotations

from typing import Any, Callable, List, Optional

from dftracer._native import ON
from dftracer.python.logger import dft_fn, dftracer

__all__ = ["Dynamo", "create_backend", "dynamo"]

CATEGORY = "dynamo"


def _torch() -> Any:
    try:
        import torch

        torch._dynamo  # noqa: B018  (torch 1.x has none)
    except (ImportError, AttributeError) as missing:
        raise RuntimeError("dftracer's dynamo needs PyTorch 2: pip install 'dftracer[dynamo]'") from missing
    return torch


def _boxed(graph: Callable[..., Any]) -> Any:
    """As AOT autograd wants it."""
    try:
        from functorch.compile import make_boxed_func
    except ImportError as missing:
        raise RuntimeError("this PyTorch has no functorch.compile: pass autograd=False") from missing
    return make_boxed_func(graph)


def _operation_name(node: Any, modules: Any) -> str:
    if node.op == "call_module":
        path = str(node.target)
        kind = type(modules.get(path)).__name__ if path in modules else "Module"
        return f"{path}.{kind}_{path.replace('.', '_')}"
    if node.op == "call_method":
        return f"method.{node.target}"
    return f"function.{getattr(node.target, '__name__', node.target)}"


def _instrument(torch: Any, graph: Any, span: dft_fn) -> None:
    """Puts every operation of an FX graph between two calls of ours."""
    modules = dict(graph.named_modules())
    operations = [n for n in graph.graph.nodes if n.op in ("call_module", "call_function", "call_method")]
    for node in operations:
        operation = span._named(_operation_name(node, modules))

        def begin(operation: Any = operation) -> None:
            operation._start()
            operation.update(args={"grad_enabled": int(torch.is_grad_enabled())})

        def end(operation: Any = operation) -> None:
            operation._stop()

        begin.__name__, end.__name__ = "dftracer_begin", "dftracer_end"
        with graph.graph.inserting_before(node):
            graph.graph.call_function(begin)
        with graph.graph.inserting_after(node):
            graph.graph.call_function(end)
    graph.recompile()


def create_backend(
    name: Optional[str] = None,
    epoch: Optional[int] = None,
    step: Optional[int] = None,
    image_idx: Optional[int] = None,
    image_size: Optional[float] = None,
    enable: bool = True,
    autograd: bool = True,
) -> Callable[..., Any]:
    """A backend for `torch.compile(model, backend=...)` that records each operation of the graph.

    Args:
        name, epoch, step, image_idx, image_size: as of dft_fn.
        enable: False gives a backend that runs the graph and records nothing.
        autograd: record the graphs of forward and backward that AOT autograd makes; False: the forward graph only.
    Raises:
        RuntimeError: without PyTorch 2, or with autograd without its functorch.
    """
    torch = _torch()
    on = ON and enable

    def prepare(graph: Any, inputs: List[Any]) -> Any:
        if on:
            # Each graph has frames of its own, so that one that runs inside another ends its own operations.
            _instrument(torch, graph, dft_fn(CATEGORY, name or CATEGORY, epoch, step, image_idx, image_size))
        return graph.forward

    if not autograd:
        return prepare
    from torch._dynamo.backends.common import aot_autograd

    backend: Callable[..., Any] = aot_autograd(fw_compiler=lambda graph, inputs: _boxed(prepare(graph, inputs)))
    return backend


class Dynamo:
    """Compiles models so that each of their operations is an event of category `dynamo`.

    Args:
        name, epoch, step, image_idx, image_size, enable: as of dft_fn.
    """

    def __init__(
        self,
        name: str = CATEGORY,
        epoch: Optional[int] = None,
        step: Optional[int] = None,
        image_idx: Optional[int] = None,
        image_size: Optional[float] = None,
        enable: bool = True,
    ):
        self._of_dft_fn = (name, epoch, step, image_idx, image_size)
        self.enabled = bool(enable)

    def compile(self, f: Any = None, autograd: bool = True) -> Any:
        """Compiles a function or module; `@dynamo.compile` and `@dynamo.compile()` both. Off, `f` itself is returned."""
        if f is None:
            return lambda function: self.compile(function, autograd)
        if not ON or not self.enabled:
            return f
        torch = _torch()
        dftracer.get_instance().mark_used("dynamo")
        return torch.compile(f, backend=create_backend(*self._of_dft_fn, enable=True, autograd=autograd))

    def enable(self) -> None:
        """Functions compiled from now on are recorded."""
        self.enabled = True

    def disable(self) -> None:
        """Functions compiled from now on are left as they are."""
        self.enabled = False

    @staticmethod
    def count_parameters(module: Any) -> int:
        """How many trainable parameters a module has."""
        return sum(p.numel() for p in module.parameters() if p.requires_grad)


dynamo = Dynamo()
