# SPDX-License-Identifier: MIT
"""Events of PyTorch's own calls, without a change of the training loop: batches of a DataLoader, collectives.

    from dftracer.python.torch import trace_collectives, trace_dataloaders
    trace_dataloaders()
    trace_collectives()

torch is imported by these calls, not before, and not at all when tracing is off.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Dict, Iterable, Tuple

from dftracer._native import ON
from dftracer.python.ai_common import ProfileCategory
from dftracer.python.ai_init import ai
from dftracer.python.logger import dft_fn

__all__ = ["trace_collectives", "trace_dataloaders"]

_MARK = "__dftracer_traces__"

# Functions of torch.distributed, and which of their parameters this rank's tensor is, or the list of them.
_COLLECTIVES = {
    "all_gather": "tensor",
    "all_gather_into_tensor": "input_tensor",
    "all_reduce": "tensor",
    "all_to_all": "input_tensor_list",
    "all_to_all_single": "input",
    "barrier": "",
    "broadcast": "tensor",
    "gather": "tensor",
    "irecv": "tensor",
    "isend": "tensor",
    "recv": "tensor",
    "reduce": "tensor",
    "reduce_scatter": "input_list",
    "reduce_scatter_tensor": "input",
    "scatter": "tensor",
    "send": "tensor",
}


def trace_dataloaders() -> bool:
    """Every batch that an iterator of a torch.utils.data.DataLoader hands out is an event from now on.

    The event is `fetch` of the category `dataloader`, with the args of `ai.dataloader.fetch`, and `batch` (from 0) and
    `num_workers`. Its length is what the loop waited. The last one finds the end of the data, and has no `batch`.

    Returns:
        Whether batches are traced; False when tracing is off.
    """
    if not ON:
        return False
    from torch.utils.data import dataloader

    iterator = dataloader._BaseDataLoaderIter
    if not hasattr(iterator.__next__, _MARK):
        iterator.__next__ = _fetching(iterator.__next__)
    return True


def _fetching(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(original)
    def fetch(self: Any) -> Any:
        args = {"num_workers": int(getattr(self, "_num_workers", 0))}
        with ai.dataloader.fetch as event:
            try:
                batch = original(self)
                args["batch"] = int(getattr(self, "_num_yielded", 0)) - 1
            except StopIteration:
                ended = True
            else:
                ended = False
            event.update(args=args)
        if ended:
            raise StopIteration
        return batch

    setattr(fetch, _MARK, True)
    return fetch


def trace_collectives() -> bool:
    """Every collective, send and receive of torch.distributed is an event from now on, named as torch's profiler does.

    The event is for instance `nccl:all_reduce` of the category `comm`, with the args `bytes` (of this rank's tensors),
    `dtype`, `group_size` and `rank` (in the group). Its length is that of the call: with NCCL the work itself is on the
    GPU, in the kernels that the call launched. What DistributedDataParallel sends from C++ does not pass here.

    Returns:
        Whether collectives are traced; False when tracing is off or this torch has no torch.distributed.
    """
    if not ON:
        return False
    import torch.distributed as distributed

    if not distributed.is_available():
        return False
    from torch.distributed import distributed_c10d

    for name, tensor in _COLLECTIVES.items():
        original = getattr(distributed_c10d, name, None)
        if original is None or hasattr(original, _MARK):
            continue
        replacement = _calling(distributed_c10d, original, name, tensor)
        for module in (distributed, distributed_c10d):
            if getattr(module, name, None) is original:
                setattr(module, name, replacement)
    return True


def _calling(c10d: Any, original: Callable[..., Any], name: str, tensor: str) -> Callable[..., Any]:
    spans: Dict[str, dft_fn] = {}
    places = list(inspect.signature(original).parameters)

    def given(parameter: str, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        place = places.index(parameter) if parameter in places else len(args)
        return args[place] if place < len(args) else kwargs.get(parameter)

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        facts = _group_facts(c10d, given("group", args, kwargs))
        backend = str(facts.pop("backend", "torch"))
        span = spans.get(backend)
        if span is None:
            span = spans[backend] = dft_fn(ProfileCategory.COMM.value, f"{backend}:{name}")
        facts.update(_tensor_facts(given(tensor, args, kwargs)))
        with span as event:
            event.update(args=facts)
            return original(*args, **kwargs)

    setattr(call, _MARK, True)
    return call


def _group_facts(c10d: Any, group: Any) -> Dict[str, Any]:
    try:  # whatever is wrong with the group, the call itself says it
        return {
            "backend": c10d.get_backend(group),
            "group_size": int(c10d.get_world_size(group)),
            "rank": int(c10d.get_rank(group)),
        }
    except Exception:
        return {}


def _tensor_facts(tensors: Any) -> Dict[str, Any]:
    many: Iterable[Any] = tensors if isinstance(tensors, (list, tuple)) else (tensors,)
    sized = [each for each in many if hasattr(each, "element_size") and hasattr(each, "numel")]
    if not sized:
        return {}
    return {"bytes": sum(int(t.numel()) * int(t.element_size()) for t in sized), "dtype": str(sized[0].dtype)}
