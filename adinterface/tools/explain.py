"""`explain`: what a call of an operator does, for people who wonder."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ..call.call import Call
from ..contract.auto import AutoBackend
from ..derive.record import recording
from ..tree import Leaf


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

    @functools.wraps(f)
    def counted(*inner: Any, **keywords: Any) -> Any:
        nonlocal evaluations
        evaluations += 1
        return f(*inner, **keywords)

    with recording() as record:
        operator(counted, backend, *args, **kwargs)
    call = record.calls[0]
    explanation = Explanation(call.operator, backend, tuple(_reports(call)), tuple(record.steps), evaluations)
    print(explanation)
    return explanation


def _reports(call: Call) -> Iterator[LeafReport]:
    dtypes = iter(call.dtypes)
    for place in call.places():
        if place.leaf is None:
            yield LeafReport(place.path, place.value, False, place.note)
        else:
            yield LeafReport(place.path, place.value, True, _conversion(call, place.path, place.leaf, next(dtypes)))


def _conversion(call: Call, path: str, leaf: Leaf, dtype: str) -> str:
    library = call.backend.library
    if leaf.holder is not None and library is leaf.library:
        return f"f reaches it through the {type(leaf.holder).__name__} that holds it"
    target = leaf.library.name if library is None else library.name
    target = "numpy" if target == "python" else target
    promoted = ", promoted from an integer" if path in [f"args[{i}]" for i in call.promoted] else ""
    return f"reaches f as {target} {dtype}{promoted}"
