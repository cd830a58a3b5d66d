"""`derivative`, `second_derivative` and their companions: functions of one real number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from .. import derive
from ..call.call import Call
from ..call.output import Function
from ..contract.auto import AutoBackend
from ..contract.backend import Arrays
from ..contract.errors import NotDifferentiableError
from .operation import OPERATIONS, Form, Operation, Results, SecondOrderOperation, run


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
    return run(Derivative, backend, f, (x, *constants), kwargs)


def value_and_derivative(
    f: Callable[..., Any], backend: AutoBackend, /, x: Any, *constants: Any, **kwargs: Any
) -> ValueAndDerivative:
    """`(value, derivative)` from the same evaluations of f; see `derivative`."""
    both: ValueAndDerivative = run(ValueDerivative, backend, f, (x, *constants), kwargs)
    return both


def second_derivative(f: Callable[..., Any], backend: AutoBackend, /, x: Any, *constants: Any, **kwargs: Any) -> Any:
    """The second derivative of a function of one real number, in the structure of f's value; see `derivative`.

    >>> from adinterface import AutoFiniteDifferences, second_derivative
    >>> round(second_derivative(lambda x: x**3, AutoFiniteDifferences(), 2.0), 4)
    12.0
    """
    return run(SecondDerivative, backend, f, (x, *constants), kwargs)


def value_derivative_and_second_derivative(
    f: Callable[..., Any], backend: AutoBackend, /, x: Any, *constants: Any, **kwargs: Any
) -> ValueDerivativeAndSecondDerivative:
    """`(value, derivative, second_derivative)` from the same evaluations of f; see `derivative`."""
    found: ValueDerivativeAndSecondDerivative = run(ValueDerivativeSecondDerivative, backend, f, (x, *constants), kwargs)
    return found


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


class ValueDerivative(Operation):
    name = "value_and_derivative"
    result: ClassVar[type[ValueAndDerivative] | None] = ValueAndDerivative
    forms: ClassVar[tuple[Form, ...]] = ("value", "tangent")
    takes = "one number"

    def check(self, call: Call) -> None:
        _one_number(call)

    def compute(self, function: Function, leaves: Arrays, tangents: Arrays) -> Results:
        return derive.derivative(self.backend, function, leaves)

    def finish(self, call: Call, function: Function, results: Results) -> Any:
        outputs, tangents, aux = results
        value = function.assemble(outputs, aux, call.present)
        return ValueAndDerivative(value, function.assemble_tangent(tangents, call.present))


class Derivative(ValueDerivative):
    name = "derivative"
    result = None
    forms = ("tangent",)

    def compute(self, function: Function, leaves: Arrays, tangents: Arrays) -> Results:
        return derive.tangents(self.backend, function, leaves, (derive.full_like(self.backend, leaves[0], 1.0),))

    def finish(self, call: Call, function: Function, results: Results) -> Any:
        return function.assemble_tangent(results, call.present)


class ValueDerivativeSecondDerivative(SecondOrderOperation):
    name = "value_derivative_and_second_derivative"
    output = "tree"
    result: ClassVar[type[ValueDerivativeAndSecondDerivative] | None] = ValueDerivativeAndSecondDerivative
    forms: ClassVar[tuple[Form, ...]] = ("value", "tangent", "tangent")
    takes = "one number"

    def check(self, call: Call) -> None:
        _one_number(call)

    def compute(self, function: Function, leaves: Arrays, tangents: Arrays) -> Results:
        once = derive.DerivativeFunction(self.inner, function)
        first, second, both = derive.derivative(self.outer, once, leaves)
        return both[: once.outputs], both[once.outputs :], first, second

    def finish(self, call: Call, function: Function, results: Results) -> Any:
        outputs, aux, first, second = results
        return ValueDerivativeAndSecondDerivative(
            function.assemble(outputs, aux, call.present),
            function.assemble_tangent(first, call.present),
            function.assemble_tangent(second, call.present),
        )


class SecondDerivative(ValueDerivativeSecondDerivative):
    name = "second_derivative"
    result = None
    forms = ("tangent",)

    def finish(self, call: Call, function: Function, results: Results) -> Any:
        *_, second = results
        return function.assemble_tangent(second, call.present)


OPERATIONS |= {
    derivative: Derivative,
    value_and_derivative: ValueDerivative,
    second_derivative: SecondDerivative,
    value_derivative_and_second_derivative: ValueDerivativeSecondDerivative,
}
