# SPDX-License-Identifier: MIT
import enum
import os
from types import TracebackType
from typing import Any, Dict, List, Optional, Tuple, Type, TypeVar, Union

__version__: str

_S = TypeVar("_S", bound="Span")

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
    enabled: bool
    @property
    def cat(self) -> str: ...
    @property
    def name(self) -> str: ...
    def __new__(
        cls: Type[_S],
        cat: Any,
        name: Any = None,
        epoch: Optional[int] = None,
        step: Optional[int] = None,
        image_idx: Optional[int] = None,
        image_size: Optional[float] = None,
        enable: bool = True,
    ) -> _S: ...
    def __enter__(self: _S) -> _S: ...
    def __exit__(
        self, type: Optional[Type[BaseException]], value: Optional[BaseException], traceback: Optional[TracebackType]
    ) -> None: ...
    def update(
        self: _S,
        epoch: Optional[int] = None,
        step: Optional[int] = None,
        image_idx: Optional[int] = None,
        image_size: Optional[float] = None,
        args: Optional[Dict[str, Any]] = None,
    ) -> _S: ...
    def flush(self) -> None: ...
    def reset(self) -> None: ...
    def instant(self, name: str, args: Optional[Dict[str, Any]] = None) -> None: ...
    def _clear_args(self) -> None: ...
    def _follow(self, other: Span) -> None: ...
    def _named(self, name: str) -> Span: ...
    def _start(self) -> None: ...
    def _stop(self) -> None: ...
    def _relate(self, relation: int, id: int) -> Span: ...

def initialize(
    log_file: Union[str, os.PathLike[str], None] = None,
    data_dirs: Union[str, os.PathLike[str], None] = None,
    process_id: int = -1,
) -> None: ...
def finalize() -> None: ...
def get_time() -> int: ...
def get_config(key: str) -> str: ...
def enter_event() -> int: ...
def exit_event() -> None: ...
def is_on() -> bool: ...
def log_event(
    name: str,
    cat: str,
    start_time: int,
    duration: int,
    int_args: Dict[str, Tuple[int, int]] = ...,
    string_args: Dict[str, Tuple[int, str]] = ...,
    float_args: Dict[str, Tuple[int, float]] = ...,
    relations: Dict[EntityRelation, List[int]] = ...,
) -> None: ...
def log_metadata_event(key: str, value: str) -> None: ...
def set_app_metadata_int(key: str, value: int) -> None: ...
def set_app_metadata_string(key: str, value: str) -> None: ...
def mark_used(name: str) -> None: ...
def declare_entity(type: str, key: str, store: int = EntityStore.MEMORY, uri: str = "") -> int: ...
def declare_entity_type(type: str, role: int = EntityRole.UNKNOWN, description: str = "") -> None: ...
def relate_entities(relation: int, subject: int, object: int) -> None: ...
def entity_hash(type: str, key: str) -> int: ...
def entity_hex(id: int) -> str: ...
