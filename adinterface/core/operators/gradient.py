"""`gradient` and `value_and_gradient`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from .. import derive
from ..call.call import Call
from ..call.row import OperatorRow, Parts
from ..contract.auto import AutoBackend
from ..contract.backend import Arrays
from ..contract.registry import REGISTRY
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
def gradient(
    f: Callable[..., Any], backend: AutoBackend, /, *args: Any, **kwargs: Any
) -> tuple[Any, ...]:
    """The gradient of a real scalar function with respect to every positional argument.

    For a complex leaf the gradient is dL/dRe + i dL/dIm, on every engine. An integer argument is
    promoted to float. Reverse-mode engines call f once.

    Args:
        f: Called with the arguments, whose arrays are converted to the engine's type. Returns a
            real 0-d scalar.
        backend: `AutoJax()`, `AutoTorch()`, `AutoAutograd()`, `AutoFiniteDifferences()`, or another
            package's.
        args: Trees of arrays and numbers. `Constant(x)` is not differentiated.
        kwargs: Handed to f, never differentiated.

    Returns:
        A tuple with one entry for each argument, of that argument's own type, structure, shapes,
        dtypes and devices (a dict for a dict, an `nn.Module` for an `nn.Module`, a float for a
        float or an int). A leaf without a gradient (a string, a callable, an integer inside a tree)
        is None there; so is a Constant. A floating leaf that f does not use has zeros.

    Raises:
        NotDifferentiableError: No argument has a gradient.
        OutputError: f does not return a real scalar.
        MissingEngineError: The engine is not installed.
        PrecisionError: The engine lacks a dtype.

    What f raises is raised unchanged. A DisconnectedWarning says that the value does not depend on
    any argument, where the engine can tell.

    >>> from adinterface import AutoFiniteDifferences, gradient
    >>> gradients = gradient(lambda a, b, c: a * b * c, AutoFiniteDifferences(), 2.0, 3.0, 5.0)
    >>> [round(g, 6) for g in gradients]
    [15.0, 10.0, 6.0]
    """
    gradients: tuple[Any, ...] = run(GRADIENT, backend, f, args, kwargs)
    return gradients


@typed["signatures.ValueAndGradientOperator"]()
def value_and_gradient(
    f: Callable[..., Any], backend: AutoBackend, /, *args: Any, **kwargs: Any
) -> ValueAndGradient[tuple[Any, ...]]:
    """`(value, gradient)` from a single evaluation of f.

    Args:
        f: Returns the real scalar; or a tuple, a namedtuple, a dict or a dataclass whose first
            entry is the scalar. The rest is auxiliary.
        backend, args, kwargs: As in `gradient`.

    Returns:
        `value` is all that f returned: its arrays in the library of the first differentiated array
        (NumPy if there is none), Python numbers if all differentiated leaves are Python numbers.
        `gradient` is as from `gradient`.

    Raises:
        AdinterfaceError: As `gradient`.

    >>> from adinterface import AutoFiniteDifferences, value_and_gradient
    >>> f = lambda x, y: {"div": x / y, "mul": x * y}
    >>> value, gradients = value_and_gradient(f, AutoFiniteDifferences(), 3.0, 4.0)
    >>> value
    {'div': 0.75, 'mul': 12.0}
    """
    both: ValueAndGradient[tuple[Any, ...]] = run(VALUE_AND_GRADIENT, backend, f, args, kwargs)
    return both


def _value_and_gradient(f: Call, x: Arrays, _: Arrays) -> Parts:
    """The pullback of one."""
    outputs, aux, gradients, connected = derive.gradient(f.plan.backend, f, x)
    return ((outputs, aux), gradients) if connected else ((outputs, aux), gradients, ())


def _gradient(f: Call, x: Arrays, _: Arrays) -> Parts:
    """The same without the value, which compiled code need not return."""
    result = derive.gradient(f.plan.backend, f, x, value=False)
    return (result.gradients,) if result.connected else (result.gradients, ())


VALUE_AND_GRADIENT = OperatorRow(
    "value_and_gradient",
    _value_and_gradient,
    ("value", "arguments"),
    ValueAndGradient,
    output="scalar and aux",
    compiles_f=True,
    writes=True,
)
GRADIENT = OperatorRow(
    "gradient",
    _gradient,
    ("arguments",),
    output="scalar",
    compiles_f=True,
    writes=True,
    with_value=VALUE_AND_GRADIENT,
)

REGISTRY.operators |= {gradient: GRADIENT, value_and_gradient: VALUE_AND_GRADIENT}
