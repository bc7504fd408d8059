# SPDX-License-Identifier: MIT
"""`ai`: a tree of nodes, one for each kind of work of an AI program, ready to annotate it.

    @ai.compute.forward
    def forward(x): ...

    with ai.pipeline.epoch(epoch=3):
        for batch in ai.dataloader.fetch.iter(loader): ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, Optional, Tuple, Type, TypeVar, cast, overload

from dftracer._native import ON, native
from dftracer.python import ai_common as words
from dftracer.python import common
from dftracer.python.logger import dftracer
from dftracer.python.wrapping import traced

if TYPE_CHECKING:
    from dftracer.dftracer import Span
else:
    Span = native.Span

__all__ = [
    "AI",
    "Checkpoint",
    "Communication",
    "Compute",
    "Data",
    "DataLoader",
    "DFTracerAI",
    "Device",
    "IO",
    "Other",
    "Pipeline",
    "ai",
    "checkpoint",
    "comm",
    "compute",
    "data",
    "dataloader",
    "device",
    "pipeline",
]

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
Node = TypeVar("Node", bound="DFTracerAI")

ROOT_NAME = "ai_root"


class DFTracerAI(Span):
    """A node: a decorator, a context manager and a loop wrapper, with nodes below it.

    Args:
        cat: the category of its events.
        name: the name of its events; None takes the category's.
        epoch, step, image_idx, image_size: args of all its events.
        enable: False makes this node do nothing.

    Attributes:
        cat, name: as given.
        enabled: whether its events are written.
    """

    def __new__(cls: Type[Node], cat: Any, name: Any = None, *args: Any, **kwargs: Any) -> Node:
        node = Span.__new__(cls, cat, cat if name is None else name, *args, **kwargs)
        node._children = {}
        node._derived = {}
        return node

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    _children: Dict[str, DFTracerAI]
    _derived: Dict[str, DFTracerAI]

    def __reduce__(self) -> Any:
        path = _path_to(self, ai, ())
        return (_node_at, path) if path is not None else (DFTracerAI, (self.cat, self.name))

    # ---- use

    @overload
    def __call__(self, fn: F) -> F: ...
    @overload
    def __call__(
        self: Node,
        fn: None = None,
        *,
        enable: Optional[bool] = None,
        epoch: Optional[int] = None,
        step: Optional[int] = None,
        image_idx: Optional[int] = None,
        image_size: Optional[float] = None,
        args: Optional[Dict[str, Any]] = None,
    ) -> Node: ...
    def __call__(
        self,
        fn: Any = None,
        *,
        enable: Optional[bool] = None,
        epoch: Optional[int] = None,
        step: Optional[int] = None,
        image_idx: Optional[int] = None,
        image_size: Optional[float] = None,
        args: Optional[Dict[str, Any]] = None,
    ) -> Any:
        """Decorates `fn`; or, without it, makes a node of the same name with args of its own, to decorate or enter.

        Off, the function itself is returned. A node made here has the args and the switch of this one too, unless
        `enable` overrides it.
        """
        if fn is not None and all(each is None for each in (enable, epoch, step, image_idx, image_size, args)):
            return self._decorate(fn)
        node = DFTracerAI(self.cat, self.name)
        if ON:
            node._follow(self)
        if enable is not None:
            node.enabled = enable
        node.update(epoch=epoch, step=step, image_idx=image_idx, image_size=image_size, args=args)
        return node if fn is None else node._decorate(fn)

    def _decorate(self, fn: Any) -> Any:
        return traced(fn, self, args=False) if ON else fn

    def iter(
        self,
        iterator: Iterable[T],
        *,
        include_block: bool = True,
        include_iter: bool = True,
        iter_name: Optional[str] = None,
        block_name: Optional[str] = None,
    ) -> Iterator[T]:
        """Iterates: `<name>.iter` is the time to get each item, `<name>.block` what the loop did with it.

        Both have the arg `count`, from 1. The events' names can be given, and either kind left out.
        """
        if not ON or not self.enabled or not (include_iter or include_block):
            return iter(iterator)
        fetch = (iter_name or common.get_iter_handle_name(self.name)) if include_iter else None
        block = (block_name or common.get_iter_block_name(self.name)) if include_block else None
        return cast("Iterator[T]", native._Items(iterator, self, fetch, block, common.ITER_COUNT_NAME))

    def start(self, metadata: bool = False) -> None:
        """Begins an event; with `metadata`, notes the time under `<name>.start` instead.

        An event that this thread had begun on this node and not ended yet ends now, with the arg `unmatched`.
        """
        if metadata:
            self._note("start")
        else:
            self._start()

    def stop(self, metadata: bool = False) -> None:
        """Ends the event that start() began; with `metadata`, notes the time under `<name>.end` instead."""
        if metadata:
            self._note("end")
        else:
            self._stop()

    def _note(self, what: str) -> None:
        if self.enabled:
            common.profiler.log_metadata_event(f"{self.name}.{what}", str(self.get_time()))

    # ---- args and switch, of this node and all below it

    def update(
        self: Node,
        epoch: Optional[int] = None,
        step: Optional[int] = None,
        image_idx: Optional[int] = None,
        image_size: Optional[float] = None,
        args: Optional[Dict[str, Any]] = None,
    ) -> Node:
        """Adds args to the events of this node and all below it: see dft_fn.update."""
        if ON:
            for node in self._subtree():
                Span.update(node, epoch, step, image_idx, image_size, args)
        return self

    def enable(self) -> None:
        """Lets this node and all below it write events."""
        self._switch(True)

    def disable(self) -> None:
        """Stops this node and all below it."""
        self._switch(False)

    def _switch(self, on: bool) -> None:
        for node in self._subtree():
            node.enabled = on

    def _subtree(self) -> Iterator[DFTracerAI]:
        yield self
        for below in (self._children, self._derived):
            for child in below.values():
                yield from child._subtree()

    def get_time(self) -> int:
        """Now, in the trace's unit; 0 when off."""
        return int(common.profiler.get_time())

    # ---- nodes below

    @property
    def profiler(self: Node) -> Node:
        """What writes this node's events: the node itself."""
        return self

    @property
    def init(self) -> DFTracerAI:
        """A node `<name>.init`, for `__init__`."""
        return self._cached(common.INIT_NAME.lstrip("."))

    def derive(self, name: str) -> DFTracerAI:
        """A node `<name of this>.<name>`; the same each time."""
        return self._cached(str(name))

    def _cached(self, name: str) -> DFTracerAI:
        child = self._derived.get(name)
        if child is None:
            child = DFTracerAI(self.cat, f"{self.name}{common.CTX_SEPARATOR}{name}")
            if ON:
                child._follow(self)
            self._derived[name] = child
        return child

    def create_children(self, names: Dict[str, str]) -> None:
        """Makes nodes below: {attribute: name of its events}."""
        for attribute, name in names.items():
            self._adopt(attribute, DFTracerAI(self.cat, str(name), enable=self.enabled))

    def _adopt(self, attribute: str, child: DFTracerAI) -> None:
        self._children[attribute] = child
        setattr(self, attribute, child)


