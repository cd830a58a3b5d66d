"""NumPy's functions on JAX arrays, where `jax.numpy` has another name, signature or meaning."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.scipy import special as special


def getitem(x: Any, index: Any) -> Any:
    """Indexing as NumPy's: an index out of bounds is an error, where JAX takes the nearest element, and a list is an array."""
    parts = list(index) if type(index) is tuple else [index]
    axis, after_ellipsis = 0, False
    taken = sum(_axes(part) for part in parts)
    for n, part in enumerate(parts):
        if type(part) is list:
            parts[n] = part = np.asarray(part) if part else np.zeros(0, dtype=np.intp)
        if part is Ellipsis and not after_ellipsis:
            axis, after_ellipsis = axis + x.ndim - taken, True
            continue
        _check(part, x, axis)
        axis += _axes(part)
    return x[tuple(parts) if type(index) is tuple else parts[0]]


def _axes(part: Any) -> int:
    """How many axes an index takes."""
    if part is None or part is Ellipsis or isinstance(part, (bool, np.bool_)):
        return 0
    return part.ndim if getattr(part, "dtype", None) is np.dtype(bool) else 1


def _check(part: Any, x: Any, axis: int) -> None:
    if isinstance(part, (bool, np.bool_)) or not isinstance(part, (int, np.integer, np.ndarray)):
        return
    if isinstance(part, np.ndarray) and (part.dtype.kind not in "iu" or not part.size):
        return
    if axis >= x.ndim:
        return  # JAX says so itself
    low, high, size = int(np.min(part)), int(np.max(part)), x.shape[axis]
    if low < -size or high >= size:
        raise IndexError(f"index {low if low < -size else high} is out of bounds for axis {axis} with size {size}")


def clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    return jnp.clip(a, min=a_min if min is None else min, max=a_max if max is None else max)
