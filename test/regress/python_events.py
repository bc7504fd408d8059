# SPDX-License-Identifier: MIT
"""Events from a Python program without a Python package: the library that is there already, through ctypes."""

import ctypes
import os

_library = ctypes.CDLL(os.environ["DFT_LIBRARY"], use_errno=False) if "DFT_LIBRARY" in os.environ else None
if _library:
    _library.dftracer_initialize_region.restype = ctypes.c_void_p
    _library.dftracer_initialize_region.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int]
    _library.dftracer_finalize_region.argtypes = [ctypes.c_void_p]


def initialize():
    if _library:
        _library.dftracer_initialize_main(None, None, None)


def event(name="py"):
    if _library:
        _library.dftracer_finalize_region(_library.dftracer_initialize_region(name.encode(), b"PY", 0))