def _names(kind: Any) -> Dict[str, str]:
    return {word.value: word.value for word in kind}


class _Category(DFTracerAI):
    _word: words.ProfileCategory
    _events: Any = ()

    def __new__(cls, enable: bool = True) -> Any:
        return DFTracerAI.__new__(cls, cls._word.value, cls._word.value, enable=enable)

    def __init__(self, enable: bool = True) -> None:
        self.create_children(_names(self._events))


class IO(DFTracerAI):
    """Files of a category: open, read, write, close; their events are named `<category>.io.open` and so on."""

    def __new__(cls, cat: str, enable: bool = True) -> IO:
        return DFTracerAI.__new__(cls, cat, f"{cat}.io", enable=enable)

    def __init__(self, cat: str, enable: bool = True) -> None:
        self.create_children({word.value: f"{cat}.io.{word.value}" for word in words.IOEvent})

    open: DFTracerAI
    read: DFTracerAI
    write: DFTracerAI
    close: DFTracerAI


class Compute(_Category):
    """forward, backward, step."""

    _word, _events = words.ProfileCategory.COMPUTE, words.ComputeEvent
    forward: DFTracerAI
    backward: DFTracerAI
    step: DFTracerAI


class Data(_Category):
    """preprocess, item, and io."""

    _word, _events = words.ProfileCategory.DATA, words.DataEvent
    preprocess: DFTracerAI
    item: DFTracerAI
    io: IO

    def __init__(self, enable: bool = True) -> None:
        super().__init__(enable)
        self._adopt("io", IO(self.cat, enable))


