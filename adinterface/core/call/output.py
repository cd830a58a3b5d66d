"""f's value: flattened for the engine, and rebuilt for the user."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from ..contract.backend import Arrays, Aux
from ..contract.errors import NotDifferentiableError, OutputError
from ..contract.library import NUMPY, PYTHON, Library, dtype_kind
from ..tree import (
    CARRIED,
    DIFFERENTIATED,
    Leaf,
    LeafSpec,
    Node,
    Static,
    Structure,
    flatten,
    handler_of,
    stood_for,
)
from .messages import describe
from .notes import notes_on_call, remedy_of_value
from .plan import Plan
from .row import OutputKind


class OutputLayout:
    """How f's value is rebuilt: its structure, and "output", "aux" or a number for each leaf.

    For `(y, 3, flags)` the places are `("output", 3, "aux")`.
    """

    __slots__ = ("places", "structure")

    def __init__(self, structure: Structure, places: tuple[Any, ...]):
        self.structure: Structure = structure
        self.places: tuple[Any, ...] = places

    def assemble(self, outputs: Sequence[Any], aux: Sequence[Any]) -> Any:
        """f's value, from its outputs and aux in the form for the user."""
        arrays = {"output": iter(outputs), "aux": iter(aux)}
        leaves = [next(arrays[place]) if isinstance(place, str) else place for place in self.places]
        return self.structure.build(iter(leaves))


#: The aux of a value that is a single array of the engine.
ALONE = Aux((), OutputLayout(DIFFERENTIATED, ("output",)))


def form_of(aux: Aux) -> Aux | tuple[()]:
    """How f's value is built, without arrays; `()` if it is a single array."""
    return () if aux.layout is ALONE.layout else Aux((), aux.layout)


def floating(structure: Structure, result: Any) -> Any:
    """A value of f with floats for integers where this structure has floating numbers."""
    if isinstance(structure, Node) and type(result) is structure.cls:
        children, data = structure.type.flatten(result)
        return structure.type.unflatten(data, list(map(floating, structure.inner, children)))
    if structure is not DIFFERENTIATED or isinstance(result, (bool, np.bool_)):
        return result
    if isinstance(result, (int, np.integer)):
        return float(result)
    integers = isinstance(result, np.ndarray) and result.dtype.kind in "iu"
    return result.astype(float) if integers else result


def split(plan: Plan, output: OutputKind, result: Any) -> tuple[Arrays, Aux]:
    try:
        return _split(plan, output, result)
    # For example of NumPy's object arrays of engine arrays.
    except (NotDifferentiableError, OutputError) as error:
        annotate(plan, error)
        raise


def _split(plan: Plan, output: OutputKind, result: Any) -> tuple[Arrays, Aux]:
    if output == "tree":
        structure, leaves = flatten(result, "the result of f")
        if not any(leaf.differentiated for leaf in leaves):
            remedy = remedy_of_value(result) or "Return floating numbers or arrays."
            raise OutputError(
                f"{plan.operator.name}: f returned {describe(result)}, in which nothing has a"
                f" derivative. {remedy}"
            )
    else:
        first, rest = scalar_and_rest(result) if output == "scalar and aux" else (result, None)
        check_scalar(plan.operator.name, stood_for(first), result)
        structure, leaves = flatten(first if rest is None else rest, "the result of f")
        if rest is not None:
            leaves[1:] = [Leaf(leaf.value, leaf.library, None, False) for leaf in leaves[1:]]
    if "compile" in plan.backend.gives:
        others = iter(leaves)
        leaves = []
        structure = _carrying(structure, others, leaves, plan.library)
    places = tuple([_place_of(leaf) for leaf in leaves])
    outputs = tuple(
        [_native(plan, leaf) for leaf, place in zip(leaves, places) if place == "output"]
    )
    if structure is DIFFERENTIATED:
        return outputs, ALONE
    aux = tuple([_native_copy(plan, leaf) for leaf, place in zip(leaves, places) if place == "aux"])
    return outputs, Aux(aux, OutputLayout(structure, places))


def _place_of(leaf: Leaf) -> Any:
    """For `OutputLayout.places`."""
    if leaf.differentiated:
        return "output"
    return leaf.value if leaf.library is PYTHON else "aux"


