"""NumPy functions for which torch's own is faster or more exact than a composition."""

from __future__ import annotations

from typing import Any

import torch

from .composed import arrays, composed, floating, tensors


def frexp(x: Any) -> Any:
    return tuple(torch.frexp(floating(x)))


def clip(
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    out: Any = None,
    *,
    min: Any = None,
    max: Any = None,
) -> Any:
    """At a bound, a has the whole derivative."""
    given = {"min": a_min if min is None else min, "max": a_max if max is None else max}
    given = {name: bound for name, bound in given.items() if bound is not None}
    first, *bounds = tensors(a, *given.values())
    if first.is_complex():
        return composed("clip")(a, **given)
    return torch.clamp(first, **dict(zip(given, bounds))) if given else a


def einsum(*operands: Any, dtype: Any = None, **options: Any) -> Any:
    if dtype is None and isinstance(operands[0], str):
        return torch.einsum(operands[0], *arrays(*operands[1:]))
    return composed("einsum")(*operands, dtype=dtype)
