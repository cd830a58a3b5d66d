"""`hvp`, `hessian`, `diagonal_hessian` and their companions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

from .. import derive
from ..call.call import Call
from ..call.output import Evaluation, Function
from ..call.plan import Plan
from ..contract.auto import AutoBackend
from ..contract.backend import Arrays
from ..derive.record import active_record
from ..tree import build_gradient
from .operation import OPERATIONS, Form, Results, SecondOrderOperation, Straight, run
from .pullback import native_tangents
from .typed import as_gradient


class GradientAndHvp(NamedTuple):
    """The result of `gradient_and_hvp`."""

    gradient: Any
    hvp: Any


class ValueGradientAndHessian(NamedTuple):
    """The result of `value_gradient_and_hessian`."""

    value: Any
    gradient: Any
    hessian: Any


def hvp(f: Callable[..., Any], backend: AutoBackend, /, x: Any, v: Any, *constants: Any, **kwargs: Any) -> Any:
    """The Hessian of a real scalar function times a vector, without forming the Hessian; of x's type and structure.

    x: a tree of real arrays.
    v: a tangent of x's structure and shapes (it is no argument of f); None in it is zero.
    constants: further arguments of f, each written `Constant(c)`.

    A plain backend takes the fastest right pair of its engine (JAX: forward over reverse; torch and autograd: reverse
    over reverse; finite differences: differences of differences); `SecondOrder(outer, inner)` says otherwise.

    Raises NotDifferentiableError for complex leaves or a further argument that is not a Constant, TreeError, naming
    the path, for a v that does not match, OutputError if f does not return a real scalar.

    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences, hvp
    >>> hvp(lambda x: (x**3).sum(), AutoFiniteDifferences(), np.array([1.0, 2.0]), np.array([1.0, 1.0])).round(5)
    array([ 6., 12.])
    """
    return run(Hvp, backend, f, (x, v, *constants), kwargs)


def gradient_and_hvp(
    f: Callable[..., Any], backend: AutoBackend, /, x: Any, v: Any, *constants: Any, **kwargs: Any
) -> GradientAndHvp:
    """`(gradient, hvp)` from the same evaluations of f; both of x's type and structure. See `hvp`."""
    both: GradientAndHvp = run(GradientHvp, backend, f, (x, v, *constants), kwargs)
    return both


def hessian(f: Callable[..., Any], backend: AutoBackend, /, x: Any, *constants: Any, **kwargs: Any) -> Any:
    """The Hessian of a real scalar function.

    For an array x an array of shape `x.shape + x.shape` (row-major); for a tree, x's tree of x's trees, whose leaves
    have the shapes of both leaves, one after the other. A float for a float. Arguments and errors as for `hvp`.

    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences, hessian
    >>> hessian(lambda x: x[0] * x[1], AutoFiniteDifferences(), np.array([0.3, -0.8])).round(6) + 0.0
    array([[0., 1.],
           [1., 0.]])
    """
    return run(Hessian, backend, f, (x, *constants), kwargs)


def value_gradient_and_hessian(
    f: Callable[..., Any], backend: AutoBackend, /, x: Any, *constants: Any, **kwargs: Any
) -> ValueGradientAndHessian:
    """`(value, gradient, hessian)`, with no more evaluations of f than `hessian` alone; see there."""
    found: ValueGradientAndHessian = run(ValueGradientHessian, backend, f, (x, *constants), kwargs)
    return found


