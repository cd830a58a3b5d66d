"""Calls of the copies that `deep=True` makes: conversions of arguments and results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..array_like import ArrayHolder
from ..refusals import telling_unknown
from .classes import landed
from .copies import Copies, DictView, ListView

COPIES = Copies()


def with_deep_names(f: Callable[..., Any]) -> Callable[[], Callable[..., Any]]:
    """A function that makes the copy of f for a call, with the user's objects as arguments and
    results.
    """
    of = COPIES.of

    def call(*args: Any, **keywords: Any) -> Any:
        with telling_unknown() as outermost:
            try:
                COPIES.renew()
                return _leaving(
                    of(f)(*map(of, args), **{name: of(value) for name, value in keywords.items()})
                )
            finally:
                if outermost:
                    COPIES.settle()

    return lambda: call


def _leaving(result: Any) -> Any:
    cls = type(result)
    if cls is ListView or cls is DictView:
        return result._original
    if isinstance(result, ArrayHolder):
        return result._inner
    if cls is list or cls is tuple:
        parts = list(map(_leaving, result))
        return parts if cls is list else tuple(parts)
    if cls is dict:
        return {key: _leaving(value) for key, value in result.items()}
    return landed(result)
