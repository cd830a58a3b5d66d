"""Roots by scipy.optimize.

The root is found by numbers; its derivatives are those of the implicit function, up to the fourth
order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize

from ..core.contract.errors import NumpyCodeError
from ..numpy_code.array import NumpyArray
from .arrays import numbers
from .dispatch import OURS, is_native, rest_of

Function = Callable[..., Any]


def _root(real: Function) -> Function:
    """A function such as brentq.

    Each step of the chord method r - f(r) / c adds one order of derivatives to those that are
    right.
    """
    name = f"scipy.optimize.{real.__name__}"

    def number(x: Any) -> Any:
        if is_native(x):
            raise NumpyCodeError(
                f"{name} takes NumPy code: put it into a numpy_function, or take"
                " adinterface.rules.root."
            )
        return numbers(x, name)[()] if isinstance(x, NumpyArray) else x

    @functools.wraps(real)
    def call(f: Any, a: Any, b: Any, args: Any = (), *others: Any, **keywords: Any) -> Any:
        extra = args if isinstance(args, tuple) else (args,)
        known = tuple(map(number, extra))
        plain = lambda x: number(f(x, *known))
        options = {word: number(value) for word, value in keywords.items()}
        root = real(plain, number(a), number(b), (), *others, **options)
        at, rest = (root[0], root[1:]) if isinstance(root, tuple) else (root, None)
        if type(f(at, *extra)) is not NumpyArray:
            return root
        slope = _slope(plain, at)
        if not np.isfinite(slope) or slope == 0:
            raise ZeroDivisionError(f"{name} found a root at which f has no slope: {at}")
        for _ in range(4):
            at = at - f(at, *extra) / slope
        if rest is None:
            return at
        rest[0].root = at
        return (at, *rest)

    return call


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

__getattr__ = rest_of("scipy.optimize", globals())
