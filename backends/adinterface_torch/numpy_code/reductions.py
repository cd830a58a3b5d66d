"""NumPy's reductions, scans and sorting on tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .dtypes import COMPLEX, INEXACT, converted, inexact, listed, to_dtype

Axis = int | tuple[int, ...] | None


def _masked(a: Any, where: Any, neutral: Any) -> Any:
    """a with the neutral element where it does not count."""
    return a if where is True else torch.where(listed(where, a), a, neutral)


def _counted(a: Any) -> Any:
    """Numbers as their sums and products have them: integers in full width."""
    return a if a.dtype in INEXACT else a.to(torch.int64)


def sum(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = 0, where: Any = True
) -> Any:
    if where is not True:
        a = _masked(a, where, 0)
    if dtype is not None:
        a = converted(a, to_dtype(dtype))
    if axis is None and not keepdims:
        total = a.sum()
    elif axis == ():
        total = _counted(a)
    else:
        total = a.sum(axis, keepdims)
    total = total if dtype is None else total.to(a.dtype)
    return total if type(initial) is int and initial == 0 else total + initial


def prod(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = 1, where: Any = True
) -> Any:
    a = _masked(a, where, 1)
    if dtype is not None:
        a = converted(a, to_dtype(dtype))
    total = _over_axes(torch.prod, a, axis, keepdims)
    total = total if dtype is None else total.to(a.dtype)
    return total if type(initial) is int and initial == 1 else total * initial


def _over_axes(call: Callable[..., Any], a: Any, axis: Axis, keepdims: bool) -> Any:
    """A reduction that torch has for one axis only, over any."""
    if isinstance(axis, int):
        return call(a, axis, keepdim=keepdims)
    if axis is None and not keepdims:
        return call(a)
    axes = sorted([n % a.ndim for n in (range(a.ndim) if axis is None else axis)], reverse=True)
    for n in axes:
        a = call(a, n, keepdim=keepdims)
    return a if axes else _counted(a)


def mean(a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    a = inexact(a) if dtype is None else converted(a, to_dtype(dtype))
    if where is not True:
        count = sum(torch.broadcast_to(listed(where, a), a.shape), axis, None, None, keepdims)
        return sum(a, axis, None, None, keepdims, where=where) / count
    return a.mean() if axis is None and not keepdims else a if axis == () else a.mean(axis, keepdims)


def var(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    a = inexact(a) if dtype is None else converted(a, to_dtype(dtype))
    ddof = ddof if correction is None else correction
    if where is True and mean is None and axis != ():
        return torch.var(a, axis, correction=ddof, keepdim=keepdims)
    counted = torch.broadcast_to(listed(where, a), a.shape)
    count = sum(counted, axis, None, None, keepdims)
    if mean is None:
        mean = sum(a, axis, None, None, True, where=where) / sum(counted, axis, None, None, True)
    deviations = a - mean
    squares = torch.square(deviations) if a.dtype not in COMPLEX else (deviations * torch.conj(deviations)).real
    return sum(squares, axis, None, None, keepdims, where=where) / torch.clamp(count - ddof, min=0)


def std(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, **kw: Any
) -> Any:
    return torch.sqrt(var(a, axis, dtype, out, ddof, keepdims, **kw))


def _extremum(call: Callable[..., Any], pair: Callable[..., Any]) -> Callable[..., Any]:
    def extremum(
        a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
    ) -> Any:
        if where is not True:
            a = _masked(a, where, initial)
        if initial is not None and not a.numel():
            shape = np.max(np.zeros(a.shape), axis=axis, keepdims=keepdims, initial=0.0).shape
            return torch.full(shape, initial, dtype=a.dtype, device=a.device)
        if axis is None and not keepdims and a.numel() and a.dtype is not torch.bool:
            found = call(a)
        elif axis == ():
            found = a
        else:
            found = call(a, () if axis is None else axis, keepdim=keepdims)
        return found if initial is None else pair(found, torch.as_tensor(initial, dtype=found.dtype, device=found.device))

    return extremum


max = amax = _extremum(torch.amax, torch.maximum)
min = amin = _extremum(torch.amin, torch.minimum)


def ptp(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False) -> Any:
    return max(a, axis, None, keepdims) - min(a, axis, None, keepdims)


def _truth(call: Callable[..., Any], neutral: bool) -> Callable[..., Any]:
    def truth(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
        a = _masked(a.bool(), where, neutral)
        if axis is None and not keepdims:
            return call(a)
        return a if axis == () else call(a, axis, keepdim=keepdims)

    return truth


all = _truth(torch.all, True)
any = _truth(torch.any, False)


def count_nonzero(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    return sum(a != 0, axis, None, None, keepdims)


def nansum(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = 0, where: Any = True
) -> Any:
    return sum(torch.where(torch.isnan(a), 0, a), axis, dtype, None, keepdims, initial, where)


def _argument(call: Callable[..., Any]) -> Callable[..., Any]:
    def argument(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
        a = a.to(torch.uint8) if a.dtype is torch.bool else a
        if axis is None and keepdims:
            return call(a).reshape((1,) * a.ndim)
        return call(a, axis, keepdim=keepdims)

    return argument


argmax = _argument(torch.argmax)
argmin = _argument(torch.argmin)


def _scan(call: Callable[..., Any]) -> Callable[..., Any]:
    def scan(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
        if axis is None:
            a, axis = torch.ravel(a), 0
        if dtype is None:
            return call(a, axis)
        return call(converted(a, to_dtype(dtype)), axis, dtype=to_dtype(dtype))

    return scan


cumsum = _scan(torch.cumsum)
cumprod = _scan(torch.cumprod)


def _along(a: Any, axis: int | None) -> tuple[Any, int]:
    return (torch.ravel(a), 0) if axis is None else (a, axis)


def sort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    a, axis = _along(a, axis)
    return torch.sort(a, dim=axis, stable=True).values


def argsort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    a, axis = _along(a, axis)
    return torch.argsort(a, dim=axis, stable=True)


def partition(a: Any, kth: Any, axis: int | None = -1, kind: Any = None, order: Any = None) -> Any:
    return sort(a, axis)  # a sorted array is partitioned at any place


def argpartition(a: Any, kth: Any, axis: int | None = -1, kind: Any = None, order: Any = None) -> Any:
    return argsort(a, axis)


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    a = listed(a, v)
    v = listed(v, a) if isinstance(v, (list, tuple, Tensor)) else torch.as_tensor(v, device=a.device)
    if a.dtype is not v.dtype:
        a, v = inexact(a).double(), inexact(v).double()
    sorter = None if sorter is None else listed(sorter, a)
    found = torch.searchsorted(a.detach().contiguous(), v.detach().contiguous(), side=side, sorter=sorter)
    return found
