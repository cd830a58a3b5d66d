"""scipy.integrate on the arrays of any engine: integrals of samples, and of functions.

`quad` is differentiated under the integral, with respect to the limits, `args` and captured arrays.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.integrate as scipy_integrate

from ..numpy_code import numpy_function
from ..numpy_code.array import NumpyArray
from .arrays import Array, inexact
from .dispatch import OURS, _kind, is_engines, of_scipy, rest_of, unsupported
from .integrals import integrated
from .substitution import Captured, is_traced

# Of samples
# ------------------------------------------------------------------------------------------------


def _samples(y: Any, x: Any, dx: Any, axis: int) -> tuple[Array, Array]:
    """The samples with their axis last, and the widths between them, which broadcast with them."""
    y = np.moveaxis(inexact(y), axis, -1)
    if x is None:
        return y, dx
    x = inexact(x)
    if len(x.shape) == 1:
        if x.shape[0] != y.shape[-1]:
            raise ValueError(
                f"If given, length of x along axis must be the same as y: {x.shape[0]} and"
                f" {y.shape[-1]}."
            )
        return y, x[1:] - x[:-1]
    x = np.moveaxis(x, axis, -1)
    return y, x[..., 1:] - x[..., :-1]


@of_scipy(scipy_integrate.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    y, h = _samples(y, x, dx, axis)
    return np.sum(h * (y[..., 1:] + y[..., :-1]) / 2, axis=-1).astype(y.dtype)


@of_scipy(scipy_integrate.cumulative_trapezoid)
def cumulative_trapezoid(
    y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None
) -> Array:
    y, h = _samples(y, x, dx, axis)
    integrals = np.cumsum(h * (y[..., 1:] + y[..., :-1]) / 2, axis=-1)
    if initial is not None:
        if not (isinstance(initial, (int, float)) and initial == 0):
            raise ValueError("`initial` must be `None` or `0`.")
        integrals = np.concatenate([0 * y[..., :1], integrals], axis=-1)
    return np.moveaxis(integrals, -1, axis)


def _of(h: Any, part: Any) -> Any:
    """Some of the widths, or the one for all."""
    return h[..., part] if getattr(h, "shape", ()) else h


def _first_of_two(a: Array, b: Array, first: Array, second: Array, third: Array) -> Array:
    """The integral over the first of two intervals, of widths a and b, of the parabola through
    three points.
    """
    ratio = a / (a + b)
    cubic = a / b * ratio
    return a / 6 * ((3 - ratio) * first + (3 + cubic + ratio) * second - cubic * third)


@of_scipy(scipy_integrate.simpson)
def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: int = -1) -> Array:
    """For an even number of points with Cartwright's correction of the last interval, as
    SciPy's.
    """
    y, h = _samples(y, x, dx, axis)
    n = y.shape[-1]
    if n == 2:
        return _of(h, 0) * (y[..., 0] + y[..., 1]) / 2
    odd = n - 1 + n % 2
    a, b, points = (
        _of(h, slice(0, odd - 1, 2)),
        _of(h, slice(1, odd, 2)),
        [y[..., k : odd - 2 + k : 2] for k in range(3)],
    )
    total = np.sum(_first_of_two(a, b, *points) + _first_of_two(b, a, *points[::-1]), axis=-1)
    return (
        total
        if n % 2
        else total + _first_of_two(_of(h, -1), _of(h, -2), y[..., -1], y[..., -2], y[..., -3])
    )


@of_scipy(scipy_integrate.cumulative_simpson)
def cumulative_simpson(
    y: Any, *, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None
) -> Array:
    y, h = _samples(y, x, dx, axis)
    n = y.shape[-1]
    if n < 3:
        parts = h * (y[..., 1:] + y[..., :-1]) / 2
    else:
        a, b, points = (
            _of(h, slice(None, -1)),
            _of(h, slice(1, None)),
            [y[..., k : n - 2 + k] for k in range(3)],
        )
        ahead, behind = _first_of_two(a, b, *points), _first_of_two(b, a, *points[::-1])
        # Of intervals in pairs, the first is integrated with the point behind it, the second with
        # the point before.
        forward = np.concatenate([ahead, behind[..., -1:]], axis=-1)
        parts = np.where(
            np.arange(n - 1) % 2 == 0, forward, np.concatenate([ahead[..., :1], behind], axis=-1)
        )
    integrals = np.cumsum(parts, axis=-1)
    if initial is not None:
        initial = inexact(initial)
        start = (
            np.moveaxis(initial, axis, -1)
            if len(initial.shape) == len(y.shape) and initial.shape
            else initial
        )
        integrals = np.concatenate([start + 0 * y[..., :1], start + integrals], axis=-1)
    return np.moveaxis(integrals, -1, axis)


@of_scipy(scipy_integrate.romb, ignored=("show",))
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
        rows = [
            after + (after - before) / (4.0**level - 1)
            for before, after in itertools.pairwise(rows)
        ]
    return rows[0]


# Of functions
# ------------------------------------------------------------------------------------------------


def _wrapped(f: Callable[..., Any], *values: Any) -> Any:
    """A computation inside `numpy_function`, which is entered unless an argument is behind a
    wrapper already.
    """
    return f(*values) if _kind(values) is NumpyArray else numpy_function(f)(*values)


def fixed_quad(
    func: Callable[..., Any], a: Any, b: Any, args: tuple[Any, ...] = (), n: int = 5
) -> Any:
    """scipy.integrate.fixed_quad.

    The limits, args and arrays that func captures may be engine arrays.
    """
    nodes, weights = np.polynomial.legendre.leggauss(n)

    def code(a: Any, b: Any, *args: Any) -> Any:
        y = (b - a) * (nodes + 1) / 2.0 + a
        return (b - a) / 2.0 * np.sum(weights * func(y, *args), axis=-1)

    return (_wrapped(code, a, b, *args) if is_engines(a, b, *args) else code(a, b, *args)), None


OURS[scipy_integrate.fixed_quad] = fixed_quad


def quad(
    func: Callable[..., Any], a: Any, b: Any, args: Any = (), full_output: Any = 0, **options: Any
) -> Any:
    """scipy.integrate.quad; the limits, args and arrays that func captures may be engine arrays.

    func: takes a number, and returns one, or a 0-d engine array. SciPy computes the value. It also
    integrates the derivative of the integrand for each derivative, with its own nodes and the same
    `epsabs`, `epsrel` and `limit`. Raises NumpyCodeError where a compiled call does not know the
    numbers, and for an array that func takes from a global name.
    """
    for option in sorted(options.keys() - {"epsabs", "epsrel", "limit", "points"}):
        raise unsupported("scipy.integrate.quad", option)
    args = args if isinstance(args, tuple) else (args,)
    return _wrapped(
        lambda a, b, *args: integrated(func, a, b, args, full_output, options), a, b, *args
    )


def nquad(
    func: Callable[..., Any],
    ranges: Any,
    args: Any = (),
    opts: Any = None,
    full_output: bool = False,
) -> Any:
    """scipy.integrate.nquad as nested `quad`.

    Ranges, args and arrays that func captures may be engine arrays.
    """
    args = args if isinstance(args, tuple) else (args,)
    if full_output:
        raise unsupported("scipy.integrate.nquad", "full_output")

    def code(ranges: Any, args: tuple[Any, ...], opts: Any) -> Any:
        if not any(map(is_traced, Captured((func, ranges, args, opts)).arrays)):
            return scipy_integrate.nquad(func, ranges, args, opts)
        each: Any = opts if isinstance(opts, (list, tuple)) else [opts or {}] * len(ranges)
        errors: list[float] = []

        def over(n: int, *outer: Any) -> Any:
            """The integral over the first variables, up to the n-th.

            The others, and args, are given.
            """
            inner = func if n == 0 else functools.partial(over, n - 1)
            low, high = ranges[n](*outer) if callable(ranges[n]) else ranges[n]
            options = each[n](*outer) if callable(each[n]) else each[n]
            value, error = quad(inner, low, high, outer, **options)
            errors.append(error)
            return value

        return over(len(ranges) - 1, *args), max(errors)

    return _wrapped(code, ranges, args, opts)


def dblquad(
    func: Callable[..., Any], a: Any, b: Any, gfun: Any, hfun: Any, args: Any = (),
    epsabs: float = 1.49e-8, epsrel: float = 1.49e-8,
) -> Any:  # fmt: skip
    """scipy.integrate.dblquad.

    Limits, args and arrays that the functions capture may be engine arrays.
    """
    options = {"epsabs": epsabs, "epsrel": epsrel}
    return nquad(func, [_range(gfun, hfun, 1), (a, b)], args, options)


def tplquad(
    func: Callable[..., Any], a: Any, b: Any, gfun: Any, hfun: Any, qfun: Any, rfun: Any,
    args: Any = (), epsabs: float = 1.49e-8, epsrel: float = 1.49e-8,
) -> Any:  # fmt: skip
    """scipy.integrate.tplquad.

    Limits, args and arrays that the functions capture may be engine arrays.
    """
    options = {"epsabs": epsabs, "epsrel": epsrel}
    # SciPy gives the functions of the innermost limits the outermost variable first.
    return nquad(func, [_range(qfun, rfun, 2), _range(gfun, hfun, 1), (a, b)], args, options)


def _range(low: Any, high: Any, count: int) -> Any:
    """Limits that are functions of so many outer variables, the outermost first, or numbers."""
    if not callable(low) and not callable(high):
        return low, high
    return lambda *outer: tuple(
        [f(*outer[:count][::-1]) if callable(f) else f for f in (low, high)]
    )


OURS |= {
    scipy_integrate.quad: quad,
    scipy_integrate.nquad: nquad,
    scipy_integrate.dblquad: dblquad,
    scipy_integrate.tplquad: tplquad,
}


__getattr__ = rest_of("scipy.integrate", globals())
