"""`hvp`, `hessian`, `diagonal_hessian` and their companions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

from .. import derive
from ..call.call import Call
from ..call.cotangents import native_tangents
from ..contract.auto import AutoBackend
from ..contract.backend import Arrays, Aux
from .dispatch import OPERATIONS
from .operation import Directions, Forms, Results, ResultType, SecondOrderOperation, Takes
from .run import run
from .typed import typed

if TYPE_CHECKING:
    from ... import _signatures as signatures

Value = TypeVar("Value")
Gradient = TypeVar("Gradient")
HessianMatrix = TypeVar("HessianMatrix")


class GradientAndHvp(NamedTuple, Generic[Gradient]):
    """The result of `gradient_and_hvp`."""

    gradient: Gradient
    hvp: Gradient


class ValueGradientAndHessian(NamedTuple, Generic[Value, Gradient, HessianMatrix]):
    """The result of `value_gradient_and_hessian`."""

    value: Value
    gradient: Gradient
    hessian: HessianMatrix


@typed["signatures.HvpOperator"]()
def hvp(f: Callable[..., Any], backend: AutoBackend, x: Any, v: Any, /, *constants: Any, **kwargs: Any) -> Any:
    """The Hessian of a real scalar function times a vector, without forming the Hessian; of x's type and structure.

    x: a tree of arrays. For complex arrays the result is the derivative of the gradient, in the gradient's convention.
    v: a tangent with x's structure and shapes (not an argument of f); None in it is zero.
    constants: further arguments of f, each written `Constant(c)`.

    A plain backend uses the fastest correct pair of modes of its engine: forward over reverse (JAX, autograd), reverse over
    reverse (torch), differences of differences (finite differences). `SecondOrder(outer, inner)` chooses the pair.

    Raises NotDifferentiableError for a further argument that is not a Constant, and OutputError if f does not return a
    real scalar. Raises TreeError, with the path, for a v that does not match.

    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences, hvp
    >>> hvp(lambda x: (x**3).sum(), AutoFiniteDifferences(), np.array([1.0, 2.0]), np.array([1.0, 1.0])).round(5)
    array([ 6., 12.])
    """
    return run(Hvp, backend, f, (x, v, *constants), kwargs)


@typed["signatures.GradientAndHvpOperator"]()
def gradient_and_hvp(
    f: Callable[..., Any], backend: AutoBackend, x: Any, v: Any, /, *constants: Any, **kwargs: Any
) -> GradientAndHvp[Any]:
    """`(gradient, hvp)` from the same evaluations of f; both of x's type and structure. See `hvp`."""
    both: GradientAndHvp[Any] = run(GradientHvp, backend, f, (x, v, *constants), kwargs)
    return both


@typed["signatures.HessianOperator"]()
def hessian(f: Callable[..., Any], backend: AutoBackend, x: Any, /, *constants: Any, **kwargs: Any) -> Any:
    """The Hessian of a real scalar function.

    For an array x an array of shape `x.shape + x.shape` (row-major); for a tree, x's tree of x's trees, whose leaves
    have the shapes of both leaves, one after the other. A float for a float. Arguments and errors as for `hvp`, and
    NotDifferentiableError for complex leaves.

    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences, hessian
    >>> hessian(lambda x: x[0] * x[1], AutoFiniteDifferences(), np.array([0.3, -0.8])).round(6) + 0.0
    array([[0., 1.],
           [1., 0.]])
    """
    return run(Hessian, backend, f, (x, *constants), kwargs)


@typed["signatures.ValueGradientAndHessianOperator"]()
def value_gradient_and_hessian(
    f: Callable[..., Any], backend: AutoBackend, x: Any, /, *constants: Any, **kwargs: Any
) -> ValueGradientAndHessian[Any, Any, Any]:
    """`(value, gradient, hessian)`, with no more evaluations of f than `hessian` alone; see there."""
    result: ValueGradientAndHessian[Any, Any, Any] = run(ValueGradientHessian, backend, f, (x, *constants), kwargs)
    return result


@typed["signatures.GradientOperator"]()
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
    forms: ClassVar[Forms] = ("arguments",)

    def compute(self, function: Call, leaves: Arrays, tangents: Arrays) -> Results:
        return (derive.hessian_diagonal(self.outer, self.inner, function, leaves),)


class GradientHvp(SecondOrderOperation):
    name = "gradient_and_hvp"
    result: ClassVar[ResultType] = GradientAndHvp
    forms: ClassVar[Forms] = ("argument", "argument")
    takes: ClassVar[Takes] = "one argument"
    of_complex = True
    directions: ClassVar[Directions | None] = "second argument"

    def arguments(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...] | None]:
        if len(args) < 2:
            raise TypeError(f"{self.name}(f, backend, x, v, *constants): takes x and its direction v, but got {len(args)}.")
        x, v, *constants = args
        return (x, *constants), (v, *[None] * len(constants))

    def tangents(self, call: Call, directions: tuple[Any, ...]) -> Arrays:
        return native_tangents(call, directions, name="v")

    def compute(self, function: Call, leaves: Arrays, tangents: Arrays) -> Results:
        both = self.result is not None
        gradients, products, _ = derive.hvp(self.outer, self.inner, function, leaves, tangents, value=both)
        return (gradients, products) if both else (products,)


class Hvp(GradientHvp):
    name = "hvp"
    result: ClassVar[ResultType] = None
    forms: ClassVar[Forms] = ("argument",)


class ValueGradientHessian(SecondOrderOperation):
    name = "value_gradient_and_hessian"
    result: ClassVar[ResultType] = ValueGradientAndHessian
    forms: ClassVar[Forms] = ("value", "argument", "hessian")
    takes: ClassVar[Takes] = "one argument"

    def compute(self, function: Call, leaves: Arrays, tangents: Arrays) -> Results:
        gradients, aux, blocks = derive.hessian(self.outer, self.inner, function, leaves, value=self.gives_value)
        outputs, beside = aux.arrays[:1], Aux(aux.arrays[1:], aux.form)
        return self.parts(outputs, beside, *([gradients] if self.gives_value else []), blocks)


class Hessian(ValueGradientHessian):
    name = "hessian"
    result: ClassVar[ResultType] = None
    forms: ClassVar[Forms] = ("hessian",)


OPERATIONS |= {
    hvp: Hvp,
    gradient_and_hvp: GradientHvp,
    hessian: Hessian,
    value_gradient_and_hessian: ValueGradientHessian,
    diagonal_hessian: DiagonalHessian,
}
