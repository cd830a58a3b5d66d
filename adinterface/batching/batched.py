"""`batched`: an operator applied to each entry of a leading axis."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, get_args

from ..core.call.call import Call
from ..core.call.messages import require_function
from ..core.call.plan import Plan
from ..core.contract.auto import AutoBackend
from ..core.contract.backend import Arrays, Backend, Linearized, Pullback, Randomness
from ..core.contract.tracing import untraced
from ..core.operators.dispatch import operation_of, recipe, require_operator
from ..core.operators.operation import Compiled, Compute, Operation, Results
from ..core.operators.run import run
from ..core.operators.typed import typed
from .batched_call import Axis, BatchedCall, axis_of, no_each
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

    args, kwargs: the operator's arguments after the backend. `Each(x)` marks an array with the axis, or a tree whose arrays all
    have it. Everything else is shared by all entries. The result is that of a loop over the entries, stacked:
    `batched(gradient, loss, backend, model, Constant(Each(x)), Constant(Each(y)))` is the gradient of each example.

    JAX and torch compute all entries in one evaluation of f (`vmap`). Chunks keep inputs and outputs below 64 MiB, or follow
    the backend's `chunk_size`. With `chunk_size=1`, and on every other engine, the entries are computed one by one.
    `prepare(batched, operator, f, backend, *args)` prepares the call.

    randomness: how f may draw random numbers from its engine. "error" refuses them, "different" draws for each entry, "same"
    shares the draws; None is "error". JAX draws from keys, which are arguments: `Constant(Each(keys))`.

    Raises TypeError if nothing is marked; TreeError, naming the path, for a leading axis that differs or is missing;
    BackendError for refused random numbers; and whatever the operator and f raise.

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
    kind, f, backend, args = batched_kind("batched(operator, f, backend, ...)", operator, (f, backend, *args), kwargs)
    return run(kind, backend, f, args, kwargs)


def batched_kind(
    caller: str, operator: Any, rest: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[BatchedKind, Callable[..., Any], Any, tuple[Any, ...]]:
    """The kind, f, the backend, and the operator's arguments; takes `randomness` out of the keywords."""
    if operator is batched:
        raise TypeError(
            f"{caller}: operator is batched itself. There is one axis; for another, call batched inside f, or reshape both "
            f"into one."
        )
    inner = require_operator(caller, operator)
    if len(rest) < 2:
        raise TypeError(f"{caller}: takes an operator, f, and a backend in front of the arguments, but got {1 + len(rest)}.")
    f, backend, *args = rest
    require_function("batched", f)
    if "randomness" in kwargs and _takes_randomness(f):
        raise TypeError(
            f"{caller}: f takes a keyword named randomness, as batched does. Pass a function without it: "
            f"lambda x: f(x, randomness={kwargs['randomness']!r})."
        )
    randomness: Any = kwargs.pop("randomness", "error")
    if randomness not in get_args(Randomness):
        choices = ", ".join(map(repr, get_args(Randomness)))
        raise ValueError(f"batched: randomness must be one of {choices}, not {randomness!r}.")
    return BatchedKind(inner, randomness), f, backend, tuple(args)


def _takes_randomness(f: Callable[..., Any]) -> bool:
    try:
        found = inspect.signature(f).parameters.get("randomness")
    except (TypeError, ValueError):  # of a function written in C, whose signature is not known
        return False
    return found is not None and found.kind in (found.POSITIONAL_OR_KEYWORD, found.KEYWORD_ONLY)


