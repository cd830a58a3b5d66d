"""Two evaluations a number and nothing else: central differences of NumPy's numbers, element by element.

What `Fixed` does, for the usual case, at the speed of a loop that one writes by hand.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adinterface.contract.backend import Arrays, Aux
from adinterface.contract.library import dtype_name, epsilon
from adinterface.derive.basis import block_dtype

from ..evaluation import Evaluations, check_precision, kept_all

Evaluate = Callable[..., tuple[Arrays, Aux]]
#: The relative step of a leaf, by its dtype.
Relative = Callable[[np.dtype[Any]], float]


def are_real_numpy(arrays: Arrays) -> bool:
    return all(isinstance(array, (np.ndarray, np.floating)) and array.dtype.kind == "f" for array in arrays)


def are_numpy(arrays: Arrays) -> bool:
    return all(isinstance(array, (np.ndarray, np.generic)) for array in arrays)


def relative_step(given: float | None, depth: int) -> Relative:
    """The cube root of the machine epsilon, more for differences of differences (Press et al., Numerical Recipes, 5.7)."""

    @functools.cache
    def relative(dtype: np.dtype[Any]) -> float:
        return given or float(epsilon(dtype_name(dtype)) ** (1 / (2 + depth)))

    return relative


def gradient(evaluations: Evaluations, leaves: Arrays, relative: Relative) -> Arrays | None:
    """The gradients; None if f's value, which only the first evaluation shows, is no NumPy number, or there is no element."""
    slopes: list[Any] = []
    seen = False
    for n, leaf in enumerate(leaves):
        found = np.empty(leaf.shape, dtype=leaf.dtype)
        for place, moved, behind, apart in _moves(leaves, n, relative(leaf.dtype)):
            outputs, evaluations.aux = evaluations.displaced(*moved)
            up = outputs[0]
            if not seen:
                if not are_numpy((up,)):
                    return None
                check_precision(evaluations.backend, leaves, outputs)
                seen = True
            if type(up) is np.ndarray:
                up = up[()]  # a number, for f may compute into the same array again
            moved[n] = behind
            found[place] = (up - evaluations.displaced(*moved)[0][0]) / apart
        slopes.append(found)
    return tuple(slopes) if seen else None


def jacobian(evaluations: Evaluations, leaves: Arrays, relative: Relative, *, keep: bool = False) -> list[list[Any]] | None:
    """The blocks; None as above. keep: f computes into one array again and again."""
    blocks: list[list[Any]] | None = None
    for n, leaf in enumerate(leaves):
        for place, moved, behind, apart in _moves(leaves, n, relative(leaf.dtype)):
            up, aux = evaluations.displaced(*moved)
            if keep:
                up, aux = kept_all((up, aux))
            moved[n] = behind
            down, _ = evaluations.displaced(*moved)
            if blocks is None:
                if not are_numpy(up):
                    return None
                check_precision(evaluations.backend, leaves, up)
                evaluations.aux = aux
                blocks = [
                    [np.empty((*np.shape(y), *x.shape), block_dtype(evaluations.backend, y, x)) for x in leaves] for y in up
                ]
            if not keep and any(map(_overlap, up, down)):
                return jacobian(evaluations, leaves, relative, keep=True)
            column = (..., place) if leaf.ndim == 1 else (..., *place)
            for row, ahead, back in zip(blocks, up, down):
                row[n][column] = (ahead - back) / apart
    return blocks


def _moves(leaves: Arrays, n: int, relative: float) -> Iterator[tuple[Any, list[Any], Any, float]]:
    """Along each element of one leaf: its place, the leaves ahead, that leaf behind, the distance.

    f may keep or change what it gets, so each point has an array of its own.
    """
    moved, leaf = list(leaves), leaves[n]
    if type(leaf) is not np.ndarray:  # a number of NumPy's
        step = relative * max(1.0, abs(float(leaf)))
        number = type(leaf)
        moved[n] = number(leaf + step)
        yield (), moved, number(leaf - step), 2 * step
        return
    for place in range(leaf.size) if leaf.ndim == 1 else np.ndindex(leaf.shape):
        at = leaf[place]  # in its own precision, which may be more than a Python float's
        step = relative * max(1.0, abs(float(at)))
        moved[n] = ahead = leaf.copy("K")
        ahead[place] = at + step
        behind = leaf.copy("K")
        behind[place] = at - step
        yield place, moved, behind, 2 * step


def _overlap(a: Any, b: Any) -> bool:
    """Whether two results of f may lie in the same memory; most own theirs."""
    return (a is b or a.base is not None) and isinstance(a, np.ndarray) and np.may_share_memory(a, b)
