"""The accuracy that results must have: rounding for an engine that differentiates, less for finite
differences.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from adinterface import AutoBackend, derivative, gradient, second_derivative
from adinterface.core.contract.errors import BackendError, NotDifferentiableError
from adinterface.core.contract.library import epsilon, width
from adinterface.core.contract.registry import find

from .state import pair_of, restored

#: For an engine that takes differences and does not say how exact they are
#: (`Backend.relative_error`): relative to the
#: largest number of the result, by bits of the dtype, for derivatives of first and second order.
#: Central differences keep
#: two thirds of the digits (eps^(2/3)), differences of differences a half; a factor of 1000 and 100
#: on top is for functions
#: that bend more than a sine.
BY_DIFFERENCES = {1: {64: 1e-7, 32: 5e-3, 16: 0.3}, 2: {64: 1e-4, 32: 5e-2, 16: 1.0}}


@functools.lru_cache(maxsize=64)
def differentiates(backend: AutoBackend) -> bool:
    """Whether the engine differentiates f, rather than evaluating it at several points.

    It does if it has `pullback`, which differences cannot have, or if one evaluation of f gives a
    derivative.
    """
    engine = find(backend)
    if "pullback" in engine.gives:
        return True
    evaluations = 0

    def f(x: Any) -> Any:
        nonlocal evaluations
        evaluations += 1
        return x * x

    with restored():
        derivative(f, backend, 0.5)
    return evaluations == 1


@functools.lru_cache(maxsize=64)
def does_not_nest(backend: AutoBackend) -> str:
    """The words in which the backend refuses derivatives of its own derivatives.

    Empty if it takes them.

    Another error is no refusal: the checks of nested derivatives run, and show it.
    """
    try:
        with restored():
            gradient(lambda x: gradient(lambda y: y * y * y, backend, x)[0], backend, 2.0)
            if len({*pair_of(backend)}) > 1:  # the outer one may refuse to be differentiated
                gradient(lambda x: second_derivative(lambda y: y * y * y, backend, x), backend, 2.0)
    except (BackendError, NotDifferentiableError, NotImplementedError) as error:
        return f"it refuses derivatives of its own derivatives ({error})"
    except Exception:
        return ""
    return ""


def is_exact(backend: AutoBackend, order: int) -> bool:
    """Whether derivatives of this order are exact but for rounding."""
    outer, inner = pair_of(backend)
    return differentiates(inner) and (order == 1 or differentiates(outer))


def tolerance(backend: AutoBackend, order: int, rtol: float, dtypes: Iterable[str]) -> float:
    """The relative tolerance of a derivative of this order, where an exact engine has `rtol`."""
    if is_exact(backend, order):
        return rtol
    outer, inner = pair_of(backend)
    dtypes = list(dtypes)
    told = [_told(each, order, dtypes) for each in (outer, inner) if not differentiates(each)]
    narrowest = min([width(dtype) for dtype in dtypes], default=64)
    usual = BY_DIFFERENCES[order][64 if narrowest > 64 else max(narrowest, 16)]
    return max(rtol, *[usual if error is None else min(error, usual) for error in told])


def _told(backend: AutoBackend, order: int, dtypes: list[str]) -> float | None:
    """The accuracy of the differences as the engine states it.

    None if it takes none or states none.
    """
    engine = find(backend)
    return (
        engine.relative_error(order, max(map(epsilon, dtypes), default=2.0**-52))
        if engine.estimates
        else None
    )
