"""The finite differences backend. f may be in any library, with any engine inside it."""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adinterface import AutoFiniteDifferences, PrecisionError
from adinterface.core.contract import (
    Accuracy,
    Arrays,
    Aux,
    Backend,
    FlatFunction,
    Gradient,
    Jacobian,
    LeafAccuracy,
    Linearized,
    Pushforward,
    backend_for,
    block_dtype,
    library_of,
    note_accuracy,
    note_step,
    size_of,
)

from .differences import (
    Array,
    Coordinates,
    Directions,
    Lines,
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
from .evaluation import FlatEvaluations, numbers_of, require_numbers

#: The largest relative error of a third derivative, and of higher ones, that is not refused.
REFUSED = {3: 1e-7, 4: 1e-5}


class FiniteDifferencesBackend(Backend):
    def __init__(self, auto: AutoFiniteDifferences):
        super().__init__(auto)
        self.options = auto
        self._nest(1)
        #: The backend whose arrays f gets.
        self.native: Backend | None = None
        if auto.native is not None:
            self.native = backend_for(auto.native)
            self.library = self.native.library
            self.device = self.native.device

    def _nest(self, depth: int) -> None:
        """Set how many derivatives are taken of one another: the steps of fixed stencils follow."""
        auto = self.options
        self.method = method_of(
            auto.method,
            order=auto.order,
            step=auto.step,
            noise=auto.noise,
            most=auto.max_evaluations,
            depth=depth,
        )

    def second_order(self) -> tuple[Backend, Backend]:
        nested = copy.copy(self)
        nested._nest(2)
        return nested, nested

    def scales(self, leaves: Arrays) -> tuple[Any, ...]:
        """As far as a step moves each number by itself, of which a step along a tangent is made."""
        fixed, found = self.options.scale, []
        for leaf in leaves:
            ones = np.ones(library_of(self, leaf).shape(leaf))
            found.append(
                ones * fixed if fixed is not None else np.fmax(ones, abs(numbers_of(self, leaf)))
            )
        return tuple(found)

    def relative_error(self, order: int, epsilon: float) -> float:
        return self.method.relative_error(order, epsilon)

    # first order

    def gradient(
        self, function: FlatFunction, leaves: Arrays, *, value: bool = True
    ) -> Gradient | None:
        note_step(self, "gradient, leaf by leaf")
        found = self._columns(function, leaves, value, real=True)
        return Gradient(found.outputs, found.aux, tuple(found.blocks[0]))

    def jacobian(self, function: FlatFunction, leaves: Arrays, *, value: bool = True) -> Jacobian:
        note_step(self, f"{sum(size_of(self, leaf) for leaf in leaves)} columns of the Jacobian")
        return self._columns(function, leaves, value)

    def _columns(
        self, function: FlatFunction, leaves: Arrays, value: bool, real: bool = False
    ) -> Jacobian:
        """real: f's value is known to be."""
        evaluations = FlatEvaluations(self, function, leaves)
        point = evaluations.point()
        doubled, needed = point.complex, value or not point.count
        if needed or (not real and any(doubled)):
            evaluations.base()
            complex_ = evaluations.outputs.complex
            doubled = [each and not (complex_ and all(complex_)) for each in doubled]
        lines = Coordinates(point, doubled)
        slopes = self._slopes(evaluations, lines)
        outputs, aux = evaluations.base() if needed else ((), evaluations.aux)
        form = evaluations.outputs
        rows = [part.transpose((*range(1, part.ndim), 0)) for part in form.split(slopes.values)]
        blocks = [
            [
                self._block(lines.part(n, row, complex_), output, leaf)
                for n, leaf in enumerate(leaves)
            ]
            for row, output, complex_ in zip(rows, evaluations.first, form.complex)
        ]
        return Jacobian(outputs, aux, blocks)

    def _block(self, block: Array, output: Any, leaf: Any) -> Any:
        """A block like the output, or for a gradient like the leaf; in the leaf's dtype."""
        if type(leaf) is np.ndarray and type(output) is np.float64 and leaf.dtype is block.dtype:
            return block
        library = library_of(self, leaf)
        dtype = block_dtype(library_of(self, output).dtype(output), library.dtype(leaf))
        like = leaf if block.shape == library.shape(leaf) else output
        library = library_of(self, like)
        return library.asarray(
            np.asarray(block, order="C"),
            dtype=dtype,
            like=like if library.dtype(like) == dtype else None,
        )

    def linearize(self, function: FlatFunction, leaves: Arrays) -> Linearized:
        evaluations = FlatEvaluations(self, function, leaves)

        def stacked(stacks: Arrays) -> Arrays:
            return self._along(evaluations, [numbers_of(self, stack) for stack in stacks])

        outputs, aux = evaluations.base()
        pushed = functools.partial(self._pushed, evaluations)
        return Linearized(outputs, aux, pushed, stacked)

    def pushforward(
        self, function: FlatFunction, leaves: Arrays, tangents: Arrays, *, value: bool = True
    ) -> Pushforward:
        evaluations = FlatEvaluations(self, function, leaves)
        if value:
            evaluations.base()  # first: it is the evaluation that counts
        pushed = self._pushed(evaluations, tangents)
        outputs, aux = evaluations.base() if value else ((), evaluations.aux)
        return Pushforward(outputs, pushed, aux)

    def _pushed(self, evaluations: FlatEvaluations, tangents: Arrays) -> Arrays:
        require_numbers(self, tangents)
        return self._along(evaluations, [numbers_of(self, v)[None] for v in tangents], one=True)

    def _along(
        self, evaluations: FlatEvaluations, stacks: Sequence[Any], one: bool = False
    ) -> Arrays:
        """Stacks of tangents along these directions, or the tangents along one."""
        lines = Directions(evaluations.point(), stacks)
        slopes = self._slopes(evaluations, lines.moving())
        values = np.zeros((lines.count, evaluations.form.size), evaluations.form.dtype)
        values[lines.moves] = slopes.values
        return evaluations.native(values, one)

    def _slopes(self, evaluations: FlatEvaluations, lines: Lines) -> Slopes:
        slopes = evaluations.apart(lambda fresh: self.method.slopes(evaluations, lines, fresh))
        if lines.count:
            self._report(evaluations, lines, slopes, 1)
        return slopes

    # second order, where the inner derivatives are differences too

    def hessian(
        self, function: FlatFunction, leaves: Arrays, *, value: bool = True
    ) -> Jacobian | None:
        found = self._joint(function, leaves, hessian)
        if found is None:
            return None
        evaluations, lines, (first, slopes) = found
        blocks = []
        for (start, size, _), numbers in zip(lines.spans, lines.point.numbers):
            rows = slopes.values[start : start + size].reshape((*numbers.shape, lines.count))
            blocks.append(list(self._parts(rows, lines)))
        return Jacobian(self._parts(first[:, 0], lines), evaluations.all_as_aux(value), blocks)

    def hvp(self, function: FlatFunction, leaves: Arrays, directions: Arrays) -> Pushforward | None:
        require_numbers(self, directions)
        stacks = [numbers_of(self, v)[None] for v in directions]
        if not any(map(np.any, stacks)):
            return None
        found = self._joint(function, leaves, functools.partial(product, stacks=stacks))
        if found is None:
            return None
        _, lines, (first, slopes) = found
        return Pushforward(
            self._parts(first[:, 0], lines), self._parts(slopes.values[:, 0], lines), Aux()
        )

    def second_derivatives(
        self, function: FlatFunction, leaves: Arrays, *, value: bool = True
    ) -> Pushforward | None:
        found = self._joint(function, leaves, along)
        if found is None:
            return None
        evaluations, lines, (first, slopes) = found
        both = first, slopes.values
        if [numbers.shape for numbers in lines.point.numbers] == [()]:  # any outputs
            slope, bend = [evaluations.native(each[:1], one=True) for each in both]
        else:
            slope, bend = [self._parts(each[:, 0], lines) for each in both]
        return Pushforward(slope, bend, evaluations.all_as_aux(value))

    def _joint(
        self, function: FlatFunction, leaves: Arrays, compute: Callable[..., Second]
    ) -> tuple[FlatEvaluations, Coordinates, Second] | None:
        """Second derivatives from second differences of one function along coordinates.

        None where derivatives are taken of one another: with fixed steps, and at the edge of f's
        domain.
        """
        options, evaluations = self.method.options, FlatEvaluations(self, function, leaves)
        if options is None:
            return None
        try:
            point = evaluations.point()
            lines = Coordinates(point, point.complex)
            if not lines.count:
                return None
            evaluations.base()
            found = evaluations.apart(lambda fresh: compute(options, evaluations, lines, fresh))
        except StepError as error:
            raise PrecisionError(f"Finite differences: {error}") from None
        if not np.isfinite(found.slopes.values).all():
            return None
        note_step(self, "one joint stencil of second differences")
        self._report(evaluations, lines, found.slopes, 2)
        return evaluations, lines, found

    def _parts(self, values: Array, lines: Coordinates) -> Arrays:
        """What belongs to each leaf of values (..., lines), in the leaf's shape and dtype."""
        return tuple(
            [
                self._block(lines.part(n, values), leaf, leaf)
                for n, leaf in enumerate(lines.point.leaves)
            ]
        )

    def _report(
        self, evaluations: FlatEvaluations, lines: Lines, slopes: Slopes, order: int
    ) -> None:
        """Report the accuracy: to the operator, which warns; to outer differences, as noise.

        order: of these derivatives, without those that f takes itself. Raises PrecisionError for an
        inaccurate derivative of third order or more.
        """
        if not evaluations.is_heard(order, self.method.estimates):
            return
        depth, above = evaluations.level.order + order, enclosing()
        if depth >= 3 or above is not None:
            error, noise = overall(slopes)
            if above is not None:
                above.note(noise, depth)
                return
            if error > REFUSED[min(depth, 4)]:
                raise PrecisionError(
                    "Finite differences: the estimated relative error of this derivative of order"
                    f" {depth}, by differences of differences, is {error:.1g}, more than"
                    f" {REFUSED[min(depth, 4)]:g}. Give f a smoother form or more precision, choose"
                    " AutoFiniteDifferences(scale=...), or take the inner derivatives with an"
                    " engine: SecondOrder(AutoFiniteDifferences(), AutoJax())."
                )
        precision, gradient = evaluations.form.epsilon, evaluations.there.derives

        def accuracy() -> Accuracy:
            found = errors_by_leaf(lines, slopes, order, precision, gradient)
            return Accuracy(depth, tuple([LeafAccuracy(*leaf) for leaf in found]))

        note_accuracy(accuracy)

    def note(self, error: Exception) -> str | None:
        if (
            isinstance(error, TypeError)
            and re.search("must be Tensor, not|'Tensor'", str(error))
            and self.native is None
        ):
            return (
                "Code of torch got a NumPy array or number. Write"
                " AutoFiniteDifferences(native=AutoTorch()), which gives f tensors, or xp.sin(x)"
                " with xp = adinterface.array_namespace(x)."
            )
        return None if self.native is None else self.native.note(error)
