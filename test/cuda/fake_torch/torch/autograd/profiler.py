# SPDX-License-Identifier: MIT
"""torch.autograd.profiler's way to prepare, enable and disable: by names of this module."""

from torch.autograd import _disable_profiler, _enable_profiler, _prepare_profiler


class profile:
    def __init__(self, activities):
        self.activities = set(activities)

    def __enter__(self):
        _prepare_profiler(None, self.activities)
        _enable_profiler(None, self.activities)
        return self

    def __exit__(self, *_):
        _disable_profiler()
