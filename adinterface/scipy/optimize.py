"""Roots and least squares by scipy.optimize.

The solution is found by numbers; its derivatives are those of the implicit function, up to the
fourth order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize

from .._closures import copied
from ..core.contract.errors import NumpyCodeError
from ..numpy_code.array import NumpyArray
from ..numpy_code.array_like import with_each
from ..numpy_code.deep import with_deep_names
from ..numpy_code.made_array import array_of_engine, captured, made, plain
from ..numpy_code.refusals import running
from .arrays import array, numbers
from .dispatch import OURS, is_native, rest_of

Function = Callable[..., Any]


def _root(real: Function) -> Function:
    """A function such as brentq.

    Each step of the chord method r - f(r) / c adds one order of derivatives to those that are
    right.
    """
    name = f"scipy.optimize.{real.__name__}"

    number = functools.partial(_number, name)

    @functools.wraps(real)
    def call(f: Any, a: Any, b: Any, args: Any = (), *others: Any, **keywords: Any) -> Any:
        extra = args if isinstance(args, tuple) else (args,)
        known = tuple(map(number, extra))
        of_numbers = lambda x: number(f(x, *known))
        options = {word: number(value) for word, value in keywords.items()}
        root = real(of_numbers, number(a), number(b), (), *others, **options)
        at, rest = (root[0], root[1:]) if isinstance(root, tuple) else (root, None)
        if type(f(at, *extra)) is not NumpyArray:
            return root
        slope = _slope(of_numbers, at)
        if not np.isfinite(slope) or slope == 0:
            raise ZeroDivisionError(f"{name} found a root at which f has no slope: {at}")
        for _ in range(4):
            at = at - f(at, *extra) / slope
        if rest is None:
            return at
        rest[0].root = at
        return (at, *rest)

    return call


def _number(name: str, x: Any) -> Any:
    if is_native(x):
        raise NumpyCodeError(
            f"{name} takes NumPy code: put it into a numpy_function, or take"
            " adinterface.rules.root."
        )
    if type(x) is NumpyArray:
        return numbers(x, name)[()]
    return with_each(functools.partial(_number, name), plain(x))


def _slope(f: Function, x: float) -> float:
    """A derivative by differences, extrapolated: it need not be exact, since the function is zero
    there.
    """
    step = 1e-3 * max(1.0, abs(x)) if abs(x) > 1e-2 else 1e-2 * max(abs(x), 1e-6)
    rows = [[(f(x + h) - f(x - h)) / (2 * h)] for h in (step, step / 2, step / 4)]
    for n in (1, 2):
        for k in range(n, 3):
            rows[k].append(rows[k][n - 1] + (rows[k][n - 1] - rows[k - 1][n - 1]) / (4**n - 1))
    return float(rows[2][2])


for _name in ("brentq", "brenth", "bisect", "ridder", "toms748"):
    _real = getattr(scipy.optimize, _name)
    OURS[_real] = _root(_real)


def least_squares(fun: Any, x0: Any, *others: Any, **options: Any) -> Any:
    """As `scipy.optimize.least_squares`.

    Its code factors the Jacobian, and singular values that are equal have no derivative. At a
    bound, with another loss or with a Jacobian of the user, that code is followed as it is.
    """
    name, real = "scipy.optimize.least_squares", scipy.optimize.least_squares
    args, words = options.pop("args", ()), options.pop("kwargs", None) or {}
    extra = args if isinstance(args, tuple) else (args,)

    def here(x: Any) -> Any:
        return array(fun(_lent(x), *_lent(extra), **_lent(words)))

    def followed() -> Any:
        # of a copy, which this function does not replace
        found = with_deep_names(copied(real, lambda x: x, lambda name, x: True))()
        return found(fun, x0, *others, **options, args=args, kwargs=words)

    bounds = options.get("bounds", ())
    sides = bounds if isinstance(bounds, tuple) else (bounds,)
    if (
        others
        or array_of_engine(sides) is not None
        or options.get("loss", "linear") != "linear"
        or callable(options.get("jac"))
    ):
        return followed()
    number = functools.partial(_number, name)
    known, named = tuple(map(number, extra)), {word: number(x) for word, x in words.items()}
    of_numbers = lambda x: np.atleast_1d(number(fun(_lent(x), *_lent(known), **_lent(named))))
    result = real(of_numbers, number(x0), **{word: number(x) for word, x in options.items()})
    at: Any = result.x
    if array_of_engine(here(at)) is None:
        if running():
            result.update({word: made(value) for word, value in result.items()})
        return result
    if np.any(result.active_mask):
        return followed()
    steps = [np.eye(at.size)[n] * 6e-6 * max(1.0, abs(x)) for n, x in enumerate(at)]
    curvature = np.stack(
        [
            (_downhill(of_numbers, at + h, steps)[0] - _downhill(of_numbers, at - h, steps)[0])
            / (2 * h.sum())
            for h in [16 * step for step in steps]
        ]
    )
    if not np.linalg.cond(curvature) < 1e10:
        raise NumpyCodeError(
            f"{name}: the solution is not the only one nearby, so that it has no derivative. Give"
            " f as many independent residuals as x has numbers."
        )
    inverse = np.linalg.inv(curvature)
    for _ in range(4):
        at = at - inverse @ _downhill(here, at, steps)[0]
    result.x, result.fun = at, here(at)
    result.grad, result.jac = _downhill(here, at, steps)
    result.cost = 0.5 * (result.fun**2).sum()
    return result


def _lent(x: Any) -> Any:
    """Values for a function, which may be a copy and write an engine's array to a copy of them."""
    return with_each(_lent, captured(x)) if running() else x


def _downhill(f: Function, x: Any, steps: list[Any]) -> tuple[Any, Any]:
    """The gradient of half the sum of squares of f, and the Jacobian of f, by differences."""
    columns = [(f(x + h) - f(x - h)) / (2 * h.sum()) for h in steps]
    jacobian = np.stack([np.reshape(column, (-1,)) for column in columns], axis=1)
    return jacobian.T @ np.reshape(f(x), (-1,)), jacobian


OURS[scipy.optimize.least_squares] = least_squares

__getattr__ = rest_of("scipy.optimize", globals())
