"""Notes on errors of f that the call explains: what f got, and what it returned."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from types import CoroutineType, FunctionType, GeneratorType
from typing import Any

import numpy as np

from ..contract.auto import AutoBackend
from ..contract.errors import OutputError, an
from ..support import other_packages
from ..tree import Node
from .plan import Plan

#: Keyword arguments of other packages' operators, and what to write here.
_OTHERS = {
    "has_aux": "Write value_and_gradient, whose f returns (scalar, auxiliary).",
    "backend": "Write {operator}(f, backend, x), by position.",
    **dict.fromkeys(
        ("argnum", "argnums", "argnames", "wrt"),
        "Every positional argument is differentiated: wrap the others in Constant(...).",
    ),
}
_CONTAINERS = {
    list: "Pass np.array(x) for one array.",
    tuple: (
        "Pass np.array(x) for one array, or {operator}(f, backend, *x) for arguments of their own."
    ),
    dict: "Compute with its entries, or with tree.map.",
}


def notes_on_call(plan: Plan, error: Exception, carried: Sequence[Any]) -> Iterator[str]:
    """What to know of an error that f or its value raised. carried: f's other values."""
    for i in () if isinstance(error, OutputError) else plan.promoted:
        yield (
            f"argument {i} was an integer, so it was promoted to a float and differentiated; if f"
            " needs an integer there (an axis, an index, labels), wrap it in Constant(...)"
        )
    if not isinstance(error, (TypeError, AttributeError, ValueError, RuntimeError)):
        return
    message = str(error)
    yield from _of_containers(plan, message)
    if "keyword" in message:
        yield from [_of_keyword(plan, name) for name in plan.keywords if f"'{name}'" in message]
    nodes = [place.cls for place in plan.structures if isinstance(place, Node)]
    if "positional argument" in message and any(issubclass(cls, AutoBackend) for cls in nodes):
        yield (
            "f and the backend are given once: a prepared call takes the arguments of f alone,"
            " fast(x)."
        )
    if "read-only" in message and any(
        isinstance(x, np.ndarray) and not x.flags.writeable for x in carried
    ):
        yield (
            "f is evaluated more than once here, so NumPy arrays in Constants and keywords are"
            " read-only: c *= 2 would change them from one evaluation to the next. Write c = c * 2,"
            " or copy the array in f."
        )
    for value in carried:
        if other_packages.plain(value) is not None:
            name = an(type(value).__name__)
            yield (
                f"f got {name} x, which does not mix with an engine's arrays."
                f" {other_packages.advice(value)}"
            )


def _of_containers(plan: Plan, message: str) -> Iterator[str]:
    for i, place in enumerate(plan.structures):
        if not isinstance(place, Node) or place.cls not in _CONTAINERS:
            continue
        name = place.cls.__name__
        remedy = _CONTAINERS[place.cls].format(operator=plan.operator.name)
        alone = len(plan.structures) == 1 and name != "dict"
        if alone and re.search("missing .* required positional argument", message):
            yield (
                f"argument 0 is one {name}. Pass its entries as arguments of their own:"
                f" {plan.operator.name}(f, backend, *x)."
            )
            continue
        others = "" if name == "dict" else r"|(?<!element with a )\bsequence\b"
        if re.search(rf"\b{name}\b{others}", message):
            yield f"argument {i} is a {name}, which reaches f as a {name} of its entries. {remedy}"


def _of_keyword(plan: Plan, name: str) -> str:
    auto, remedy = plan.backend.auto, "f does not take it."
    if name in _OTHERS:
        remedy = _OTHERS[name].format(operator=plan.operator.name)
    elif hasattr(auto, name):
        remedy = f"It is an option of the backend: {type(auto).__name__}({name}=...)."
    return f"Keyword arguments go to f, {name} too. {remedy}"


def remedy_of_value(value: Any) -> str | None:
    """What to change in an f that returned this; None for what may stand in a tree of arrays."""
    if isinstance(value, CoroutineType):
        value.close()  # or Python warns that it was never awaited
        return "f is an async function: write a plain one."
    if isinstance(value, GeneratorType):
        return (
            "f contains a yield, or ends in a generator expression: return an array, a list, or"
            " their sum."
        )
    if isinstance(value, (str, bytes)):
        return "Return the number, not its text."
    if isinstance(value, FunctionType):
        return "Return its value: call it in f."
    plain = other_packages.plain(value)
    return None if plain is None else f"Return {plain}."
