"""scipy.integrate on the arrays of any engine: integrals of samples, and of functions.

`quad` finds out on numbers how fine to divide the interval, and differentiates the sum over the pieces: that is, under the
integral, with respect to the limits, `args` and what the function captures.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.integrate as own

from ..contract.errors import NumpyCodeError
from ..numpy_code.array import NumpyArray
from ..rules.ignored import ignore_derivatives
from .arrays import Array, inexact, numbers
from .dispatch import OURS, _kind, is_engines, of_scipy, rest_of, unsupported

# Of samples ----------------------------------------------------------------------------------------------------------


def _samples(y: Any, x: Any, dx: Any, axis: int) -> tuple[Array, Array]:
    """The samples with their axis last, and the widths between them, which broadcast with them."""
    y = np.moveaxis(inexact(y), axis, -1)
    if x is None:
        return y, dx
    x = inexact(x)
    if len(x.shape) == 1:
        if x.shape[0] != y.shape[-1]:
            raise ValueError(f"If given, length of x along axis must be the same as y: {x.shape[0]} and {y.shape[-1]}.")
        return y, x[1:] - x[:-1]
    x = np.moveaxis(x, axis, -1)
    return y, x[..., 1:] - x[..., :-1]


@of_scipy(own.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    y, h = _samples(y, x, dx, axis)
    return np.sum(h * (y[..., 1:] + y[..., :-1]) / 2, axis=-1).astype(y.dtype)


@of_scipy(own.cumulative_trapezoid)
def cumulative_trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None) -> Array:
    y, h = _samples(y, x, dx, axis)
    found = np.cumsum(h * (y[..., 1:] + y[..., :-1]) / 2, axis=-1)
    if initial is not None:
        if not (isinstance(initial, (int, float)) and initial == 0):
            raise ValueError("`initial` must be `None` or `0`.")
        found = np.concatenate([0 * y[..., :1], found], axis=-1)
    return np.moveaxis(found, -1, axis)


def _widths(h: Any, y: Array) -> Array:
    """One width for each interval."""
    return h + np.zeros(y.shape[-1] - 1, y.dtype)


@of_scipy(own.simpson)
def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: int = -1) -> Array:
    """For an even number of points with Cartwright's correction of the last interval, as SciPy's."""
    y, h = _samples(y, x, dx, axis)
    n = y.shape[-1]
    h = _widths(h, y)
    if n % 2:
        return _pairs(y, h)
    if n == 2:
        return h[..., 0] * (y[..., 0] + y[..., 1]) / 2
    a, b = h[..., -2], h[..., -1]
    last = (2 * b**2 + 3 * a * b) / (6 * (a + b)) * y[..., -1]
    middle = (b**2 + 3 * a * b) / (6 * a) * y[..., -2]
    return _pairs(y[..., :-1], h[..., :-1]) + last + middle - b**3 / (6 * a * (a + b)) * y[..., -3]


def _pairs(y: Array, h: Array) -> Array:
    """Simpson's rule for an odd number of points."""
    a, b = h[..., 0::2], h[..., 1::2]
    left, middle, right = y[..., 0:-2:2], y[..., 1:-1:2], y[..., 2::2]
    ratio = a / b
    both = a + b
    parts = both / 6 * (left * (2 - 1 / ratio) + middle * (both * both / (a * b)) + right * (2 - ratio))
    return np.sum(parts, axis=-1)


@of_scipy(own.cumulative_simpson)
def cumulative_simpson(y: Any, *, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None) -> Array:
    y, h = _samples(y, x, dx, axis)
    n = y.shape[-1]
    if n < 3:
        found = np.cumsum(_widths(h, y) * (y[..., 1:] + y[..., :-1]) / 2, axis=-1)
    else:
        h = _widths(h, y)
        ahead = _first_of_two(y, h)
        behind = np.flip(_first_of_two(np.flip(y, -1), np.flip(h, -1)), -1)
        # Of intervals in pairs, the first is integrated with the point behind it, the second with the point before.
        even = np.arange(n - 1) % 2 == 0
        forward = np.concatenate([ahead, behind[..., -1:]], axis=-1)
        backward = np.concatenate([ahead[..., :1], behind], axis=-1)
        found = np.cumsum(np.where(even, forward, backward), axis=-1)
    if initial is not None:
        initial = inexact(initial)
        start = np.moveaxis(initial, axis, -1) if len(initial.shape) == len(y.shape) and initial.shape else initial
        found = np.concatenate([start + 0 * y[..., :1], start + found], axis=-1)
    return np.moveaxis(found, -1, axis)


