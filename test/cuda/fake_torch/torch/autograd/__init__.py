# SPDX-License-Identifier: MIT
"""The functions that torch's own C++ has, as Kineto does it: the first window subscribes to CUPTI, once in the process,
and keeps the subscription; refused, no window ever sees the GPU. Each window, of the CPU alone too, registers its own
buffers, which hold garbage, and a clock that stays; it records calls at least, and takes its buffers back. With
FAKE_KINETO=newer it does not subscribe at all."""

import ctypes
import enum
import os

_cupti = ctypes.CDLL(os.environ["DFTRACER_CUPTI_PATH"])
_Request = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_size_t)
)
_Complete = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
_Callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.c_void_p)
_Clock = ctypes.CFUNCTYPE(ctypes.c_uint64)
_CALLS, _WORK = (4, 5), (1, 2, 10)
_SIZE = 1 << 16
_buffers = {}
_kinds = ()
subscribed = None  # CUPTI's result
bytes_seen = 0


class ProfilerActivity(enum.Enum):
    CPU = 0
    CUDA = 1


@_Request
def _request(buffer, size, most):
    room = ctypes.create_string_buffer(b"\xff" * _SIZE, _SIZE)
    buffer[0], size[0], most[0] = ctypes.addressof(room), _SIZE, 0
    _buffers[ctypes.addressof(room)] = room


@_Complete
def _complete(context, stream, buffer, size, valid):
    global bytes_seen
    del _buffers[buffer]
    bytes_seen += valid


@_Callback
def _nothing(*_):
    pass


@_Clock
def _clock():
    return 12345


def _prepare_profiler(config, activities):
    global subscribed, _kinds
    if os.environ.get("FAKE_KINETO") == "newer":
        subscribed = 0
    elif subscribed is None:
        handle = ctypes.c_void_p()
        subscribed = _cupti.cuptiSubscribe(ctypes.byref(handle), _nothing, None)
    if subscribed == 0:
        _kinds = _CALLS + (_WORK if ProfilerActivity.CUDA in activities else ())
        assert _cupti.cuptiActivityRegisterTimestampCallback(_clock) == 0
        assert _cupti.cuptiActivityRegisterCallbacks(_request, _complete) == 0
    for kind in _kinds:
        assert _cupti.cuptiActivityEnable(kind) == 0


def _enable_profiler(config, activities):
    pass


def _disable_profiler():
    for kind in _kinds:
        assert _cupti.cuptiActivityDisable(kind) == 0


def work():
    """The GPU does something: what is recorded comes once more, for whoever listens."""
    _cupti.dft_standin_work()
