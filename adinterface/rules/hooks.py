"""Small rules: what a gradient meets on its way back, and a stand-in for a derivative that is of no use."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from .ignored import ignore_derivatives
from .rule import rule

P = ParamSpec("P")
T = TypeVar("T")


def gradient_hook(x: T, hook: Callable[[T], T | None], /) -> T:
    """x as it is; on the way back its cotangent is what `hook` makes of it: clipped, reversed, scaled, or only looked at.

    x: an array or a tree; hook: gets the cotangent, of the same structure; if it returns None, the cotangent stays as it is.
    Forward mode, and finite differences, pass x on unchanged.

    >>> from adinterface import AutoFiniteDifferences, gradient, gradient_hook
    >>> gradient(lambda x: gradient_hook(x, lambda c: -c) ** 2, AutoFiniteDifferences(), 3.0)[0] > 0  # differences see x alone
    True
    """
    if not callable(hook):
        raise TypeError(f"gradient_hook takes a value and a function of its cotangent, not a {type(hook).__name__}.")
    hooked: T = _hooked(x, hook=hook)
    return hooked


@rule
def _hooked(x: Any, *, hook: Any) -> Any:
    return x


@_hooked.pullback
def _back(cotangent: Any, value: Any, x: Any, *, hook: Any) -> tuple[Any]:
    found = hook(cotangent)
    return (cotangent if found is None else found,)


@_hooked.pushforward
def _push(tangents: Any, value: Any, x: Any, *, hook: Any) -> Any:
    return tangents[0]


_hooked._definition.name = "gradient_hook"


def straight_through(f: Callable[P, T], surrogate: Callable[..., Any] | None = None, /) -> Callable[P, T]:
    """f with the derivative of another function: for a rounding, a sign, a threshold, whose own derivative is zero.

    surrogate: takes the same arguments and gives an array of the same shape; None is the identity of the first argument. Finite
    differences find the surrogate's derivative too.

    >>> from adinterface import AutoFiniteDifferences, gradient, straight_through
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
            raise TypeError(f"straight_through takes functions, straight_through(f, surrogate), not a {seen}.")

    @functools.wraps(f)
    def through(*args: P.args, **keywords: P.kwargs) -> T:
        smooth: Any = args[0] if surrogate is None else surrogate(*args, **keywords)
        value: Any = ignore_derivatives(lambda: f(*args, **keywords))
        # In this order the value is exactly that of f.
        found: T = value + (smooth - ignore_derivatives(smooth))
        return found

    return through


__all__ = ["gradient_hook", "straight_through"]