class DataLoader(_Category):
    """fetch."""

    _word, _events = words.ProfileCategory.DATALOADER, words.DataLoaderEvent
    fetch: DFTracerAI


class Communication(_Category):
    """Point to point and collective communication."""

    _word, _events = words.ProfileCategory.COMM, words.CommunicationEvent
    send: DFTracerAI
    receive: DFTracerAI
    barrier: DFTracerAI
    bcast: DFTracerAI
    reduce: DFTracerAI
    all_reduce: DFTracerAI
    gather: DFTracerAI
    all_gather: DFTracerAI
    scatter: DFTracerAI
    reduce_scatter: DFTracerAI
    all_to_all: DFTracerAI


class Device(_Category):
    """transfer."""

    _word, _events = words.ProfileCategory.DEVICE, words.DeviceEvent
    transfer: DFTracerAI


class Checkpoint(_Category):
    """capture, restart, and io."""

    _word, _events = words.ProfileCategory.CHECKPOINT, words.CheckpointEvent
    capture: DFTracerAI
    restart: DFTracerAI
    io: IO

    def __init__(self, enable: bool = True) -> None:
        super().__init__(enable)
        self._adopt("io", IO(self.cat, enable))


class Pipeline(_Category):
    """epoch, train, evaluate, test."""

    _word, _events = words.ProfileCategory.PIPELINE, words.PipelineEvent
    epoch: DFTracerAI
    train: DFTracerAI
    evaluate: DFTracerAI
    test: DFTracerAI


class Other(_Category):
    """log (its events are named other.log), and io."""

    _word = words.ProfileCategory.OTHER
    log: DFTracerAI
    io: IO

    def __init__(self, enable: bool = True) -> None:
        super().__init__(enable)
        self.create_children({word.value: f"{self.cat}.{word.value}" for word in words.OtherEvent})
        self._adopt("io", IO(self.cat, enable))


class AI(DFTracerAI):
    """The root of the tree. `ai` is the one that this module makes; programs may make more.

    Args:
        enable: False switches the whole tree off.
    """

    compute: Compute
    data: Data
    dataloader: DataLoader
    comm: Communication
    device: Device
    checkpoint: Checkpoint
    pipeline: Pipeline
    other: Other

    def __new__(cls, enable: bool = True, **kwargs: Any) -> AI:
        return DFTracerAI.__new__(cls, ROOT_NAME, ROOT_NAME, enable=enable, **kwargs)

    def __init__(self, enable: bool = True, **kwargs: Any) -> None:
        kinds = (Compute, Data, DataLoader, Communication, Device, Checkpoint, Pipeline, Other)
        for kind in kinds:
            self._adopt(kind._word.value, kind(enable))
        if kwargs:
            self.update(**kwargs)
        if ON:
            dftracer.get_instance().mark_used("ai")


def _path_to(node: DFTracerAI, at: DFTracerAI, path: Tuple[str, ...]) -> Optional[Tuple[str, ...]]:
    if node is at:
        return path
    found = (_path_to(node, child, (*path, name)) for name, child in at._children.items())
    return next((each for each in found if each is not None), None)


def _node_at(*path: str) -> DFTracerAI:
    node: DFTracerAI = ai
    for name in path:
        node = node._children[name]
    return node


ai = AI()
compute = ai.compute
data = ai.data
dataloader = ai.dataloader
comm = ai.comm
device = ai.device
checkpoint = ai.checkpoint
pipeline = ai.pipeline
