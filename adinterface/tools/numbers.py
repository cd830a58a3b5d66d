"""NumPy arrays that the tools compute with, infinities and NaNs included."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def widened(array: Any) -> Array:
    """A copy in float64 or complex128 (long doubles stay as they are)."""
    array = np.asarray(array)
    if array.dtype in (np.longdouble, np.clongdouble):
        return np.array(array)
    return np.array(array, "complex128" if array.dtype.kind == "c" else "float64")


def distances(a: Array, b: Array) -> Array:
    """How far the numbers of two arrays are apart.

    It is 0 where both are NaN or the same infinity, and infinite where one is.
    """
    with np.errstate(all="ignore"):
        apart = np.abs(a - b)
    apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, apart)
    return np.where(np.isnan(apart), np.inf, apart)


def largest_of(array: Array) -> float:
    """The largest absolute value; 0 of an empty array."""
    return float(np.max(np.abs(array), initial=0.0))
