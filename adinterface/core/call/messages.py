"""The words of messages: places of a call, values in a few words, warnings at the user's line."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

from ..contract.auto import AutoBackend
from ..contract.errors import DisconnectedWarning, PrecisionWarning, an, levels_to_the_user
from ..contract.inexact import Accuracy
from ..contract.library import PYTHON, Library, dtype_kind
from ..contract.registry import function_of_extension
from ..support import other_packages
from ..support.record import tell_doubt
from ..tree import Constant, Node, Slot, Structure, count_leaves, handler_of, is_in_front, stood_for
from .plan import Plan

#: A dense Jacobian or Hessian with more entries is large.
LARGE = 10**7


class Place(NamedTuple):
    """One place in the arguments, in words, such as `Place("args[0]['n']", "int 3", "...")`."""

    path: str
    value: str
    #: Why it has no gradient.
    note: str
    #: The leaf's slot and dtype, if it is differentiated.
    slot: Slot | None = None


def places_of(
    structures: Sequence[Structure], slots: Iterable[tuple[Slot, Any]]
) -> Iterator[Place]:
    """Every place of some arguments. slots: each slot with its value, in order."""
    remaining = iter([(slot, value) for slot, value in slots if not is_in_front(value)])
    for i, structure in enumerate(structures):
        for path, place in structure.places(f"args[{i}]"):
            result = [next(remaining) for _ in range(count_leaves(place))]
            if isinstance(place, Node):
                yield Place(path, "Constant", "marked as not differentiated")
            else:
                yield _place(path, *result[0])


def _place(path: str, slot: Slot, value: Any) -> Place:
    if slot.library is None:
        plain = other_packages.plain(value)
        return Place(path, _short(value), slot.reason + (f"; pass {plain}" if plain else ""))
    integer = dtype_kind(slot.dtype) == "integer"
    note = ("integers inside a tree have" if integer else "a bool has") + " no gradient"
    return Place(path, describe(value), note, slot if slot.differentiated else None)


def nothing_differentiable(plan: Plan, slots: Iterable[tuple[Slot, Any]]) -> str:
    operator = plan.operator.name
    places = places_of(plan.structures, slots)
    lines = [f"{operator}: no argument has a gradient."]
    lines += [f"  {place.path}: {place.value} ({place.note})" for place in places]
    if not plan.structures:
        lines.append(
            f"  There is no argument at all: write {operator}(f, backend, x), or"
            f" prepare({operator}, f, backend, x)."
        )
    if not plan.structures and plan.keywords:
        lines.append(
            f"  A keyword is not differentiated: pass {', '.join(plan.keywords)} by position."
        )
    lines.append(
        "Pass floating numbers or arrays; a model's arrays must be floating to be trained."
    )
    return "\n".join(lines)


def require_function(caller: str, f: Any) -> None:
    """Raise TypeError, with a remedy, for an f that cannot be called."""
    if callable(f):
        return
    actual = describe(f)
    if f is None:
        actual, remedy = "None", "Does the function that made it lack a return statement?"
    elif isinstance(f, AutoBackend):
        actual = f"the backend {type(f).__name__}"
        remedy = "f stands in front of the backend."
    elif isinstance(f, Constant):
        remedy = "Constant(...) is for arguments; pass the function itself."
    elif isinstance(f, str):
        remedy = "Pass the function itself, without quotes."
    else:
        remedy = "Pass the function itself, without calling it: f, not f(x)."
    raise TypeError(f"{caller}: f must be a function, but is {actual}. {remedy}")


def describe(value: Any) -> str:
    """A value in a few words, for an error message: its library, dtype and shape, or its type."""
    value = stood_for(value)
    handler = handler_of(value, scan=False)
    if isinstance(handler, Library) and handler is not PYTHON:
        dtype, shape = handler.dtype(value), handler.shape(value)
        return f"{an(handler.name)} array of dtype {dtype} and shape {shape}"
    if handler is PYTHON:
        return f"the {type(value).__name__} {value}"
    return an(type(value).__name__)


def _short(value: Any) -> str:
    if value is None:
        return "None"
    name, text = type(value).__name__, repr(value)
    return f"{name} {text}" if len(text) <= 40 and "\n" not in text else name


def warn_imprecise(operator: str, names: Sequence[str], accuracies: Sequence[Accuracy]) -> None:
    """Warn which derivatives are less exact than they should be. names: of the leaves."""
    leaves = [leaf for each in accuracies for leaf in each.leaves if leaf.doubtful]
    doubtful = {names[n] if n >= 0 else "this direction": relative for n, relative, _ in leaves}
    shown = [f"{name} ({relative:.1g})" for name, relative in doubtful.items()]
    more = f" and {len(shown) - 8} more" if len(shown) > 8 else ""

    def tell() -> None:
        warnings.warn(
            f"{operator}: the estimated relative error is large in the derivative by"
            f" {', '.join(shown[:8])}{more}. f is noisy, not smooth, its terms cancel, or the"
            " rounding of f's value hides its change there: compute it in more precision, give the"
            " backend its scale=... or noise=..., or use an engine that differentiates.",
            PrecisionWarning,
            stacklevel=levels_to_the_user("scipy"),
        )

    tell_doubt(max(doubtful.values()), tell)


def warn_disconnected(operator: str) -> None:
    warnings.warn(
        f"{operator}: the value of f depends on none of its differentiated arguments, so every"
        " gradient is zero. Only what is computed inside f, from the arguments that f receives, is"
        " differentiated: a number made by float(x), x.item() or x.detach() is a constant, and so"
        " is what was pickled or copied by copy.deepcopy.",
        DisconnectedWarning,
        stacklevel=levels_to_the_user(),
    )


def look_at_dense(operator: str, matrix: str, rows: Sequence[Sequence[Any]]) -> None:
    """Let an extension warn that a large dense matrix is mostly zeros."""
    blocks = [*chain(*rows)]
    if sum(map(math.prod, map(attrgetter("shape"), blocks))) > LARGE:
        look = function_of_extension("look_at_dense")
        if look is not None:
            look(operator, matrix, blocks)
