"""Which arrays without axes stand for NumPy's: engines have one form for these and for numbers, of which NumPy code has two."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Any

_arrays: ContextVar[Sequence[Any]] = ContextVar("_arrays", default=())


@contextlib.contextmanager
def standing_for_arrays(arrays: Sequence[Any]) -> Iterator[None]:
    """Tells code that runs meanwhile of these."""
    token = _arrays.set(arrays)
    try:
        yield
    finally:
        _arrays.reset(token)


def stands_for_array(x: Any) -> bool:
    """Whether x is one of them."""
    return any(x is array for array in _arrays.get())
