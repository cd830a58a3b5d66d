"""`derivative`, `second_derivative` and their companions: functions of one real number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..auto import AutoBackend
from ..call import Call
from ..errors import NotDifferentiableError
from ..order import carrier, first_order, second_order
from . import derive


class ValueAndDerivative(NamedTuple):
    """The result of `value_and_derivative`."""

    value: Any
    derivative: Any


class ValueDerivativeAndSecondDerivative(NamedTuple):
    """The result of `value_derivative_and_second_derivative`."""

    value: Any
    derivative: Any
    second_derivative: Any


def derivative(f: Callable[..., Any], backend: AutoBackend, /, x: Any, *constants: Any, **kwargs: Any) -> Any:
    """The derivative of a function of one real number, in the structure of f's value.

    x: a Python number or a 0-d array. Any further argument of f must be written `Constant(c)`.
    Raises NotDifferentiableError if x is not one real number, or if a further argument is not a Constant.

    >>> from adinterface import AutoFiniteDifferences, derivative
    >>> round(derivative(lambda x: 5 * x + 3, AutoFiniteDifferences(), 10), 6)
    5.0
    """
    return _derivative("derivative", f, backend, (x, *constants), kwargs).derivative


def value_and_derivative(
    f: Callable[..., Any], backend: AutoBackend, /, x: Any, *constants: Any, **kwargs: Any
) -> ValueAndDerivative:
    """`(value, derivative)` from the same evaluations of f; see `derivative`."""
    return _derivative("value_and_derivative", f, backend, (x, *constants), kwargs)


def second_derivative(f: Callable[..., Any], backend: AutoBackend, /, x: Any, *constants: Any, **kwargs: Any) -> Any:
    """The second derivative of a function of one real number, in the structure of f's value; see `derivative`.

    >>> from adinterface import AutoFiniteDifferences, second_derivative
    >>> round(second_derivative(lambda x: x**3, AutoFiniteDifferences(), 2.0), 4)
    12.0
    """
    return _second("second_derivative", f, backend, (x, *constants), kwargs).second_derivative


def value_derivative_and_second_derivative(
    f: Callable[..., Any], backend: AutoBackend, /, x: Any, *constants: Any, **kwargs: Any
) -> ValueDerivativeAndSecondDerivative:
    """`(value, derivative, second_derivative)` from the same evaluations of f; see `derivative`."""
    return _second("value_derivative_and_second_derivative", f, backend, (x, *constants), kwargs)


def _one_number(call: Call) -> None:
    call.require_one()
    leaf = call.active[0]
    shape = leaf.library.shape(leaf.value)
    if len(call.active) != 1 or shape != ():
        seen = f"{len(call.active)} arrays" if len(call.active) != 1 else f"an array of shape {shape}"
        raise NotDifferentiableError(
            f"{call.operator} differentiates with respect to one real number, but args[0] holds {seen}. "
            f"Use jacobian, or pushforward for the derivative in one direction."
        )
    call.require_real(
        "A holomorphic derivative is a jacobian; otherwise pass the real and imaginary parts as two real arguments."
    )


def _derivative(
    operator: str, f: Callable[..., Any], auto: AutoBackend, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> ValueAndDerivative:
    backend = first_order(auto)
    call = Call(operator, backend, args, kwargs)
    _one_number(call)
    with call.precision():
        leaves = call.native()
        function = call.function(f, "tree")
        outputs, tangents, aux = derive.derivative(backend, function, leaves)
        value = function.assemble(outputs, aux, call.present)
        return ValueAndDerivative(value, function.assemble_tangent(tangents, call.present))


def _second(
    operator: str, f: Callable[..., Any], auto: AutoBackend, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> ValueDerivativeAndSecondDerivative:
    outer, inner = second_order(auto)
    call = Call(operator, carrier(outer, inner), args, kwargs)
    _one_number(call)
    with call.precision():
        leaves = call.native()
        function = call.function(f, "tree")
        once = derive.DerivativeFunction(inner, function)
        first, second, both = derive.derivative(outer, once, leaves)
        value = function.assemble(both[: once.outputs], both[once.outputs :], call.present)
        return ValueDerivativeAndSecondDerivative(
            value,
            function.assemble_tangent(first, call.present),
            function.assemble_tangent(second, call.present),
        )
