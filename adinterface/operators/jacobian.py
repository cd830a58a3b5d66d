"""`jacobian` and `value_and_jacobian`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from .. import derive
from ..call.call import Call
from ..call.output import Function
from ..contract.auto import AutoBackend
from ..contract.backend import Arrays
from ..tree import DIFFERENTIATED, build_gradient
from .operation import OPERATIONS, Form, Operation, Results, run


class ValueAndJacobian(NamedTuple):
    """The result of `value_and_jacobian`."""

    #: What f returned.
    value: Any
    #: One entry for each positional argument; for a tree-valued f that tuple for each leaf of the value.
    jacobian: Any


def jacobian(f: Callable[..., Any], backend: AutoBackend, /, *args: Any, **kwargs: Any) -> Any:
    """The Jacobian of f with respect to every positional argument.

    f returns an array: a tuple with one entry for each argument, in the argument's structure, whose leaves have the
    shape `y.shape + x.shape` (row-major). f returns a tree: that tuple for each leaf of the tree, in its structure;
    None for a leaf without a derivative. Arrays are in the library of the first differentiated array argument.

    Forward mode takes one pushforward for each number in the arguments, reverse mode one back for each number in the
    result; without `mode` the fewer of the two. `chunk_size` bounds how many are computed at once (by default as
    many as need at most 64 MiB of seeds). A real result of a complex argument has d/dRe + i d/dIm; a complex result
    of a complex argument has the holomorphic derivative, which exists only for holomorphic f.

    Raises as `gradient` does; OutputError if nothing in the result of f has a derivative.

    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences, jacobian
    >>> jacobian(lambda a, x: a**2 * x, AutoFiniteDifferences(), np.array([1.0, 2.0]), 3.0)[1].round(6)
    array([1., 4.])
    """
    return run(Jacobian, backend, f, args, kwargs)


def value_and_jacobian(f: Callable[..., Any], backend: AutoBackend, /, *args: Any, **kwargs: Any) -> ValueAndJacobian:
    """`(value, jacobian)`, with no more evaluations of f than `jacobian` alone; see there."""
    both: ValueAndJacobian = run(ValueJacobian, backend, f, args, kwargs)
    return both


class ValueJacobian(Operation):
    name = "value_and_jacobian"
    result: ClassVar[type[ValueAndJacobian] | None] = ValueAndJacobian
    forms: ClassVar[tuple[Form, ...]] = ("value", "jacobian")

    def compute(self, function: Function, leaves: Arrays, tangents: Arrays) -> Results:
        return derive.jacobian(self.backend, function, leaves)

    def finish(self, call: Call, function: Function, results: Results) -> Any:
        outputs, aux, blocks = results
        return ValueAndJacobian(function.assemble(outputs, aux, call.present), _assembled(call, function, blocks))


class Jacobian(ValueJacobian):
    name = "jacobian"
    result = None
    forms = ("jacobian",)

    def compute(self, function: Function, leaves: Arrays, tangents: Arrays) -> Results:
        # Without the value, which compiled code need not return, and flat.
        return tuple([block for row in derive.jacobian(self.backend, function, leaves, value=False)[2] for block in row])

    def finish(self, call: Call, function: Function, results: Results) -> Any:
        if function.structure is DIFFERENTIATED and call.plan.only_arrays:
            return tuple([call.present(block) for block in results])
        count = len(call.plan.active)
        return _assembled(call, function, [results[n : n + count] for n in range(0, len(results), count)])


def _assembled(call: Call, function: Function, blocks: Results) -> Any:
    per_output = []
    for row in blocks:
        entries = iter([call.present(block) for block in row])
        per_output.append(tuple([build_gradient(structure, entries) for structure in call.structures]))
    return build_gradient(function.structure, iter(per_output))


OPERATIONS |= {jacobian: Jacobian, value_and_jacobian: ValueJacobian}
