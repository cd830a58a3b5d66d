"""An engine's own function for the usual calls of one of NumPy's, which every other call needs not know about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def usual(
    composed: Callable[[str], Callable[..., Any]], name: str, function: Callable[..., Any], positional: int, *keywords: str
) -> Callable[..., Any]:
    """A function for calls with at most so many positional arguments and these keywords; other calls go to the composition
    of that name."""
    known = frozenset(keywords)

    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) <= positional and (not kwargs or kwargs.keys() <= known):
            return function(*args, **kwargs)
        return composed(name)(*args, **kwargs)

    return call
