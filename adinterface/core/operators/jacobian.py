"""`jacobian` and `value_and_jacobian`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

from .. import derive
from ..call.call import Call
from ..contract.auto import AutoBackend
from ..contract.backend import Arrays
from .dispatch import OPERATIONS
from .operation import Forms, Operation, Results, ResultType
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
    #: One entry for each positional argument; for a tree-valued f that tuple for each leaf of the value.
    jacobian: Jacobians


@typed["signatures.JacobianOperator"]()
def jacobian(f: Callable[..., Any], backend: AutoBackend, /, *args: Any, **kwargs: Any) -> Any:
    """The Jacobian of f with respect to every positional argument.

    f returns an array: a tuple with one entry for each argument, in the argument's structure, whose leaves have the
    shape `y.shape + x.shape` (row-major). f returns a tree: that tuple for each leaf of the tree, in its structure;
    None for a leaf without a derivative. Arrays are in the library of the first differentiated array argument.

    Forward mode takes one pushforward for each number in the arguments, reverse mode one back for each number in the
    result; without `mode` the fewer of the two. `chunk_size` bounds how many are computed at once (by default as
    many as need at most 64 MiB of seeds). A real result of a complex argument has d/dRe + i d/dIm. A complex result
    has the derivative by the real part of the argument, in every mode: the holomorphic derivative, if f is holomorphic.
    Of any other f it is half of the derivative; pass the real and imaginary parts as two arguments to get all of it.

    Raises as `gradient` does; OutputError if nothing in the result of f has a derivative.

    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences, jacobian
    >>> jacobian(lambda a, x: a**2 * x, AutoFiniteDifferences(), np.array([1.0, 2.0]), 3.0)[1].round(6)
    array([1., 4.])
    """
    return run(JacobianOperation, backend, f, args, kwargs)


@typed["signatures.ValueAndJacobianOperator"]()
def value_and_jacobian(f: Callable[..., Any], backend: AutoBackend, /, *args: Any, **kwargs: Any) -> ValueAndJacobian[Any, Any]:
    """`(value, jacobian)`, with no more evaluations of f than `jacobian` alone; see there."""
    both: ValueAndJacobian[Any, Any] = run(ValueAndJacobianOperation, backend, f, args, kwargs)
    return both


class ValueAndJacobianOperation(Operation):
    name = "value_and_jacobian"
    result: ClassVar[ResultType] = ValueAndJacobian
    forms: ClassVar[Forms] = ("value", "jacobian")

    def compute(self, function: Call, leaves: Arrays, tangents: Arrays) -> Results:
        return self.parts(*derive.jacobian(self.backend, function, leaves, value=self.gives_value))


class JacobianOperation(ValueAndJacobianOperation):
    name = "jacobian"
    result: ClassVar[ResultType] = None
    forms: ClassVar[Forms] = ("jacobian",)


OPERATIONS |= {jacobian: JacobianOperation, value_and_jacobian: ValueAndJacobianOperation}