def scalar_and_rest(result: Any) -> tuple[Any, Any]:
    """The scalar that a value of f begins with, and the whole value; None if there is no more."""
    value = stood_for(result)
    if isinstance(value, (tuple, dict)) and value:
        return (next(iter(value.values())) if isinstance(value, dict) else value[0]), value
    if is_dataclass(value) and not isinstance(handler_of(value, scan=False), Library):
        _, inside = flatten(value, "the result of f")
        # The first leaf, and not the first field: a registered dataclass has an order of its own.
        return (inside[0].value if inside else value), value
    return result, None


def _carrying(
    structure: Structure, leaves: Iterator[Leaf], result: list[Leaf], library: Library
) -> Structure:
    """The structure with places for engine arrays without numbers, which may be traced."""

    def carrying(place: LeafSpec) -> Structure:
        if not isinstance(place, Static):
            result.append(next(leaves))
        elif library.owns(place.value):
            result.append(Leaf(place.value, library, None, False))
            return CARRIED
        return place

    return structure.fold(carrying, Node.with_children)


def _native_copy(plan: Plan, leaf: Leaf) -> Any:
    """As `_native`, but an untraced array is copied: f may have captured it."""
    library = leaf.library
    if library is PYTHON or not library.mutable or library.traced(leaf.value):
        return _native(plan, leaf)
    return _native(
        plan, Leaf(library.asarray(leaf.value, copy=True), library, None, leaf.differentiated)
    )


def _native(plan: Plan, leaf: Leaf) -> Any:
    library = plan.backend.library
    if library is None or leaf.library is library:
        return leaf.value if leaf.library is not PYTHON else np.asarray(leaf.value)[()]
    if leaf.library is NUMPY or leaf.library is PYTHON:
        return library.asarray(leaf.value)
    return library.asarray(library.foreign(leaf.value, leaf.library))


def check_scalar(operator: str, value: Any, result: Any) -> None:
    """Refuse anything but a real 0-d scalar, with a remedy."""
    if type(value) is float:
        return
    handler = handler_of(value, scan=False)
    if isinstance(handler, Library) and type(value) is not int:
        remedy = _remedy_of_array(handler, value)
        if remedy is None:
            return
        problem = describe(value)
    else:
        problem, remedy = _problem_of_object(operator, value, result)
    raise OutputError(f"{operator}: f must return a real scalar, but returned {problem}. {remedy}")


_NO_COUNT = "Return a float; counts and tests have no derivative."


def _remedy_of_array(library: Library, value: Any) -> str | None:
    """What to return in place of an array or a number; None for a real scalar."""
    shape, kind = library.shape(value), dtype_kind(library.dtype(value))
    if shape != ():
        way = "Reduce it to a scalar (a sum or a mean)"
        if math.prod(shape) == 1:
            way = "Index it or take its sum to get a 0-d result"
        return f"{way}, or use jacobian."
    if kind == "complex":
        return (
            "Return its real part or its squared modulus, or use jacobian for the derivative of a"
            " complex function."
        )
    return None if kind == "real" else _NO_COUNT


def _problem_of_object(operator: str, value: Any, result: Any) -> tuple[str, str]:
    """What f returned that is no floating number, and what to return in its place."""
    if isinstance(value, (bool, int)):
        return f"the {type(value).__name__} {value}", _NO_COUNT
    if value is None:
        return "None", "Does it lack a return statement?"
    remedy = remedy_of_value(result)
    if remedy is None:
        remedy = "For auxiliary results after the scalar use value_and_gradient"
        if operator == "value_and_gradient":
            remedy = "Auxiliary results follow the scalar in a tuple, namedtuple, dict or dataclass"
        remedy += ", with the scalar first; for a tree of arrays use jacobian or pullback."
    return describe(result), remedy


@contextmanager
def noting(plan: Plan) -> Iterator[None]:
    """Adds notes to an error that the engine raises."""
    try:
        yield
    except (RuntimeError, TypeError) as error:
        annotate(plan, error)
        raise


def annotate(plan: Plan, error: Exception, carried: Sequence[Any] = ()) -> None:
    """Add notes to an error that f raised. carried: the values that are not differentiated."""
    known = getattr(error, "__notes__", [])
    for note in (plan.backend.note(error), *notes_on_call(plan, error, carried)):
        if note is not None and note not in known:
            error.add_note(note)
