"""Central differences behind the contract. f is a black box: any library, any engine inside it.

Source of the step: Press et al., Numerical Recipes, 3rd ed., section 5.7: eps^(1/3) balances the truncation and the
rounding error of a first difference, eps^(1/4) those of a difference of differences.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from adinterface.contract.auto import AutoFiniteDifferences
from adinterface.contract.backend import Arrays, Aux, Backend, FlatFunction, Gradient, Jacobian, Linearized, Pushforward
from adinterface.contract.errors import PrecisionError
from adinterface.contract.library import dtype_name, epsilon, kind, width
from adinterface.derive.basis import block_dtype, cast_like, full_like, library_of, size_of
from adinterface.derive.jacobians import columns
from adinterface.derive.record import note_step
from adinterface.registry import backend_of, evaluation
from adinterface.rules.held import holding

from .known_failures import KNOWN_FAILURES

_T = TypeVar("_T")

#: A flat function.
Evaluate = Callable[..., tuple[Arrays, Aux]]


class FiniteDifferencesBackend(Backend):
    known_failures = KNOWN_FAILURES

    def __init__(self, auto: AutoFiniteDifferences):
        super().__init__(auto)
        self.relative_step = auto.relative_step
        self.root = 3
        #: The backend whose arrays f gets.
        self.native: Backend | None = None
        if auto.native is not None:
            self.native = backend_of(auto.native)
            self.library = self.native.library
            self.device = self.native.device

    def pair(self) -> tuple[Backend, Backend]:
        coarse = copy.copy(self)
        coarse.root = 4
        return coarse, coarse

    def scales(self, leaves: Arrays) -> tuple[Any, ...]:
        """By its own size, at least 1: one step then moves each number as far as its own would."""
        known = [_known(self, leaf) for leaf in leaves]
        return tuple(
            [np.ones(library_of(self, x).shape(x)) if k is None else np.fmax(1.0, abs(k)) for k, x in zip(known, leaves)]
        )

    def relative_error(self, order: int, epsilon: float) -> float:
        return float(epsilon ** (1 / 2 if order == 1 else 1 / 3))

    def pushforward(self, function: FlatFunction, leaves: Arrays, tangents: Arrays, *, value: bool = True) -> Pushforward:
        function = holding(function, leaves)
        # Along zero the value says what the zeros look like.
        if value or self._step(leaves, tangents) is None:
            linear = self.linearize(function, leaves)
            return Pushforward(linear.outputs, linear.push(tangents), linear.aux)
        pushed, aux = self._pushed(function.alone, leaves, tangents, look=True)
        return Pushforward((), pushed, aux)

    def jacobian(self, function: FlatFunction, leaves: Arrays, *, value: bool = True) -> Jacobian | None:
        """Element by element, for real NumPy arrays; without the tangents of everything else that stays where it is."""
        if not _are_real_numpy(leaves):
            return None
        function = holding(function, leaves)
        numbers = sum([leaf.size for leaf in leaves])
        at: tuple[Arrays, Aux] | None = None
        with evaluation(leaves):
            if value or not numbers:
                at = outputs, aux = self._value_at(function, leaves)
                if not all(map(_is_numpy, outputs)):
                    self._check_precision(leaves, outputs)
                    return columns(self, Linearized(outputs, aux, self._push(function.alone, leaves, outputs)), leaves)
            note_step(self, f"{numbers} columns of the Jacobian")
            found = _apart(function.alone, leaves, lambda evaluate, own: self._columns(evaluate, own, at))
        return columns(self, self.linearize(function, leaves), leaves) if found is None else found

    def _columns(self, evaluate: Evaluate, leaves: Arrays, at: tuple[Arrays, Aux] | None) -> Jacobian | None:
        """The Jacobian from the value, or without it; then None if f's result, as the first step shows, is no NumPy array."""
        blocks = None if at is None else self._blocks(leaves, at[0])
        for n, leaf in enumerate(leaves):
            for place, moved, behind, apart in self._moves(leaves, n):
                up, aux = evaluate(*moved)
                moved[n] = behind
                down, _ = evaluate(*moved)
                if blocks is None:
                    if not all(map(_is_numpy, up)):
                        return None
                    blocks = self._blocks(leaves, up)
                if at is None:
                    at = (), aux
                if any(map(_overlap, up, down)):  # f computes into one array again and again
                    return self._columns(lambda *moved: _kept_all(evaluate(*moved)), leaves, at if at[0] else None)
                column = (..., place) if leaf.ndim == 1 else (..., *place)
                for row, ahead, back in zip(blocks, up, down):
                    row[n][column] = (ahead - back) / apart
        assert at is not None
        assert blocks is not None
        return Jacobian(*at, blocks)

    def _blocks(self, leaves: Arrays, outputs: Arrays) -> list[list[Any]]:
        """Room for the Jacobian of outputs like these."""
        self._check_precision(leaves, outputs)
        return [
            [np.empty((*np.shape(output), *leaf.shape), block_dtype(self, output, leaf)) for leaf in leaves]
            for output in outputs
        ]

    def linearize(self, function: FlatFunction, leaves: Arrays) -> Linearized:
        function = holding(function, leaves)
        outputs, aux = self._value(function, leaves)
        return Linearized(outputs, aux, self._push(function.alone, leaves, outputs))

    def gradient(self, function: FlatFunction, leaves: Arrays, *, value: bool = True) -> Gradient:
        """Leaf by leaf: a direction that moves one leaf of a thousand should not touch the others."""
        function = holding(function, leaves)
        with evaluation(leaves):
            if not value and _are_real_numpy(leaves):
                found = _apart(function.alone, leaves, self._all_by_elements)
                if found is not None:
                    return Gradient((), Aux(), found)
            outputs, aux = self._value_at(function, leaves)
            self._check_precision(leaves, outputs)
            return Gradient(outputs, aux, self._slopes(function.alone, leaves, outputs))

    def _slopes(self, evaluate: Evaluate, leaves: Arrays, outputs: Arrays) -> Arrays:
        """The gradients from the value at the point, leaf by leaf; of the outputs only the first counts."""
        if _are_real_numpy(leaves) and _is_numpy(outputs[0]):
            return _apart(
                evaluate, leaves, lambda evaluate, own: tuple([self._by_elements(evaluate, own, n) for n in range(len(own))])
            )
        gradients: list[Any] = []
        for n, leaf in enumerate(leaves):
            if _are_real_numpy((leaf,)) and _is_numpy(outputs[0]):
                gradients.append(self._by_elements(evaluate, leaves, n))
                continue

            def alone(x: Any, n: int = n) -> tuple[Arrays, Aux]:
                return evaluate(*_kept(leaves[:n]), x, *_kept(leaves[n + 1 :]))

            linear = Linearized(outputs, Aux(), self._push(alone, (leaf,), outputs))
            gradients.append(columns(self, linear, (leaf,)).blocks[0][0])
        return tuple(gradients)

    def _by_elements(self, evaluate: Evaluate, leaves: Arrays, n: int, look: bool = False) -> Any:
        """The gradient by one leaf, a real NumPy array: `_push` along each element, without its generality.

        With `look`, the first value is looked at, and if it is no NumPy number there is no gradient but None.
        """
        slopes = np.empty(leaves[n].shape, dtype=leaves[n].dtype)
        for place, moved, behind, apart in self._moves(leaves, n):
            up = evaluate(*moved)[0][0]
            if look:
                if not _is_numpy(up):
                    return None
                self._check_precision(leaves, (up,))
                look = False
            if type(up) is np.ndarray:
                up = up[()]  # a number, for f may compute into the same array again
            moved[n] = behind
            slopes[place] = (up - evaluate(*moved)[0][0]) / apart
        return slopes

    def _all_by_elements(self, evaluate: Evaluate, leaves: Arrays) -> Arrays | None:
        """The gradients by all leaves, real NumPy arrays, from no more evaluations of f than that takes.

        None if f's result, which only the first of them shows, is no NumPy number; or if there is no element.
        """
        slopes: list[Any] = []
        numbers = 0
        for n, leaf in enumerate(leaves):
            slopes.append(self._by_elements(evaluate, leaves, n, look=not numbers))
            if slopes[-1] is None:
                return None
            numbers += leaf.size
        return tuple(slopes) if numbers else None

    def _moves(self, leaves: Arrays, n: int) -> Iterator[tuple[Any, list[Any], Any, float]]:
        """Along each element of one leaf, a real NumPy array: its place, the leaves ahead, that leaf behind, the distance.

        f may keep or change what it gets, so each point has an array of its own.
        """
        moved, leaf = list(leaves), leaves[n]
        relative = self.relative_step or _relative_step(leaf.dtype, self.root)
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

    def _value(self, function: FlatFunction, leaves: Arrays) -> tuple[Arrays, Aux]:
        with evaluation(leaves):
            outputs, aux = self._value_at(function, leaves)
        self._check_precision(leaves, outputs)
        return outputs, aux

    def _value_at(self, function: FlatFunction, leaves: Arrays) -> tuple[Arrays, Aux]:
        """f at the point. It may write into what it gets, and return what it will compute into the next time."""
        return _kept_all(function(*_kept(leaves)))

    def _push(self, function: Callable[..., tuple[Arrays, Aux]], leaves: Arrays, outputs: Arrays) -> Callable[[Arrays], Arrays]:
        def push(tangents: Arrays) -> Arrays:
            if self._step(leaves, tangents) is None:  # along zero
                return tuple([full_like(self, output, 0.0) for output in outputs])
            return self._pushed(function, leaves, tangents)[0]

        return push

    def _pushed(
        self, function: Callable[..., tuple[Arrays, Aux]], leaves: Arrays, tangents: Arrays, look: bool = False
    ) -> tuple[Arrays, Aux]:
        """The tangents in a direction other than zero, and what f returned beside its outputs."""
        step = self._step(leaves, tangents)
        ahead = [leaf + step * tangent for leaf, tangent in zip(leaves, tangents)]
        behind = [leaf - step * tangent for leaf, tangent in zip(leaves, tangents)]
        with evaluation(leaves):
            up, aux = _kept_all(function(*self._same_dtype(ahead, leaves)))
            if look:
                self._check_precision(leaves, up)
            down, _ = function(*self._same_dtype(behind, leaves))
        return cast_like(self, [(a - b) / (2 * step) for a, b in zip(up, down)], up), aux

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

    def note(self, error: Exception) -> str | None:
        if isinstance(error, TypeError) and "bfloat16" in str(error).lower():
            return (
                "Beside bfloat16 arrays a Python number is a NumPy bfloat16, the precision of the call, which torch's "
                "operators do not take. Pass it as a tensor, or give f torch's numbers alone: "
                "AutoFiniteDifferences(native=AutoTorch())."
            )
        if isinstance(error, TypeError) and "must be Tensor, not" in str(error) and self.native is None:
            return (
                "A function of torch met a NumPy array or number. Give f torch's own: "
                "AutoFiniteDifferences(native=AutoTorch()); or take the functions from the array: "
                "xp = adinterface.array_namespace(x), then xp.sin(x)."
            )
        return None if self.native is None else self.native.note(error)

    def _check_precision(self, leaves: Arrays, outputs: Arrays) -> None:
        finest = max([width(library_of(self, leaf).dtype(leaf)) for leaf in leaves if size_of(self, leaf)], default=0)
        for output in outputs:
            if not size_of(self, output):
                continue
            dtype = library_of(self, output).dtype(output)
            if width(dtype) < finest:
                raise PrecisionError(
                    f"Finite differences: f returned {dtype} for arguments of {finest} bits, so its rounding error would drown "
                    f"every difference. Compute in the arguments' dtype, or pass arguments of dtype {dtype}."
                )


