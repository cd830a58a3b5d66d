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
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from threading import Thread
from typing import Any

from torch.autograd import forward_ad

from adinterface import BackendError

from .ambient import here
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
    """A scope that calls of all threads hold together: the first one enters it, the last one leaves it."""

    def __init__(self, scope: Callable[[], AbstractContextManager[None]]):
        self.scope, self.lock, self.count = scope, threading.Lock(), 0

    def __enter__(self) -> None:
        with self.lock:
            if not self.count:
                self.entered = self.scope()
                self.entered.__enter__()
            self.count += 1

    def __exit__(self, *raised: object) -> None:
        with self.lock:
            self.count -= 1
            if not self.count:
                self.entered.__exit__(None, None, None)


@_Held
@contextmanager
def carrying() -> Iterator[None]:
    """The methods that start threads run functions inside the transformations of the calling thread."""
    ways = [(cls, name, vars(cls).get(name), _carrying(cls, name)) for cls, name in _ways()]
    for cls, name, _, ours in ways:
        setattr(cls, name, ours)
    yield
    for cls, name, before, ours in ways:
        if vars(cls).get(name) is ours:  # else other code has replaced it meanwhile, and calls it
            delattr(cls, name) if before is None else setattr(cls, name, before)


@_Held
@contextmanager
def forward_level() -> Iterator[None]:
    """torch has one level of forward mode for the whole process, which would end with the first of several calls."""
    if in_dual_level() and not is_forward():
        raise BackendError(
            "AutoTorch(mode='forward') inside torch.autograd.forward_ad.dual_level: torch has one such level at a time. Use "
            "AutoTorch(), or take the outer derivative with torch.func.jvp."
        )
    nest_forward(1)
    with carrying, nullcontext() if in_dual_level() else forward_ad.dual_level():
        yield
    nest_forward(-1)


def _ways() -> Iterator[tuple[type, str]]:
    """The methods that hand a function to a thread."""
    yield Thread, "start"
    yield ThreadPoolExecutor, "submit"
    if "multiprocessing.pool" in sys.modules:
        from multiprocessing.pool import ThreadPool

        for name in ("apply_async", "_map_async", "imap", "imap_unordered"):
            yield ThreadPool, name


def _carrying(cls: type, name: str) -> Callable[..., Any]:
    method: Callable[..., Any] = getattr(cls, name)

    @functools.wraps(method)
    def carry(worker: Any, /, *args: Any, **kwargs: Any) -> Any:
        if peek() is None or here.pooling:
            return method(worker, *args, **kwargs)
        if cls is Thread:
            run = _inside(worker.run)

            def run_once() -> None:
                del worker.run
                run()

            worker.run = run_once
            return method(worker)
        here.pooling = True
        try:  # a ThreadPool takes the function by its name, too
            named = {name: _inside(x) if name == "func" else x for name, x in kwargs.items()}
            return method(worker, *map(_inside, args[:1]), *args[1:], **named)
        finally:
            here.pooling = False

    return carry


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
