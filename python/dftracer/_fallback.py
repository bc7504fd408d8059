# SPDX-License-Identifier: MIT
"""The names of the native module, doing nothing."""

from __future__ import annotations

import enum
from typing import Any


class EntityStore(enum.IntEnum):
    MEMORY = 0
    GPU_MEMORY = 1
    LOCAL_DISK = 2
    PARALLEL_FS = 3
    BURST_BUFFER = 4
    OBJECT_STORE = 5
    DATABASE = 6
    NETWORK = 7
    OTHER = 8


class EntityRole(enum.IntEnum):
    UNKNOWN = 0
    INPUT = 1
    OUTPUT = 2
    INTERMEDIATE = 3
    PARAMETER = 4
    REFERENCE = 5


class EntityRelation(enum.IntEnum):
    USED = 0
    GENERATED = 1
    INVALIDATED = 2
    UPDATED = 3
    DERIVED_FROM = 16
    REVISION_OF = 17
    CONTAINS = 18
    PART_OF = 19
    SPECIALIZATION_OF = 20
    ALTERNATE_OF = 21
    DEPENDS_ON = 22


class Span:
    def __new__(cls, cat: Any, name: Any = None, *_: Any, enable: bool = True, **__: Any) -> Any:
        self = object.__new__(cls)
        self.cat, self.name, self.enabled = str(cat), "" if name is None else str(name), bool(enable)
        return self

    cat: str
    name: str
    enabled: bool

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def update(self, *_: Any, **__: Any) -> Any:
        return self

    def _relate(self, *_: Any) -> Any:
        return self

    def _nothing(self, *_: Any) -> None:
        pass

    flush = reset = instant = _start = _stop = _follow = _clear_args = _nothing


def is_on() -> bool:
    return False


def get_time() -> int:
    return 0


def get_config(key: str) -> str:
    return ""


def enter_event() -> int:
    return 0


def exit_event() -> None:
    pass


def _nothing(*_: Any, **__: Any) -> None:
    pass


def _gpu_profiler_begins(name: str) -> bool:
    return True


def _nvtx_library() -> str:
    return ""


def _no_entity(*_: Any, **__: Any) -> int:
    return 0


initialize = finalize = log_event = log_metadata_event = _nothing
set_app_metadata_int = set_app_metadata_string = mark_used = _nothing
declare_entity_type = relate_entities = _gpu_profiler_ends = _nothing
declare_entity = _no_entity


def entity_hash(type: str, key: str) -> int:
    """FNV-1a over the sanitised type, 0x1f and the key; the same number as the native module's."""
    allowed = "_-.:/@+=,~ "
    clean = bytes(b if chr(b).isalnum() and b < 128 or chr(b) in allowed else 0x5F for b in type.encode()[:31])
    value = 1469598103934665603  # the format's own basis
    for byte in clean + b"\x1f" + key.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value or 1


def entity_hex(id: int) -> str:
    return f"{id:016x}"
