"""The exact gradient of an analytic f by NumPy alone: the imaginary part of f at an imaginary step.

No difference is formed, so nothing cancels and the step can be tiny: Squire and Trapp, SIAM Review 40 (1998) 110.
Holds for f of real trees that computes with analytic functions only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

_STEP = 1e-30


def complex_step_gradient(f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
    """The gradient of real f for its arguments: numbers, arrays, or dicts, lists and tuples of them."""
    slopes: list[Any] = []
    for leaf, place in enumerate(leaves := list(_leaves(args))):
        slope = np.zeros(np.shape(place))
        for index in np.ndindex(slope.shape):
            moved = [np.asarray(other, dtype="complex128") for other in leaves]
            moved[leaf] = moved[leaf].copy()
            moved[leaf][index] += 1j * _STEP
            slope[index] = np.imag(f(*_rebuilt(args, iter(moved)))) / _STEP
        slopes.append(slope if isinstance(place, np.ndarray) else float(slope))
    result: tuple[Any, ...] = _rebuilt(args, iter(slopes))
    return result


def complex_step_slope(f: Callable[..., Any], args: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    """The derivative of f, whose value is one array, along the tangents."""
    moved = (x + 1j * _STEP * np.asarray(v) for x, v in zip(_leaves(args), _leaves(tangents)))
    return np.imag(f(*_rebuilt(args, moved))) / _STEP


def _leaves(tree: Any) -> Iterator[Any]:
    if isinstance(tree, dict):
        tree = tuple(tree.values())
    if isinstance(tree, (list, tuple)):
        for child in tree:
            yield from _leaves(child)
    else:
        yield tree


def _rebuilt(tree: Any, leaves: Iterator[Any]) -> Any:
    if isinstance(tree, dict):
        return {key: _rebuilt(child, leaves) for key, child in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)(_rebuilt(child, leaves) for child in tree)
    return next(leaves)
