"""Hooks on cotangents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..core.contract.errors import NotRecordedError
from ..core.support.ambient import now
from .rule import rule

T = TypeVar("T")


def gradient_hook(x: T, hook: Callable[[T], T | None], /) -> T:
    """x unchanged.

    The backward pass replaces its cotangent by the result of `hook`: clipped, reversed, scaled,
    inspected.

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


_hooked.definition.name = "gradient_hook"
_hooked.definition.written = lambda x, *, hook: x
_hooked.definition.innermost = True


__all__ = ["gradient_hook"]
