"""numpy.pad."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from ...core.contract.errors import NumpyCodeError
from .composing import (
    COMPOSITIONS,
    Array,
    array,
    cast,
    composition,
    gathered,
    inexact,
    name_of,
    positions,
)

_STATISTICS = ("maximum", "mean", "median", "minimum")


@composition("pad")
def pad(
    xp: ModuleType, array: Array, pad_width: Any, mode: Any = "constant", **kwargs: Any
) -> Array:
    ndim = len(array.shape)
    widths: Any = pad_width
    if isinstance(pad_width, dict):
        widths = np.zeros((ndim, 2), int)
        for n, width in pad_width.items():
            widths[n] = width
    widths = np.broadcast_to(np.asarray(widths), (ndim, 2)).tolist()
    if mode in ("edge", "symmetric", "wrap") or (
        mode == "reflect" and kwargs.get("reflect_type", "even") == "even"
    ):
        if kwargs.get("reflect_type", "even") != "even":
            raise NumpyCodeError("numpy_function: np.pad takes reflect_type='even' alone.")
        return gathered(xp, array, np.pad(positions(array.shape), widths, mode=mode))
    if mode not in ("constant", "empty", "linear_ramp", *_STATISTICS):
        raise NumpyCodeError(f"numpy_function: np.pad does not take mode={mode!r} here.")
    values = kwargs.get("constant_values" if mode == "constant" else "end_values", 0)
    plain = not hasattr(values, "shape") or isinstance(values, np.ndarray)
    table = (
        np.broadcast_to(np.asarray(values), (ndim, 2))
        if plain
        else xp.broadcast_to(values, (ndim, 2))
    )
    lengths_ = np.broadcast_to(np.asarray(kwargs.get("stat_length"), dtype=object), (ndim, 2))
    for n, (before, after) in enumerate(widths):
        moved = xp.moveaxis(array, n, -1)
        parts = [moved]
        for end, width in ((0, before), (1, after)):
            if not width:
                continue
            value = table[n, end].item() if plain else table[n, end]
            part = _padding(xp, moved, mode, width, end, value, lengths_[n, end])
            parts = parts + [part] if end else [part] + parts
        array = xp.moveaxis(xp.concat(parts, axis=-1), -1, n)
    return array


def _padding(
    xp: ModuleType, moved: Array, mode: str, width: int, end: int, value: Any, length: Any
) -> Array:
    """The padding before (end 0) or after (end 1) the last axis."""
    edge = moved[..., -1:] if end else moved[..., :1]
    shape = (*moved.shape[:-1], width)
    if mode in _STATISTICS:
        count = moved.shape[-1] if length is None else min(int(length), moved.shape[-1])
        piece = moved[..., moved.shape[-1] - count :] if end else moved[..., :count]
        name = {"maximum": "max", "minimum": "min"}.get(mode, mode)
        statistic = COMPOSITIONS[name](xp, piece, axis=-1, keepdims=True)
        if name_of(statistic) != name_of(moved):
            statistic = cast(xp, xp.round(statistic), name_of(moved))
        return xp.broadcast_to(statistic, shape)
    value = cast(xp, array(xp, value, moved), name_of(moved))
    if mode != "linear_ramp":
        return xp.broadcast_to(value, shape)
    part = np.arange(width) / width
    ramp = value + cast(
        xp, array(xp, part[::-1].copy() if end else part, moved), name_of(inexact(xp, moved))
    ) * (edge - value)
    return cast(xp, ramp, name_of(moved))
