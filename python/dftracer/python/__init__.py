# SPDX-License-Identifier: MIT
"""Annotate Python programs.

    from dftracer.python import ai, dft_fn, dftracer

    dftracer.initialize_log()             # DFTRACER_ENABLE=1 switches tracing on; without it nothing happens
    io = dft_fn("io")

    @io.log
    def load(path): ...

    @ai.compute.forward
    def forward(batch): ...

See docs/python.md.
"""

from dftracer import _native
from dftracer.python import ai_common as _ai_common
from dftracer.python import ai_init as _ai_init
from dftracer.python import common as _common
from dftracer.python import dynamo as _dynamo
from dftracer.python import env as _env
from dftracer.python import logger as _logger
from dftracer.python import torch_profiler as _torch_profiler
from dftracer.python import workers as _workers
from dftracer.python.ai_common import *  # noqa: F401,F403
from dftracer.python.ai_init import *  # noqa: F401,F403
from dftracer.python.common import *  # noqa: F401,F403
from dftracer.python.dynamo import *  # noqa: F401,F403
from dftracer.python.env import *  # noqa: F401,F403
from dftracer.python.logger import *  # noqa: F401,F403

__all__ = [
    *_ai_common.__all__,
    *_ai_init.__all__,
    *_common.__all__,
    *_dynamo.__all__,
    *_env.__all__,
    *_logger.__all__,
]

if _native.ON:
    _workers.watch()
    _torch_profiler.watch()
    _torch_profiler.offer_nvtx()


def __getattr__(name: str) -> object:
    if name == "__version__":
        import dftracer

        return dftracer.__version__
    raise AttributeError(f"module 'dftracer.python' has no attribute {name!r}")
