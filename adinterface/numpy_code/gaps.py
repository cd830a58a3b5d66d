"""Gaps: elements that are NaN because plain data are NaN, whatever else they depend on, so that
they are constants.

np.nansum, np.where and the like give such an element the derivative 0, which an engine would
multiply by NaN.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from .refusals import here
from .storage import Storage

#: By identity, the arrays of engines with gaps: a weak reference, the engine's array, and where the
#: gaps are.
GAPS: dict[int, tuple[weakref.ref[Any], Any, np.ndarray[Any, Any]]] = {}
#: Functions of which each NaN makes a NaN.
_STAYING = frozenset({
    np.absolute, np.add, np.cos, np.exp, np.expm1, np.log, np.log10, np.log1p, np.multiply,
    np.negative, np.sin, np.sqrt, np.square, np.subtract, np.tanh, np.true_divide,
})  # fmt: skip


def _gaps_of(x: Any) -> np.ndarray[Any, Any] | None:
    if id(x) in GAPS and GAPS[id(x)][1] is x.native:  # no write has replaced it
        return GAPS[id(x)][2]
    x = x.native if isinstance(x, Storage) else x
    if isinstance(x, np.ndarray) and x.dtype.kind == "f" and (gaps := np.isnan(x)).any():
        return gaps
    return None


def past_gaps(ufunc: np.ufunc, *operands: Any) -> Any:
    """The function of operands, one of which has gaps; None if none has."""
    if ufunc not in _STAYING and not (
        ufunc is np.power and type(operands[1]) in (int, float) and operands[1] != 0
    ):
        return None
    masks = list(map(_gaps_of, operands))
    found = [gaps for gaps in masks if gaps is not None]
    if not found:
        return None
    result = ufunc(
        *[
            x if gaps is None else np.where(gaps, x.dtype.type(1), x)
            for x, gaps in zip(operands, masks)
        ]
    )
    if result.dtype.kind != "f":
        return None
    gaps = np.broadcast_to(functools.reduce(np.logical_or, found), result.shape)
    if here.call is not None:
        here.call.gaps = True
    result = np.where(gaps, result.dtype.type(np.nan), result)
    if isinstance(result, np.ndarray):  # only gaps
        return result
    key = id(result)
    GAPS[key] = weakref.ref(result, lambda reference: GAPS.pop(key, None)), result.native, gaps
    return result


def with_nan(result: Any, arguments: Sequence[Any]) -> Any:
    """The result of f; where it is NaN its derivatives are NaN, too, as if there were no gaps."""
    if result.dtype.kind not in "fc":
        return result
    bad = np.isnan(result)
    total = sum(np.sum(x) for x in arguments if x.dtype.kind in "fc")
    return np.where(
        bad, (result + np.nan * np.where(np.any(bad), total, 0.0)).astype(result.dtype), result
    )