def _first_of_two(y: Array, h: Array) -> Array:
    """The integral over each interval but the last, of the parabola through its ends and the point behind."""
    a, b = h[..., :-1], h[..., 1:]
    ratio = a / (a + b)
    cubic = a / b * ratio
    return a / 6 * ((3 - ratio) * y[..., :-2] + (3 + cubic + ratio) * y[..., 1:-1] - cubic * y[..., 2:])


@of_scipy(own.romb, ignored=("show",))
def romb(y: Any, dx: Any = 1.0, axis: int = -1) -> Array:
    y = np.moveaxis(inexact(y), axis, -1)
    intervals = y.shape[-1] - 1
    levels = intervals.bit_length() - 1
    if intervals < 1 or 2**levels != intervals:
        raise ValueError("Number of samples must be one plus a non-negative power of 2.")
    rows = []
    for level in range(levels + 1):
        step = intervals >> level
        part = y[..., ::step]
        rows.append(step * dx * (np.sum(part, axis=-1) - (part[..., 0] + part[..., -1]) / 2))
    for level in range(1, levels + 1):
        rows = [after + (after - before) / (4.0**level - 1) for before, after in itertools.pairwise(rows)]
    return rows[0]


# Of functions --------------------------------------------------------------------------------------------------------


def _wrapped(f: Callable[..., Any], *values: Any) -> Any:
    """A computation inside `numpy_function`, whether it stands there already or has an engine's own arrays."""
    from ..numpy_code import numpy_function

    kind = _kind(values)
    return f(*values) if kind is NumpyArray else numpy_function(f)(*values)


def fixed_quad(func: Callable[..., Any], a: Any, b: Any, args: tuple[Any, ...] = (), n: int = 5) -> Any:
    """scipy.integrate.fixed_quad, where the limits, args or what func captures may be an engine's."""
    nodes, weights = np.polynomial.legendre.leggauss(n)

    def code(a: Any, b: Any, *args: Any) -> Any:
        y = (b - a) * (nodes + 1) / 2.0 + a
        return (b - a) / 2.0 * np.sum(weights * func(y, *args), axis=-1)

    if is_engines(a, b, *args):
        return _wrapped(code, a, b, *args), None
    return code(a, b, *args), None  # func may capture an engine's arrays


OURS[own.fixed_quad] = fixed_quad

# Gauss-Kronrod with 21 points, as QUADPACK's; Gauss-Legendre of high order does as well on the pieces that it found.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(21)


def _number(x: Any) -> Any:
    """The number that an integrand gives."""
    return float(np.reshape(numbers(x, "scipy.integrate.quad"), ())) if isinstance(x, NumpyArray) else x


def _transformed(f: Callable[..., Any], a: float, b: float) -> tuple[Callable[[Any], Any], str]:
    """An integrand over (0, 1] that stands for one over an infinite interval, as QUADPACK's."""
    if a == -math.inf and b == math.inf:
        return lambda t: (f((1 - t) / t) + f(-(1 - t) / t)) / (t * t), "both"
    if b == math.inf:
        return lambda t: f(a + (1 - t) / t) / (t * t), "up"
    return lambda t: f(b - (1 - t) / t) / (t * t), "down"


def quad(func: Callable[..., Any], a: Any, b: Any, args: Any = (), full_output: Any = 0, **options: Any) -> Any:
    """scipy.integrate.quad, where the limits, args or what func captures may be an engine's.

    func: takes a number, and gives one, or an engine's array of no axes. The pieces in which the interval is divided are
    SciPy's for the numbers that func gives; the derivative is that of the sum over them, by Gauss and Legendre with 21 points
    in each half. Raises NumpyCodeError where that sum is not the integral to 1e-6 of it: for an integrand that is infinite
    at a point, and where a compiled call does not know the numbers.
    """
    args = args if isinstance(args, tuple) else (args,)
    known = {"epsabs", "epsrel", "limit", "points"}
    if not is_engines(a, b, *args):
        return _captured_quad(func, a, b, args, full_output, options, known)
    return _wrapped(lambda a, b, *args: _quad(func, a, b, args, full_output, options, known), a, b, *args)


