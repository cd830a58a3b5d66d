"""Central differences behind the contract. f is a black box: any library, any engine inside it.

Source of the step: Press et al., Numerical Recipes, 3rd ed., section 5.7: eps^(1/3) balances the truncation and the
rounding error of a first difference, eps^(1/4) those of a difference of differences.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from adinterface.contract.auto import AutoFiniteDifferences
from adinterface.contract.backend import (
    Arrays,
    Backend,
    FlatFunction,
    Linearized,
    Pushforward,
    Straight,
    StraightProduct,
)
from adinterface.contract.errors import PrecisionError
from adinterface.contract.library import NUMPY, dtype_name, epsilon, kind, width
from adinterface.derive.basis import full_like, library_of, size_of
from adinterface.derive.jacobians import columns
from adinterface.derive.record import note_step
from adinterface.registry import backend_of, evaluation

from .known_failures import KNOWN_FAILURES

_T = TypeVar("_T")


class FiniteDifferencesBackend(Backend):
    known_failures = KNOWN_FAILURES

    def __init__(self, auto: AutoFiniteDifferences):
        super().__init__(auto)
        self.relative_step = auto.relative_step
        self.root = 3
        if auto.native is not None:
            native = backend_of(auto.native)
            self.library = native.library
            self.device = native.device

    def pair(self) -> tuple[Backend, Backend]:
        coarse = copy.copy(self)
        coarse.root = 4
        return coarse, coarse

    def pushforward(self, function: FlatFunction, leaves: Arrays, tangents: Arrays) -> Pushforward:
        linear = self.linearize(function, leaves)
        return Pushforward(linear.outputs, linear.push(tangents), linear.aux)

    def tangents(self, function: FlatFunction, leaves: Arrays, tangents: Arrays) -> Arrays:
        """Without an evaluation of f at the point itself."""
        if self._step(leaves, tangents) is None:  # along zero, where the value says what the zeros look like
            return super().tangents(function, leaves, tangents)
        return self._push(function, leaves, None)(tangents)

    def jacobian(
        self, function: FlatFunction, leaves: Arrays, *, value: bool = True
    ) -> tuple[Arrays, Arrays, list[list[Any]]] | None:
        """Element by element, for real NumPy arrays; without the tangents of everything else that stays where it is."""
        if not _are_real_numpy(leaves):
            return None
        outputs: Arrays = ()
        aux: Arrays = ()
        blocks: list[list[Any]] = []
        numbers = sum([leaf.size for leaf in leaves])
        with evaluation(leaves):
            if value or not numbers:
                outputs, aux = self._value_at(function, leaves)
                blocks = self._blocks(leaves, outputs)
                if not all(map(_is_numpy, outputs)):
                    return columns(self, Linearized(outputs, aux, self._push(function, leaves, outputs)), leaves)
            note_step(self, f"{numbers} columns of the Jacobian")

            def all_columns(evaluate: Callable[[Sequence[Any]], Any], leaves: Arrays) -> list[list[Any]] | None:
                found = blocks
                for n, leaf in enumerate(leaves):
                    one_axis = leaf.ndim == 1
                    for place, moved, behind, apart in self._moves(leaves, n):
                        up = evaluate(moved)
                        moved[n] = behind
                        down = evaluate(moved)
                        if not found:
                            if not all(map(_is_numpy, up)):
                                return None
                            found = self._blocks(leaves, up)
                        column = (..., place) if one_axis else (..., *place)
                        for row, at, back in zip(found, up, down):
                            if (at is back or at.base is not None) and _share_memory(at, back):
                                return all_columns(lambda moved: _kept(evaluate(moved)), leaves)  # f reuses its result
                            row[n][column] = (at - back) / apart
                return found

            found = _apart(_repeated(function), leaves, all_columns)
            if found is None:
                return columns(self, self.linearize(function, leaves), leaves)
        return outputs, aux, found

    def _blocks(self, leaves: Arrays, outputs: Arrays) -> list[list[Any]]:
        """Room for the Jacobian of outputs like these."""
        self._check_precision(leaves, outputs)
        return [
            [np.empty((*np.shape(output), *leaf.shape), output.dtype) for leaf in leaves] if _is_numpy(output) else []
            for output in outputs
        ]

    def linearize(self, function: FlatFunction, leaves: Arrays) -> Linearized:
        outputs, aux = self._value(function, leaves)
        return Linearized(outputs, aux, self._push(function, leaves, outputs))

    def gradient(self, function: FlatFunction, leaves: Arrays) -> tuple[Arrays, Arrays, Arrays, bool]:
        """Leaf by leaf: a direction that moves one leaf of a thousand should not touch the others."""
        with evaluation(leaves):
            outputs, aux = self._value_at(function, leaves)
            self._check_precision(leaves, outputs)
            return outputs, aux, self._slopes(_repeated(function), leaves, outputs, aux), True

    def gradients(self, function: FlatFunction, leaves: Arrays) -> tuple[Arrays, bool]:
        if _are_real_numpy(leaves):
            with evaluation(leaves):
                slopes = self._all_by_elements(_repeated(function), leaves)
            if slopes is not None:
                return slopes, True
        return self.gradient(function, leaves)[2:]

    def _slopes(self, evaluate: Callable[[Sequence[Any]], Any], leaves: Arrays, outputs: Arrays, aux: Arrays) -> Arrays:
        """The gradients from the value at the point, leaf by leaf; of what `evaluate` gives only the first entry counts."""
        if _are_real_numpy(leaves) and _is_numpy(outputs[0]):
            return _apart(
                evaluate, leaves, lambda evaluate, own: tuple([self._by_elements(evaluate, own, n) for n in range(len(own))])
            )
        gradients: list[Any] = []
        for n, leaf in enumerate(leaves):
            if _are_real_numpy((leaf,)) and _is_numpy(outputs[0]):
                gradients.append(self._by_elements(evaluate, leaves, n))
                continue

            def alone(x: Any, n: int = n) -> tuple[Arrays, Arrays]:
                return (evaluate((*_kept(leaves[:n]), x, *_kept(leaves[n + 1 :])))[0],), ()

            linear = Linearized(outputs, aux, self._push(alone, (leaf,), outputs))
            gradients.append(columns(self, linear, (leaf,))[2][0][0])
        return tuple(gradients)

    def _by_elements(self, evaluate: Callable[[Sequence[Any]], Any], leaves: Arrays, n: int, look: bool = False) -> Any:
        """The gradient by one leaf, a real NumPy array: `_push` along each element, without its generality.

        With `look`, the first value is looked at, and if it is no NumPy number there is no gradient but None.
        """
        slopes = np.empty(leaves[n].shape, dtype=leaves[n].dtype)
        for place, moved, behind, apart in self._moves(leaves, n):
            up = evaluate(moved)[0]
            if look:
                if not _is_numpy(up):
                    return None
                self._check_precision(leaves, (up,))
                look = False
            if type(up) is np.ndarray:
                up = up[()]  # a number, for f may compute into the same array again
            moved[n] = behind
            slopes[place] = (up - evaluate(moved)[0]) / apart
        return slopes

    def _all_by_elements(self, evaluate: Callable[[Sequence[Any]], Any], leaves: Arrays) -> Arrays | None:
        """The gradients by all leaves, real NumPy arrays, from no more evaluations of f than that takes.

        None if f's result, which only the first of them shows, is no NumPy number; or if there is no element.
        """

        def all_slopes(evaluate: Callable[[Sequence[Any]], Any], leaves: Arrays) -> Arrays | None:
            slopes: list[Any] = []
            numbers = 0
            for n, leaf in enumerate(leaves):
                slopes.append(self._by_elements(evaluate, leaves, n, look=not numbers))
                if slopes[-1] is None:
                    return None
                numbers += leaf.size
            return tuple(slopes) if numbers else None

        return _apart(evaluate, leaves, all_slopes)

    def _moves(self, leaves: Arrays, n: int) -> Iterator[tuple[Any, list[Any], Any, float]]:
        """Along each element of one leaf, a real NumPy array: its place, the leaves ahead, that leaf behind, the distance.

        f may keep or change what it gets, so each point has an array of its own.
        """
        moved, leaf = list(leaves), leaves[n]
        relative = self.relative_step or _relative_step(leaf.dtype, self.root)
        for place in range(leaf.size) if leaf.ndim == 1 else np.ndindex(leaf.shape):
            at = leaf[place]  # in its own precision, which may be more than a Python float's
            step = relative * max(1.0, abs(float(at)))
            moved[n] = ahead = leaf.copy("K")
            ahead[place] = at + step
            behind = leaf.copy("K")
            behind[place] = at - step
            yield place, moved, behind, 2 * step

    def straight(self, dtypes: tuple[str, ...], value: bool) -> Straight | None:
        if self.library is not None:
            return None

        def gradient(
            evaluate: Callable[[Sequence[Any]], tuple[Any, Arrays]], arrays: Sequence[Any], taken: set[int]
        ) -> tuple[Any, Arrays, Sequence[Any], bool]:
            leaves = tuple([NUMPY.adopt(x, taken) for x in arrays])

            with evaluation(leaves):
                if not value:
                    found = self._all_by_elements(evaluate, leaves)
                    if found is not None:
                        return None, (), found, True
                output, aux = evaluate(_kept(leaves))
                output, aux = _kept((output,))[0], _kept(aux)
                self._check_precision(leaves, (output,))
                slopes = self._slopes(evaluate, leaves, (output,), aux)
            results: list[Any] = []
            for slope, leaf in zip(slopes, leaves):
                if type(slope) is not np.ndarray:
                    slope = NUMPY.restore(slope, library_of(self, slope), leaf, dtype_name(leaf.dtype), taken)
                results.append(slope)
            return output, aux, results, True

        return gradient

    def straight_product(self, dtypes: tuple[str, ...]) -> StraightProduct | None:
        if self.library is not None:
            return None

        def product(
            evaluate: Callable[[Sequence[Any]], tuple[Any, Arrays]],
            arrays: Sequence[Any],
            directions: Sequence[Any],
            taken: set[int],
        ) -> Sequence[Any] | None:
            leaves = tuple([NUMPY.adopt(x, taken) for x in arrays])
            step = self._step(leaves, tuple(directions))
            if step is None:  # along zero
                return None
            ahead, behind = [[x + h * v for x, v in zip(leaves, directions)] for h in (step, -step)]
            with evaluation(leaves):
                up = self._all_by_elements(evaluate, self._same_dtype(ahead, leaves))
                down = None if up is None else self._all_by_elements(evaluate, self._same_dtype(behind, leaves))
            if up is None or down is None:
                return None
            return [np.asarray((a - b) / (2 * step)) for a, b in zip(up, down)]

        return product

    def _value(self, function: FlatFunction, leaves: Arrays) -> tuple[Arrays, Arrays]:
        with evaluation(leaves):
            outputs, aux = self._value_at(function, leaves)
        self._check_precision(leaves, outputs)
        return outputs, aux

    def _value_at(self, function: FlatFunction, leaves: Arrays) -> tuple[Arrays, Arrays]:
        """f at the point. It may write into what it gets, and return what it will compute into the next time."""
        outputs, aux = function(*_kept(leaves))
        return _kept(outputs), _kept(aux)

    def _push(
        self, function: Callable[..., tuple[Arrays, Arrays]], leaves: Arrays, outputs: Arrays | None
    ) -> Callable[[Arrays], Arrays]:
        def push(tangents: Arrays) -> Arrays:
            step = self._step(leaves, tangents)
            if step is None:  # along zero
                assert outputs is not None
                return tuple([full_like(self, output, 0.0) for output in outputs])
            ahead = [leaf + step * tangent for leaf, tangent in zip(leaves, tangents)]
            behind = [leaf - step * tangent for leaf, tangent in zip(leaves, tangents)]
            evaluate = _repeated(function)
            with evaluation(leaves):
                up = _kept(evaluate(self._same_dtype(ahead, leaves)))
                if outputs is None:
                    self._check_precision(leaves, up)
                down = evaluate(self._same_dtype(behind, leaves))
            return tuple([(a - b) / (2 * step) for a, b in zip(up, down)])

        return push

    def _step(self, leaves: Arrays, tangents: Arrays) -> Any:
        """h for the points x + h v and x - h v: relative to the largest component of x that v moves, at least to 1.

        None if v is zero. If x or v are traced by an outer engine the step is a number all the same, since the
        derivative of the step has no part in the derivative of f; where x is unknown it is taken for 1.
        """
        scale, length, relative = 1.0, 0.0, 0.0
        for leaf, tangent in zip(leaves, tangents):
            library = library_of(self, leaf)
            if size_of(self, leaf) == 0:
                continue
            v = _known(self, tangent)
            moves = np.ones(library.shape(leaf)) if v is None else np.abs(v)
            if not np.any(moves):
                continue
            relative = max(relative, self.relative_step or epsilon(library.dtype(leaf)) ** (1 / self.root))
            length = max(length, float(np.max(moves)))
            x = _known(self, leaf)
            if x is not None:
                scale = max(scale, float(np.max(np.abs(x), where=moves != 0, initial=0.0)))
        return relative * scale / length if length else None

    def _same_dtype(self, moved: list[Any], leaves: Arrays) -> Arrays:
        """Arithmetic may have turned a 0-d array into a scalar, or float16 into more."""
        same: list[Any] = []
        for array, leaf in zip(moved, leaves):
            library = library_of(self, leaf)
            source = library_of(self, array)
            same.append(array if source is not library else library.asarray(array, dtype=library.dtype(leaf), like=leaf))
        return tuple(same)

    def _check_precision(self, leaves: Arrays, outputs: Arrays) -> None:
        finest = max(width(library_of(self, leaf).dtype(leaf)) for leaf in leaves)
        for output in outputs:
            dtype = library_of(self, output).dtype(output)
            if width(dtype) < finest:
                raise PrecisionError(
                    f"Finite differences: f returned {dtype} for arguments of {finest} bits, so its rounding error would drown "
                    f"every difference. Compute in the arguments' dtype, or pass arguments of dtype {dtype}."
                )


def _kept(arrays: Arrays) -> Arrays:
    """NumPy arrays as they are now."""
    return tuple([array.copy("K") if isinstance(array, np.ndarray) else array for array in arrays])


def _share_memory(a: Any, b: Any) -> bool:
    return isinstance(a, np.ndarray) and np.may_share_memory(a, b)


def _apart(
    evaluate: Callable[[Sequence[Any]], Any], leaves: Arrays, differences: Callable[[Callable[..., Any], Arrays], _T]
) -> _T:
    """`differences(evaluate, leaves)`, at real NumPy arrays of which all but the one that moves go to f as they are.

    Those are copies, so that f cannot write into the caller's. If it has written into them, all is done once more with
    copies for each evaluation: to make them from the start would take longer than many an f.
    """
    if len(leaves) == 1:
        return differences(evaluate, leaves)
    own = _kept(leaves)
    found = differences(evaluate, own)
    if all(a.tobytes() == b.tobytes() for a, b in zip(own, leaves)):
        return found
    return differences(lambda moved: evaluate(_kept(tuple(moved))), leaves)


def _known(backend: Backend, array: Any) -> Any:
    """The numbers of an array; None if an outer engine traces it without them."""
    library = library_of(backend, array)
    if not library.traced(array):
        numbers = library.to_numpy(array)
        return numbers.astype("complex128" if kind(library.dtype(array)) == "complex" else "float64")
    return library.value_under_trace(array)


def _repeated(function: Any) -> Callable[[Sequence[Any]], Any]:
    """The outputs of a flat function at one point after another: its own shortest way, if it has one."""
    repeated = getattr(function, "repeated", None)
    return repeated() if repeated is not None else lambda moved: function(*moved)[0]


@functools.cache
def _relative_step(dtype: np.dtype[Any], root: int) -> float:
    return float(epsilon(dtype_name(dtype)) ** (1 / root))


def _are_real_numpy(leaves: Arrays) -> bool:
    return all(type(leaf) is np.ndarray and leaf.dtype.kind == "f" for leaf in leaves)


def _is_numpy(output: Any) -> bool:
    return isinstance(output, (np.ndarray, np.generic))
