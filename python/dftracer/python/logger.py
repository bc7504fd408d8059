# SPDX-License-Identifier: MIT
"""The tracer's life (class dftracer) and the annotation of functions, blocks and loops (class dft_fn)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Optional, TypeVar, Union, cast, overload

from dftracer._native import ON, native
from dftracer.python import common
from dftracer.python.common import EntityRelation, EntityRole, EntityStore
from dftracer.python.wrapping import traced

if TYPE_CHECKING:
    from dftracer.dftracer import Span
else:
    Span = native.Span

__all__ = ["dft_fn", "dftracer"]

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
Self = TypeVar("Self", bound="dft_fn")

_FIRST_ENTITY_RELATION = 16


class dftracer:
    """The tracer of this process. There is one: `dftracer.get_instance()`.

    Every method may be called whether tracing is on or off; off, it does nothing and returns 0 or "".
    """

    __instance: Optional[dftracer] = None

    def __init__(self) -> None:
        self.logger: Any = common.profiler
        self.start_time: int = 0
        self._used_marks: set[str] = set()

    @classmethod
    def get_instance(cls) -> dftracer:
        """The one object of this class."""
        if dftracer.__instance is None:
            dftracer.__instance = cls()
        return dftracer.__instance

    @staticmethod
    def initialize_log(
        logfile: Union[str, os.PathLike[str], None] = None,
        data_dir: Union[str, os.PathLike[str], None] = None,
        process_id: int = -1,
    ) -> dftracer:
        """Starts tracing, if the configuration switches it on, and traces the process's I/O from here on.

        Args:
            logfile: prefix of the trace files; None takes DFTRACER_LOG_FILE. Its folder is made.
            data_dir: folders whose files are traced, separated by `:`, joined with DFTRACER_DATA_DIR; `all` for all.
            process_id: a number of your own, an arg of the trace's `start` event; -1 for none.
        Returns:
            The tracer.
        """
        self = dftracer.get_instance()
        if ON:
            if logfile:
                folder = os.path.dirname(os.path.abspath(os.fspath(logfile)))
                try:
                    os.makedirs(folder, exist_ok=True)
                except OSError:
                    pass  # the tracer says it, once, on stderr
            native.initialize(log_file=logfile, data_dirs=data_dir, process_id=process_id)
            self.start_time = self.get_time()
            self.mark_used("python_function")
        return self

    @property
    def dbg_logging(self) -> Any:
        """A logger for your own messages about tracing. DFTracer writes nothing to it."""
        import logging

        return logging.getLogger("dftracer_dbg")

    def get_time(self) -> int:
        """Now, in the trace's unit (microseconds since 1970, unless DFTRACER_TIME_METRIC says otherwise)."""
        return int(common.profiler.get_time())

    def get_config(self, key: str) -> str:
        """The value in force of a configuration variable such as `DFTRACER_LOG_FILE`; "" when unknown."""
        return str(common.profiler.get_config(key))

    def enter_event(self) -> int:
        """Counts one level deeper in this thread, and returns the level. Events nest by their times."""
        return int(common.profiler.enter_event())

    def exit_event(self) -> None:
        """Counts one level back."""
        common.profiler.exit_event()

    def log_event(
        self,
        name: str,
        cat: str,
        start_time: int,
        duration: int,
        int_args: Optional[Dict[str, Any]] = None,
        float_args: Optional[Dict[str, Any]] = None,
        string_args: Optional[Dict[str, Any]] = None,
        relations: Optional[Dict[Any, List[int]]] = None,
    ) -> None:
        """Writes an event of the given times (in the unit of get_time()).

        Args:
            int_args, float_args, string_args: {name: (tag type, value)} or {name: value}.
            relations: {EntityRelation below 16: [entity id, ...]}.
        """
        if ON:
            native.log_event(name, cat, start_time, duration, int_args, string_args, float_args, relations)

    def log_metadata_event(self, key: str, value: str) -> None:
        """Writes a note of its own."""
        common.profiler.log_metadata_event(str(key), str(value))

    def set_app_metadata_int(self, key: str, value: int) -> None:
        """A number that stands once for the process, in the trace's `end` event; the last value of a key stays."""
        common.profiler.set_app_metadata_int(key, value)

    def set_app_metadata_string(self, key: str, value: str) -> None:
        """A text that stands once for the process, in the trace's `end` event; the last value of a key stays."""
        common.profiler.set_app_metadata_string(key, str(value))

    def mark_used(self, name: str) -> None:
        """Notes in the `end` event that a part of the API was used."""
        if name not in self._used_marks:
            self._used_marks.add(name)
            common.profiler.mark_used(name)

    def declare_entity(self, type: str, key: Any, store: EntityStore = EntityStore.MEMORY, uri: str = "") -> int:
        """Declares what events work on, and returns its id, which depends on type and key only; 0 when off."""
        return int(common.profiler.declare_entity(str(type), str(key), int(store), str(uri)))

    def declare_entity_type(self, type: str, role: EntityRole = EntityRole.UNKNOWN, description: str = "") -> None:
        """Says what entities of a type are to the workflow."""
        common.profiler.declare_entity_type(str(type), int(role), str(description))

    def relate_entities(self, relation: EntityRelation, subject: int, object: int) -> None:
        """Relates two entities by a relation from 16 on; anything else is ignored."""
        if relation >= _FIRST_ENTITY_RELATION and subject and object:
            common.profiler.relate_entities(int(relation), subject, object)

    def finalize(self) -> None:
        """Writes everything and closes the trace. Not needed at the end of a process, however it ends."""
        common.profiler.finalize()


