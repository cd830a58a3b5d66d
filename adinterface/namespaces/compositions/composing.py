"""Helpers of all compositions: their register, axes, kinds of dtypes."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

#: By the name in the standard, with `linalg.` or `fft.` in front.
COMPOSITIONS: dict[str, Callable[..., Any]] = {}

Axes = int | Sequence[int] | None


def composition(function: Callable[..., Any]) -> Callable[..., Any]:
    """Register a function: `linalg_norm` is `linalg.norm`, and a trailing underscore is dropped."""
    name = function.__name__.rstrip("_")
    for part in ("linalg", "fft"):
        if name.startswith(part + "_"):
            name = f"{part}.{name[len(part) + 1 :]}"
    COMPOSITIONS[name] = function
    return function


def axis_of(axis: int, ndim: int) -> int:
    """An axis as a non-negative number. Raises AxisError for one that the array does not have."""
    if not -ndim <= axis < builtins.max(ndim, 1):
        raise np.exceptions.AxisError(axis, ndim)
    return axis % ndim if ndim else 0


def axes_of(axis: Axes, ndim: int) -> list[int]:
    """`(None, 3)` -> `[0, 1, 2]`; `(-1, 3)` -> `[2]`."""
    given = range(ndim) if axis is None else [axis] if isinstance(axis, (int, np.integer)) else axis
    return [axis_of(int(a), ndim) for a in given]


def along(axis: int, part: Any) -> tuple[Any, ...]:
    """An index along one axis: `(2, 0)` -> `(slice(None), slice(None), 0)`."""
    return (*(slice(None),) * axis, part)


def is_complex(xp: Any, x: Any) -> bool:
    return str(xp.dtype_name(x)).startswith("complex")


def is_floating(xp: Any, x: Any) -> bool:
    return str(xp.dtype_name(x)).startswith(("float", "bfloat", "complex"))


def root(xp: Any, x: Any) -> Any:
    """The square root of a sum of squares, whose derivative is zero where all squares are zero."""
    corner = x == 0
    return xp.where(corner, xp.zeros_like(x), xp.sqrt(xp.where(corner, xp.ones_like(x), x)))


def by_index(xp: Any, x: Any, index: np.ndarray[Any, Any], axis: int) -> Any:
    return xp.gather(x, xp.asarray(index), axis)
