"""Phases of functions whose body runs later than their call: coroutines and generators.

Such a body runs in parts, each from a resume to the next suspension. Each part is an execution of the
phase. The time between them does not count: the thread runs something else in it, which may have
phases of its own, and may resume the body on another thread.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any, AsyncGenerator, Callable, ContextManager, Generator


def counted(phase: ContextManager[Any], function: Callable[..., Any]) -> Any:
    """The function with its body in the phase, of the same kind as before."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(counted(phase, function.__func__))
    if _is(inspect.isasyncgenfunction, function):
        run: Callable[..., Any] = _async_generator(phase, function)
    elif _is(inspect.iscoroutinefunction, function):
        run = _coroutine(phase, function)
    elif _is(inspect.isgeneratorfunction, function):
        run = _generator(phase, function)
    else:
        run = _function(phase, function)
    return functools.wraps(function)(run)


def _is(kind: Callable[[Any], bool], function: Any) -> bool:
    """Whether a function, or the call of an object, is of a kind."""
    return kind(function) or kind(getattr(type(function), "__call__", None))


def _function(phase: ContextManager[Any], function: Callable[..., Any]) -> Callable[..., Any]:
    def run(*arguments: Any, **named: Any) -> Any:
        with phase:
            result = function(*arguments, **named)
        # A plain function may return the coroutine of another one.
        return _awaited(phase, result) if inspect.iscoroutine(result) else result

    return run


def _coroutine(phase: ContextManager[Any], function: Callable[..., Any]) -> Callable[..., Any]:
    async def run(*arguments: Any, **named: Any) -> Any:
        return await _Parts(phase, function(*arguments, **named))

    return run


def _generator(phase: ContextManager[Any], function: Callable[..., Any]) -> Callable[..., Any]:
    def run(*arguments: Any, **named: Any) -> Generator[Any, Any, Any]:
        return (yield from _parts(phase, function(*arguments, **named)))

    return run


def _async_generator(
    phase: ContextManager[Any], function: Callable[..., Any]
) -> Callable[..., Any]:
    async def run(*arguments: Any, **named: Any) -> AsyncGenerator[Any, Any]:
        body = function(*arguments, **named)
        step = body.asend(None)
        while True:
            try:
                item = await _Parts(phase, step)
            except StopAsyncIteration:
                return
            try:
                sent = yield item
            except GeneratorExit:
                await _Parts(phase, body.aclose())
                raise
            except BaseException as error:
                step = body.athrow(error)
            else:
                step = body.asend(sent)

    return run


async def _awaited(phase: ContextManager[Any], body: Any) -> Any:
    return await _Parts(phase, body)


class _Parts:
    """The code that an ``await`` of a coroutine runs, in the phase."""

    def __init__(self, phase: ContextManager[Any], body: Any) -> None:
        self._phase = phase
        self._body = body

    def __await__(self) -> Generator[Any, Any, Any]:
        return _parts(self._phase, self._body)


def _parts(phase: ContextManager[Any], body: Any) -> Generator[Any, Any, Any]:
    """Passes on what goes into a body and out of it, and runs each of its parts in the phase."""
    step = functools.partial(body.send, None)
    while True:
        try:
            with phase:
                item = step()
        except StopIteration as end:
            return end.value
        try:
            sent = yield item
        except GeneratorExit:
            with phase:
                body.close()
            raise
        except BaseException as error:
            step = functools.partial(body.throw, error)
        else:
            step = functools.partial(body.send, sent)
