"""`explain`: what a call of an operator does, for people who wonder."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ..call.messages import places_of
from ..contract.auto import AutoBackend
from ..contract.backend import Backend
from ..contract.library import Library, kind
from ..derive.record import recording
from ..operators.facts import arguments_of, operation_of_name
from ..operators.operation import Operation
from ..operators.second_order import carrier, first_order, second_order
from ..tree import Leaf, handler_of
from .leaves import native_leaves, taken_apart


@dataclass(frozen=True)
class LeafReport:
    """One leaf of the arguments: where it stands, what it is, and what becomes of it."""

    path: str
    value: str
    differentiated: bool
    #: How it reaches f if it is differentiated, otherwise why it is not.
    note: str


@dataclass(frozen=True)
class Explanation:
    """What a call did. Prints as a page of text."""

    operator: str
    backend: AutoBackend
    leaves: tuple[LeafReport, ...]
    #: The passes of the engine, in order, and the ways by which an operator was derived.
    steps: tuple[str, ...]
    #: How often f was evaluated (by the call itself; not by a later `back` or `push`).
    evaluations: int

    def __str__(self) -> str:
        lines = [f"{self.operator} with {self.backend!r}", "arguments"]
        width = max((len(leaf.path) for leaf in self.leaves), default=0)
        for leaf in self.leaves:
            mark = "differentiated" if leaf.differentiated else "None"
            lines.append(f"  {leaf.path:{width}}  {mark:14}  {leaf.value}: {leaf.note}")
        lines.append("steps")
        lines.extend(f"  {n}. {step}" for n, step in enumerate(self.steps, 1))
        lines.append(f"evaluations of f: {self.evaluations}")
        return "\n".join(lines)


def explain(
    operator: Callable[..., Any], f: Callable[..., Any], backend: AutoBackend, /, *args: Any, **kwargs: Any
) -> Explanation:
    """Make one call of an operator, and tell what it does: print it, and return it as data.

    Says which leaves are differentiated and which are not, and why; how each reaches the engine; which passes the
    engine makes and which of them are derived from others; how often f is evaluated. The call is really made, once
    (so f runs, with whatever it does), and its result is dropped.

    operator: one of this package's operators. args, kwargs: what that operator takes after the backend.
    Raises what the call raises.

    >>> from adinterface import AutoFiniteDifferences, explain, gradient
    >>> report = explain(gradient, lambda p: p["x"] ** 2, AutoFiniteDifferences(), {"x": 3.0, "name": "speed"})
    gradient with AutoFiniteDifferences(relative_step=None, native=None)
    arguments
      args[0]['x']     differentiated  the float 3.0: reaches f as numpy float64
      args[0]['name']  None            str 'speed': str has no gradient
    steps
      1. AutoFiniteDifferences: gradient, leaf by leaf
      2. AutoFiniteDifferences: 1 columns of the Jacobian
    evaluations of f: 3
    """
    evaluations = 0
    operation = operation_of_name(getattr(operator, "__name__", ""))
    reports: list[LeafReport] = []

    @functools.wraps(f)
    def counted(*inner: Any, **keywords: Any) -> Any:
        nonlocal evaluations
        evaluations += 1
        if evaluations == 1:  # in it, because an engine's traced arrays must not outlive it
            reports.extend(_reports(operation, backend, args, inner))
        return f(*inner, **keywords)

    with recording() as record:
        operator(counted, backend, *args, **kwargs)
    name = operation.name if operation else getattr(operator, "__name__", repr(operator))
    explanation = Explanation(name, backend, tuple(reports), tuple(record.steps), evaluations)
    print(explanation)
    return explanation


def _reports(
    operation: type[Operation] | None, auto: AutoBackend, args: tuple[Any, ...], inner: tuple[Any, ...]
) -> Iterator[LeafReport]:
    """The leaves of the arguments, beside what f gets of them."""
    structures, leaves = taken_apart(args if operation is None else arguments_of(operation, args))
    second = operation is not None and operation.order == 2
    engine = carrier(*second_order(auto)) if second else first_order(auto)
    native = iter(native_leaves(structures, inner))
    for place in places_of(structures, leaves):
        if place.leaf is None:
            yield LeafReport(place.path, place.value, False, place.note)
        else:
            yield LeafReport(place.path, place.value, True, _conversion(place.leaf, next(native), engine))


def _conversion(leaf: Leaf, native: Any, engine: Backend) -> str:
    own = handler_of(native)
    assert isinstance(own, Library), type(native)
    library = engine.library or own  # an engine may also evaluate f at plain arrays
    if leaf.holder is not None and library is leaf.library:
        return f"f reaches it through the {type(leaf.holder).__name__} that holds it"
    promoted = ", promoted from an integer" if kind(leaf.library.dtype(leaf.value)) == "integer" else ""
    return f"reaches f as {library.name} {own.dtype(native)}{promoted}"
