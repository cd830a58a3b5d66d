"""NumPy's order of complex numbers, by real and then imaginary part, which the standard leaves out.

Among equal elements, the first has the derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from .composing import Array, Axis, cast, last

Pair = Callable[[ModuleType, Array, Array], Array]


def _parts(xp: ModuleType, x: Array) -> tuple[Array, Array]:
    return xp.real(x), xp.imag(x)


def _is_nan(xp: ModuleType, x: Array) -> Array:
    return xp.isnan(xp.real(x)) | xp.isnan(xp.imag(x))


def _before(xp: ModuleType, a: Array, b: Array) -> Array:
    (a_real, a_imag), (b_real, b_imag) = _parts(xp, a), _parts(xp, b)
    numbers = xp.logical_not(xp.isnan(a_imag) | xp.isnan(b_imag))
    return ((a_real < b_real) & numbers) | ((a_real == b_real) & (a_imag < b_imag))


def larger(xp: ModuleType, a: Array, b: Array) -> Array:
    """Whichever of two is behind the other; a nan, if there is one."""
    return xp.where(
        _is_nan(xp, a) | ((a == b) | _before(xp, b, a)) & xp.logical_not(_is_nan(xp, b)), a, b
    )


def smaller(xp: ModuleType, a: Array, b: Array) -> Array:
    return xp.where(
        _is_nan(xp, a) | ((a == b) | _before(xp, a, b)) & xp.logical_not(_is_nan(xp, b)), a, b
    )


#: By the names of the operators and functions.
ORDERED: dict[str, Pair] = {
    "lt": _before,
    "le": lambda xp, a, b: _before(xp, a, b) | (a == b),
    "gt": lambda xp, a, b: _before(xp, b, a),
    "ge": lambda xp, a, b: _before(xp, b, a) | (a == b),
    "maximum": larger,
    "minimum": smaller,
}


def _first(xp: ModuleType, mask: Array) -> Array:
    return xp.argmax(cast(xp, mask, "int8"), axis=-1)


def place(xp: ModuleType, a: Array, largest: bool) -> Array:
    """Where along the last axis the largest or the smallest is.

    The first nan, where there is one.
    """
    real, imag = _parts(xp, a if largest else -a)
    # Of equal real parts, all of which may be -inf, the largest imaginary part, which may be -inf,
    # too.
    alike = real == xp.max(real, axis=-1, keepdims=True)
    imag = xp.where(alike, imag, xp.full_like(imag, -xp.inf))
    result = _first(xp, alike & (imag == xp.max(imag, axis=-1, keepdims=True)))
    nan = _is_nan(xp, a)
    return xp.where(xp.any(nan, axis=-1), _first(xp, nan), result)


def extreme(xp: ModuleType, a: Array, largest: bool, axis: Axis, keepdims: bool) -> Array:
    """The largest or the smallest along some axes."""
    lines, shape = last(xp, a, axis)
    places = xp.expand_dims(place(xp, lines, largest), axis=-1)
    result = xp.take_along_axis(lines, places, axis=-1)[..., 0]
    return xp.reshape(result, shape) if keepdims else result
