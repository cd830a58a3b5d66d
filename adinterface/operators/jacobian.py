"""`jacobian` and `value_and_jacobian`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..auto import AutoBackend
from ..call import Call
from ..order import first_order
from ..tree import build_gradient
from . import derive


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
    return _jacobian("jacobian", f, backend, args, kwargs).jacobian


def value_and_jacobian(f: Callable[..., Any], backend: AutoBackend, /, *args: Any, **kwargs: Any) -> ValueAndJacobian:
    """`(value, jacobian)`, with no more evaluations of f than `jacobian` alone; see there."""
    return _jacobian("value_and_jacobian", f, backend, args, kwargs)


def _jacobian(
    operator: str, f: Callable[..., Any], auto: AutoBackend, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> ValueAndJacobian:
    backend = first_order(auto)
    call = Call(operator, backend, args, kwargs)
    with call.precision():
        leaves = call.native()
        function = call.function(f, "tree")
        outputs, aux, blocks = derive.jacobian(backend, function, leaves)
        value = function.assemble(outputs, aux, call.present)
        per_output = []
        for row in blocks:
            entries = iter([call.present(block) for block in row])
            per_output.append(tuple([build_gradient(structure, entries) for structure in call.structures]))
        return ValueAndJacobian(value, build_gradient(function.structure, iter(per_output)))
