"""Checks of f and its results for another package that calls f."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.call.messages import require_function


def require_arguments(caller: str, f: Callable[..., Any], count: int) -> None:
    """Raises TypeError, with the remedy, if f does not take so many positional arguments."""
    require_function(caller, f)
    try:
        signature = inspect.signature(f)
    except ValueError:
        return  # a function in C may have none
    try:
        signature.bind(*[None] * count)
    except TypeError as error:
        raise TypeError(
            f"{caller}: f must take {count} positional argument{'s' * (count != 1)}, one for each"
            f" array: {error}. Bind others with functools.partial."
        ) from error


def fitting(value: Any, dtype: str, shape: Sequence[int | None]) -> Any:
    """The value as a NumPy array of this dtype and shape, in which None is any size.

    None for another shape, or where the cast would lose more than precision, such as an imaginary
    part.
    """
    array = np.asarray(value)
    fits = array.ndim == len(shape) and all(
        size in (None, actual) for size, actual in zip(shape, array.shape)
    )
    return (
        array.astype(dtype, copy=False)
        if fits and np.can_cast(array.dtype, dtype, "same_kind")
        else None
    )
