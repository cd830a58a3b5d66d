"""The finite differences backend. f may be in any library, with any engine inside it."""

from __future__ import annotations

import copy
import functools
import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adinterface.core.contract.arrays import block_dtype, library_of, size_of
from adinterface.core.contract.auto import AutoFiniteDifferences
from adinterface.core.contract.backend import (
    Arrays,
    Aux,
    Backend,
    FlatFunction,
    Gradient,
    Jacobian,
    Linearized,
    Pushforward,
)
from adinterface.core.contract.errors import PrecisionError
from adinterface.core.contract.inexact import Accuracy, Errors, LeafAccuracy
from adinterface.core.contract.library import epsilon, kind
from adinterface.core.contract.record import note_accuracy, note_step
from adinterface.core.contract.registry import backend_of, evaluation

from . import traced
from .differences import (
    Adaptive,
    Array,
    BasePoint,
    ComplexStep,
    Coordinates,
    Directions,
    Second,
    Slopes,
    StepError,
    along,
    enclosing,
    errors_by_leaf,
    hessian,
    method_of,
    overall,
    product,
)
from .evaluation import FlatEvaluations, TracedError

#: From evaluations to second derivatives.
Compute = Callable[..., Second]
#: The largest relative error of a third derivative, and of higher ones, that is not refused.
REFUSED = {3: 1e-7, 4: 1e-5}


