"""The finite differences backend. f may be in any library, with any engine inside it."""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adinterface.core.contract.arrays import block_dtype, is_complex, library_of, size_of
from adinterface.core.contract.auto import AutoFiniteDifferences
from adinterface.core.contract.backend import Arrays, Aux, Backend, FlatFunction, Gradient, Jacobian, Linearized, Pushforward
from adinterface.core.contract.record import note_step
from adinterface.core.contract.registry import backend_of, evaluation

from . import traced
from .accuracy import report
from .evaluation import Evaluations, TracedError, apart
from .known_failures import KNOWN_FAILURES
from .lines import ConcatenatedLines, Coordinates, Directions, both, stacked
from .methods import method_of
from .methods.adaptive import Adaptive
from .methods.complex_step import ComplexStep
from .methods.method import Array, Slopes
from .points import BasePoint, Lines
from .second_order import Bends, Mixed

#: From second differences along all coordinates to second derivatives and their errors.
Second = Callable[[Coordinates, Bends, Callable[[], Arrays]], tuple[Array, Array]]


class FiniteDifferencesBackend(Backend):
    known_failures = KNOWN_FAILURES
    estimates = True
    takes_executor = True

    def __init__(self, auto: AutoFiniteDifferences):
        super().__init__(auto)
        self.options = auto
        #: How many derivatives are taken of one another: the steps of fixed stencils follow.
        self.depth = 1
        self.method = method_of(auto)
        #: The backend whose arrays f gets.
        self.native: Backend | None = None
        if auto.native is not None:
            self.native = backend_of(auto.native)
            self.library = self.native.library
            self.device = self.native.device

    def pair(self) -> tuple[Backend, Backend]:
        nested = copy.copy(self)
        nested.depth, nested.method = 2, method_of(self.options, 2)
        return nested, nested

    def scales(self, leaves: Arrays) -> tuple[Any, ...]:
        """As far as a step moves each number by itself, of which a step along a tangent is made."""
        if self.options.scale is not None:
            return tuple([np.full(library_of(self, x).shape(x), self.options.scale) for x in leaves])
        numbers = [traced.known(self, leaf) for leaf in leaves]
        return tuple(
            [
                np.ones(library_of(self, x).shape(x)) if known is None else np.fmax(1.0, abs(known))
                for x, known in zip(leaves, numbers)
            ]
        )

    def relative_error(self, order: int, epsilon: float) -> float | None:
        return self.method.relative_error(order, epsilon)

    # first order

    def gradient(self, function: FlatFunction, leaves: Arrays, *, value: bool = True) -> Gradient | Linearized:
        note_step(self, "gradient, leaf by leaf")
        found = self._columns(function, leaves, value, real=True)
        return found if isinstance(found, Linearized) else Gradient(found.outputs, found.aux, tuple(found.blocks[0]))

    def jacobian(self, function: FlatFunction, leaves: Arrays, *, value: bool = True) -> Jacobian | Linearized:
        note_step(self, f"{sum(size_of(self, leaf) for leaf in leaves)} columns of the Jacobian")
        return self._columns(function, leaves, value)

    def _columns(self, function: FlatFunction, leaves: Arrays, value: bool, real: bool = False) -> Jacobian | Linearized:
        """real: f's value is known to be. A `Linearized` where an engine traces the leaves."""
        if self._traced(leaves):
            return traced.linearize(self, function, leaves)
        evaluations = self._evaluations(function, leaves)
        try:
            with evaluation(leaves):
                point = self._point(leaves)
                doubled, numbers = point.complex, point.count
                if value or not numbers or (not real and any(doubled)):
                    evaluations.base()
                    doubled = [each and not _all_complex(evaluations) for each in doubled]
                lines = Coordinates(point, doubled)
                slopes = self._slopes(evaluations, lines)
        except TracedError:
            return traced.linearize(self, function, leaves)
        report(evaluations, lines, slopes, warns=self.method.estimates)
        outputs, aux = evaluations.base() if value or not numbers else ((), evaluations.aux)
        return Jacobian(outputs, aux, self._blocks(evaluations, lines, slopes))

    def _blocks(self, evaluations: Evaluations, lines: Coordinates, slopes: Slopes) -> list[list[Any]]:
        """The Jacobian in its leaves' shapes, from (lines, outputs)."""
        flattener, point = evaluations.flattener(()), lines.point
        blocks: list[list[Any]] = []
        places = itertools.accumulate(flattener.sizes, initial=0)
        for output, first, count, shape in zip(flattener.outputs, places, flattener.sizes, flattener.shapes):
            stack = slopes.values[:, first : first + count]
            row = []
            complex_output = is_complex(self, output)
            for leaf, numbers, (start, size, doubled) in zip(point.leaves, point.numbers, lines.spans):
                part = stack[start : start + size]
                if doubled and not complex_output:
                    part = np.real(part) + 1j * np.real(stack[start + size : start + 2 * size])
                elif not complex_output:
                    part = np.real(part)
                block = part.T.reshape((*shape, *numbers.shape))
                row.append(self._block(block, output, leaf))
            blocks.append(row)
        return blocks

    def _block(self, block: Any, output: Any, leaf: Any) -> Any:
        """In the library of the output, or for a gradient of the leaf, and in the leaf's dtype."""
        if type(leaf) is np.ndarray and type(output) is np.float64 and leaf.dtype is block.dtype:
            return block
        dtype = block_dtype(self, output, leaf)
        if isinstance(leaf, (np.ndarray, np.generic)) and isinstance(output, (np.ndarray, np.generic)):
            return np.asarray(block, leaf.dtype if leaf.dtype.name == dtype else dtype, order="C")
        library, like = (library_of(self, x) for x in (output, leaf)), output
        first, second = library
        if first is not second and block.shape == np.shape(leaf):
            first, like = second, leaf
        return first.asarray(np.asarray(block, order="C"), dtype=dtype, like=like if first.dtype(like) == dtype else None)

    def linearize(self, function: FlatFunction, leaves: Arrays) -> Linearized:
        if self._traced(leaves):
            return traced.linearize(self, function, leaves)
        evaluations = self._evaluations(function, leaves)
        try:
            with evaluation(leaves):
                outputs, aux = evaluations.base()
        except TracedError:
            return traced.linearize(self, function, leaves)
        return Linearized(
            outputs,
            aux,
            lambda tangents: self._pushed(evaluations, tangents),
            lambda stacks: self._push_stacked(evaluations, stacks),
        )

    def pushforward(self, function: FlatFunction, leaves: Arrays, tangents: Arrays, *, value: bool = True) -> Pushforward:
        if self._traced((*leaves, *tangents)):
            return traced.pushforward(self, function, leaves, tangents, value=value)
        evaluations = self._evaluations(function, leaves)
        try:
            with evaluation(leaves):
                if value or not any(np.any(stacked(library_of(self, v), v)) for v in tangents):
                    evaluations.base()  # along zero, f's value gives the dtypes of the zeros
            pushed = self._pushed(evaluations, tangents)
        except TracedError:
            return traced.pushforward(self, function, leaves, tangents, value=value)
        outputs, aux = evaluations.base() if value else ((), evaluations.aux)
        return Pushforward(outputs, pushed, aux)

    def _pushed(self, evaluations: Evaluations, tangents: Arrays) -> Arrays:
        if self._traced(tangents):
            return traced.linearize(self, evaluations.function, evaluations.leaves).push(tangents)
        numbers = [stacked(library_of(self, v), v)[None] for v in tangents]
        return self._along(evaluations, numbers, lambda flattener, n, stack: flattener.native(n, stack[0]))

    def _push_stacked(self, evaluations: Evaluations, stacks: Arrays) -> Arrays:
        numbers = [stacked(library_of(self, stack), stack) for stack in stacks]
        return self._along(evaluations, numbers, lambda flattener, n, stack: flattener.native(n, stack))

    def _along(self, evaluations: Evaluations, stacks: Sequence[Any], native: Callable[..., Any]) -> Arrays:
        """The tangents along each of these directions."""
        leaves = evaluations.leaves
        lines = Directions(self._point(leaves), stacks)
        moving = lines.moving()
        with evaluation(leaves):
            slopes = self._slopes(evaluations, moving) if moving.count else None
            if slopes is None:
                evaluations.base()
        flattener = evaluations.flattener(())
        values = np.zeros((lines.count, flattener.count), flattener.dtype)
        if slopes is not None:
            report(evaluations, moving, slopes, warns=self.method.estimates)
            values[lines.moves] = slopes.values
        return tuple([native(flattener, n, stack) for n, stack in enumerate(flattener.split(values))])

    # second order, where the inner derivatives are differences too

    def hessian(self, function: FlatFunction, leaves: Arrays, *, value: bool = True) -> Jacobian | None:
        def matrix_of(lines: Coordinates, bends: Bends, fresh: Callable[[], Arrays]) -> tuple[Array, Array]:
            matrix, errors = np.diag(bends.found.values[:, 0]), np.diag(bends.found.errors[:, 0])
            rows, columns = np.tril_indices(lines.count, -1)
            chosen = list(zip(rows.tolist(), columns.tolist()))
            if chosen:
                mixed = Mixed(bends, chosen, lambda at, i, u, j, v: both(at, lines, i, u, lines, j, v)).run()
                matrix[rows, columns] = matrix[columns, rows] = mixed.values[:, 0]
                errors[rows, columns] = errors[columns, rows] = mixed.errors[:, 0]
            return matrix, errors

        return self._second(function, leaves, matrix_of, value)

    def hessian_diagonal(self, function: FlatFunction, leaves: Arrays) -> Arrays | None:
        alone: Second = lambda lines, bends, fresh: (bends.found.values, bends.found.errors)
        found = self._second(function, leaves, alone, False, diagonal=True)
        return None if found is None else tuple([row[0] for row in found.blocks])

    def _second(
        self, function: FlatFunction, leaves: Arrays, compute: Second, value: bool, *, diagonal: bool = False
    ) -> Jacobian | None:
        """Second derivatives from second differences along all coordinates: (lines, lines) or (lines, 1)."""
        method = self._jointly()
        numbers = sum(size_of(self, leaf) for leaf in leaves)
        if method is None or self._traced(leaves) or not numbers:
            return None
        evaluations = self._evaluations(function, leaves)
        lines = Coordinates(self._point(leaves), [False] * len(leaves))

        def differences(fresh: Callable[[], Arrays]) -> tuple[Bends, Any, Any]:
            bends = Bends(method.options, evaluations, lines, range(lines.count), fresh)
            bends.run()
            return (bends, *compute(lines, bends, fresh))

        try:
            with evaluation(leaves):
                evaluations.base()
                bends, matrix, errors = apart(self, leaves, differences)
        except TracedError:
            return None
        if not np.isfinite(matrix).all():
            return None  # at the edge of f's domain, which repeated gradients handle
        note_step(self, "one joint stencil of second differences")
        roots = np.sqrt(bends.found.rates)
        found = Slopes(matrix, errors, errors, bends.found.rates if diagonal else roots * roots.T)
        report(evaluations, lines, found, 2)
        outputs, aux = evaluations.base()
        count = range(len(leaves))
        gradients = tuple([self._part(bends.first[:, 0], lines, n) for n in count])
        if diagonal:
            blocks = [[self._part(matrix[:, 0], lines, k)] for k in count]
        else:
            rows = [matrix[start : start + size] for start, size, _ in lines.spans]
            blocks = [[self._shaped(self._part(row, lines, n), lines, k) for n in count] for k, row in enumerate(rows)]
        return Jacobian(gradients, Aux((*outputs, *aux.arrays) if value else (), aux.form), blocks)

    def hvp(self, function: FlatFunction, leaves: Arrays, directions: Arrays) -> Pushforward | None:
        method = self._jointly()
        if method is None or self._traced((*leaves, *directions)):
            return None
        numbers = [stacked(library_of(self, v), v)[None] for v in directions]
        if not any(np.any(v) for v in numbers):
            return None
        evaluations = self._evaluations(function, leaves)
        point = self._point(leaves)
        lines, along = Coordinates(point, point.complex), Directions(point, numbers)
        together = ConcatenatedLines(lines, along)

        def differences(fresh: Callable[[], Arrays]) -> tuple[Bends, Slopes]:
            bends = Bends(method.options, evaluations, together, range(together.count), fresh)
            bends.run()
            pairs = [(lines.count, j) for j in range(lines.count)]
            return bends, Mixed(bends, pairs, lambda at, i, u, j, v: both(at, along, 0, u, lines, j, v)).run()

        try:
            with evaluation(leaves):
                evaluations.base()
                bends, mixed = apart(self, leaves, differences)
        except TracedError:
            return None
        if not np.isfinite(mixed.values).all():
            return None
        note_step(self, "one joint stencil of second differences")
        report(evaluations, lines, mixed, 2)
        parts, count = (bends.first[:-1, 0], mixed.values[:, 0]), range(len(leaves))
        gradients, products = (tuple([self._part(part, lines, n) for n in count]) for part in parts)
        return Pushforward(gradients, products, Aux())

    def second_derivative(self, function: FlatFunction, leaves: Arrays, *, value: bool = True) -> Pushforward | None:
        method = self._jointly()
        if method is None or self._traced(leaves):
            return None
        evaluations = self._evaluations(function, leaves)
        lines = Coordinates(self._point(leaves), [False])

        def differences(fresh: Callable[[], Arrays]) -> Bends:
            bends = Bends(method.options, evaluations, lines, range(lines.count), fresh)
            bends.run()
            return bends

        try:
            with evaluation(leaves):
                outputs, aux = evaluations.base()
                bends = apart(self, leaves, differences)
        except TracedError:
            return None
        if not np.isfinite(bends.found.values).all():
            return None
        note_step(self, "second differences")
        found = Slopes(bends.found.values, bends.found.errors, bends.found.errors, bends.found.rates)
        report(evaluations, lines, found, 2)
        flattener = evaluations.flattener(())
        first, second = (
            tuple([flattener.native(n, stack[0]) for n, stack in enumerate(flattener.split(values))])
            for values in (bends.first, bends.found.values)
        )
        return Pushforward(first, second, Aux((*outputs, *aux.arrays) if value else (), aux.form))

    def _jointly(self) -> Adaptive | None:
        """The method of second differences; None if derivatives are taken of one another."""
        method = self.method.otherwise if isinstance(self.method, ComplexStep) else self.method
        return method if isinstance(method, Adaptive) else None

    def _part(self, numbers: Any, lines: Coordinates, n: int) -> Any:
        """The entries of one leaf on the last axis, in its shape and dtype."""
        start, size, doubled = lines.spans[n]
        part = numbers[..., start : start + size]
        if doubled:
            part = part + 1j * numbers[..., start + size : start + 2 * size]
        leaf = lines.point.leaves[n]
        return self._block(part.reshape((*part.shape[:-1], *np.shape(lines.point.numbers[n]))), leaf, leaf)

    def _shaped(self, block: Any, lines: Coordinates, n: int) -> Any:
        """With the first axis in the shape of one leaf."""
        library = library_of(self, block)
        shape = (*np.shape(lines.point.numbers[n]), *library.shape(block)[1:])
        return library.namespace(block).reshape(block, shape)

    def note(self, error: Exception) -> str | None:
        if isinstance(error, TypeError) and "bfloat16" in str(error).lower():
            return (
                "Beside bfloat16 arrays a Python number is a NumPy bfloat16, the precision of the call, which torch's "
                "operators do not take. Pass it as a tensor, or give f torch's numbers alone: "
                "AutoFiniteDifferences(native=AutoTorch())."
            )
        if isinstance(error, TypeError) and re.search("must be Tensor, not|'Tensor'", str(error)) and self.native is None:
            return (
                "Code of torch got a NumPy array or number. Write AutoFiniteDifferences(native=AutoTorch()), which gives f "
                "tensors, or xp.sin(x) with xp = adinterface.array_namespace(x)."
            )
        return None if self.native is None else self.native.note(error)

    # parts

    def _traced(self, arrays: Arrays) -> bool:
        for x in arrays:  # noqa: SIM110  (as above)
            if type(x) is not np.ndarray and library_of(self, x).traced(x):
                return True
        return False

    def _point(self, leaves: Arrays) -> BasePoint:
        return BasePoint(self, leaves, scale=self.options.scale, bounds=self.options.bounds)

    def _evaluations(self, function: FlatFunction, leaves: Arrays) -> Evaluations:
        return Evaluations(self, function, leaves, self.options.executor)

    def _slopes(self, evaluations: Evaluations, lines: Lines) -> Slopes:
        if not lines.count:
            flattener = evaluations.flattener(())
            nothing = np.zeros((0, flattener.count))
            return Slopes(nothing.astype(flattener.dtype), nothing, nothing, nothing)
        return apart(self, evaluations.leaves, lambda fresh: self.method.slopes(evaluations, lines, fresh))


def _all_complex(evaluations: Evaluations) -> bool:
    dtypes = evaluations.flattener(()).dtypes
    return bool(dtypes) and all(dtype.startswith(("complex", "clong")) for dtype in dtypes)
