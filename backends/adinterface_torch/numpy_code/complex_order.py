"""The NumPy order of complex numbers, by real and then imaginary part, which torch lacks.

Among equal elements, the first has the derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from . import arithmetic
from .composed import COMPLEX, composed, tensors

Axis = int | tuple[int, ...] | None


def _before(a: Any, b: Any) -> Any:
    numbers = ~(a.imag.isnan() | b.imag.isnan())
    return ((a.real < b.real) & numbers) | ((a.real == b.real) & (a.imag < b.imag))


def _after(a: Any, b: Any) -> Any:
    return _before(b, a)


def _larger(a: Any, b: Any) -> Any:
    return torch.where(a.isnan() | ((a == b) | _after(a, b)) & ~b.isnan(), a, b)


def _smaller(a: Any, b: Any) -> Any:
    return torch.where(a.isnan() | ((a == b) | _before(a, b)) & ~b.isnan(), a, b)


def _number_before_nan(choose: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, b: choose(torch.where(a.isnan(), b, a), torch.where(b.isnan(), a, b))


_PAIRS: dict[str, Callable[..., Any]] = {
    "less": _before,
    "less_equal": lambda a, b: _before(a, b) | (a == b),
    "greater": _after,
    "greater_equal": lambda a, b: _after(a, b) | (a == b),
    "maximum": _larger,
    "minimum": _smaller,
    "fmax": _number_before_nan(_larger),
    "fmin": _number_before_nan(_smaller),
}


def _pair(usual: Callable[..., Any], ordered: Callable[..., Any]) -> Callable[..., Any]:
    def operate(a: Any, b: Any) -> Any:
        if _is_complex(a) or _is_complex(b):
            return ordered(*tensors(a, b))
        return usual(a, b)

    return operate


def _is_complex(x: Any) -> bool:
    return x.dtype in COMPLEX if isinstance(x, torch.Tensor) else type(x) is complex


def _first_of(a: Any, largest: bool) -> Any:
    """Where along the last axis the largest or the smallest is; the first nan, where there is one."""
    key = a.detach() if largest else -a.detach()
    real = key.real
    beyond = torch.full_like(real, -torch.inf)
    # Of equal real parts, all of which may be -inf, the largest imaginary part, which may be -inf, too.
    alike = real == real.amax(-1, keepdim=True)
    imag = torch.where(alike, key.imag, beyond)
    result = (alike & (imag == imag.amax(-1, keepdim=True))).int().argmax(-1)
    nan = key.isnan()
    return torch.where(nan.any(-1), nan.int().argmax(-1), result)


def _extreme(name: str, largest: bool) -> Callable[..., Any]:
    pair = _larger if largest else _smaller

    def reduce(a: Any, *args: Any, **options: Any) -> Any:
        return (ordered if a.dtype in COMPLEX else composed(name))(a, *args, **options)

    def ordered(
        a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
    ) -> Any:
        if where is not True:
            a = torch.where(where, *tensors(a, initial))
        axes = range(a.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
        along = sorted({k % a.ndim for k in axes})
        moved = a.movedim(along, list(range(-len(along), 0))) if along else a.unsqueeze(-1)
        lines = moved.flatten(-len(along)) if along else moved
        result = lines.gather(-1, _first_of(lines, largest).unsqueeze(-1)).squeeze(-1)
        if initial is not None:
            result = pair(*tensors(result, initial))
        return result.reshape([1 if k in along else n for k, n in enumerate(a.shape)]) if keepdims else result

    return reduce


def _place(name: str, largest: bool) -> Callable[..., Any]:
    def find(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
        if a.dtype not in COMPLEX:
            return composed(name)(a, axis, keepdims=keepdims)
        result = _first_of(a.flatten() if axis is None else a.movedim(axis, -1), largest)
        if not keepdims:
            return result
        return result.reshape([1] * a.ndim) if axis is None else result.unsqueeze(axis)

    return find


def argsort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    if a.dtype not in COMPLEX:
        return composed("argsort")(a, axis)
    a = a.detach()
    # NumPy has a nan of one part alone behind all numbers, and one of the real part last.
    nan = 2 * a.real.isnan().int() + a.imag.isnan().int()
    a, nan, axis = (a.flatten(), nan.flatten(), 0) if axis is None else (a, nan, axis)
    return composed("lexsort")([a.imag, a.real, nan], axis=axis)


def sort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    if a.dtype not in COMPLEX:
        return composed("sort")(a, axis)
    places = argsort(a, axis)
    return a.flatten()[places] if axis is None else torch.take_along_dim(a, places, axis)


def _of_real(name: str) -> Callable[..., Any]:
    native: Callable[..., Any] | None = getattr(arithmetic, name, None)
    return native or (lambda a, b: composed(name)(a, b))


globals().update({name: _pair(_of_real(name), ordered) for name, ordered in _PAIRS.items()})
max = amax = _extreme("max", True)
min = amin = _extreme("min", False)
argmax, argmin = _place("argmax", True), _place("argmin", False)


def ptp(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False) -> Any:
    if a.dtype not in COMPLEX:
        return composed("ptp")(a, axis, keepdims=keepdims)
    return max(a, axis, keepdims=keepdims) - min(a, axis, keepdims=keepdims)


def partition(a: Any, kth: Any, axis: int | None = -1, kind: Any = None, order: Any = None) -> Any:
    return sort(a, axis)  # a sorted array is partitioned at any place


def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    if not any(map(_is_complex, (a, low, high))):
        return arithmetic.clip(a, low, high)
    if low is not None:
        a = _larger(*tensors(a, low))
    return a if high is None else _smaller(*tensors(a, high))
