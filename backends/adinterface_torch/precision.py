"""The precision of a call: what Python floats become in the namespace that f uses."""

from __future__ import annotations

import threading
from collections.abc import Iterable

import torch

from adinterface.contract.library import any_wide


class Precision(threading.local):
    """The dtype that Python floats take in this thread's innermost call."""

    dtype: torch.dtype | None = None


current = Precision()


def python_float(dtypes: Iterable[str]) -> torch.dtype:
    """What a Python float becomes in a call with arrays of these dtypes."""
    return torch.float64 if any_wide(tuple(dtypes)) else torch.float32


class precision:
    """While f runs, Python floats become arrays of the call's own precision, as on JAX, not of torch's default dtype."""

    __slots__ = ("before", "dtype")

    def __init__(self, dtypes: Iterable[str]):
        self.dtype = python_float(dtypes)

    def __enter__(self) -> None:
        self.before = current.dtype
        current.dtype = self.dtype

    def __exit__(self, *raised: object) -> None:
        current.dtype = self.before