class dft_fn(Span):
    """Measures functions, blocks and loops: a decorator (`log`), a context manager, and `iter`.

    Args:
        cat: the category of its events.
        name: the name of its events; None takes the name of the function that calls.
        epoch, step, image_idx, image_size: args of all its events.
        enable: False makes this object do nothing.

    One object may be used by any number of functions, threads and tasks at the same time, and recursively.
    """

    __slots__ = ()

    def __reduce__(self) -> Any:
        return dft_fn, (self.cat, self.name)

    # ---- decorators

    @overload
    def log(self, func: F) -> F: ...
    @overload
    def log(self, func: None = None, name: Optional[str] = None) -> Callable[[F], F]: ...
    def log(self, func: Any = None, name: Optional[str] = None) -> Any:
        """Decorates a function: one event a call, named like the function.

        The args epoch, step, image_idx and image_size are taken from the call, and from `self` in a method. Off, the
        function itself is returned.
        """
        return self._decorate(func, name, args=True, look_at_self=True)

    @overload
    def log_init(self, func: F) -> F: ...
    @overload
    def log_init(self, func: None = None, name: Optional[str] = None) -> Callable[[F], F]: ...
    def log_init(self, func: Any = None, name: Optional[str] = None) -> Any:
        """The same for `__init__`: the args come from the call only."""
        return self._decorate(func, name, args=True, look_at_self=False)

    @overload
    def log_static(self, func: F) -> F: ...
    @overload
    def log_static(self, func: None = None, name: Optional[str] = None) -> Callable[[F], F]: ...
    def log_static(self, func: Any = None, name: Optional[str] = None) -> Any:
        """The same for static methods, above or below `@staticmethod`; the args are this object's."""
        return self._decorate(func, name, args=False, look_at_self=False)

    def _decorate(self, func: Any, name: Optional[str], args: bool, look_at_self: bool) -> Any:
        if func is None:
            return lambda function: self._decorate(function, name, args, look_at_self)
        if not ON:
            return func
        named = name if name is not None else _name_of(func)
        return traced(func, self._named(named), args, look_at_self)

    # ---- loops

    def iter(self, func: Iterable[T], name: str = "loop", iter_name: str = "step") -> Iterator[T]:
        """Iterates: `<name>.iter` is the time to get each item, `<name>.yield` what the loop did with it.

        Args:
            iter_name: the arg of both that counts the items from 1.
        """
        if not ON or not self.enabled:
            return iter(func)
        return cast("Iterator[T]", native._Items(func, self, f"{name}.iter", f"{name}.yield", iter_name))

    # ---- notes and relations

    def log_metadata(self, key: str, value: str) -> None:
        """Writes a note of its own."""
        if self.enabled:
            common.profiler.log_metadata_event(str(key), str(value))

    def relate(self: Self, relation: EntityRelation, id: int) -> Self:
        """Relates the event that is open (or those to come, until reset()) to an entity; from 16 on it is ignored."""
        self._relate(int(relation), id)
        return self

    def relate_entity(
        self, relation: EntityRelation, type: str, key: Any, store: EntityStore = EntityStore.MEMORY, uri: str = ""
    ) -> int:
        """Declares an entity and relates to it. Returns its id, 0 when off."""
        if not self.enabled:
            return 0
        id = int(common.profiler.declare_entity(str(type), str(key), int(store), str(uri)))
        self._relate(int(relation), id)
        return id

    def uses(self, type: str, key: Any, store: EntityStore = EntityStore.MEMORY, uri: str = "") -> int:
        """The event reads the entity."""
        return self.relate_entity(EntityRelation.USED, type, key, store, uri)

    def generates(self, type: str, key: Any, store: EntityStore = EntityStore.MEMORY, uri: str = "") -> int:
        """The event makes the entity."""
        return self.relate_entity(EntityRelation.GENERATED, type, key, store, uri)


def _name_of(func: Any) -> str:
    name = getattr(func, "__qualname__", None) or getattr(getattr(func, "__func__", None), "__qualname__", None)
    return str(name or getattr(func, "__name__", None) or type(func).__name__)
