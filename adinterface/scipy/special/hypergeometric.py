"""Hypergeometric functions. Source: NIST Digital Library of Mathematical Functions, 13.3, 15.5,
16.3.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import special

from . import hypergeometric_series as series
from .hyper_dual import in_blocks
from .ufunc_rules import alike, in_double, ruled


def _right_hyperu(a: Any, b: Any, x: Any) -> Any:
    """By the integral, direct or after Kummer's transformation (DLMF 13.2.40). SciPy's hyperu(1.3,
    2, 11.3) is off by 2e-7.

    The SciPy value where neither converges and a transformation confirms it; NaN elsewhere.
    """
    a, b, x = np.broadcast_arrays(a, b, x)
    power, mirrored = np.exp((1 - b) * np.log(x)), (a - b + 1, 2 - b, x)
    integral, plain = series.hyperu(a, b, x), special.hyperu(a, b, x)
    integral = np.where(np.isnan(integral), power * series.hyperu(*mirrored), integral)
    alike = np.abs(plain - power * special.hyperu(*mirrored)) <= 1e-10 * np.abs(plain)
    ends = (a <= 0) & (a == np.floor(a))  # a polynomial
    return np.where(np.isnan(integral), np.where(alike | ends, plain, np.nan), integral)


hyperu_checked: Callable[..., Any] = ruled(
    "hyperu", in_double(_right_hyperu), lambda y, a, b, x: -a * hyperu_checked(a + 1, b + 1, x),
    orders=2, what="first two arguments",
)  # fmt: skip


def by_places(rows: Callable[..., Any], *places: int) -> Callable[..., Any]:
    """The derivative by one parameter, or by two, of a function of hyper-dual numbers; of the dtype
    of the arguments.
    """
    return in_double(lambda *args: in_blocks(rows, places, *args)[-1])


def later(
    functions: Sequence[Callable[..., Any]], *args: Any, factor: float = 1.0
) -> list[Callable[[], Any]]:
    """Partial derivatives that take long to compute: each is computed only if it is used."""
    return [lambda f=f: factor * f(*args) for f in functions]  # type: ignore[misc]


def by_parameters(
    name: str, rows: Callable[..., Any], count: int, by_others: Callable[..., Any]
) -> list[Callable[..., Any]]:
    """The derivatives of a function by its first `count` arguments, which can be differentiated
    again.

    rows: the function, of hyper-dual numbers.
    by_others: from the place of a parameter, the derivative by it, and the arguments. It returns
    the derivatives of that by the arguments behind the parameters: one, or a tuple.
    """
    second: dict[tuple[int, int], Callable[..., Any]] = {}
    for i, j in itertools.combinations_with_replacement(range(count), 2):
        second[i, j] = ruled(f"{name}, differentiated twice,", by_places(rows, i, j), None)

    def first(i: int) -> Callable[..., Any]:
        def partials(y: Any, *args: Any) -> Any:
            others = by_others(i, y, *args)
            known = [second[min(i, j), max(i, j)] for j in range(count)]
            return *later(known, *args), *(others if type(others) is tuple else (others,))

        return ruled(f"{name}, differentiated by argument {i},", by_places(rows, i), partials)

    return [first(i) for i in range(count)]


def _limit(i: int, y: Any, v: Any, z: Any) -> Any:
    raised = special.hyp0f1(v + 1, z)
    return limit_by[i](v + 1, z) / v - raised / v**2


limit_by: list[Callable[..., Any]] = by_parameters("hyp0f1", series.hyp0f1, 1, _limit)


def _kummer(i: int, y: Any, a: Any, b: Any, x: Any) -> Any:
    raised = special.hyp1f1(a + 1, b + 1, x)
    explicit = raised / b if i == 0 else -a / b**2 * raised
    return explicit + a / b * kummer_by[i](a + 1, b + 1, x)


kummer_by: list[Callable[..., Any]] = by_parameters("hyp1f1", series.hyp1f1, 2, _kummer)


def kummer_slope(a: Any, b: Any, x: Any) -> Any:
    line = (a == -1) & (b == -1)  # 1 + x, as SciPy has it, though the next function is open
    first, second = (parameter + 1 - line * parameter for parameter in (a, b))  # which are 1 there
    return a / b * np.where(line, 1.0, special.hyp1f1(first, second, x))


def _gauss(i: int, y: Any, a: Any, b: Any, c: Any, x: Any) -> Any:
    raised = _gauss_checked(a + 1, b + 1, c + 1, x)
    explicit = (b / c * raised, a / c * raised, -a * b / c**2 * raised)[i]
    return explicit + a * b / c * gauss_by[i](a + 1, b + 1, c + 1, x)


gauss_by: list[Callable[..., Any]] = by_parameters("hyp2f1", series.hyp2f1, 3, _gauss)


def gauss_partials(y: Any, a: Any, b: Any, c: Any, x: Any) -> tuple[Any, ...]:
    return *later(gauss_by, a, b, c, x), lambda: a * b / c * _gauss_checked(a + 1, b + 1, c + 1, x)


def _right_gauss(a: Any, b: Any, c: Any, x: Any) -> Any:
    """SciPy's function, or the series where that is off, as hyp2f1(32.2, 32.2, 2, -7.2) is; NaN
    where both are.

    The SciPy value is used where little can cancel and Pfaff's or Euler's transformation confirms
    it (DLMF 15.8.1).
    """
    if any(np.asarray(part).dtype.kind == "c" for part in (a, b, c, x)):
        return special.hyp2f1(a, b, c, x)
    dtype = alike(a, b, c, x)
    a, b, c, x = np.broadcast_arrays(*[np.asarray(part, float) for part in (a, b, c, x)])
    with np.errstate(all="ignore"):
        values = special.hyp2f1(a, b, c, x)
        below = x < 0
        other = special.hyp2f1(np.where(below, a, c - a), c - b, c, np.where(below, x / (x - 1), x))
        other = other * np.exp(np.where(below, -a, c - a - b) * np.log1p(-x))
        unsure = ~(
            (np.abs(values - other) <= 1e-10 * np.abs(values))
            & (series.risk_of_hyp2f1(a, b, c, x) <= _RISK)
        )
        unsure &= np.isfinite(values) & (x < 1)
        if np.any(unsure):
            values = np.array(values)
            values[unsure] = in_blocks(
                series.hyp2f1, (), a[unsure], b[unsure], c[unsure], x[unsure]
            )[0]
    return np.asarray(values, dtype)


#: Up to here, of `series.risk_of_hyp2f1`, two ways to compute the function that agree are right.
_RISK = 8.0
_gauss_checked: Callable[..., Any] = ruled("hyp2f1", _right_gauss, gauss_partials)
