# SPDX-License-Identifier: MIT
"""Tags, entities, and the names that the rest of the package shares."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple

from dftracer._native import ON, native

if TYPE_CHECKING:
    from dftracer.dftracer import EntityRelation, EntityRole, EntityStore
else:
    EntityRelation, EntityRole, EntityStore = native.EntityRelation, native.EntityRole, native.EntityStore

__all__ = [
    "EntityRelation",
    "EntityRole",
    "EntityStore",
    "NoOpProfiler",
    "ProfilerProtocol",
    "TagDType",
    "TagType",
    "TagValue",
    "get_default_args",
    "get_iter_block_name",
    "get_iter_handle_name",
    "get_time_scale",
    "setup_stream_logger",
]

ITER_COUNT_NAME = "count"
INIT_NAME = ".init"
BLOCK_NAME = ".block"
ITER_NAME = ".iter"
CTX_SEPARATOR = "."


class TagType(enum.IntEnum):
    """What an arg is for when events are aggregated; all are recorded alike."""

    KEY = 0
    VALUE = 1
    IGNORE = 2


class TagDType(enum.IntEnum):
    """As what the value of a TagValue is recorded."""

    INT = 0
    FLOAT = 1
    STRING = 2


class TagValue:
    """A value of an arg together with its type in the trace.

    Args:
        value: anything; it is converted when it is recorded.
        dtype: INT (64 bits), FLOAT (64 bits) or STRING. What cannot be converted stays as it is.
        tag_type: see TagType.
    """

    __slots__ = ("_value", "dtype", "tag_type")

    def __init__(self, value: Any, dtype: TagDType = TagDType.STRING, tag_type: TagType = TagType.KEY):
        self._value, self.dtype, self.tag_type = value, dtype, tag_type

    def value(self) -> Tuple[int, Any]:
        """(tag type, converted value)"""
        convert: Any = {TagDType.INT: int, TagDType.FLOAT: float}.get(self.dtype, str)
        try:
            return int(self.tag_type), convert(self._value)
        except Exception:
            return int(self.tag_type), self._value


class ProfilerProtocol:
    """The functions of the native module, as annotated codes use them (see dftracer.dftracer's stub)."""

    def initialize(self, log_file: Optional[str] = None, data_dirs: Optional[str] = None, process_id: int = -1) -> None:
        raise NotImplementedError

    def get_time(self) -> int:
        raise NotImplementedError

    def get_config(self, key: str) -> str:
        raise NotImplementedError

    def enter_event(self) -> int:
        raise NotImplementedError

    def exit_event(self) -> None:
        raise NotImplementedError

    def log_event(
        self,
        name: str,
        cat: str,
        start_time: int,
        duration: int,
        int_args: Optional[Dict[str, Tuple[int, int]]] = None,
        string_args: Optional[Dict[str, Tuple[int, str]]] = None,
        float_args: Optional[Dict[str, Tuple[int, float]]] = None,
        relations: Optional[Dict[Any, List[int]]] = None,
    ) -> None:
        raise NotImplementedError

    def log_metadata_event(self, key: str, value: str) -> None:
        raise NotImplementedError

    def set_app_metadata_int(self, key: str, value: int) -> None:
        raise NotImplementedError

    def set_app_metadata_string(self, key: str, value: str) -> None:
        raise NotImplementedError

    def mark_used(self, name: str) -> None:
        raise NotImplementedError

    def declare_entity(self, type: str, key: str, store: Any = EntityStore.MEMORY, uri: str = "") -> int:
        raise NotImplementedError

    def declare_entity_type(self, type: str, role: Any = EntityRole.UNKNOWN, description: str = "") -> None:
        raise NotImplementedError

    def relate_entities(self, relation: Any, subject: int, object: int) -> None:
        raise NotImplementedError

    def finalize(self) -> None:
        raise NotImplementedError


class NoOpProfiler(ProfilerProtocol):
    """The same functions, doing nothing: what `profiler` is while tracing is off."""

    def initialize(self, log_file: Optional[str] = None, data_dirs: Optional[str] = None, process_id: int = -1) -> None:
        pass

    def get_time(self) -> int:
        return 0

    def get_config(self, key: str) -> str:
        return ""

    def enter_event(self) -> int:
        return 0

    def exit_event(self) -> None:
        pass

    def log_event(self, *args: Any, **kwargs: Any) -> None:
        pass

    def log_metadata_event(self, key: str, value: str) -> None:
        pass

    def set_app_metadata_int(self, key: str, value: int) -> None:
        pass

    def set_app_metadata_string(self, key: str, value: str) -> None:
        pass

    def mark_used(self, name: str) -> None:
        pass

    def declare_entity(self, type: str, key: str, store: Any = EntityStore.MEMORY, uri: str = "") -> int:
        return 0

    def declare_entity_type(self, type: str, role: Any = EntityRole.UNKNOWN, description: str = "") -> None:
        pass

    def relate_entities(self, relation: Any, subject: int, object: int) -> None:
        pass

    def finalize(self) -> None:
        pass


#: The native module where tracing is on, else a NoOpProfiler.
profiler: Any = native if ON else NoOpProfiler()


def get_time_scale() -> float:
    """Units of the trace's clock in a second: 1e9, 1e6 (the default), 1e3 or 1."""
    unit = profiler.get_config("DFTRACER_TIME_METRIC").upper()
    return {"NS": 1e9, "US": 1e6, "MS": 1e3, "SEC": 1.0}.get(unit, 1e6)


def get_default_args(func: Callable[..., Any]) -> Dict[str, Any]:
    """{parameter: default} of a function, of those parameters that have one."""
    import inspect

    parameters = inspect.signature(func).parameters
    return {k: v.default for k, v in parameters.items() if v.default is not inspect.Parameter.empty}


def _with_suffix(name: str, suffix: str) -> str:
    return name if name.endswith(suffix) else name + suffix


def get_iter_block_name(name: str) -> str:
    """`name`.block, once."""
    return _with_suffix(name, BLOCK_NAME)


def get_iter_handle_name(name: str) -> str:
    """`name`.iter, once."""
    return _with_suffix(name, ITER_NAME)


def setup_stream_logger() -> Any:
    """The logger DFTRACER, which writes `[LEVEL] message` to stderr; made once."""
    import logging

    from dftracer.python.env import DFTRACER_LOG_LEVEL

    logger = logging.getLogger("DFTRACER")
    if not logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("[%(levelname)s] %(message)s"))
        logger.addHandler(handler)
        logger.setLevel({"WARN": logging.WARNING}.get(DFTRACER_LOG_LEVEL, DFTRACER_LOG_LEVEL))
    return logger