class FiniteDifferencesBackend(Backend, Errors):
    def __init__(self, auto: AutoFiniteDifferences):
        super().__init__(auto)
        self.options = auto
        self._nest(1)
        #: The backend whose arrays f gets.
        self.native: Backend | None = None
        if auto.native is not None:
            self.native = backend_of(auto.native)
            self.library = self.native.library
            self.device = self.native.device

    def _nest(self, depth: int) -> None:
        """Set how many derivatives are taken of one another: the steps of fixed stencils follow."""
        auto = self.options
        self.method = method_of(
            auto.method, order=auto.order, step=auto.step, noise=auto.noise, most=auto.max_evaluations, depth=depth
        )

    def pair(self) -> tuple[Backend, Backend]:
        nested = copy.copy(self)
        nested._nest(2)
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

    @property
    def errors(self) -> Errors:
        return self

    def relative(self, order: int, epsilon: float) -> float:
        return self.method.relative_error(order, epsilon)

    # first order

    def gradient(self, function: FlatFunction, leaves: Arrays, *, value: bool = True) -> Gradient | None:
        note_step(self, "gradient, leaf by leaf")
        found = self._columns(function, leaves, value, real=True)
        return None if isinstance(found, Linearized) else Gradient(found.outputs, found.aux, tuple(found.blocks[0]))

    def jacobian(self, function: FlatFunction, leaves: Arrays, *, value: bool = True) -> Jacobian | Linearized:
        note_step(self, f"{sum(size_of(self, leaf) for leaf in leaves)} columns of the Jacobian")
        return self._columns(function, leaves, value)

    def _columns(self, function: FlatFunction, leaves: Arrays, value: bool, real: bool = False) -> Jacobian | Linearized:
        """real: f's value is known to be. A `Linearized` where an engine traces the leaves."""
        evaluations = self._around(function, leaves)
        try:
            point = self._point(leaves)
            with evaluation(leaves):
                doubled, needed = point.complex, value or not point.count
                if needed or (not real and any(doubled)):
                    evaluations.base()
                    complex_ = evaluations.flattener.complex
                    doubled = [each and not (complex_ and all(complex_)) for each in doubled]
                lines = Coordinates(point, doubled)
                slopes = self._slopes(evaluations, lines)
        except TracedError:
            return traced.linearize(self, evaluations.around, leaves)
        self._report(evaluations, lines, slopes, warns=self.method.estimates)
        outputs, aux = evaluations.base() if needed else ((), evaluations.aux)
        return Jacobian(outputs, aux, self._blocks(evaluations, lines, slopes))

    def _blocks(self, evaluations: FlatEvaluations, lines: Coordinates, slopes: Slopes) -> list[list[Any]]:
        """The Jacobian in its leaves' shapes, from (lines, outputs)."""
        flattener, rows = evaluations.flattener, slopes.values.T
        ends = itertools.accumulate(flattener.sizes)
        return [
            [
                self._block(lines.part(n, rows[end - size : end], complex_), shape, output, leaf)
                for n, leaf in enumerate(lines.point.leaves)
            ]
            for output, end, size, shape, complex_ in zip(
                flattener.outputs, ends, flattener.sizes, flattener.shapes, flattener.complex
            )
        ]

    def _block(self, block: Array, shape: tuple[int, ...], output: Any, leaf: Any) -> Any:
        """In the library of the output, or for a gradient of the leaf, and in the leaf's dtype. block: with one leading axis,
        which gets this shape."""
        block = block.reshape((*shape, *block.shape[1:]))
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
        evaluations = self._around(function, leaves)
        try:
            self._require_numbers(leaves)
            with evaluation(leaves):
                outputs, aux = evaluations.base()
        except TracedError:
            return traced.linearize(self, evaluations.around, leaves)
        return Linearized(
            outputs,
            aux,
            lambda tangents: self._pushed(evaluations, tangents),
            lambda stacks: self._along(evaluations, [_numbers(self, stack) for stack in stacks]),
        )

    def pushforward(self, function: FlatFunction, leaves: Arrays, tangents: Arrays, *, value: bool = True) -> Pushforward:
        evaluations = self._around(function, leaves)
        try:
            self._require_numbers((*leaves, *tangents))
            with evaluation(leaves):
                if value or not any(np.any(_numbers(self, v)) for v in tangents):
                    evaluations.base()  # along zero, f's value gives the dtypes of the zeros
            pushed = self._pushed(evaluations, tangents)
        except TracedError:
            return traced.pushforward(self, evaluations.around, leaves, tangents, value=value)
        outputs, aux = evaluations.base() if value else ((), evaluations.aux)
        return Pushforward(outputs, pushed, aux)

    def _pushed(self, evaluations: FlatEvaluations, tangents: Arrays) -> Arrays:
        try:
            self._require_numbers(tangents)
        except TracedError:
            return traced.linearize(self, evaluations.around, evaluations.leaves).push(tangents)
        return self._along(evaluations, [_numbers(self, v)[None] for v in tangents], one=True)

    def _along(self, evaluations: FlatEvaluations, stacks: Sequence[Any], one: bool = False) -> Arrays:
        """The tangents along each of these directions. one: without the leading axis."""
        leaves = evaluations.leaves
        lines = Directions(self._point(leaves), stacks)
        moving = lines.moving()
        with evaluation(leaves):
            slopes = self._slopes(evaluations, moving)
        flattener, form = evaluations.flattener, evaluations.form
        values = np.zeros((lines.count, form.size), form.dtype)
        self._report(evaluations, moving, slopes, warns=self.method.estimates)
        values[lines.moves] = slopes.values
        found = [stack[0] if one else stack for stack in flattener.split(values)]
        return tuple([flattener.native(n, numbers) for n, numbers in enumerate(found)])

    # second order, where the inner derivatives are differences too

    def hessian(self, function: FlatFunction, leaves: Arrays, *, value: bool = True) -> Jacobian | None:
        return self._second(function, leaves, hessian, value)

    def hessian_diagonal(self, function: FlatFunction, leaves: Arrays) -> Arrays | None:
        found = self._second(function, leaves, along, False)
        return None if found is None else tuple([row[0] for row in found.blocks])

    def _second(self, function: FlatFunction, leaves: Arrays, compute: Compute, value: bool) -> Jacobian | None:
        """The gradients as outputs; blocks of the Hessian, or for `along` of its diagonal."""
        if not sum(size_of(self, leaf) for leaf in leaves):
            return None
        found = self._joint(function, leaves, compute, [False] * len(leaves), "one joint stencil of second differences")
        if found is None:
            return None
        evaluations, lines, (first, slopes) = found
        outputs, aux = evaluations.base()
        gradients, matrix = self._parts(first.T, lines, ()), slopes.values
        if compute is along:
            blocks = [[part] for part in self._parts(matrix.T, lines, ())]
        else:
            blocks = [
                list(self._parts(matrix[start : start + size], lines, numbers.shape))
                for (start, size, _), numbers in zip(lines.spans, lines.point.numbers)
            ]
        return Jacobian(gradients, Aux((*outputs, *aux.arrays) if value else (), aux.form), blocks)

    def hvp(self, function: FlatFunction, leaves: Arrays, directions: Arrays) -> Pushforward | None:
        if any(library_of(self, v).traced(v) for v in directions):
            return None
        numbers = [_numbers(self, v)[None] for v in directions]
        if not any(np.any(v) for v in numbers):
            return None
        compute = functools.partial(product, stacks=numbers)
        found = self._joint(function, leaves, compute, None, "one joint stencil of second differences")
        if found is None:
            return None
        _, lines, (first, slopes) = found
        return Pushforward(self._parts(first.T, lines, ()), self._parts(slopes.values.T, lines, ()), Aux())

    def second_derivative(self, function: FlatFunction, leaves: Arrays, *, value: bool = True) -> Pushforward | None:
        found = self._joint(function, leaves, along, [False], "second differences")
        if found is None:
            return None
        evaluations, _, (first, slopes) = found
        outputs, aux = evaluations.base()
        flattener = evaluations.flattener
        derivatives, seconds = (
            tuple([flattener.native(n, stack[0]) for n, stack in enumerate(flattener.split(values))])
            for values in (first, slopes.values)
        )
        return Pushforward(derivatives, seconds, Aux((*outputs, *aux.arrays) if value else (), aux.form))

    def _joint(
        self, function: FlatFunction, leaves: Arrays, compute: Compute, doubled: list[bool] | None, step: str
    ) -> tuple[FlatEvaluations, Coordinates, Second] | None:
        """Second derivatives from second differences of one function along coordinates, those of complex leaves doubled.

        None where derivatives are taken of one another: with fixed steps, where an engine traces the leaves, and at the edge
        of f's domain.
        """
        method = self.method.otherwise if isinstance(self.method, ComplexStep) else self.method
        if not isinstance(method, Adaptive):
            return None
        evaluations = self._around(function, leaves)
        try:
            point = self._point(leaves)
            lines = Coordinates(point, point.complex if doubled is None else doubled)
            with evaluation(leaves):
                evaluations.base()
                found = evaluations.apart(lambda fresh: compute(method.options, evaluations, lines, fresh))
        except TracedError:
            return None
        except StepError as error:
            raise PrecisionError(f"Finite differences: {error}") from None
        if not np.isfinite(found.slopes.values).all():
            return None
        note_step(self, step)
        self._report(evaluations, lines, found.slopes, 2)
        return evaluations, lines, found

    def _parts(self, rows: Array, lines: Coordinates, shape: tuple[int, ...]) -> Arrays:
        """From (rows, lines) what belongs to each leaf, in its shape and dtype, after the rows in this shape."""
        return tuple([self._block(lines.part(n, rows), shape, leaf, leaf) for n, leaf in enumerate(lines.point.leaves)])

    def _report(self, evaluations: FlatEvaluations, lines: Any, slopes: Slopes, order: int = 1, *, warns: bool = True) -> None:
        """Report the accuracy of derivatives along lines: to the operator, which warns; to outer differences, as their noise.

        order: of these derivatives, without those that f takes itself. warns: whether the operator is notified without an
        active record. Raises PrecisionError for an inaccurate derivative of third order or more.
        """
        if not lines.count or not evaluations.is_heard(order, warns):
            return
        depth, above = evaluations.level.order + order, enclosing()
        if depth >= 3 or above is not None:
            error, noise = overall(slopes)
            if above is not None:
                above.note(noise, depth)
                return
            if error > REFUSED[min(depth, 4)]:
                raise PrecisionError(
                    f"Finite differences: the estimated relative error of this derivative of order {depth}, by differences of "
                    f"differences, is {error:.1g}, more than {REFUSED[min(depth, 4)]:g}. Give f a smoother form or more "
                    f"precision, choose AutoFiniteDifferences(scale=...), or take the inner derivatives with an engine: "
                    f"SecondOrder(AutoFiniteDifferences(), AutoJax())."
                )
        precision = evaluations.form.epsilon
        note_accuracy(
            lambda: Accuracy(depth, tuple([LeafAccuracy(*leaf) for leaf in errors_by_leaf(lines, slopes, order, precision)]))
        )

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

    def _require_numbers(self, arrays: Arrays) -> None:
        for x in arrays:
            if type(x) is not np.ndarray and library_of(self, x).traced(x):
                raise TracedError

    def _around(self, function: FlatFunction, leaves: Arrays) -> FlatEvaluations:
        return FlatEvaluations(self, function, leaves, self.options.executor)

    def _point(self, leaves: Arrays) -> BasePoint:
        def take(leaf: Any) -> tuple[Any, float, Callable[[Any], Any] | None]:
            library = library_of(self, leaf)
            if library.traced(leaf):
                raise TracedError
            dtype = library.dtype(leaf)
            if isinstance(leaf, (np.ndarray, np.generic)):
                return leaf, epsilon(dtype), None
            return library.to_numpy(leaf), epsilon(dtype), functools.partial(library.asarray, dtype=dtype, like=leaf)

        return BasePoint(leaves, take, scale=self.options.scale, bounds=self.options.bounds)

    def _slopes(self, evaluations: FlatEvaluations, lines: Any) -> Slopes:
        if lines.count:
            return evaluations.apart(lambda fresh: self.method.slopes(evaluations, lines, fresh))
        nothing = np.zeros((0, evaluations.form.size))
        return Slopes(nothing.astype(evaluations.form.dtype), nothing, nothing, nothing)


def _numbers(backend: Backend, tangent: Any) -> Any:
    """A tangent, or a stack of tangents, as NumPy's numbers, wide enough to compute with."""
    library = library_of(backend, tangent)
    numbers = library.to_numpy(tangent)
    if numbers.dtype in (np.longdouble, np.clongdouble):
        return numbers
    return numbers.astype("complex128" if kind(library.dtype(tangent)) == "complex" else "float64")
