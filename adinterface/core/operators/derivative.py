"""`derivative`, `second_derivative` and their companions: functions of one real number."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from .. import derive
from ..call.call import Call
from ..call.output import form_of
from ..call.row import OperatorRow, Parts
from ..contract.auto import AutoBackend
from ..contract.backend import Arrays, Aux
from ..contract.registry import REGISTRY
from .run import run
from .typed import typed

if TYPE_CHECKING:
    from ... import _signatures as signatures

Value = TypeVar("Value")


class ValueAndDerivative(NamedTuple, Generic[Value]):
    """The result of `value_and_derivative`."""

    value: Value
    derivative: Value


class ValueDerivativeAndSecondDerivative(NamedTuple, Generic[Value]):
    """The result of `value_derivative_and_second_derivative`."""

    value: Value
    derivative: Value
    second_derivative: Value


@typed["signatures.DerivativeOperator"]()
def derivative(
    f: Callable[..., Any], backend: AutoBackend, x: Any, /, *constants: Any, **kwargs: Any
) -> Any:
    """The derivative of a function of one real number.

    Args:
        f: Takes the number and the constants.
        backend: As in `gradient`.
        x: A Python number or a 0-d array.
        constants: Further arguments of f, each written `Constant(c)`.
        kwargs: Handed to f, never differentiated.

    Returns:
        The derivative, in the structure of f's value.

    Raises:
        NotDifferentiableError: x is not one real number, or a further argument is not a Constant.

    >>> from adinterface import AutoFiniteDifferences, derivative
    >>> round(derivative(lambda x: 5 * x + 3, AutoFiniteDifferences(), 10), 6)
    5.0
    """
    return run(DERIVATIVE, backend, f, (x, *constants), kwargs)


@typed["signatures.ValueAndDerivativeOperator"]()
def value_and_derivative(
    f: Callable[..., Any], backend: AutoBackend, x: Any, /, *constants: Any, **kwargs: Any
) -> ValueAndDerivative[Any]:
    """`(value, derivative)` from the same evaluations of f.

    Args:
        f, backend, x, constants, kwargs: As in `derivative`.

    Returns:
        What f returned, and its derivative, in one structure.

    Raises:
        NotDifferentiableError: As `derivative`.
    """
    both: ValueAndDerivative[Any] = run(VALUE_AND_DERIVATIVE, backend, f, (x, *constants), kwargs)
    return both


@typed["signatures.DerivativeOperator"]()
def second_derivative(
    f: Callable[..., Any], backend: AutoBackend, x: Any, /, *constants: Any, **kwargs: Any
) -> Any:
    """The second derivative of a function of one real number.

    Args:
        f, x, constants, kwargs: As in `derivative`.
        backend: As in `gradient`, or `SecondOrder(outer, inner)`.

    Returns:
        The second derivative, in the structure of f's value.

    Raises:
        NotDifferentiableError: As `derivative`.

    >>> from adinterface import AutoFiniteDifferences, second_derivative
    >>> round(second_derivative(lambda x: x**3, AutoFiniteDifferences(), 2.0), 4)
    12.0
    """
    return run(SECOND_DERIVATIVE, backend, f, (x, *constants), kwargs)


@typed["signatures.ValueDerivativeAndSecondDerivativeOperator"]()
def value_derivative_and_second_derivative(
    f: Callable[..., Any], backend: AutoBackend, x: Any, /, *constants: Any, **kwargs: Any
) -> ValueDerivativeAndSecondDerivative[Any]:
    """`(value, derivative, second_derivative)` from the same evaluations of f.

    Args:
        f, backend, x, constants, kwargs: As in `second_derivative`.

    Returns:
        What f returned, and both derivatives, in one structure.

    Raises:
        NotDifferentiableError: As `derivative`.
    """
    result: ValueDerivativeAndSecondDerivative[Any] = run(
        VALUE_DERIVATIVE_AND_SECOND_DERIVATIVE, backend, f, (x, *constants), kwargs
    )
    return result


def _value_and_derivative(f: Call, x: Arrays, _: Arrays) -> Parts:
    """The pushforward of one."""
    outputs, pushed, aux = derive.derivative(f.plan.backend, f, x)
    return (outputs, aux), (form_of(aux), pushed)


def _derivative(f: Call, x: Arrays, _: Arrays) -> Parts:
    _, pushed, aux = derive.derivative(f.plan.backend, f, x, value=False)
    return ((form_of(aux), pushed),)


def _value_derivative_and_second(f: Call, x: Arrays, _: Arrays) -> Parts:
    """The pushforward of one, of the pushforward of one, whose aux is the value and its aux."""
    first, second, aux = derive.second_derivative(f.plan.outer, f.plan.inner, f, x)
    outputs, beside, form = aux.arrays[: len(first)], aux.arrays[len(first) :], form_of(aux)
    return (outputs, Aux(beside, aux.layout)), (form, first), (form, second)


def _second_derivative(f: Call, x: Arrays, _: Arrays) -> Parts:
    _, second, aux = derive.second_derivative(f.plan.outer, f.plan.inner, f, x, value=False)
    return ((form_of(aux), second),)


VALUE_AND_DERIVATIVE = OperatorRow(
    "value_and_derivative",
    _value_and_derivative,
    ("value", "tangent"),
    ValueAndDerivative,
    takes="one number",
)
DERIVATIVE = OperatorRow("derivative", _derivative, ("tangent",), takes="one number")
VALUE_DERIVATIVE_AND_SECOND_DERIVATIVE = OperatorRow(
    "value_derivative_and_second_derivative",
    _value_derivative_and_second,
    ("value", "tangent", "tangent"),
    ValueDerivativeAndSecondDerivative,
    order=2,
    takes="one number",
)
SECOND_DERIVATIVE = OperatorRow(
    "second_derivative", _second_derivative, ("tangent",), order=2, takes="one number"
)

REGISTRY.operators |= {
    derivative: DERIVATIVE,
    value_and_derivative: VALUE_AND_DERIVATIVE,
    second_derivative: SECOND_DERIVATIVE,
    value_derivative_and_second_derivative: VALUE_DERIVATIVE_AND_SECOND_DERIVATIVE,
}
