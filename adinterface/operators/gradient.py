"""`gradient` and `value_and_gradient`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from .. import tree
from ..auto import AutoBackend
from ..backend import Arrays
from ..backend import Straight as StraightGradient
from ..call import Call, Function, OutputKind, Plan, annotate, warn_disconnected
from ..record import active_record
from . import derive
from .operation import OPERATIONS, Operation, Results, Straight, run
from .typed import as_gradient, as_value_and_gradient

Gradients = TypeVar("Gradients", bound=tuple[Any, ...])


class ValueAndGradient(NamedTuple, Generic[Gradients]):
    """The result of `value_and_gradient`."""

    #: All that f returned.
    value: Any
    #: One entry for each positional argument.
    gradient: Gradients


@as_gradient
def gradient(f: Callable[..., Any], backend: AutoBackend, /, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """The gradient of a real scalar function with respect to every positional argument.

    Returns a tuple with one entry for each argument, of that argument's own type, structure, shapes, dtypes and
    devices: a dict for a dict, a dataclass for a dataclass, an `nn.Module` for an `nn.Module`, a float for a float
    or an int. A leaf without a gradient (a string, a callable, an integer inside a tree) is None there; so is an
    argument wrapped in `Constant`. A floating leaf that f does not use has zeros.

    f: called with the arguments, their arrays in the engine's own form; returns a real 0-d scalar.
    backend: `AutoJax()`, `AutoTorch()`, `AutoAutograd()`, `AutoFiniteDifferences()`, or another package's.
    kwargs: handed to f, never differentiated.

    For a complex leaf the gradient is dL/dRe + i dL/dIm, on every engine. An integer argument is promoted to float.
    Reverse-mode engines call f once.

    Raises NotDifferentiableError if no argument has a gradient, OutputError if f does not return a real scalar,
    MissingEngineError if the engine is not installed, PrecisionError for a dtype the engine lacks, and whatever f
    raises. Warns with DisconnectedWarning if the value does not depend on any argument, where the engine can tell.

    >>> from adinterface import AutoFiniteDifferences, gradient
    >>> [round(g, 6) for g in gradient(lambda a, b, c: a * b * c, AutoFiniteDifferences(), 2.0, 3.0, 5.0)]
    [15.0, 10.0, 6.0]
    """
    gradients: tuple[Any, ...] = run(Gradient, backend, f, args, kwargs)
    return gradients


@as_value_and_gradient
def value_and_gradient(
    f: Callable[..., Any], backend: AutoBackend, /, *args: Any, **kwargs: Any
) -> ValueAndGradient[tuple[Any, ...]]:
    """`(value, gradient)` from one and the same evaluation of f.

    f may return a tuple, a namedtuple or a dict whose first entry is the real scalar to differentiate; the rest is
    auxiliary. `value` is all that f returned: its arrays in the library of the first differentiated array (NumPy if
    there is none), Python numbers if all differentiated leaves are Python numbers. `gradient` is as from `gradient`,
    and so are the errors.

    >>> from adinterface import AutoFiniteDifferences, value_and_gradient
    >>> value, grads = value_and_gradient(lambda x, y: {"div": x / y, "mul": x * y}, AutoFiniteDifferences(), 3.0, 4.0)
    >>> value
    {'div': 0.75, 'mul': 12.0}
    """
    both: ValueAndGradient[tuple[Any, ...]] = run(ValueGradient, backend, f, args, kwargs)
    return both


class Gradient(Operation):
    name = "gradient"
    output: ClassVar[OutputKind] = "scalar"
    compiles_function = True

    def straight(self, plan: Plan) -> Straight | None:
        if self.backend.mode == "forward":
            return None
        gradient = self.backend.straight(plan.all_dtypes)
        return None if gradient is None else _straight(self, plan, gradient)

    def compute(self, function: Function, leaves: Arrays, tangents: Arrays) -> Results:
        *_, gradients, function.connected = derive.gradient(self.backend, function, leaves)
        return gradients  # without the value, which compiled code need not return

    def finish(self, call: Call, function: Function, results: Results) -> Any:
        if not function.connected:
            call.warn_disconnected()
        return call.gradients(results)


class ValueGradient(Gradient):
    name = "value_and_gradient"
    output = "scalar and aux"

    def compute(self, function: Function, leaves: Arrays, tangents: Arrays) -> Results:
        outputs, aux, gradients, function.connected = derive.gradient(self.backend, function, leaves)
        return outputs, aux, gradients

    def finish(self, call: Call, function: Function, results: Results) -> Any:
        outputs, aux, gradients = results
        return ValueAndGradient(function.assemble(outputs, aux, call.present), super().finish(call, function, gradients))


def _straight(operation: Gradient, plan: Plan, gradient: StraightGradient) -> Straight:
    """The gradient at plain arrays, as `evaluate` computes it, without objects for the call and the function."""
    library, builders, order = plan.library, plan.builders, plan.order
    handlers, is_real_scalar, adopt = tree._handlers, plan.library.is_real_scalar, plan.library.adopt
    assert builders is not None
    with_value, only_arrays = operation.output != "scalar", plan.only_arrays

    def straight(f: Callable[..., Any], values: Sequence[Any]) -> Any:
        if active_record() is not None:
            return None
        taken: set[int] = set()
        carried: list[Any] = []
        if plan.carried:
            carried = [adopt(values[n], taken) if leaf else values[n] for n, leaf in plan.carried]
            values = [values[n] for n in plan.active]
        function: Function | None = None

        def evaluate(leaves: Sequence[Any]) -> tuple[Any, Arrays]:
            nonlocal function
            try:
                if only_arrays:
                    result = f(*leaves)
                else:
                    if order is not None:
                        both = (*leaves, *carried)
                        leaves = [both[n] for n in order]
                    words = {name: make(leaves) for name, make in builders.keywords.items()}
                    result = f(*[make(leaves) for make in builders.args], **words)
            except Exception as error:  # raised again as it is; a note says what the user may not know
                annotate(plan, error)
                raise
            if handlers.get(type(result)) is library and is_real_scalar(result):
                return result, ()
            function = Function.of(plan, f, operation.output)
            (output,), aux = function.split(result)
            return output, aux

        found = gradient(evaluate, values, taken)
        if found is None:
            return None
        output, aux, gradients, connected = found
        if not connected:
            warn_disconnected(plan.operator)

        together = tuple(gradients) if only_arrays else tuple([make(gradients) for make in builders.gradients])
        if not with_value:
            return together
        if function is None:
            return ValueAndGradient(np.array(library.to_numpy(output)), together)
        return ValueAndGradient(function.assemble((output,), aux, function.call.present), together)

    return straight


OPERATIONS |= {gradient: Gradient, value_and_gradient: ValueGradient}
