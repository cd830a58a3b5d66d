"""Threads that f starts inside transformations of `torch.func`, and the one level of forward mode of all threads.

torch keeps the transformations for each thread. To another thread their tensors are constants, without a word. So, while f
runs inside one, what it hands to a thread or to a pool of threads runs there inside the same transformations. A thread that
waits for its tasks in another way is not reached.
"""

from __future__ import annotations

import copy
import functools
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Thread
from typing import Any

from torch.autograd import forward_ad

from adinterface.core.contract.errors import BackendError

from .nested_forward import is_forward
from .private import (
    function_modes,
    in_dual_level,
    nest_forward,
    peek,
    temporarily_clear_interpreter_stack,
    temporarily_restore_interpreter_stack,
)


class _Held:
    """A state of the process that calls of all threads hold together: the first one puts it there, the last one removes it."""

    def __init__(self) -> None:
        self.lock, self.count = threading.Lock(), 0

    def __enter__(self) -> None:
        with self.lock:
            if not self.count:
                self.put()
            self.count += 1

    def __exit__(self, *raised: object) -> None:
        with self.lock:
            self.count -= 1
            if not self.count:
                self.remove()

    def put(self) -> None:
        raise NotImplementedError

    def remove(self) -> None:
        raise NotImplementedError


class _Carrying(_Held):
    """The ways to threads, each the name of a method and its class, take the transformations along."""

    def put(self) -> None:
        self.ways = [(cls, name, vars(cls).get(name), _carrying(cls, name)) for cls, name in _ways()]
        for cls, name, _, ours in self.ways:
            setattr(cls, name, ours)

    def remove(self) -> None:
        for cls, name, before, ours in self.ways:
            if vars(cls).get(name) is ours:  # else other code has replaced it meanwhile, and calls it
                delattr(cls, name) if before is None else setattr(cls, name, before)


class _ForwardLevel(_Held):
    """torch has one level of forward mode for the whole process, which would end with the first of several calls."""

    def put(self) -> None:
        if in_dual_level() and not is_forward():
            raise BackendError(
                "AutoTorch(mode='forward') inside torch.autograd.forward_ad.dual_level: torch has one such level at a time. "
                "Use AutoTorch(), or take the outer derivative with torch.func.jvp."
            )
        nest_forward(1)
        self.level = None if in_dual_level() else forward_ad.enter_dual_level()  # type: ignore[no-untyped-call]
        carrying.__enter__()

    def remove(self) -> None:
        carrying.__exit__()
        nest_forward(-1)
        if self.level is not None:
            forward_ad.exit_dual_level(level=self.level)  # type: ignore[no-untyped-call]


carrying, forward_level = _Carrying(), _ForwardLevel()


def _ways() -> Iterator[tuple[type, str]]:
    yield Thread, "start"
    yield ThreadPoolExecutor, "submit"
    if "multiprocessing.pool" in sys.modules:
        from multiprocessing.pool import ThreadPool

        for name in ("apply_async", "_map_async", "imap", "imap_unordered"):
            yield ThreadPool, name


#: Whether a pool is asked to run a function: a thread that it starts then outlives f, and takes nothing along.
_pooling = threading.local()


def _carrying(cls: type, name: str) -> Callable[..., Any]:
    method: Callable[..., Any] = getattr(cls, name)

    @functools.wraps(method)
    def start(thread: Any) -> None:
        if peek() is not None and not hasattr(_pooling, "on"):
            run = _inside(thread.run)

            def run_once() -> None:
                del thread.run
                run()

            thread.run = run_once
        method(thread)

    @functools.wraps(method)
    def hand(pool: Any, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        if peek() is None or hasattr(_pooling, "on"):
            return method(pool, function, *args, **kwargs)
        _pooling.on = True
        try:
            return method(pool, _inside(function), *args, **kwargs)
        finally:
            del _pooling.on

    return start if cls is Thread else hand


def _inside(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function inside the transformations and the modes of this library that are at work here."""
    with temporarily_clear_interpreter_stack() as stack:
        pass
    modes = [mode for mode in function_modes() if type(mode).__module__.startswith(__package__)]

    @functools.wraps(function, updated=())
    def inside(*args: Any, **kwargs: Any) -> Any:
        with temporarily_clear_interpreter_stack(), temporarily_restore_interpreter_stack(stack), ExitStack() as scopes:
            for mode in modes:
                scopes.enter_context(copy.copy(mode))
            return function(*args, **kwargs)

    return inside
