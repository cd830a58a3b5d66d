"""Small rules: hooks on cotangents, and surrogate derivatives."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from ..core.contract.errors import NotRecordedError
from ..core.support.ambient import now
from .ignored import ignore_derivatives
from .namespace import array_namespace
from .rule import rule
from .scalar import like, spread

P = ParamSpec("P")
T = TypeVar("T")


def gradient_hook(x: T, hook: Callable[[T], T | None], /) -> T:
    """x unchanged; the backward pass replaces its cotangent by the result of `hook`: clipped,
    reversed, scaled, inspected.

    x: an array or a tree; hook: gets the cotangent, of the same structure, and may return None to
    keep it. Forward mode and finite differences are not affected.

    A second derivative is that of the gradient: the hook acts in the innermost backward pass. torch
    cannot do that in reverse over reverse, and raises BackendError; take forward over reverse,
    SecondOrder(AutoTorch(mode="forward"), AutoTorch()).

    >>> from adinterface import AutoFiniteDifferences, gradient
    >>> from adinterface.rules import gradient_hook
    >>> # differences see x alone
    >>> gradient(lambda x: gradient_hook(x, lambda c: -c) ** 2, AutoFiniteDifferences(), 3.0)[0] > 0
    True
    """
    if not callable(hook):
        raise TypeError(
            "gradient_hook takes a value and a function of its cotangent, not a"
            f" {type(hook).__name__}."
        )
    hooked: T = _hooked(x, hook=hook)
    return hooked


@rule
def _hooked(x: Any, *, hook: Any) -> Any:
    return x


@_hooked.pullback
def _back(cotangent: Any, value: Any, x: Any, *, hook: Any) -> tuple[Any]:
    result = hook(cotangent)
    if result is None or result is cotangent:
        return (cotangent,)
    # a hook need not be linear, and the author's code shall not be differentiated
    if now().transposing:
        raise NotRecordedError(
            "gradient_hook: a backward pass with a hook that changes its cotangent cannot be"
            " transposed."
        )
    return (result,)


@_hooked.pushforward
def _push(tangents: Any, value: Any, x: Any, *, hook: Any) -> Any:
    return tangents[0]


_hooked._definition.name = "gradient_hook"
_hooked._definition.written = lambda x, *, hook: x
_hooked._definition.innermost = True


def straight_through(
    f: Callable[P, T], surrogate: Callable[..., Any] | None = None, /
) -> Callable[P, T]:
    """f with the derivative of another function: for a rounding, a sign or a threshold, whose
    derivative is zero.

    surrogate: takes the same arguments and returns an array of the same shape; None is the identity
    of the first argument. Finite differences use the surrogate's derivative too.

    >>> from adinterface import AutoFiniteDifferences, gradient
    >>> from adinterface.rules import straight_through
    >>> rounded = straight_through(round)
    >>> rounded(2.7)
    3.0
    >>> round(gradient(lambda x: rounded(x) * 2.0, AutoFiniteDifferences(), 2.7)[0], 6)
    2.0
    """
    functions: list[Any] = [f] if surrogate is None else [f, surrogate]
    for function in functions:
        if not callable(function):
            seen = type(function).__name__
            raise TypeError(
                f"straight_through takes functions, straight_through(f, surrogate), not a {seen}."
            )

    @functools.wraps(f)
    def through(*args: P.args, **keywords: P.kwargs) -> T:
        smooth: Any = args[0] if surrogate is None else surrogate(*args, **keywords)
        result: T = _through(ignore_derivatives(lambda: f(*args, **keywords)), smooth)
        return result

    return through


@rule
def _through(value: Any, smooth: Any) -> Any:
    # Finite differences see how the surrogate changes. At the point the change is zero, also where
    # the surrogate is infinite.
    held = ignore_derivatives(smooth)
    finite = abs(held) < math.inf
    if isinstance(smooth, (int, float, complex)):
        return value + (smooth - held if finite else 0.0)
    xp = array_namespace(smooth)
    zeros = xp.zeros_like(smooth)
    return value + (xp.where(finite, smooth, zeros) - xp.where(finite, held, zeros))


@_through.pullback
def _back_through(cotangent: Any, found: Any, value: Any, smooth: Any) -> tuple[Any, ...]:
    return None, _of_dtype(like(cotangent, smooth), smooth)


@_through.pushforward
def _push_through(tangents: Any, found: Any, value: Any, smooth: Any) -> Any:
    return _of_dtype(spread(tangents[1], found), found)


def _of_dtype(x: Any, other: Any) -> Any:
    return (
        x
        if getattr(other, "dtype", x.dtype) == x.dtype
        else array_namespace(x).astype(x, other.dtype)
    )


_through._definition.name = "straight_through"
_through._definition.written = lambda value, smooth: value + (smooth - ignore_derivatives(smooth))


__all__ = ["gradient_hook", "straight_through"]