def _kept(arrays: Arrays) -> Arrays:
    """NumPy arrays as they are now."""
    return tuple([array.copy("K") if isinstance(array, np.ndarray) else array for array in arrays])


def _kept_all(result: tuple[Arrays, Aux]) -> tuple[Arrays, Aux]:
    outputs, aux = result
    return _kept(outputs), aux.map(lambda array: _kept((array,))[0])


def _overlap(a: Any, b: Any) -> bool:
    """Whether two results of f may lie in the same memory; most own theirs."""
    return (a is b or a.base is not None) and isinstance(a, np.ndarray) and np.may_share_memory(a, b)


def _apart(evaluate: Evaluate, leaves: Arrays, differences: Callable[[Evaluate, Arrays], _T]) -> _T:
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
    return differences(lambda *moved: evaluate(*_kept(moved)), leaves)


def _known(backend: Backend, array: Any) -> Any:
    """The numbers of an array; None if an outer engine traces it without them."""
    library = library_of(backend, array)
    if not library.traced(array):
        numbers = library.to_numpy(array)
        return numbers.astype("complex128" if kind(library.dtype(array)) == "complex" else "float64")
    return library.value_under_trace(array)


@functools.cache
def _relative_step(dtype: np.dtype[Any], root: int) -> float:
    return float(epsilon(dtype_name(dtype)) ** (1 / root))


_REAL = (np.ndarray, np.floating)


def _are_real_numpy(leaves: Arrays) -> bool:
    return all(isinstance(leaf, _REAL) and leaf.dtype.kind == "f" for leaf in leaves)


def _is_numpy(output: Any) -> bool:
    return isinstance(output, (np.ndarray, np.generic))
