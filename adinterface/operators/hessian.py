"""`hvp`, `hessian`, `diagonal_hessian` and their companions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..auto import AutoBackend
from ..backend import Arrays, Backend
from ..call import Call, Function
from ..order import carrier, second_order
from ..tree import build_gradient
from . import derive
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
    return _hvp("hvp", f, backend, x, v, constants, kwargs).hvp


def gradient_and_hvp(
    f: Callable[..., Any], backend: AutoBackend, /, x: Any, v: Any, *constants: Any, **kwargs: Any
) -> GradientAndHvp:
    """`(gradient, hvp)` from the same evaluations of f; both of x's type and structure. See `hvp`."""
    return _hvp("gradient_and_hvp", f, backend, x, v, constants, kwargs)


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
    return _hessian("hessian", f, backend, (x, *constants), kwargs).hessian


def value_gradient_and_hessian(
    f: Callable[..., Any], backend: AutoBackend, /, x: Any, *constants: Any, **kwargs: Any
) -> ValueGradientAndHessian:
    """`(value, gradient, hessian)`, with no more evaluations of f than `hessian` alone; see there."""
    return _hessian("value_gradient_and_hessian", f, backend, (x, *constants), kwargs)


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
    outer, call, function, leaves = _prepare("diagonal_hessian", f, backend, args, kwargs)
    with call.precision():
        _, _, diagonals = derive.hessian_diagonal(outer, function, leaves)
        return call.gradients(diagonals)


def _prepare(
    operator: str, f: Callable[..., Any], auto: AutoBackend, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Backend, Call, derive.GradientFunction, Arrays]:
    outer, inner = second_order(auto)
    call = Call(operator, carrier(outer, inner), args, kwargs)
    if operator != "diagonal_hessian":
        call.require_one()
    call.require_real()
    with call.precision():
        leaves = call.native()
    return outer, call, derive.GradientFunction(inner, call.function(f, "scalar")), leaves


def _hvp(
    operator: str,
    f: Callable[..., Any],
    auto: AutoBackend,
    x: Any,
    v: Any,
    constants: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> GradientAndHvp:
    outer, call, function, leaves = _prepare(operator, f, auto, (x, *constants), kwargs)
    with call.precision():
        tangents = native_tangents(call, (v, *[None] * len(constants)), name="v")
        gradients, products, _ = derive.hvp(outer, function, leaves, tangents)
        return GradientAndHvp(call.gradients(gradients)[0], call.gradients(products)[0])


def _hessian(
    operator: str, f: Callable[..., Any], auto: AutoBackend, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> ValueGradientAndHessian:
    outer, call, function, leaves = _prepare(operator, f, auto, args, kwargs)
    with call.precision():
        gradients, aux, blocks = derive.jacobian(outer, function, leaves)
        flat: Function = call.last_function
        value = flat.assemble(aux[:1], aux[1:], call.present)
        structure = call.structures[0]
        rows = [build_gradient(structure, iter([call.present(block) for block in row])) for row in blocks]
        return ValueGradientAndHessian(value, call.gradients(gradients)[0], build_gradient(structure, iter(rows)))
