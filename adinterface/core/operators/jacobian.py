"""`jacobian` and `value_and_jacobian`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from .. import derive
from ..call.call import Call
from ..call.output import form_of
from ..call.row import OperatorRow, Parts
from ..contract.auto import AutoBackend
from ..contract.backend import Arrays
from ..contract.registry import REGISTRY
from .run import run
from .typed import typed

if TYPE_CHECKING:
    from ... import _signatures as signatures

Value = TypeVar("Value")
Jacobians = TypeVar("Jacobians")


class ValueAndJacobian(NamedTuple, Generic[Value, Jacobians]):
    """The result of `value_and_jacobian`."""

    #: What f returned.
    value: Value
    #: One entry for each positional argument; for a tree-valued f that tuple for each leaf of the
    #: value.
    jacobian: Jacobians


@typed["signatures.JacobianOperator"]()
def jacobian(f: Callable[..., Any], backend: AutoBackend, /, *args: Any, **kwargs: Any) -> Any:
    """The Jacobian of f with respect to every positional argument.

    Forward mode takes one pushforward for each number in the arguments, reverse mode one back for
    each number in the result; without `mode` the fewer of the two, or the way that is
    cheaper on the engine. `chunk_size` bounds how many are computed at once (by default as many as
    need at most 64 MiB of seeds).

    A real result of a complex argument has d/dRe + i d/dIm. A complex result has the derivative by
    the real part of the argument, in every mode: the holomorphic derivative, if f is holomorphic.
    Of any other f it is half of the derivative; pass the real and imaginary parts as two arguments
    to get all.

    Args:
        f: Returns an array, or a tree of arrays.
        backend, args, kwargs: As in `gradient`.

    Returns:
        For an array, a tuple with one entry for each argument, in the argument's structure, whose
        leaves have the shape `y.shape + x.shape` (row-major). For a tree, that tuple for each leaf
        of the tree, in its structure; None for a leaf without a derivative. Arrays are in the
        library of the first differentiated array argument.

    Raises:
        OutputError: Nothing in the result of f has a derivative.
        AdinterfaceError: As `gradient`.

    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences, jacobian
    >>> x = np.array([1.0, 2.0])
    >>> jacobian(lambda a, x: a**2 * x, AutoFiniteDifferences(), x, 3.0)[1].round(6)
    array([1., 4.])
    """
    return run(JACOBIAN, backend, f, args, kwargs)


@typed["signatures.ValueAndJacobianOperator"]()
def value_and_jacobian(
    f: Callable[..., Any], backend: AutoBackend, /, *args: Any, **kwargs: Any
) -> ValueAndJacobian[Any, Any]:
    """`(value, jacobian)`, with no more evaluations of f than `jacobian` alone.

    Args:
        f, backend, args, kwargs: As in `jacobian`.

    Returns:
        What f returned, and the Jacobian as from `jacobian`.

    Raises:
        AdinterfaceError: As `jacobian`.
    """
    both: ValueAndJacobian[Any, Any] = run(VALUE_AND_JACOBIAN, backend, f, args, kwargs)
    return both


def _value_and_jacobian(f: Call, x: Arrays, _: Arrays) -> Parts:
    outputs, aux, blocks = derive.jacobian(f.plan.backend, f, x)
    return (outputs, aux), (form_of(aux), blocks)


def _jacobian(f: Call, x: Arrays, _: Arrays) -> Parts:
    _, aux, blocks = derive.jacobian(f.plan.backend, f, x, value=False)
    return ((form_of(aux), blocks),)


VALUE_AND_JACOBIAN = OperatorRow(
    "value_and_jacobian", _value_and_jacobian, ("value", "jacobian"), ValueAndJacobian
)
JACOBIAN = OperatorRow("jacobian", _jacobian, ("jacobian",))

REGISTRY.operators |= {jacobian: JACOBIAN, value_and_jacobian: VALUE_AND_JACOBIAN}
