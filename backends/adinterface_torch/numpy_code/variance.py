"""The variance of tensors, as it is usually called: torch computes it in one pass, three times faster than composed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from adinterface.numpy_code.compositions.composing import root

from .composed import composed, inexact, on_tensors

_KEYWORDS = frozenset({"axis", "ddof", "keepdims", "correction"})
_root = on_tensors(root)


def _variance(a: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False, correction: float | None = None) -> Any:
    return torch.var(inexact(a), axis, correction=ddof if correction is None else correction, keepdim=keepdims)


def _deviation(a: Any, axis: Any = None, **options: Any) -> Any:
    return _root(_variance(a, axis, **options))


def _usual(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function for calls with these keywords and an axis that is not (); others are composed."""

    def call(a: Any, axis: Any = None, *args: Any, **keywords: Any) -> Any:
        if args or axis == () or not keywords.keys() <= _KEYWORDS:
            return composed(name)(a, axis, *args, **keywords)
        return function(a, axis, **keywords)

    return call


var, std = _usual("var", _variance), _usual("std", _deviation)
