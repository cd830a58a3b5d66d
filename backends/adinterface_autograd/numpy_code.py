"""NumPy's functions on autograd's boxes, where `autograd.numpy` or a rule of ours is right as it stands.

They are here for their speed: whatever is missing, and every rarer form of a call, is composed of the namespace.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.numpy.numpy_boxes import ArrayBox

from adinterface.numpy_code.compositions import COMPOSITIONS
from adinterface.numpy_code.usual import usual

from . import linalg as box_linalg
from . import namespace, rules
from .box import Box
from .rules import discrete, shape_of, value
from .rules import written as written

# Element by element.
add, subtract, multiply, true_divide, divide = anp.add, anp.subtract, anp.multiply, anp.true_divide, anp.true_divide
negative, absolute, square, sqrt, reciprocal = anp.negative, anp.abs, anp.square, anp.sqrt, anp.reciprocal
power, maximum, minimum = anp.power, anp.maximum, anp.minimum
exp, expm1, log, log10, log1p, log2 = anp.exp, anp.expm1, anp.log, anp.log10, anp.log1p, anp.log2
sin, cos, tan, sinh, cosh, tanh = anp.sin, anp.cos, anp.tan, anp.sinh, anp.cosh, anp.tanh
arcsin, arccos, arctan, arcsinh, arccosh, arctanh = anp.arcsin, anp.arccos, anp.arctan, anp.arcsinh, anp.arccosh, anp.arctanh
arctan2 = anp.arctan2
matmul = anp.matmul
equal, not_equal, less, less_equal, greater, greater_equal, isnan, isfinite, isinf = (
    discrete(name)
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "isnan", "isfinite", "isinf")
)


def positive(x: Any) -> Any:
    return x


def frexp(x: Any) -> Any:
    exponent = np.frexp(value(x))[1]
    return x * np.ldexp(np.ones((), dtype=x.dtype), -exponent), exponent


def shape(a: Any) -> Any:
    return shape_of(a)


def getitem(x: Any, index: Any) -> Any:
    """x[index]; autograd's rule takes a list of booleans for one of integers."""
    if type(index) is list:
        index = np.asarray(index) if index else np.zeros(0, dtype=np.intp)
    found = _item(x, index)
    return Box(found._value, found._trace, found._node) if type(found) is ArrayBox else found  # Box tells its shape sooner


_item = ArrayBox.__getitem__


@functools.cache
def _composed(name: str) -> Callable[..., Any]:
    return functools.partial(COMPOSITIONS[name], namespace)


_usual = functools.partial(usual, _composed)


def mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    if dtype is None and where is True:
        return rules.mean(a, axis=axis, keepdims=keepdims)
    return _composed("mean")(a, axis, dtype, None, keepdims, where=where)


def concatenate(arrays: Any, axis: int | None = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    if dtype is None and axis is not None:
        return anp.concatenate(arrays, axis)
    return _composed("concatenate")(arrays, axis, dtype=dtype)


concat = concatenate


def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    return rules.stack(arrays, axis=axis) if dtype is None else _composed("stack")(arrays, axis, dtype=dtype)


sum = _usual("sum", anp.sum, 2, "axis", "keepdims")
max = amax = _usual("max", anp.max, 2, "axis", "keepdims")
min = amin = _usual("min", anp.min, 2, "axis", "keepdims")
reshape = _usual("reshape", anp.reshape, 2)
transpose = _usual("transpose", anp.transpose, 2)
ravel = _usual("ravel", anp.ravel, 1)


def _solve(a: Any, b: Any) -> Any:
    lists = isinstance(a, (list, tuple)) or isinstance(b, (list, tuple))
    return _composed("linalg.solve")(a, b) if lists else box_linalg.solve(a, b)


linalg = SimpleNamespace(det=anp.linalg.det, inv=anp.linalg.inv, solve=_solve)


def where(condition: Any, *choices: Any) -> Any:
    return rules.where(condition, *choices) if choices else np.where(value(condition))


def __getattr__(name: str) -> Any:
    if name == "special":  # found when first asked for: SciPy is not needed without it
        from . import autograd_special

        return autograd_special
    raise AttributeError(name)
