"""The reference derivative: differences of the eighth order in NumPy long double, along a direction.

On x86 its mantissa has 64 bits, so the differences are right to about 1e-14 where f is smooth. The sixth order shows
whether it is.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from adinterface import array_namespace

Vectors = list[Any]

#: The weights of f(x + n h v) -+ f(x - n h v), n = 1, 2, ...; of f(x) itself; of the eighth order, and of the sixth.
_WEIGHTS: dict[int, tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]] = {
    1: (((4, 5), (-1, 5), (4, 105), (-1, 280)), ((3, 4), (-3, 20), (1, 60))),
    2: (((8, 5), (-1, 5), (8, 315), (-1, 560)), ((3, 2), (-3, 20), (1, 90))),
}
_CENTERS = (-205, 72), (-49, 18)
_STEP = np.longdouble(2) ** -8


class NotSmooth(Exception):
    """Differences of two orders disagree: there is a kink nearby, or high derivatives are too large."""


def long(x: Any) -> Any:
    """The number with all the digits that there are."""
    return np.asarray(x, dtype=np.clongdouble if np.iscomplexobj(x) else np.longdouble)


def along(outputs: Callable[[Vectors], Vectors], point: Vectors, direction: Vectors, order: int, trust: float) -> Vectors:
    """The derivative of the outputs along a direction. Raises NotSmooth if that is less exact than `trust`."""
    x, v = [long(leaf) for leaf in point], [_STEP * long(leaf) for leaf in direction]
    here = outputs(x) if order == 2 else []
    sign = -1 if order == 1 else 1
    pairs = []
    for n in range(1, 5):
        ahead, behind = (outputs([a + m * b for a, b in zip(x, v)]) for m in (n, -n))
        pairs.append([a + sign * b for a, b in zip(ahead, behind)])
    found = []
    for weights, center in zip(_WEIGHTS[order], _CENTERS):
        terms = [[_ratio(*weight) * y for y in pair] for weight, pair in zip(weights, pairs)]
        terms += [[_ratio(*center) * y for y in here]] if order == 2 else []
        found.append([sum(column[1:], column[0]) / _STEP**order for column in zip(*terms)])
    for fine, rough in zip(*found):
        size = float(np.max(np.abs(fine), initial=1.0))
        if not np.all(np.abs(fine - rough) <= trust * size):
            raise NotSmooth(f"two orders differ by {float(np.max(np.abs(fine - rough))):.2g}")
    return found[0]


def _ratio(numerator: int, denominator: int) -> Any:
    return np.longdouble(numerator) / denominator


# What a program names -------------------------------------------------------------------------------------------------


class _Primal:
    """A rule of which only the function itself counts."""

    def __init__(self, f: Callable[..., Any], partials: Any = None):
        self.f = f

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.f(*args, **keywords)

    def pullback(self, back: Any) -> Any:
        return back

    def pushforward(self, push: Any) -> Any:
        return push


def _root(f: Any, x0: Any, *args: Any, solver: Any) -> Any:
    return solver(lambda x: f(x, *args), x0)


def _repeated(lower: int, upper: int, body: Any, value: Any) -> Any:
    for i in range(lower, upper):
        value = body(i, value)
    return value


def _scanned(f: Any, carry: Any, rows: Any) -> Any:
    outputs = []
    for row in rows:
        carry, y = f(carry, row)
        outputs.append(y)
    return carry, np.stack(outputs)


def _either(pred: Any, true_function: Any, false_function: Any, *operands: Any) -> Any:
    return (true_function if pred else false_function)(*operands)


def _of_the_host(name: str, raises: type[Exception], allowed: Callable[[Any], bool]) -> Callable[[Any], Any]:
    """A function of `math` that raises the errors of Python, and computes long doubles in full precision."""

    def function(x: Any) -> Any:
        if not allowed(x):
            raise raises(f"math.{name} of {x}")
        value = getattr(np, name)(np.longdouble(x))
        return value if isinstance(x, (np.ndarray, np.generic)) and x.dtype == np.longdouble else float(value)

    return function


@functools.cache
def reference_names() -> dict[str, Any]:
    """The functions for the names of a program: without engine or rule, in 64 bits."""
    largest = math.log(np.finfo(np.float64).max)
    return {
        "np": _namespace(),
        "math": SimpleNamespace(
            log=_of_the_host("log", ValueError, lambda x: x > 0),
            sqrt=_of_the_host("sqrt", ValueError, lambda x: x >= 0),
            exp=_of_the_host("exp", OverflowError, lambda x: x < largest),
        ),
        "numpy_function": lambda *, deep: lambda f: f,
        "rule": _Primal,
        "scalar_rule": _Primal,
        "root": _root,
        "fixed_point": _root,
        "checkpoint": lambda f: f,
        "fori_loop": _repeated,
        "scan": _scanned,
        "cond": _either,
    }


# The namespace -------------------------------------------------------------------------------------------------------


def reference_namespace(*arrays: Any) -> Any:
    """NumPy's namespace, with the linear algebra that NumPy has for 64 bits alone."""
    return _namespace()


class _Over:
    """Everything of a module, but for what is given."""

    def __init__(self, module: Any, **own: Any):
        self._module = module
        vars(self).update(own)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


@functools.cache
def _namespace() -> Any:
    numpy = array_namespace(np.zeros(1))
    linalg = _Over(
        numpy.linalg, outer=_outer, solve=_solve, inv=_inverse, det=_determinant, cholesky=_cholesky, slogdet=_slogdet
    )
    return _Over(numpy, linalg=linalg)


def _outer(x: Any, y: Any) -> Any:
    """Of vectors alone, as the Array API standard has it."""
    if np.ndim(x) != 1 or np.ndim(y) != 1:
        raise ValueError("linalg.outer takes vectors")
    return np.outer(x, y)


def _eliminated(matrix: Any, right: Any) -> tuple[Any, Any, Any]:
    """Gauss-Jordan elimination: the determinant and the solution."""
    a, b, determinant = np.array(matrix), np.array(right), matrix.dtype.type(1)
    for n in range(len(a)):
        pivot = n + int(np.argmax(np.abs(a[n:, n])))
        if pivot != n:
            a[[n, pivot]], b[[n, pivot]], determinant = a[[pivot, n]], b[[pivot, n]], -determinant
        determinant = determinant * a[n, n]
        b[n], a[n] = b[n] / a[n, n], a[n] / a[n, n]
        for m in range(len(a)):
            if m != n:
                b[m], a[m] = b[m] - a[m, n] * b[n], a[m] - a[m, n] * a[n]
    return determinant, b, a


def _solve(matrix: Any, right: Any) -> Any:
    dtype = np.result_type(matrix, right)
    return _eliminated(matrix.astype(dtype), right.astype(dtype))[1]


def _inverse(matrix: Any) -> Any:
    return _eliminated(matrix, np.eye(len(matrix), dtype=matrix.dtype))[1]


def _determinant(matrix: Any) -> Any:
    return _eliminated(matrix, np.zeros((len(matrix), 1), matrix.dtype))[0]


def _slogdet(matrix: Any) -> Any:
    determinant = _determinant(matrix)
    return SimpleNamespace(sign=np.sign(determinant), logabsdet=np.log(np.abs(determinant)))


def _cholesky(matrix: Any) -> Any:
    factor = np.zeros_like(matrix)
    for i in range(len(matrix)):
        for j in range(i + 1):
            rest = matrix[i, j] - np.sum(factor[i, :j] * factor[j, :j])
            factor[i, j] = np.sqrt(rest) if i == j else rest / factor[j, j]
    return factor
