"""Calls of the copies that `deep=True` makes: what goes in, and what comes out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.contract.ambient import wish
from ..refusals import telling_unknown
from .classes import landed
from .copies import Copies, DictView, ListView

COPIES = Copies()


def with_deep_names(f: Callable[..., Any]) -> Callable[[], Callable[..., Any]]:
    """What gives the copy of f for a call. It takes objects of the user's own, and gives such."""
    of = COPIES.of

    def call(*args: Any, **keywords: Any) -> Any:
        try:
            with telling_unknown():
                return _leaving(of(f)(*map(of, args), **{name: of(value) for name, value in keywords.items()}))
        except Exception:
            wish()  # it may be that a compiled call did not know a number
            raise

    return lambda: call


def _leaving(result: Any) -> Any:
    cls = type(result)
    if cls is ListView or cls is DictView:
        return result._original
    if cls is list or cls is tuple:
        parts = list(map(_leaving, result))
        return parts if cls is list else tuple(parts)
    if cls is dict:
        return {key: _leaving(value) for key, value in result.items()}
    return landed(result)
