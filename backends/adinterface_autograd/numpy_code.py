"""NumPy's functions on autograd's boxes that are right in `autograd.numpy` as they are, or in our rules.

They are here for their speed: whatever is missing is composed of the namespace.
"""

from __future__ import annotations

import autograd.numpy as anp
import numpy as np

from .rules import discrete, value

# Element by element.
add, subtract, multiply, true_divide, divide = anp.add, anp.subtract, anp.multiply, anp.true_divide, anp.true_divide
negative, absolute, square, sqrt, reciprocal = anp.negative, anp.abs, anp.square, anp.sqrt, anp.reciprocal
power, maximum, minimum = anp.power, anp.maximum, anp.minimum
exp, expm1, log, log10, log1p, log2 = anp.exp, anp.expm1, anp.log, anp.log10, anp.log1p, anp.log2
sin, cos, tan, sinh, cosh, tanh = anp.sin, anp.cos, anp.tan, anp.sinh, anp.cosh, anp.tanh
arcsin, arccos, arctan, arcsinh, arccosh, arctanh = anp.arcsin, anp.arccos, anp.arctan, anp.arcsinh, anp.arccosh, anp.arctanh
arctan2, logaddexp = anp.arctan2, anp.logaddexp
matmul = anp.matmul


def positive(x):  # type: ignore[no-untyped-def]
    return x


equal, not_equal, less, less_equal, greater, greater_equal = (
    discrete(name) for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
)


def getitem(x, index):  # type: ignore[no-untyped-def]
    """x[index]; autograd's rule takes a list of booleans for one of integers."""
    if type(index) is list:
        index = np.asarray(index) if index else np.zeros(0, dtype=np.intp)
    return x[index]


def shape(a):  # type: ignore[no-untyped-def]
    return np.shape(value(a))


def frexp(x):  # type: ignore[no-untyped-def]
    exponent = np.frexp(value(x))[1]
    return x * np.ldexp(np.ones((), dtype=x.dtype), -exponent), exponent


def __getattr__(name):  # type: ignore[no-untyped-def]
    if name == "special":  # found when first asked for: SciPy is not needed without it
        from . import special

        return special
    raise AttributeError(name)
