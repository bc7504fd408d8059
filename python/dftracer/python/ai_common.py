# SPDX-License-Identifier: MIT
"""The vocabulary of AI programs: categories and the events in them. Every member is its text: `str(ComputeEvent.STEP)`
is "step"."""

from __future__ import annotations

import enum

__all__ = [
    "CheckpointEvent",
    "CommunicationEvent",
    "ComputeEvent",
    "DataEvent",
    "DataLoaderEvent",
    "DeviceEvent",
    "IOEvent",
    "OtherEvent",
    "PipelineEvent",
    "ProfileCategory",
]


class StrEnum(str, enum.Enum):
    """enum.StrEnum, which Python has from 3.11 on."""

    def __str__(self) -> str:
        return str(self.value)

    def __format__(self, format_spec: str) -> str:
        return str.__format__(str(self.value), format_spec)


class ProfileCategory(StrEnum):
    COMPUTE = "compute"
    DATA = "data"
    DATALOADER = "dataloader"
    COMM = "comm"
    DEVICE = "device"
    CHECKPOINT = "checkpoint"
    PIPELINE = "pipeline"
    OTHER = "other"
    IO = "io"


class ComputeEvent(StrEnum):
    FORWARD = "forward"
    BACKWARD = "backward"
    STEP = "step"


class DataEvent(StrEnum):
    PREPROCESS = "preprocess"
    ITEM = "item"


class DataLoaderEvent(StrEnum):
    FETCH = "fetch"


class CommunicationEvent(StrEnum):
    SEND = "send"
    RECEIVE = "receive"
    BARRIER = "barrier"
    BCAST = "bcast"
    REDUCE = "reduce"
    ALL_REDUCE = "all_reduce"
    GATHER = "gather"
    ALL_GATHER = "all_gather"
    SCATTER = "scatter"
    REDUCE_SCATTER = "reduce_scatter"
    ALL_TO_ALL = "all_to_all"


class DeviceEvent(StrEnum):
    TRANSFER = "transfer"


class CheckpointEvent(StrEnum):
    CAPTURE = "capture"
    RESTART = "restart"


class PipelineEvent(StrEnum):
    EPOCH = "epoch"
    TRAIN = "train"
    EVALUATE = "evaluate"
    TEST = "test"


class OtherEvent(StrEnum):
    LOG = "log"


class IOEvent(StrEnum):
    OPEN = "open"
    READ = "read"
    WRITE = "write"
    CLOSE = "close"
