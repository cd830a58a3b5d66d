"""Which arrays without axes stand for NumPy's, and which for Python's numbers: engines have one form for these and for NumPy's
numbers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Any

_told: ContextVar[tuple[Sequence[Any], Sequence[Any]]] = ContextVar("_told", default=((), ()))


@contextlib.contextmanager
def standing_for(arrays: Sequence[Any], python_numbers: Sequence[Any]) -> Iterator[None]:
    """Tells code that runs meanwhile of these."""
    token = _told.set((arrays, python_numbers))
    try:
        yield
    finally:
        _told.reset(token)


def stands_for_array(x: Any) -> bool:
    """Whether x is one of NumPy's arrays."""
    return any(x is array for array in _told.get()[0])


def stands_for_python_number(x: Any) -> bool:
    """Whether x is one of Python's numbers; nobody tells where f is not marked as asking, by `asks_for_python_numbers`."""
    return any(x is number for number in _told.get()[1])