@dataclass(frozen=True)
class BatchedKind:
    """A batched operator and its randomness: a value that makes the operation on a backend."""

    inner: type[Operation]
    randomness: Randomness

    def __call__(self, auto: AutoBackend) -> Operation:
        return Batched(self, auto)

    def recipe(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The operators and keywords from which `batched_kind` makes this."""
        (operator,), _ = recipe(self.inner)
        return (batched, operator), {"randomness": self.randomness}


#: The facts that a batched operator shares with the operator itself.
_SAME = ("name", "output", "result", "forms", "order", "of_complex", "takes", "directions", "outlives")


class Batched(Operation):
    """An operation applied to each entry of the axis."""

    call_type: ClassVar[type[Call]] = BatchedCall

    def __init__(self, kind: BatchedKind, auto: AutoBackend):
        self.inner: Operation = operation_of(kind.inner, auto)
        if type(self.inner) is not kind.inner:
            raise TypeError(
                f"batched({kind.inner.name}, ...): {type(auto).__name__} gives results that are no arrays, and so "
                f"cannot have a leading axis. Pass the backend inside it, or write a loop."
            )
        self.randomness: Randomness = kind.randomness
        vars(self).update({name: getattr(self.inner, name) for name in _SAME})
        super().__init__(auto)
        self.kind: BatchedKind = kind
        self.estimates: bool = self.inner.estimates

    @property
    def title(self) -> str:
        return f"batched({self.name})"

    def computing_backend(self, auto: AutoBackend) -> Backend:
        return self.inner.backend

    @property
    def backends(self) -> tuple[Backend, ...]:
        return self.inner.backends

    def marks(self, plan: Plan, values: Sequence[Any]) -> Axis:
        axis = axis_of(plan, values)
        if axis.count is None and self.directions is None:
            raise TypeError(no_each(self.name))
        return axis

    def shape(self, plan: Plan, values: Sequence[Any]) -> tuple[int, ...]:
        shape = super().shape(plan, values)
        return shape[1:] if plan.marks.each[plan.active[0]] else shape

    def arguments(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...] | None]:
        return self.inner.arguments(args)

    def tangents(self, call: Call, directions: tuple[Any, ...]) -> Arrays:
        return self.inner.tangents(call, directions)

    def compute(self, function: Call, leaves: Arrays, tangents: Arrays) -> Results:
        def bound(compute: Compute) -> Compiled:
            entries, count = self._for_each(compute), len(leaves)
            return lambda *arrays: entries(function, arrays[:count], arrays[count:])

        return self.inner.compile(bound)(*leaves, *tangents)

    def compile(self, compiled: Callable[[Compute], Compiled]) -> Compiled:
        return self.inner.compile(lambda compute: compiled(self._for_each(compute)))

    def _for_each(self, compute: Compute) -> Compute:
        """The computation for all entries, from the computation for one."""
        operation = self.inner

        def entries(function: Call, leaves: Arrays, tangents: Arrays) -> Results:
            plan, axis = function.plan, function.plan.marks
            assert isinstance(axis, Axis)
            # Shared values that may be in a graph are passed as arrays, so that the engine sees them.
            passed = [n for n in plan.carried if axis.each[n] or (n in plan.given and plan.slots[n].library is not None)]
            slots = (*plan.active, *passed)

            def entry(*arrays: Any) -> Results:
                values = [*function.entered]
                for n, array in zip(slots, arrays):
                    values[n] = array
                one = Call(plan, function.f, function.values, function.output, values)
                one.owns_leaves = False  # shared values are used again for the next entry
                return compute(one, arrays[: len(leaves)], arrays[len(slots) :])

            beside = [function.entered[n] for n in passed]
            each = (*[axis.each[n] for n in slots], *[True] * len(tangents))
            numbers = axis.inputs ** (2 if "hessian" in operation.forms else 1)
            return for_each(operation.backends, entry, (*leaves, *beside, *tangents), each, numbers, self.randomness)

        return entries

    def finish(self, call: Call, results: Results) -> Any:
        # The engine maps `back_stacked` over the entries, so it takes `(entry, seed, ...)`; users pass `(seed, entry, ...)`.
        if isinstance(results, Pullback):
            results = results._replace(back_stacked=None)
        elif isinstance(results, Linearized):
            results = results._replace(push_stacked=None)
        return self.inner.finish(call, with_axis(results, call))