OURS[own.quad] = quad


def _captured_quad(func: Any, a: Any, b: Any, args: Any, full_output: Any, options: Any, known: Any) -> Any:
    """SciPy's own, unless func gives an engine's array."""
    # A place inside, and not in the middle, where an integrand is more often infinite.
    if math.isfinite(a) and math.isfinite(b):
        inside = a + 0.4142 * (b - a)
    else:
        inside = a + 1.4142 if math.isfinite(a) else b - 1.4142 if math.isfinite(b) else 0.4142
    if callable(func) and isinstance(func(inside, *args), NumpyArray):
        return _quad(func, a, b, args, full_output, options, known)
    return own.quad(func, a, b, args, full_output, **options)


def _quad(func: Any, a: Any, b: Any, args: Any, full_output: Any, options: dict[str, Any], known: Any) -> Any:
    for option in sorted(options.keys() - known):
        raise unsupported("scipy.integrate.quad", option)
    if full_output:
        raise unsupported("scipy.integrate.quad", "full_output", "Leave it out.")
    low, high = [float(np.reshape(numbers(x, "scipy.integrate.quad"), ())) for x in (a, b)]

    def integrand(x: Any) -> Any:
        return func(x, *args)

    found = own.quad(lambda x: _number(integrand(x)), low, high, full_output=1, **options)
    value, error, information = found[:3]
    starts, ends = [information[name][: information["last"]] for name in ("alist", "blist")]
    if math.isinf(low) or math.isinf(high):
        if any(isinstance(x, NumpyArray) and math.isinf(n) for x, n in ((a, low), (b, high))):
            raise unsupported("scipy.integrate.quad", "an infinite limit that is differentiated by", "Write np.inf.")
        sign = -1.0 if low > high else 1.0
        first, last = (low, high) if sign > 0 else (high, low)
        one, other = (a, b) if sign > 0 else (b, a)
        mapped, _ = _transformed(integrand, one if math.isfinite(first) else first, other if math.isfinite(last) else last)
        total = sign * sum(_piece(mapped, min(s, e), max(s, e)) for s, e in _halves(starts, ends))
    else:
        width = high - low
        if width == 0:
            total = 0 * integrand(a) + (b - a) * integrand(a)
        else:
            # Pieces that move with the limits, so that the derivative by those is that of the integral.
            parts = [((s - low) / width, (e - low) / width) for s, e in _halves(starts, ends)]
            total = sum(_piece(integrand, a + (b - a) * s, a + (b - a) * e) for s, e in parts)
    if not isinstance(total, NumpyArray):
        return value, error
    difference = abs(_number(total) - value)
    if not difference <= 1e-6 * abs(value) + 10 * max(error, 1e-14):
        raise NumpyCodeError(
            f"scipy.integrate.quad: the sum over the {len(starts)} pieces of the interval is {_number(total)!r}, which is not "
            f"the integral {value!r}, so its derivative would not be either: is the integrand infinite somewhere? Substitute "
            f"x so that it is not, or use AutoFiniteDifferences()."
        )
    return total + (value - ignore_derivatives(total)), error


def _halves(starts: Any, ends: Any) -> list[tuple[float, float]]:
    """Each piece in two: a derivative may be less smooth than the integrand for which they were enough."""
    found = []
    for start, end in zip(np.asarray(starts).tolist(), np.asarray(ends).tolist()):
        middle = (start + end) / 2
        found += [(start, middle), (middle, end)]
    return found


def _piece(f: Callable[[Any], Any], start: Any, end: Any) -> Any:
    half, middle = (end - start) / 2, (end + start) / 2
    total: Any = 0.0
    for node, weight in zip(_NODES.tolist(), _WEIGHTS.tolist()):
        total = total + weight * f(middle + half * node)
    return total * half


__getattr__ = rest_of("scipy.integrate", globals())

__all__ = [
    "cumulative_simpson", "cumulative_trapezoid", "fixed_quad", "quad", "romb", "simpson", "trapezoid",
]  # fmt: skip
