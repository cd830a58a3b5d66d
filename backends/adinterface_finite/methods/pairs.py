"""Two evaluations a number and nothing else: central differences of NumPy's numbers, element by element.

What `Fixed` does, for the usual case, at the speed of a loop that one writes by hand.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from adinterface.core.contract.arrays import block_dtype
from adinterface.core.contract.backend import Arrays, Backend
from adinterface.core.contract.library import dtype_name, epsilon

from ..evaluation import Evaluations, Near, check_precision, kept_all

#: The relative step of a leaf, by its dtype.
Relative = Callable[[np.dtype[Any]], float]


def are_real_numpy(arrays: Arrays) -> bool:
    for array in arrays:  # noqa: SIM110  (a generator would take a twentieth of a call of ten numbers)
        if not isinstance(array, (np.ndarray, np.floating)) or array.dtype.kind != "f":
            return False
    return True


def are_numpy(arrays: Arrays) -> bool:
    for array in arrays:  # noqa: SIM110
        if not isinstance(array, (np.ndarray, np.generic)):
            return False
    return True


def relative_step(given: float | None, depth: int) -> Relative:
    """The cube root of the machine epsilon, more for differences of differences (Press et al., Numerical Recipes, 5.7)."""

    @functools.cache
    def relative(dtype: np.dtype[Any]) -> float:
        return given or float(exactness(dtype) ** (1 / (2 + depth)))

    return relative


@functools.cache
def exactness(dtype: np.dtype[Any]) -> float:
    """The distance from 1 to the next number."""
    return epsilon(dtype_name(dtype))


def _fits(evaluations: Evaluations, leaves: Arrays, outputs: Arrays) -> bool:
    """Whether f gives NumPy's arrays; refuses those of less precision than the arguments."""
    if not are_numpy(outputs):
        return False
    if not len(leaves) == len(outputs) == 1 or outputs[0].dtype is not leaves[0].dtype:
        check_precision(evaluations.backend, leaves, outputs)
    return True


def gradient(evaluations: Evaluations, leaves: Arrays, relative: Relative) -> Arrays | None:
    """The gradients; None if f's value, which only the first evaluation shows, is no NumPy number, or there is no element."""
    slopes: list[Any] = []
    seen = False
    with Near(evaluations):
        evaluate = evaluations.alone.repeated()
        for n, leaf in enumerate(leaves):
            ahead, behind = _neighbours(leaf, relative(leaf.dtype))
            found = np.empty(leaf.shape, dtype=leaf.dtype)
            for place, moved, other in _moves(leaves, n, ahead, behind):
                outputs, aux = evaluate(*moved)
                up = outputs[0]
                if not seen:
                    if not _fits(evaluations, leaves, outputs):
                        return None
                    evaluations.aux, seen = aux, True
                if type(up) is np.ndarray:
                    up = up[()]  # a number, for f may compute into the same array again
                moved[n] = other
                found[place] = up - evaluate(*moved)[0][0]
            found /= ahead - behind
            slopes.append(found)
    return tuple(slopes) if seen else None


def jacobian(evaluations: Evaluations, leaves: Arrays, relative: Relative, *, keep: bool = False) -> list[list[Any]] | None:
    """The blocks; None as above. keep: f computes into one array again and again."""
    blocks: list[list[Any]] = []
    with Near(evaluations):
        evaluate = evaluations.alone.repeated()
        for n, leaf in enumerate(leaves):
            ahead, behind = _neighbours(leaf, relative(leaf.dtype))
            columns: list[Any] = []
            for line, (_, moved, other) in enumerate(_moves(leaves, n, ahead, behind)):
                up, aux = evaluate(*moved)
                if keep:
                    up, aux = kept_all((up, aux))
                moved[n] = other
                down, _ = evaluate(*moved)
                if not line:
                    if not blocks:
                        if not _fits(evaluations, leaves, up):
                            return None
                        evaluations.aux = aux
                        blocks = [_empty(evaluations.backend, y, leaves) for y in up]
                    columns = [_columns(row[n], y, leaf) for row, y in zip(blocks, up)]
                for found, above, below in zip(columns, up, down):
                    if not keep and (above is below or above.base is not None) and _overlap(above, below):
                        return jacobian(evaluations, leaves, relative, keep=True)
                    found[line] = above - below
            for row in blocks:
                row[n] /= ahead - behind
    return blocks or None


