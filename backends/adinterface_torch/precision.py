"""The precision of a call: what Python floats become in the namespace that f uses."""

from __future__ import annotations

import threading
from collections.abc import Iterable

import torch

from adinterface.core.contract.library import any_wide


class Precision(threading.local):
    """The dtype that Python floats take in this thread's innermost call."""

    dtype: torch.dtype | None = None

    def __init__(self) -> None:
        self.before: list[torch.dtype | None] = []


current = Precision()


def python_float(dtypes: Iterable[str]) -> torch.dtype:
    """What a Python float becomes in a call with arrays of these dtypes."""
    return torch.float64 if any_wide(tuple(dtypes)) else torch.float32


class Scope:
    """While f runs, Python floats become arrays of the call's own precision, as on JAX, not of torch's default dtype."""

    __slots__ = ("dtype",)

    def __init__(self, dtype: torch.dtype):
        self.dtype = dtype

    def __enter__(self) -> None:
        current.before.append(current.dtype)
        current.dtype = self.dtype

    def __exit__(self, *raised: object) -> None:
        current.dtype = current.before.pop()


_SCOPES = {dtype: Scope(dtype) for dtype in (torch.float32, torch.float64)}


def precision(dtypes: Iterable[str]) -> Scope:
    """The scope of a call with arrays of these dtypes."""
    return _SCOPES[python_float(dtypes)]
