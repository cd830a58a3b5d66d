"""`explain`: what a call of an operator does."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..batching.batched_call import Axis
from ..core.call.messages import places_of
from ..core.call.plan import Plan
from ..core.call.row import OperatorRow
from ..core.contract.auto import AutoBackend
from ..core.contract.registry import REGISTRY
from ..core.operators.run import run
from ..core.operators.table import entry_of
from ..core.tree import Slot
from .facts import require_call
from .probe import counted
from .recording import recording


@dataclass(frozen=True)
class LeafReport:
    """One leaf of the arguments: its place, its value in words, and its conversion."""

    path: str
    value: str
    differentiated: bool
    #: How it reaches f if it is differentiated, otherwise why it is not.
    note: str


@dataclass(frozen=True, repr=False)
class Explanation:
    """What a call did. Prints as a page of text."""

    operator: str
    backend: AutoBackend
    leaves: tuple[LeafReport, ...]
    #: The passes of the engine, in order, and how the operator was derived from them.
    steps: tuple[str, ...]
    #: How often f was evaluated (by the call itself; not by a later `back` or `push`).
    evaluations: int
    #: The largest estimated error of the derivatives, relative to the largest one of its leaf; None
    #: where the engine does not
    #: estimate errors.
    error: float | None = None

    def __repr__(self) -> str:
        lines = [f"{self.operator} with {self.backend!r}", "arguments"]
        width = max((len(leaf.path) for leaf in self.leaves), default=0)
        for leaf in self.leaves:
            mark = "differentiated" if leaf.differentiated else "None"
            lines.append(f"  {leaf.path:{width}}  {mark:14}  {leaf.value}: {leaf.note}")
        lines.append("steps")
        lines.extend(f"  {n}. {step}" for n, step in enumerate(self.steps, 1))
        lines.append(f"evaluations of f: {self.evaluations}")
        if self.error is not None:
            lines.append(f"estimated relative error: {self.error:.0e}")
        return "\n".join(lines)


def explain(
    operator: Callable[..., Any],
    f: Callable[..., Any],
    backend: AutoBackend,
    /,
    *args: Any,
    **kwargs: Any,
) -> Explanation:
    """Make one call of an operator, and describe it: data that prints as a page of text.

    Shows which leaves are differentiated, and why others are not; how each is converted for the
    engine; the engine's passes, and which of them are derived from others; and how often f is
    evaluated. The call is made once, and its result is dropped.

    operator: one of this package's operators. args, kwargs: the operator's arguments after the
    backend. For a batched call write `explain(batched, operator, f, backend, *args)`. Raises the
    errors of the call.

    >>> from adinterface import AutoFiniteDifferences, explain, gradient
    >>> explain(gradient, lambda p: p["x"] ** 2, AutoFiniteDifferences(), {"x": 3.0,
    ...     "name": "speed"})
    gradient with AutoFiniteDifferences()
    arguments
      args[0]['x']     differentiated  the float 3.0: reaches f as numpy float64
      args[0]['name']  None            str 'speed': str has no gradient
    steps
      1. AutoFiniteDifferences: gradient, leaf by leaf
    evaluations of f: 5
    estimated relative error: 5e-15
    """
    call, title = operator, "{}"
    around = entry_of(REGISTRY.outer, operator)
    if around is not None:
        name = operator.__name__
        row, f, backend, args = around(
            f"explain({name}, operator, f, backend, ...)", f, (backend, *args), kwargs
        )
        call, title = functools.partial(_run, row), f"{name}({{}})"
    else:
        require_call("explain(operator, f, backend, *args)", operator, f)
    counting = counted(f)
    with recording() as record:
        call(counting, backend, *args, **kwargs)
    plan, values = record.calls[0]
    leaves = tuple(_reports(plan, values))
    error = max([accuracy.relative for accuracy in record.accuracies], default=None)
    steps = (*dict.fromkeys(record.costs), *_of_one_entry(plan, record.steps))
    return Explanation(
        title.format(plan.operator.name), backend, leaves, steps, counting.calls, error
    )


def _run(
    row: OperatorRow, f: Callable[..., Any], backend: AutoBackend, /, *args: Any, **kwargs: Any
) -> Any:
    return run(row, backend, f, args, kwargs)


def _of_one_entry(plan: Plan, steps: Sequence[str]) -> tuple[str, ...]:
    """The steps; those of a loop over entries once, if they are the same for each entry."""
    count = plan.marks.count if isinstance(plan.marks, Axis) else None
    if not count or not steps or not steps[0].endswith("one after another"):
        return tuple(steps)
    first, *rest = steps
    each = rest[: len(rest) // count]
    return (
        (first, *[f"{step}, for each" for step in each]) if rest == each * count else tuple(steps)
    )


def _reports(plan: Plan, values: Sequence[Any]) -> Iterator[LeafReport]:
    dtypes = iter(plan.dtypes)
    for place in places_of(plan.structures, zip(plan.slots, values)):
        if place.slot is None:
            yield LeafReport(place.path, place.value, False, place.note)
        else:
            yield LeafReport(
                place.path,
                place.value,
                True,
                _conversion(plan, place.path, place.slot, next(dtypes)),
            )


def _conversion(plan: Plan, path: str, slot: Slot, dtype: str) -> str:
    library = plan.backend.library
    assert slot.library is not None
    if slot.owner is not None and library is slot.library:
        return f"f reaches it through the {slot.owner.__name__} that holds it"
    target = slot.library.name if library is None else library.name
    target = "numpy" if target == "python" else target
    promoted = ", promoted from an integer" if path in [f"args[{i}]" for i in plan.promoted] else ""
    each = plan.marks.each if isinstance(plan.marks, Axis) else ()
    stacked = any(has_axis for has_axis, other in zip(each, plan.slots) if other is slot)
    return f"reaches f as {target} {dtype}{promoted}{', entry by entry' if stacked else ''}"
