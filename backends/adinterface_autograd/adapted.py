"""What the repairs of autograd take from adinterface: errors in its words, and its compositions of functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from array_api_compat import numpy as compat

from adinterface.core.contract.errors import ConversionError, NotDifferentiableError

from .repairs import given, namespace

namespace.__array_namespace_info__ = compat.__array_namespace_info__  # type: ignore[attr-defined]  # NumPy's own is of 2.1

given.number = functools.partial(
    NotDifferentiableError,
    "float(x) makes a Python number of an array that autograd follows, which would drop its gradient. Leave it an array: "
    "write xp.sin for math.sin, with xp = adinterface.array_namespace(x).",
)
given.pickled = functools.partial(
    ConversionError,
    "An array that is being differentiated was pickled (by pickle, joblib or multiprocessing), which drops its gradient. "
    "Compute with it in this process.",
)
given.listed = functools.partial(
    NotDifferentiableError,
    "A list of what is differentiated stands where one of autograd's functions takes an array, and its gradient would be "
    "lost. Write xp.stack([...]) for the list (xp = adinterface.array_namespace(x)), or decorate f with "
    "adinterface.numpy_function, for NumPy's own functions.",
)


@functools.cache
def _composition(name: str) -> Callable[..., Any]:
    from adinterface.numpy_code.compositions import COMPOSITIONS  # here, because most programs need none of them

    return functools.partial(COMPOSITIONS[name], namespace)


def _by_order(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    from adinterface.scipy.special.for_engines import with_partials  # here, because it takes long to import

    return with_partials(name, function)


def _of_complex(name: str, x: Any) -> None:
    from adinterface.scipy.special.for_engines import along_the_line  # here, because it takes long to import

    along_the_line(name.removesuffix("e"), "real", x)


given.composition, given.by_order, given.of_complex = _composition, _by_order, _of_complex

__all__ = ["namespace"]