@as_gradient
def diagonal_hessian(f: Callable[..., Any], backend: AutoBackend, /, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """The diagonal of the Hessian of a real scalar function, in the form of `gradient`.

    A tuple with one entry for each argument, of the argument's own type and structure: d2f/dx_i2 for each number.
    Takes one Hessian-vector product for each number, in batches, and never holds the whole Hessian.
    Raises NotDifferentiableError for complex leaves; otherwise as `gradient`.

    >>> from adinterface import AutoFiniteDifferences, diagonal_hessian
    >>> [round(d, 5) for d in diagonal_hessian(lambda x, y: x**2 * y, AutoFiniteDifferences(), 1.0, 2.0)]
    [4.0, 0.0]
    """
    diagonals: tuple[Any, ...] = run(DiagonalHessian, backend, f, args, kwargs)
    return diagonals


class DiagonalHessian(SecondOrderOperation):
    name = "diagonal_hessian"
    forms = ("arguments",)

    def check(self, call: Call) -> None:
        call.require_real()

    def compute(self, function: Function, leaves: Arrays, tangents: Arrays) -> Results:
        return derive.hessian_diagonal(self.outer, derive.GradientFunction(self.inner, function), leaves)[2]

    def finish(self, call: Call, function: Function, results: Results) -> Any:
        return call.gradients(results)


class GradientHvp(SecondOrderOperation):
    name = "gradient_and_hvp"
    result: ClassVar[type[GradientAndHvp] | None] = GradientAndHvp
    forms: ClassVar[tuple[Form, ...]] = ("argument", "argument")
    takes = "one argument"
    directions = "second argument"

    def arguments(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...] | None]:
        if len(args) < 2:
            raise TypeError(f"{self.name}(f, backend, x, v, *constants): takes x and its direction v, but got {len(args)}.")
        x, v, *constants = args
        return (x, *constants), (v, *[None] * len(constants))

    def check(self, call: Call) -> None:
        call.require_one()
        call.require_real()

    def tangents(self, call: Call, given: tuple[Any, ...] | None) -> Arrays:
        assert given is not None
        return native_tangents(call, given, name="v")

    def compute(self, function: Function, leaves: Arrays, tangents: Arrays) -> Results:
        return derive.hvp(self.outer, derive.GradientFunction(self.inner, function), leaves, tangents)

    def finish(self, call: Call, function: Function, results: Results) -> Any:
        gradients, products = results[:2]
        return GradientAndHvp(call.gradients(gradients)[0], call.gradients(products)[0])


class Hvp(GradientHvp):
    name = "hvp"
    result = None
    forms = ("argument",)

    def straight(self, plan: Plan) -> Straight | None:
        recognize, builders = plan.recognize_tangents, plan.builders
        alone = self.outer.auto == self.inner.auto
        product = self.inner.straight_product(plan.all_dtypes) if alone and recognize is not None else None
        if product is None:
            return None
        assert recognize is not None
        assert builders is not None
        make = builders.gradients[0]

        def straight(f: Callable[..., Any], values: Sequence[Any], given: Any) -> Any:
            if active_record() is not None:
                return None
            directions = recognize(given, {})
            if directions is None:
                return None
            evaluation = Evaluation(plan, f, values, self.output)
            found = product(evaluation, evaluation.active, directions, evaluation.taken)
            return None if found is None else make(found)

        return straight

    def compute(self, function: Function, leaves: Arrays, tangents: Arrays) -> Results:
        return derive.hessian_product(self.outer, derive.GradientFunction(self.inner, function), leaves, tangents)

    def finish(self, call: Call, function: Function, results: Results) -> Any:
        return call.gradients(results)[0]


class ValueGradientHessian(SecondOrderOperation):
    name = "value_gradient_and_hessian"
    result: ClassVar[type[ValueGradientAndHessian] | None] = ValueGradientAndHessian
    forms: ClassVar[tuple[Form, ...]] = ("value", "argument", "hessian")
    takes = "one argument"

    def check(self, call: Call) -> None:
        call.require_one()
        call.require_real()

    def compute(self, function: Function, leaves: Arrays, tangents: Arrays) -> Results:
        return derive.jacobian(self.outer, derive.GradientFunction(self.inner, function), leaves)

    def finish(self, call: Call, function: Function, results: Results) -> Any:
        gradients, aux, blocks = results
        value = function.assemble(aux[:1], aux[1:], call.present)
        return ValueGradientAndHessian(value, call.gradients(gradients)[0], _hessian_of(call, blocks))


class Hessian(ValueGradientHessian):
    name = "hessian"
    result = None
    forms = ("hessian",)

    def compute(self, function: Function, leaves: Arrays, tangents: Arrays) -> Results:
        # Without value and gradient, which compiled code need not return, and flat.
        gradient = derive.GradientFunction(self.inner, function)
        return tuple([block for row in derive.jacobian(self.outer, gradient, leaves, value=False)[2] for block in row])

    def finish(self, call: Call, function: Function, results: Results) -> Any:
        if call.plan.only_arrays and len(results) == 1:
            return call.present(results[0])
        count = len(call.plan.active)
        return _hessian_of(call, [results[n : n + count] for n in range(0, len(results), count)])


def _hessian_of(call: Call, blocks: Results) -> Any:
    structure = call.structures[0]
    rows = [build_gradient(structure, iter([call.present(block) for block in row])) for row in blocks]
    return build_gradient(structure, iter(rows))


OPERATIONS |= {
    hvp: Hvp,
    gradient_and_hvp: GradientHvp,
    hessian: Hessian,
    value_gradient_and_hessian: ValueGradientHessian,
    diagonal_hessian: DiagonalHessian,
}
