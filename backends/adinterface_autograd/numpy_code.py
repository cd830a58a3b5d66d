"""Arithmetic on boxes by `autograd.numpy`: three times faster with a number than composed."""

from __future__ import annotations

from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.numpy.numpy_boxes import ArrayBox

from .repairs import functions
from .repairs.box import Box
from .repairs.functions import discrete, value
from .repairs.functions import written as written

add, subtract, multiply, true_divide, divide = (
    anp.add,
    anp.subtract,
    anp.multiply,
    anp.true_divide,
    anp.true_divide,
)
power, maximum, minimum, transpose = anp.power, anp.maximum, anp.minimum, anp.transpose
equal, not_equal, less, less_equal, greater, greater_equal = (
    discrete(name)
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
)


def frexp(x: Any) -> Any:
    exponent = np.frexp(value(x))[1]
    return x * np.ldexp(np.ones((), dtype=x.dtype), -exponent), exponent


def getitem(x: Any, index: Any) -> Any:
    """x[index]; autograd's rule takes a list of booleans for one of integers."""
    if type(index) is list:
        index = np.asarray(index) if index else np.zeros(0, dtype=np.intp)
    item = _item(x, index)
    # Box tells its shape sooner
    return Box(item._value, item._trace, item._node) if type(item) is ArrayBox else item


_item = ArrayBox.__getitem__


def where(condition: Any, *choices: Any) -> Any:
    return functions.where(condition, *choices) if choices else np.where(value(condition))


def __getattr__(name: str) -> Any:
    if name == "special":  # imported at the first use: only this needs SciPy
        from .repairs import special

        return special
    raise AttributeError(name)
