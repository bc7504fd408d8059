# SPDX-License-Identifier: MIT
"""Functions that are measured, by what they are: plain ones, generators, coroutines, asynchronous generators."""

from __future__ import annotations

import functools
from typing import Any

from dftracer._native import ON, native

_GENERATOR = 0x20
_COROUTINE = 0x80 | 0x100  # `async def`, and a generator that types.coroutine marked
_ASYNC_GENERATOR = 0x200


def traced(function: Any, span: Any, args: bool, look_at_self: bool = False) -> Any:
    """`function`, each call of which is an event of `span`.

    Args:
        args: record the args epoch, step, image_idx and image_size of calls.
        look_at_self: and the attributes of these names of the first argument, if that is called `self`.

    One event a call; an exception that ends it is its arg `exception`. A generator's event lasts from its first step to
    its end, with the time that its own code ran as `active_ns` and how often as `resumes`. A coroutine's event lasts
    from its first step to its end.
    """
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(traced(function.__func__, span, args, look_at_self))
    flags = _code_flags(function)
    for kind, wrap in ((_ASYNC_GENERATOR, _async_generator), (_COROUTINE, _coroutine), (_GENERATOR, _generator)):
        if flags & kind:
            return wrap(function, native._Traced(function, span, args, look_at_self, True))
    return native._Traced(function, span, args, look_at_self)


def rebuild(function: Any, cat: str, name: str, args: bool, look_at_self: bool) -> Any:
    """A decorated function that was taken apart by cloudpickle, in the process that gets it."""
    return traced(function, native.Span(cat, name), bool(args), bool(look_at_self)) if ON else function


def rebuild_call(function: Any, cat: str, name: str, args: bool, look_at_self: bool) -> Any:
    """The same for what stands behind a generator or a coroutine."""
    if not ON:
        return Untraced(function)
    return native._Traced(function, native.Span(cat, name), bool(args), bool(look_at_self), True)


class Untraced:
    """What a decorated generator or coroutine uses in a process that is not traced."""

    def __init__(self, function: Any):
        self._function = function

    def _steps(self, args: Any, kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def _open(self, args: Any, kwargs: Any) -> Any:
        return lambda type, value, traceback: None


def _code_flags(function: Any) -> int:
    while isinstance(function, functools.partial):
        function = function.func
    flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
    return flags if isinstance(flags, int) else 0


def _generator(function: Any, call: Any) -> Any:
    @functools.wraps(function)
    def generator(*args: Any, **kwargs: Any) -> Any:
        return (yield from call._steps(args, kwargs))

    return generator


def _coroutine(function: Any, call: Any) -> Any:
    @functools.wraps(function)
    async def coroutine(*args: Any, **kwargs: Any) -> Any:
        end = call._open(args, kwargs)
        try:
            result = await function(*args, **kwargs)
        except BaseException as error:
            end(_kind_of(error), error, None)
            raise
        end(None, None, None)
        return result

    return coroutine


def _async_generator(function: Any, call: Any) -> Any:
    @functools.wraps(function)
    async def generator(*args: Any, **kwargs: Any) -> Any:
        end = call._open(args, kwargs)
        try:
            source = function(*args, **kwargs)
            step = source.asend(None)
            while True:
                try:
                    item = await step
                except StopAsyncIteration:
                    break
                try:
                    sent = yield item
                except GeneratorExit:
                    await source.aclose()
                    raise
                except BaseException as error:
                    step = source.athrow(error)
                else:
                    step = source.asend(sent)
        except BaseException as error:
            end(_kind_of(error), error, None)
            raise
        end(None, None, None)

    return generator


def _kind_of(error: BaseException) -> Any:
    # Closing a generator, or dropping a coroutine, is no failure.
    return None if isinstance(error, GeneratorExit) else type(error)
