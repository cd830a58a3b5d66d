"""Functions of `math` and `cmath` on an engine's arrays."""

from __future__ import annotations

import cmath
import functools
import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..array import NumpyArray
from ..array_like import arrays_in
from ..made_array import array_of_engine, plain
from ..python_numbers import checked, python_number


def _special(name: str) -> Callable[..., Any]:
    """A function of scipy.special, which is imported where it is needed."""
    return lambda x: getattr(importlib.import_module("scipy.special"), name)(x)


def _log(x: Any, *base: Any) -> Any:
    return np.log(x) / np.log(base[0]) if base else np.log(x)


def _hypot(*coordinates: Any) -> Any:
    return (
        functools.reduce(np.hypot, coordinates) if len(coordinates) > 1 else np.abs(coordinates[0])
    )


def _dist(p: Any, q: Any) -> Any:
    return _hypot(*[a - b for a, b in zip(p, q, strict=True)])


def _prod(iterable: Any, *, start: Any = 1) -> Any:
    return functools.reduce(lambda a, b: a * b, iterable, start)


def _isclose(a: Any, b: Any, *, rel_tol: float = 1e-9, abs_tol: float = 0.0) -> bool:
    return bool(abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol))


def _modf(x: Any) -> Any:
    integral_part = np.trunc(x)
    return x - integral_part, integral_part


def _acosh(z: Any) -> Any:
    """By Kahan: the derivative of some engines is that of the other branch, left of the imaginary
    axis.
    """
    return 2 * np.log(np.sqrt((z + 1) / 2) + np.sqrt((z - 1) / 2))


def _complex(name: str) -> Callable[..., Any]:
    function = _acosh if name == "acosh" else _NUMPY[name]
    return lambda x: (
        inverse_of_real(name, x) if name in INVERSE and x.dtype.kind != "c" else function(x + 0j)
    )


def inverse_of_real(name: str, x: Any) -> Any:
    """arccos, arcsin or arccosh of real numbers, complex: on their cuts, engines have the
    derivative of the other side.
    """
    inside = np.abs(x) <= 1
    angle = np.where(inside, np.arccos(np.where(inside, x, 0.0)), np.where(x > 0, 0.0, np.pi))
    area = np.where(inside, 0.0, np.arccosh(np.where(inside, 2.0, np.abs(x))))
    if name == "acosh":
        return area + 1j * angle
    return angle - 1j * area if name == "acos" else np.pi / 2 - angle + 1j * area


INVERSE = ("acos", "acosh", "asin")


#: Functions of math that NumPy has.
_NUMPY: dict[str, Callable[..., Any]] = {
    name: getattr(np, name) for name in (
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "copysign",
        "cos", "cosh", "degrees", "exp", "exp2", "expm1", "fmod", "log10", "log1p", "log2",
        "pow", "radians", "sin", "sinh", "sqrt", "tan", "tanh", "isfinite", "isinf",
        "isnan",
    )
}  # fmt: skip
_OURS: dict[str, Callable[..., Any]] = {
    "ceil": lambda x: int(np.ceil(x)),
    "dist": _dist,
    "erf": _special("erf"),
    "erfc": _special("erfc"),
    "fabs": np.abs,
    "floor": lambda x: int(np.floor(x)),
    "fsum": lambda values: sum(values),
    "gamma": _special("gamma"),
    "hypot": _hypot,
    "isclose": _isclose,
    "lgamma": _special("gammaln"),
    "ldexp": lambda x, i: x * 2.0**i,
    "log": _log,
    "modf": _modf,
    "prod": _prod,
    "remainder": lambda x, y: x - y * np.rint(x / y),
    "sumprod": lambda p, q: sum(a * b for a, b in zip(p, q, strict=True)),
    "trunc": lambda x: int(np.trunc(x)),
}
_ALL: dict[str, Callable[..., Any]] = {**_NUMPY, **_OURS}
#: Those of cmath, which compute with complex numbers.
_COMPLEX = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "log10", "sin", "sinh",
    "sqrt", "tan", "tanh",
)  # fmt: skip


#: These raise no error, for any number; those that return integers check it themselves.
_WITHOUT_ERRORS = frozenset({
    "asinh", "atan", "atan2", "cbrt", "ceil", "copysign", "degrees", "dist", "erf", "erfc", "fabs",
    "floor", "fsum", "hypot", "isclose", "isfinite", "isinf", "isnan", "modf", "phase", "prod",
    "radians", "sumprod", "tanh", "trunc",
})  # fmt: skip


def _following(real: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(real)
    def call(*args: Any, **keywords: Any) -> Any:
        if args and not isinstance(args[0], (NumpyArray, list, tuple, float, int)):
            # a generator is looked at once
            args = (list(args[0]) if hasattr(args[0], "__next__") else args[0], *args[1:])
        args = arrays_in(args)
        if array_of_engine(args) is None:
            return real(*plain(args), **keywords)
        args = tuple(map(_double, args))
        if real.__name__ not in _WITHOUT_ERRORS:
            checked(real, plain(args))
        return python_number(ours(*args, **keywords))

    return call


_SINGLE = tuple(map(np.dtype, ("float16", "float32", "complex64")))


def _double(x: Any) -> Any:
    """A 0-d floating array in double precision, in which `math` computes.

    JAX has none in a single-precision call.
    """
    if not (type(x) is NumpyArray and not x.shape and x.dtype in _SINGLE):
        return x
    dtype, library = np.result_type(x.dtype, np.float64), x.engine.library
    return (
        x.astype(dtype) if library.dtype(library.asarray(np.zeros((), dtype))) == dtype.name else x
    )


def stand_ins() -> dict[int, tuple[Any, Any]]:
    """The replacement of each Python function, by its identity."""
    pairs: list[tuple[Any, Callable[..., Any]]] = [
        (getattr(math, name), ours) for name, ours in _ALL.items() if hasattr(math, name)
    ]  # some came with later releases
    pairs += [(getattr(cmath, name), _complex(name)) for name in _COMPLEX]
    pairs += [
        (getattr(cmath, name), _ALL[name]) for name in ("isclose", "isfinite", "isinf", "isnan")
    ]
    pairs += [
        (cmath.polar, lambda z: tuple(map(python_number, (np.abs(z), np.angle(z))))),
        (cmath.log, lambda x, *base: _log(x + 0j, *base)),
        (cmath.phase, np.angle),
        (cmath.rect, lambda r, phi: r * np.exp(1j * phi)),
    ]
    return {id(real): (real, _following(real, ours)) for real, ours in pairs}
