"""Central differences behind the contract. f is a black box: any library, any engine inside it.

Source of the step: Press et al., Numerical Recipes, 3rd ed., section 5.7: eps^(1/3) balances the truncation and the
rounding error of a first difference, eps^(1/4) those of a difference of differences.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, ClassVar

import numpy as np

from adinterface.auto import AutoFiniteDifferences
from adinterface.backend import Arrays, Backend, FlatFunction, Handwritten, Linearized, Pushforward, Straight
from adinterface.errors import PrecisionError
from adinterface.library import NUMPY, dtype_name, epsilon, kind, width
from adinterface.operators.derive import columns, full_like, library_of, size_of
from adinterface.record import note_step
from adinterface.registry import backend_of, loaded_backends

from . import handwritten as by_hand
from .known_failures import KNOWN_FAILURES


class FiniteDifferencesBackend(Backend):
    handwritten: ClassVar[Handwritten | None] = by_hand
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

    def jacobian(self, function: FlatFunction, leaves: Arrays) -> tuple[Arrays, Arrays, list[list[Any]]] | None:
        """Element by element, for real NumPy arrays; without the tangents of everything else that stays where it is."""
        if not all(type(leaf) is np.ndarray and leaf.dtype.kind == "f" for leaf in leaves):
            return None
        outputs, aux = self._value(function, leaves)
        if not all(isinstance(output, (np.ndarray, np.generic)) for output in outputs):
            return columns(self, Linearized(outputs, aux, self._push(function, leaves, outputs)), leaves)
        note_step(self, f"{sum(leaf.size for leaf in leaves)} columns of the Jacobian")
        blocks = [[np.empty((*np.shape(output), *leaf.shape), dtype=output.dtype) for leaf in leaves] for output in outputs]
        again = getattr(function, "again", None) or (lambda moved: function(*moved)[0])
        with _evaluation(leaves):
            for n in range(len(leaves)):
                for place, up, down, apart in self._pairs(again, leaves, n):
                    column = (..., place) if leaves[n].ndim == 1 else (..., *place)
                    for row, ahead, behind in zip(blocks, up, down):
                        row[n][column] = (ahead - behind) / apart
        return outputs, aux, blocks

    def linearize(self, function: FlatFunction, leaves: Arrays) -> Linearized:
        outputs, aux = self._value(function, leaves)
        return Linearized(outputs, aux, self._push(function, leaves, outputs))

    def gradient(self, function: FlatFunction, leaves: Arrays) -> tuple[Arrays, Arrays, Arrays, bool]:
        """Leaf by leaf: a direction that moves one leaf of a thousand should not touch the others."""
        outputs, aux = self._value(function, leaves)
        again = getattr(function, "again", None) or (lambda moved: function(*moved)[0])
        with _evaluation(leaves):
            return outputs, aux, self._slopes(again, function, leaves, outputs, aux), True

    def _slopes(
        self, again: Callable[[Sequence[Any]], Sequence[Any]], function: Any, leaves: Arrays, outputs: Arrays, aux: Arrays
    ) -> Arrays:
        gradients: list[Any] = []
        for n, leaf in enumerate(leaves):
            if type(leaf) is np.ndarray and leaf.dtype.kind == "f" and isinstance(outputs[0], (np.generic, np.ndarray)):
                gradients.append(self._by_elements(again, leaves, n))
                continue

            def alone(x: Any, n: int = n) -> tuple[Arrays, Arrays]:
                result: tuple[Arrays, Arrays] = function(*leaves[:n], x, *leaves[n + 1 :])
                return result

            linear = Linearized(outputs, aux, self._push(alone, (leaf,), outputs))
            gradients.append(columns(self, linear, (leaf,))[2][0][0])
        return tuple(gradients)

    def _by_elements(self, again: Callable[[Sequence[Any]], Any], leaves: Arrays, n: int) -> Any:
        """The gradient by one leaf, a real NumPy array: `_push` along each element, without its generality."""
        slopes = np.empty(leaves[n].shape, dtype=leaves[n].dtype)
        for place, up, down, apart in self._pairs(again, leaves, n):
            slopes[place] = (up[0] - down[0]) / apart
        return slopes

    def _pairs(self, again: Callable[[Sequence[Any]], Any], leaves: Arrays, n: int) -> Iterator[tuple[Any, Any, Any, float]]:
        """Along each element of one leaf, a real NumPy array: its place, f ahead and behind, and how far they are apart."""
        moved, leaf = list(leaves), leaves[n]
        relative = self.relative_step or epsilon(dtype_name(leaf.dtype)) ** (1 / self.root)
        one_axis = leaf.ndim == 1
        for place in range(leaf.size) if one_axis else np.ndindex(leaf.shape):
            at = leaf[place]  # in its own precision, which may be more than a Python float's
            step = relative * max(1.0, abs(float(at)))
            moved[n] = ahead = leaf.copy("K")  # f may keep or change what it gets
            ahead[place] = at + step
            up = again(moved)
            moved[n] = behind = leaf.copy("K")
            behind[place] = at - step
            yield place, up, again(moved), 2 * step

    def straight(self, dtypes: tuple[str, ...]) -> Straight | None:
        if self.library is not None:
            return None

        def gradient(
            evaluate: Callable[[Sequence[Any]], tuple[Any, Arrays]], arrays: Sequence[Any], taken: set[int]
        ) -> tuple[Any, Arrays, Sequence[Any], bool]:
            leaves = tuple([NUMPY.adopt(x, taken) for x in arrays])

            def function(*moved: Any) -> tuple[Arrays, Arrays]:
                output, aux = evaluate(moved)
                return (output,), aux

            with _evaluation(leaves):
                output, aux = evaluate(leaves)
                self._check_precision(leaves, (output,))
                slopes = self._slopes(evaluate, function, leaves, (output,), aux)
            results: list[Any] = []
            for slope, leaf in zip(slopes, leaves):
                if type(slope) is not np.ndarray:
                    slope = NUMPY.restore(slope, library_of(self, slope), leaf, dtype_name(leaf.dtype), taken)
                results.append(slope)
            return output, aux, results, True

        return gradient

    def _value(self, function: FlatFunction, leaves: Arrays) -> tuple[Arrays, Arrays]:
        with _evaluation(leaves):
            outputs, aux = function(*leaves)
        self._check_precision(leaves, outputs)
        return outputs, aux

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
            with _evaluation(leaves):
                up, _ = function(*self._same_dtype(ahead, leaves))
                if outputs is None:
                    self._check_precision(leaves, up)
                down, _ = function(*self._same_dtype(behind, leaves))
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


def _known(backend: Backend, array: Any) -> Any:
    """The numbers of an array; None if an outer engine traces it without them."""
    library = library_of(backend, array)
    if not library.traced(array):
        numbers = library.to_numpy(array)
        return numbers.astype("complex128" if kind(library.dtype(array)) == "complex" else "float64")
    return library.value_under_trace(array)


@contextmanager
def _evaluation(leaves: Arrays) -> Iterator[None]:
    """f is called for its values: no engine needs to record it, unless it does so already."""
    with ExitStack() as stack:
        for backend in loaded_backends():
            for library in backend.libraries:
                stack.enter_context(library.evaluation(leaves))
        yield