def _empty(backend: Backend, output: Any, leaves: Arrays) -> list[Any]:
    return [np.empty(output.shape + leaf.shape, block_dtype(backend, output, leaf)) for leaf in leaves]


def _columns(block: Any, output: Any, leaf: Any) -> Any:
    """A view of a block whose first axis is that of the leaf's numbers; the others are the output's."""
    axes = range(output.ndim)
    return block.reshape(*output.shape, leaf.size).transpose(output.ndim, *axes)


def pushforward(tangents: Arrays, evaluations: Evaluations, leaves: Arrays, relative: Relative) -> Arrays | None:
    """The derivatives along one direction other than zero; None if f's value is no NumPy array."""
    step = along(leaves, tangents, relative)
    wide = np.float64(step)  # arithmetic in no less than double precision
    ahead, behind = _moved(leaves, tangents, wide), _moved(leaves, tangents, -wide)
    apart: Any = 2 * step
    if len(leaves) == 1 and leaves[0].size == 1:
        apart = float((ahead[0] - behind[0]).item() / tangents[0].item())  # what the step really was
    with Near(evaluations):
        evaluate = evaluations.alone.repeated()
        up, evaluations.aux = kept_all(evaluate(*ahead))
        if not _fits(evaluations, leaves, up):
            return None
        down, _ = evaluate(*behind)
    return tuple([((a - b) / apart).astype(a.dtype) for a, b in zip(up, down)])


def along(leaves: Arrays, tangents: Arrays, relative: Relative) -> float:
    """The step along tangents other than zero: relative to the largest number that moves, at least to 1."""
    scale, length, part = 1.0, 0.0, 0.0
    for leaf, tangent in zip(map(np.asarray, leaves), map(np.asarray, tangents)):
        moves = tangent != 0
        if np.count_nonzero(moves):
            length = max(length, float(abs(tangent[moves]).max()))
            scale = max(scale, float(abs(leaf[moves]).max()))
            part = max(part, relative(leaf.dtype))
    return part * scale / length


def _moved(leaves: Arrays, tangents: Arrays, step: Any) -> list[Any]:
    return [(leaf + step * tangent).astype(leaf.dtype) for leaf, tangent in zip(leaves, tangents)]


def _neighbours(leaf: Any, relative: float) -> tuple[Any, Any]:
    """Each number of a leaf moved ahead and behind, in its own precision."""
    steps = relative * np.fmax(1.0, abs(leaf))
    if leaf.dtype.char != "d":  # no less than double precision for what a step is relative to
        steps = (relative * np.fmax(1.0, abs(leaf.astype(np.float64)))).astype(leaf.dtype)
    return leaf + steps, leaf - steps


def _moves(leaves: Arrays, n: int, ahead: Any, behind: Any) -> Iterator[tuple[Any, list[Any], Any]]:
    """Along each number of one leaf: its place, the leaves ahead, that leaf behind.

    f may keep or change what it gets, so each point has an array of its own.
    """
    moved, leaf = list(leaves), leaves[n]
    if type(leaf) is not np.ndarray:  # a number of NumPy's
        moved[n] = ahead
        yield (), moved, behind
        return
    places: Iterable[Any] = range(leaf.size) if leaf.ndim == 1 else np.ndindex(leaf.shape)
    for place, above, below in zip(places, _numbers(ahead), _numbers(behind)):
        moved[n] = up = leaf.copy("K")
        up[place] = above
        down = leaf.copy("K")
        down[place] = below
        yield place, moved, down


def _numbers(array: Any) -> Any:
    """In their order; Python's floats, which are quick to set, where they hold them."""
    return array.ravel().tolist() if array.dtype.itemsize <= 8 else array.ravel()


def _overlap(a: Any, b: Any) -> bool:
    """Whether two results of f may lie in the same memory."""
    return isinstance(a, np.ndarray) and np.may_share_memory(a, b)
