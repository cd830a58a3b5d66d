"""NumPy's reductions of tensors, as they are usually called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from adinterface.numpy_code.compositions.composing import root

from .composed import composed, inexact, on_tensors, usual

Axis = int | tuple[int, ...] | None


def _reduction(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction by axis and keepdims alone."""

    def reduce(a: Any, axis: Axis = None, *args: Any, keepdims: bool = False, **kwargs: Any) -> Any:
        if args or kwargs:
            return composed(name)(a, axis, *args, **kwargs, **({"keepdims": True} if keepdims else {}))
        if axis is None and not keepdims:
            return call(a)
        return call(a, axis, keepdims) if type(axis) is int or axis else composed(name)(a, axis, keepdims=keepdims)

    return reduce


def _mean(a: Any, *args: Any) -> Any:
    return inexact(a).mean(*args)


sum = _reduction("sum", Tensor.sum)
mean = _reduction("mean", _mean)
max = amax = _reduction("max", Tensor.amax)
min = amin = _reduction("min", Tensor.amin)


_root = on_tensors(root)


def _variance(a: Any, axis: Axis = None, ddof: float = 0, keepdims: bool = False, correction: float | None = None) -> Any:
    if axis == ():
        return composed("var")(a, axis, ddof=ddof, keepdims=keepdims, correction=correction)
    return torch.var(inexact(a), axis, correction=ddof if correction is None else correction, keepdim=keepdims)


def _deviation(a: Any, axis: Axis = None, **options: Any) -> Any:
    return _root(_variance(a, axis, **options))


var = usual("var", _variance, 2, "axis", "ddof", "keepdims", "correction")
std = usual("std", _deviation, 2, "axis", "ddof", "keepdims", "correction")


def _truth(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    return usual(name, lambda a: call(a.bool()), 1)


all = _truth("all", torch.all)
any = _truth("any", torch.any)
