"""`batched`: an operator applied to each entry of a leading axis."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, get_args

from ..core.call.call import Call
from ..core.call.messages import require_function
from ..core.call.plan import Plan
from ..core.call.row import Compiled, Compute, OperatorRow, Parts
from ..core.contract.auto import AutoBackend, MatrixBackend
from ..core.contract.backend import Arrays, Linearized, Pullback, Randomness
from ..core.contract.tracing import untraced
from ..core.operators.run import resolved, run
from ..core.operators.table import require_operator
from ..core.operators.typed import typed
from .batched_call import Axis, axis_of, no_each, stacked_tangents
from .entries import for_each, with_axis

if TYPE_CHECKING:
    from .. import _signatures as signatures


@typed["signatures.BatchedOperator"]()
@untraced
def batched(
    operator: Callable[..., Any],
    f: Callable[..., Any],
    backend: AutoBackend,
    /,
    *args: Any,
    randomness: Randomness | None = None,
    **kwargs: Any,
) -> Any:
    """Apply an operator to each entry of a leading axis, and stack the results.

    args, kwargs: the operator's arguments after the backend. `Each(x)` marks an array with the
    axis, or a tree whose arrays all have it. Everything else is shared by all entries. The result
    is that of a loop over the entries, stacked: `batched(gradient, loss, backend, model,
    Constant(Each(x)), Constant(Each(y)))` is the gradient of each example.

    JAX and torch compute all entries in one evaluation of f (`vmap`). Chunks keep inputs and
    outputs below 64 MiB, or follow the backend's `chunk_size`. With `chunk_size=1`, and on every
    other engine, the entries are computed one by one. `prepare(batched, operator, f, backend,
    *args)` prepares the call.

    randomness: how f may draw random numbers from its engine. "error" refuses them, "different"
    draws for each entry, "same" shares the draws; None is "error". JAX draws from keys, which are
    arguments: `Constant(Each(keys))`.

    Raises TypeError if nothing is marked; TreeError, naming the path, for a leading axis that
    differs or is missing; BackendError for refused random numbers; and whatever the operator and f
    raise.

    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences, Constant, Each, batched, gradient
    >>> x = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> loss = lambda w, x: (w * x).sum() ** 2
    >>> batched(gradient, loss, AutoFiniteDifferences(), np.ones(2), Constant(Each(x)))[0].round(6)
    array([[ 6., 12.],
           [42., 56.]])
    """
    if randomness is not None:
        kwargs["randomness"] = randomness
    row, f, backend, args = read(
        "batched(operator, f, backend, ...)", operator, (f, backend, *args), kwargs
    )
    return run(row, backend, f, args, kwargs)


def read(
    caller: str, operator: Any, rest: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[BatchedRow, Callable[..., Any], Any, tuple[Any, ...]]:
    """The row, f, the backend, and the operator's arguments.

    Takes `randomness` out of the keywords.
    """
    if operator is batched:
        raise TypeError(
            f"{caller}: operator is batched itself. There is one axis; for another, call batched"
            " inside f, or reshape both into one."
        )
    inner = require_operator(caller, operator)
    if len(rest) < 2:
        raise TypeError(
            f"{caller}: takes an operator, f, and a backend in front of the arguments, but got"
            f" {1 + len(rest)}."
        )
    f, backend, *args = rest
    require_function("batched", f)
    if "randomness" in kwargs and _takes_randomness(f):
        raise TypeError(
            f"{caller}: f takes a keyword named randomness, as batched does. Pass a function"
            f" without it: lambda x: f(x, randomness={kwargs['randomness']!r})."
        )
    randomness: Any = kwargs.pop("randomness", "error")
    if randomness not in get_args(Randomness):
        choices = ", ".join(map(repr, get_args(Randomness)))
        raise ValueError(f"batched: randomness must be one of {choices}, not {randomness!r}.")
    if isinstance(backend, MatrixBackend) and resolved(inner, backend)[0] is not inner:
        raise TypeError(
            f"batched({inner.name}, ...): {type(backend).__name__} gives results that are no"
            " arrays, and so cannot have a leading axis. Pass the backend inside it, or write a"
            " loop."
        )
    return batched_row(inner, randomness), f, backend, tuple(args)


def _takes_randomness(f: Callable[..., Any]) -> bool:
    try:
        found = inspect.signature(f).parameters.get("randomness")
    except (TypeError, ValueError):  # of a function written in C, whose signature is not known
        return False
    return found is not None and found.kind in (found.POSITIONAL_OR_KEYWORD, found.KEYWORD_ONLY)


@dataclass(frozen=True, eq=False)
class BatchedRow(OperatorRow):
    """An operator applied to each entry of the axis."""

    inner: OperatorRow = None  # type: ignore[assignment]
    randomness: Randomness = "error"

    def __reduce__(self) -> tuple[Any, ...]:
        return batched_row, (self.inner, self.randomness)

    @property
    def made_of(self) -> tuple[Any, Any, dict[str, Any]]:
        return batched, self.inner, {"randomness": self.randomness}

    @property
    def title(self) -> str:
        return f"batched({self.name})"


#: The facts that a batched operator shares with the operator itself.
_SAME = ("name", "forms", "result", "output", "order", "of_complex", "takes", "directions")


@functools.cache
def batched_row(inner: OperatorRow, randomness: Randomness) -> BatchedRow:
    """The row of an operator applied to each entry of the axis."""

    def for_entries(compute: Compute) -> Compute:
        return functools.partial(_for_entries, inner, randomness, compute)

    def compute(call: Call, leaves: Arrays, tangents: Arrays) -> Parts:
        def bind(compute: Compute) -> Compiled:
            entries, count = for_entries(compute), len(leaves)
            return lambda *arrays: entries(call, arrays[:count], arrays[count:])

        return inner.compiled(bind)(*leaves, *tangents)

    def pieces(compiled: Callable[[Compute], Compiled]) -> Compiled:
        return inner.compiled(lambda compute: compiled(for_entries(compute)))

    same = {
        field.name: getattr(inner, field.name) for field in fields(inner) if field.name in _SAME
    }
    return BatchedRow(
        compute=compute,
        pieces=pieces,
        finish=_with_axis,
        marks=_marks,
        tangents=stacked_tangents,
        inner=inner,
        randomness=randomness,
        **same,
    )


def _marks(plan: Plan, values: Sequence[Any]) -> Axis:
    axis = axis_of(plan, values)
    if axis.count is None and plan.operator.directions is None:
        raise TypeError(no_each(plan.operator.name))
    return axis


def _for_entries(
    inner: OperatorRow,
    randomness: Randomness,
    compute: Compute,
    call: Call,
    leaves: Arrays,
    tangents: Arrays,
) -> Parts:
    """The computation for all entries, from the computation for one."""
    plan, axis = call.plan, call.plan.marks
    # Shared values that may be in a graph are passed as arrays, so that the engine sees them.
    passed = [
        n
        for n in plan.carried
        if axis.each[n] or (n in plan.side_inputs and plan.slots[n].library is not None)
    ]
    slots = (*plan.active, *passed)

    def entry(*arrays: Any) -> Parts:
        values = [*call.entered]
        for n, array in zip(slots, arrays):
            values[n] = array
        one = Call(plan, call.f, call.values, values)
        return compute(one, arrays[: len(leaves)], arrays[len(slots) :])

    beside = [call.entered[n] for n in passed]
    each = (*[axis.each[n] for n in slots], *[True] * len(tangents))
    numbers = axis.inputs ** (2 if "hessian" in inner.forms else 1)
    return for_each(plan.backends, entry, (*leaves, *beside, *tangents), each, numbers, randomness)


def _with_axis(call: Call, parts: Parts) -> Any:
    # The engine maps `stacked` over the entries, so it takes `(entry, seed, ...)`; users pass
    # `(seed, entry, ...)`.
    if isinstance(parts, (Pullback, Linearized)):
        parts = parts._replace(stacked=None)
    row = call.plan.operator
    assert isinstance(row, BatchedRow)
    return (row.inner.finish or Call.results)(call, with_axis(parts, call))
