"""`gradient` and `value_and_gradient`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

from .. import derive
from ..call.call import Call
from ..call.messages import warn_disconnected
from ..call.output import OutputKind
from ..contract.auto import AutoBackend
from ..contract.backend import Arrays
from .dispatch import OPERATIONS
from .operation import Forms, Operation, Results, ResultType
from .run import run
from .typed import typed

if TYPE_CHECKING:
    from ... import _signatures as signatures

Gradients = TypeVar("Gradients", bound=tuple[Any, ...])


class ValueAndGradient(NamedTuple, Generic[Gradients]):
    """The result of `value_and_gradient`."""

    #: All that f returned.
    value: Any
    #: One entry for each positional argument.
    gradient: Gradients


@typed["signatures.GradientOperator"]()
def gradient(f: Callable[..., Any], backend: AutoBackend, /, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """The gradient of a real scalar function with respect to every positional argument.

    Returns a tuple with one entry for each argument, of that argument's own type, structure, shapes, dtypes and
    devices: a dict for a dict, a dataclass for a dataclass, an `nn.Module` for an `nn.Module`, a float for a float
    or an int. A leaf without a gradient (a string, a callable, an integer inside a tree) is None there; so is an
    argument wrapped in `Constant`. A floating leaf that f does not use has zeros.

    f: called with the arguments, whose arrays are converted to the engine's type; returns a real 0-d scalar.
    backend: `AutoJax()`, `AutoTorch()`, `AutoAutograd()`, `AutoFiniteDifferences()`, or another package's.
    kwargs: handed to f, never differentiated.

    For a complex leaf the gradient is dL/dRe + i dL/dIm, on every engine. An integer argument is promoted to float.
    Reverse-mode engines call f once.

    Raises NotDifferentiableError if no argument has a gradient, and OutputError if f does not return a real scalar.
    Raises MissingEngineError if the engine is not installed, PrecisionError for a dtype the engine lacks, and whatever f
    raises. Warns with DisconnectedWarning if the value does not depend on any argument, where the engine can tell.

    >>> from adinterface import AutoFiniteDifferences, gradient
    >>> [round(g, 6) for g in gradient(lambda a, b, c: a * b * c, AutoFiniteDifferences(), 2.0, 3.0, 5.0)]
    [15.0, 10.0, 6.0]
    """
    gradients: tuple[Any, ...] = run(GradientOperation, backend, f, args, kwargs)
    return gradients


@typed["signatures.ValueAndGradientOperator"]()
def value_and_gradient(
    f: Callable[..., Any], backend: AutoBackend, /, *args: Any, **kwargs: Any
) -> ValueAndGradient[tuple[Any, ...]]:
    """`(value, gradient)` from a single evaluation of f.

    f may return a tuple, a namedtuple, a dict or a dataclass whose first entry is the real scalar to differentiate; the rest
    is auxiliary. `value` is all that f returned: its arrays in the library of the first differentiated array (NumPy if
    there is none), Python numbers if all differentiated leaves are Python numbers. `gradient` is as from `gradient`,
    and so are the errors.

    >>> from adinterface import AutoFiniteDifferences, value_and_gradient
    >>> value, grads = value_and_gradient(lambda x, y: {"div": x / y, "mul": x * y}, AutoFiniteDifferences(), 3.0, 4.0)
    >>> value
    {'div': 0.75, 'mul': 12.0}
    """
    both: ValueAndGradient[tuple[Any, ...]] = run(ValueAndGradientOperation, backend, f, args, kwargs)
    return both


class GradientOperation(Operation):
    name = "gradient"
    output: ClassVar[OutputKind] = "scalar"
    forms: ClassVar[Forms] = ("arguments",)
    compiles_function = True
    stores = True

    def compute(self, function: Call, leaves: Arrays, tangents: Arrays) -> Results:
        _, _, gradients, connected = derive.gradient(self.backend, function, leaves, value=False)
        return gradients, () if connected else None  # structure, which an engine does not compute

    def finish(self, call: Call, results: Results) -> Any:
        gradients, connected = results
        if connected is None:
            warn_disconnected(call.plan.operator)
        return call.gradients(gradients)


class ValueAndGradientOperation(GradientOperation):
    name = "value_and_gradient"
    output: ClassVar[OutputKind] = "scalar and aux"
    result: ClassVar[ResultType] = ValueAndGradient
    forms: ClassVar[Forms] = ("value", "arguments")

    def compute(self, function: Call, leaves: Arrays, tangents: Arrays) -> Results:
        outputs, aux, gradients, connected = derive.gradient(self.backend, function, leaves)
        return outputs, aux, (gradients, () if connected else None)

    def finish(self, call: Call, results: Results) -> Any:
        outputs, aux, gradients = results
        return ValueAndGradient(call.value(outputs, aux), super().finish(call, gradients))


GradientOperation.following = ValueAndGradientOperation

OPERATIONS |= {gradient: GradientOperation, value_and_gradient: ValueAndGradientOperation}
