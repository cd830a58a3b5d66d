"""`derivative`, `second_derivative` and their companions: functions of one real number."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

from .. import derive
from ..call.call import Call
from ..call.output import OutputKind
from ..contract.auto import AutoBackend
from ..contract.backend import Arrays, Aux
from .dispatch import OPERATIONS
from .operation import Forms, Operation, Results, ResultType, SecondOrderOperation, Takes
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
def derivative(f: Callable[..., Any], backend: AutoBackend, x: Any, /, *constants: Any, **kwargs: Any) -> Any:
    """The derivative of a function of one real number, in the structure of f's value.

    x: a Python number or a 0-d array. Any further argument of f must be written `Constant(c)`.
    Raises NotDifferentiableError if x is not one real number, or if a further argument is not a Constant.

    >>> from adinterface import AutoFiniteDifferences, derivative
    >>> round(derivative(lambda x: 5 * x + 3, AutoFiniteDifferences(), 10), 6)
    5.0
    """
    return run(Derivative, backend, f, (x, *constants), kwargs)


@typed["signatures.ValueAndDerivativeOperator"]()
def value_and_derivative(
    f: Callable[..., Any], backend: AutoBackend, x: Any, /, *constants: Any, **kwargs: Any
) -> ValueAndDerivative[Any]:
    """`(value, derivative)` from the same evaluations of f; see `derivative`."""
    both: ValueAndDerivative[Any] = run(ValueDerivative, backend, f, (x, *constants), kwargs)
    return both


@typed["signatures.DerivativeOperator"]()
def second_derivative(f: Callable[..., Any], backend: AutoBackend, x: Any, /, *constants: Any, **kwargs: Any) -> Any:
    """The second derivative of a function of one real number, in the structure of f's value; see `derivative`.

    >>> from adinterface import AutoFiniteDifferences, second_derivative
    >>> round(second_derivative(lambda x: x**3, AutoFiniteDifferences(), 2.0), 4)
    12.0
    """
    return run(SecondDerivative, backend, f, (x, *constants), kwargs)


@typed["signatures.ValueDerivativeAndSecondDerivativeOperator"]()
def value_derivative_and_second_derivative(
    f: Callable[..., Any], backend: AutoBackend, x: Any, /, *constants: Any, **kwargs: Any
) -> ValueDerivativeAndSecondDerivative[Any]:
    """`(value, derivative, second_derivative)` from the same evaluations of f; see `derivative`."""
    result: ValueDerivativeAndSecondDerivative[Any] = run(ValueDerivativeSecondDerivative, backend, f, (x, *constants), kwargs)
    return result


class ValueDerivative(Operation):
    name = "value_and_derivative"
    result: ClassVar[ResultType] = ValueAndDerivative
    forms: ClassVar[Forms] = ("value", "tangent")
    takes: ClassVar[Takes] = "one number"

    def compute(self, function: Call, leaves: Arrays, tangents: Arrays) -> Results:
        outputs, pushed, aux = derive.derivative(self.backend, function, leaves, value=self.gives_value)
        return self.parts(outputs, aux, pushed)


class Derivative(ValueDerivative):
    name = "derivative"
    result: ClassVar[ResultType] = None
    forms: ClassVar[Forms] = ("tangent",)


class ValueDerivativeSecondDerivative(SecondOrderOperation):
    name = "value_derivative_and_second_derivative"
    output: ClassVar[OutputKind] = "tree"
    result: ClassVar[ResultType] = ValueDerivativeAndSecondDerivative
    forms: ClassVar[Forms] = ("value", "tangent", "tangent")
    takes: ClassVar[Takes] = "one number"

    def compute(self, function: Call, leaves: Arrays, tangents: Arrays) -> Results:
        first, second, aux = derive.second_derivative(self.outer, self.inner, function, leaves, value=self.gives_value)
        outputs, beside = aux.arrays[: len(first)], Aux(aux.arrays[len(first) :], aux.form)
        return self.parts(outputs, beside, *([first] if self.gives_value else []), second)


class SecondDerivative(ValueDerivativeSecondDerivative):
    name = "second_derivative"
    result: ClassVar[ResultType] = None
    forms: ClassVar[Forms] = ("tangent",)


OPERATIONS |= {
    derivative: Derivative,
    value_and_derivative: ValueDerivative,
    second_derivative: SecondDerivative,
    value_derivative_and_second_derivative: ValueDerivativeSecondDerivative,
}
