"""`hvp`, `hessian`, `diagonal_hessian` and their companions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from .. import derive
from ..call.call import Call
from ..call.row import OperatorRow, Parts
from ..contract.auto import AutoBackend
from ..contract.backend import Arrays, Aux
from ..contract.registry import REGISTRY
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
def hvp(
    f: Callable[..., Any], backend: AutoBackend, x: Any, v: Any, /, *constants: Any, **kwargs: Any
) -> Any:
    """The Hessian of a real scalar function times a vector, without forming the Hessian.

    A plain backend uses the fastest correct pair of modes of its engine: forward over reverse (JAX,
    autograd), reverse over reverse (torch), differences of differences (finite differences).

    Args:
        f: Takes x and the constants. Returns a real 0-d scalar.
        backend: As in `gradient`; `SecondOrder(outer, inner)` chooses the pair of modes.
        x: A tree of arrays. For complex arrays the result is the derivative of the gradient, in the
            gradient's convention.
        v: A tangent with x's structure and shapes (not an argument of f); None in it is zero.
        constants: Further arguments of f, each written `Constant(c)`.
        kwargs: Handed to f, never differentiated.

    Returns:
        The product, of x's type and structure.

    Raises:
        NotDifferentiableError: A further argument is not a Constant.
        OutputError: f does not return a real scalar.
        TreeError: v does not match x; names the path.

    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences, hvp
    >>> x, v = np.array([1.0, 2.0]), np.array([1.0, 1.0])
    >>> hvp(lambda x: (x**3).sum(), AutoFiniteDifferences(), x, v).round(5)
    array([ 6., 12.])
    """
    return run(HVP, backend, f, (x, v, *constants), kwargs)


@typed["signatures.GradientAndHvpOperator"]()
def gradient_and_hvp(
    f: Callable[..., Any], backend: AutoBackend, x: Any, v: Any, /, *constants: Any, **kwargs: Any
) -> GradientAndHvp[Any]:
    """`(gradient, hvp)` from the same evaluations of f.

    Args:
        f, backend, x, v, constants, kwargs: As in `hvp`.

    Returns:
        The gradient and the product, both of x's type and structure.

    Raises:
        AdinterfaceError: As `hvp`.
    """
    both: GradientAndHvp[Any] = run(GRADIENT_AND_HVP, backend, f, (x, v, *constants), kwargs)
    return both


@typed["signatures.HessianOperator"]()
def hessian(
    f: Callable[..., Any], backend: AutoBackend, x: Any, /, *constants: Any, **kwargs: Any
) -> Any:
    """The Hessian of a real scalar function.

    Args:
        f: Takes x and the constants. Returns a real 0-d scalar.
        backend: As in `hvp`.
        x: A tree of real arrays.
        constants: Further arguments of f, each written `Constant(c)`.
        kwargs: Handed to f, never differentiated.

    Returns:
        For an array x an array of shape `x.shape + x.shape` (row-major); for a tree, x's tree of
        x's trees, whose leaves have the shapes of both leaves, one after the other. A float for a
        float.

    Raises:
        NotDifferentiableError: A leaf is complex, or a further argument is not a Constant.
        OutputError: f does not return a real scalar.

    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences, hessian
    >>> x = np.array([0.3, -0.8])
    >>> hessian(lambda x: x[0] * x[1], AutoFiniteDifferences(), x).round(6) + 0.0
    array([[0., 1.],
           [1., 0.]])
    """
    return run(HESSIAN, backend, f, (x, *constants), kwargs)


@typed["signatures.ValueGradientAndHessianOperator"]()
def value_gradient_and_hessian(
    f: Callable[..., Any], backend: AutoBackend, x: Any, /, *constants: Any, **kwargs: Any
) -> ValueGradientAndHessian[Any, Any, Any]:
    """`(value, gradient, hessian)`, with no more evaluations of f than `hessian` alone.

    Args:
        f, backend, x, constants, kwargs: As in `hessian`.

    Returns:
        What f returned, the gradient by x, and the Hessian as from `hessian`.

    Raises:
        AdinterfaceError: As `hessian`.
    """
    result: ValueGradientAndHessian[Any, Any, Any] = run(
        VALUE_GRADIENT_AND_HESSIAN, backend, f, (x, *constants), kwargs
    )
    return result


@typed["signatures.GradientOperator"]()
def diagonal_hessian(
    f: Callable[..., Any], backend: AutoBackend, /, *args: Any, **kwargs: Any
) -> tuple[Any, ...]:
    """The diagonal of the Hessian of a real scalar function, in the form of `gradient`.

    Takes one Hessian-vector product for each number, in batches, and never holds the whole Hessian.

    Args:
        f: As in `gradient`.
        backend: As in `hvp`.
        args: As in `gradient`, without complex leaves.
        kwargs: As in `gradient`.

    Returns:
        A tuple with one entry for each argument, of the argument's own type and structure:
        d2f/dx_i2 for each number.

    Raises:
        NotDifferentiableError: A leaf is complex, or no argument has a gradient.
        AdinterfaceError: As `gradient`.

    >>> from adinterface import AutoFiniteDifferences, diagonal_hessian
    >>> diagonals = diagonal_hessian(lambda x, y: x**2 * y, AutoFiniteDifferences(), 1.0, 2.0)
    >>> [round(d, 5) for d in diagonals]
    [4.0, 0.0]
    """
    diagonals: tuple[Any, ...] = run(DIAGONAL_HESSIAN, backend, f, args, kwargs)
    return diagonals


def _gradient_and_hvp(f: Call, x: Arrays, v: Arrays) -> Parts:
    """The pushforward of the gradient along v."""
    gradients, products, _ = derive.hvp(f.plan.outer, f.plan.inner, f, x, v)
    return gradients, products


def _hvp(f: Call, x: Arrays, v: Arrays) -> Parts:
    return (derive.hvp(f.plan.outer, f.plan.inner, f, x, v, value=False).tangents,)


def _value_gradient_and_hessian(f: Call, x: Arrays, _: Arrays) -> Parts:
    """The Jacobian of the gradient, whose aux is the value and its aux."""
    gradients, aux, blocks = derive.hessian(f.plan.outer, f.plan.inner, f, x)
    return (aux.arrays[:1], Aux(aux.arrays[1:], aux.layout)), gradients, blocks


def _hessian(f: Call, x: Arrays, _: Arrays) -> Parts:
    return (derive.hessian(f.plan.outer, f.plan.inner, f, x, value=False).blocks,)


def _diagonal_hessian(f: Call, x: Arrays, _: Arrays) -> Parts:
    return (derive.hessian_diagonal(f.plan.outer, f.plan.inner, f, x),)


GRADIENT_AND_HVP = OperatorRow(
    "gradient_and_hvp",
    _gradient_and_hvp,
    ("argument", "argument"),
    GradientAndHvp,
    output="scalar",
    order=2,
    of_complex=True,
    takes="one argument",
    directions="second argument",
)
HVP = replace(GRADIENT_AND_HVP, name="hvp", compute=_hvp, forms=("argument",), result=None)
VALUE_GRADIENT_AND_HESSIAN = OperatorRow(
    "value_gradient_and_hessian",
    _value_gradient_and_hessian,
    ("value", "argument", "hessian"),
    ValueGradientAndHessian,
    output="scalar",
    order=2,
    takes="one argument",
)
HESSIAN = OperatorRow(
    "hessian", _hessian, ("hessian",), output="scalar", order=2, takes="one argument"
)
DIAGONAL_HESSIAN = OperatorRow(
    "diagonal_hessian", _diagonal_hessian, ("arguments",), output="scalar", order=2
)

REGISTRY.operators |= {
    hvp: HVP,
    gradient_and_hvp: GRADIENT_AND_HVP,
    hessian: HESSIAN,
    value_gradient_and_hessian: VALUE_GRADIENT_AND_HESSIAN,
    diagonal_hessian: DIAGONAL_HESSIAN,
}
