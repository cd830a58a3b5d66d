"""The precision of a call: what Python floats become in the namespace that f uses."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import torch

from adinterface.core.contract.library import any_wide

from .ambient import here


def python_float(dtypes: Iterable[str]) -> torch.dtype:
    """What a Python float becomes in a call with arrays of these dtypes."""
    return torch.float64 if any_wide(tuple(dtypes)) else torch.float32


class Scope:
    """While f runs, Python floats become arrays of the call's own precision, as on JAX, not of torch's default dtype."""

    __slots__ = ("before", "dtype")

    def __init__(self, dtype: torch.dtype):
        self.dtype = dtype

    def __enter__(self) -> None:
        self.before, here.python_float = here.python_float, self.dtype

    def __exit__(self, *raised: object) -> None:
        here.python_float = self.before


def precision(dtypes: Iterable[str]) -> Callable[[], Scope]:
    """What makes the scope of a call with arrays of these dtypes."""
    return partial(Scope, python_float(dtypes))
