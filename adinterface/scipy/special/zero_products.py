"""Products of partial derivatives with cotangents and tangents, in which zero times anything is
zero.

NumPy code often computes `np.where(defined, f(x), other)`, with f at arguments where it is not
defined. There the cotangent of f(x) is zero and its derivative is nan or infinite. The product must
be zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...numpy_code.array import NumpyArray
from ...rules.rule import rule
from ..arrays import array, cast, is_complex

Array = Any


@rule
def times(a: Array, b: Array) -> Array:
    """a * b for arrays of one shape and dtype; zero where either is zero.

    Its derivatives are such products again. So where a = 0 and b is infinite, its derivative is 0
    along all directions that leave a zero, and b along others. The first is the unused branch of
    `where`.
    """
    zero = (a == 0) | (b == 0)
    return np.where(zero, 0.0, a) * np.where(zero, 0.0, b)


@times.pullback
def _(cotangent: Array, value: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return _product(cotangent, np.conj(b)), _product(cotangent, np.conj(a))


@times.pushforward
def _(tangents: tuple[Array, Array], value: Array, a: Array, b: Array) -> Array:
    return _product(tangents[0], b) + _product(tangents[1], a)


def _product(a: Array, b: Array) -> Array:
    return a * b if _is_finite(a) and _is_finite(b) else times(a, b)


def product(seed: Array, partial: Array, anew: Callable[[Callable[[Any], Any]], Array]) -> Array:
    """seed * partial; zero where the seed is zero.

    anew: computes the partial derivative again, from wrapped arrays.
    """
    if _is_finite(partial):
        return seed * partial
    undefined = (seed == 0) & ~np.isfinite(partial)
    # There the code of the partial derivative has nan and infinite derivatives itself, which its
    # engine would multiply by zero.
    partial = array(anew(lambda x: _still(x, undefined)))
    wide = partial if is_complex(partial) else seed
    return times(*np.broadcast_arrays(cast(seed, wide.dtype), cast(partial, wide.dtype)))


def _still(x: Any, where: Array) -> Any:
    """x, without a derivative where this holds."""
    if not isinstance(x, NumpyArray) or x.dtype.kind not in "fc":
        return x
    return np.where(where, NumpyArray(x.engine.library.stopped(x.native), x.engine), x)


def _is_finite(x: Any) -> bool:
    """Whether all these numbers are known, and finite."""
    if isinstance(x, NumpyArray):
        library = x.engine.library
        x = (
            library.value_under_trace(x.native)
            if library.traced(x.native)
            else library.to_numpy(x.native)
        )
    return x is not None and bool(np.all(np.isfinite(x)))
