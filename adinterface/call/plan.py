"""What the arguments of a call decide, whatever their numbers are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..contract.backend import Backend
from ..contract.errors import NotDifferentiableError
from ..contract.library import NUMPY, PYTHON, Library, any_wide, complex_of, kind, widest
from ..tree import (
    CARRIED,
    DIFFERENTIATED,
    Constant,
    Frozen,
    Leaf,
    LeafSpec,
    Node,
    Static,
    Structure,
    builder,
    flatten,
    gradient_builder,
    handler_of,
)
from .messages import nothing_differentiable
from .recognition import Recognizer, recognizer, tangent_recognizer

_PLAIN = frozenset({"float16", "float32", "float64"})

_PLAIN_CARRIED = _PLAIN | {"bool", "int8", "int16", "int32", "int64", "uint8", "complex64", "complex128"}


class Spec(NamedTuple):
    """What a plan knows of one leaf, or of one value without a gradient."""

    #: None for a value that is no leaf.
    library: Library | None
    dtype: str
    differentiated: bool
    #: The object through which f reaches the leaf, if there is one.
    holder: Any


class Builders(NamedTuple):
    args: list[Callable[[Sequence[Any]], Any]]
    keywords: dict[str, Callable[[Sequence[Any]], Any]]
    gradients: list[Callable[[Sequence[Any]], Any]]


class Plan:
    """What a call's arguments decide, whatever their numbers are: made once for each signature.

    `specs` has an entry for each leaf and for each value without a gradient, in the order in which `structures` and
    `keywords` take them; both are slots there, so that a plan keeps no argument alive.
    """

    def __init__(self, operator: str, backend: Backend, args: Sequence[Any], kwargs: dict[str, Any]):
        self.operator = operator
        self.backend = backend
        self.promoted: list[int] = []
        self.active_arguments: list[int] = []
        leaves: list[Leaf] = []
        found: list[Structure] = []
        for i, arg in enumerate(args):
            before = len(leaves)
            found.append(self._flatten(i, arg, leaves))
            if any(leaf.differentiated for leaf in leaves[before:]):
                self.active_arguments.append(i)
        words = {name: flatten(Constant(value), leaves, lambda: "a keyword") for name, value in kwargs.items()}
        if not any(leaf.differentiated for leaf in leaves):
            raise NotDifferentiableError(nothing_differentiable(operator, found, leaves))
        remaining = iter(leaves)
        self.values: list[Any] = []
        specs: list[Spec] = []
        self.structures = tuple([_slotted(structure, remaining, specs, self.values) for structure in found])
        self.keywords = {name: _slotted(structure, remaining, specs, self.values) for name, structure in words.items()}
        self.specs = tuple(specs)
        self.active = tuple([n for n, spec in enumerate(specs) if spec.differentiated])
        self._choose_dtypes([leaf.library.dtype(leaf.value) for leaf in leaves if leaf.library is not PYTHON])
        libraries = [specs[n].library for n in self.active]
        #: The library of results without a leaf's shape: that of the first differentiated array.
        self.result_library: Library = next((library for library in libraries if library is not PYTHON), NUMPY)  # type: ignore[assignment]
        self.python_result = all(library is PYTHON for library in libraries)
        #: The active leaves that f reaches through their holder. One that stands in two places is two variables, so the
        #: second place gets a copy.
        self.held = frozenset(
            _held_once([self.values[place] if specs[place].holder is not None else None for place in self.active])
        )
        carried = [n for n, spec in enumerate(specs) if not spec.differentiated]
        #: The library of f's arrays.
        self.library = backend.library or NUMPY
        #: Every leaf is a NumPy array of a dtype that every engine has, so the short ways of the library serve.
        self.plain = backend.device is None and all(
            spec.library is None or _is_plain(spec, value) for spec, value in zip(specs, self.values)
        )
        self.numpy_dtypes = [self.values[n].dtype for n in self.active] if self.plain else []
        #: The usual case: each argument is such an array.
        self.only_arrays = self.plain and not self.keywords and all(place is DIFFERENTIATED for place in self.structures)
        #: Arrays that an engine without 64 bits would narrow.
        self.unfit = not any_wide(self.all_dtypes) and any(spec.dtype in ("int64", "uint64") for spec in specs)
        #: The places of what is not differentiated, and whether a leaf stands there.
        self.carried = [(n, specs[n].library is not None) for n in carried]
        #: Where each value of `specs` stands in a list of the active values, with the carried ones behind.
        places = {n: k for k, n in enumerate([*self.active, *carried])}
        self.order = [places[n] for n in range(len(specs))] if carried else None
        #: From the values to each argument, each keyword, and the gradient of each argument; made when the plan is kept.
        self.builders: Builders | None = None
        #: The values of other arguments, if this plan fits them; also made when the plan is kept.
        self.recognize: Recognizer | None = None
        #: The same for tangents, of arguments that are differentiated as a whole or not at all.
        self.recognize_tangents: Recognizer | None = None
        #: All of an operation in one step: from f and the values to its results, or None if that cannot be now.
        self.straight: Callable[[Callable[..., Any], Sequence[Any], Any], Any] | None = None

    def keep(self) -> None:
        """Spend what pays with the second call, and forget the first one's arguments, which must not outlive it."""
        slots = list(zip(self.specs, self.values))
        self.recognize = recognizer(self.structures, self.keywords, iter(slots))
        if self.plain:
            self.recognize_tangents = tangent_recognizer(self.structures, iter(slots))
        self.values = []
        first = 0
        args: list[Any] = []
        for structure in self.structures:
            build_one, first = builder(structure, first)
            args.append(build_one)
        keywords: dict[str, Any] = {}
        for name, structure in self.keywords.items():
            keywords[name], first = builder(structure, first)
        gradients: list[Any] = []
        first = 0
        for structure in self.structures:
            build_one, first = gradient_builder(structure, first)
            gradients.append(build_one)
        self.builders = Builders(args, keywords, gradients)

    def _flatten(self, i: int, arg: Any, leaves: list[Leaf]) -> Structure:
        if type(arg) is not Constant:
            handler = handler_of(arg, path=f"args[{i}]")
            if is_promoted(handler, arg):
                self.promoted.append(i)
                leaves.append(Leaf(arg, handler, None, True))  # type: ignore[arg-type]
                return DIFFERENTIATED
        return flatten(arg, leaves, lambda: f"args[{i}]")

    def _choose_dtypes(self, dtypes: list[str]) -> None:
        """Each active leaf's dtype: its own, or for a Python number and a promoted integer the widest of the call."""
        real = widest(dtypes)
        self.dtypes: list[str] = []
        for n in self.active:
            own = self.specs[n].dtype
            if own == "complex":
                self.dtypes.append(complex_of(real))
            else:
                self.dtypes.append(real if own in ("float", "int") or kind(own) == "integer" else own)
        self.all_dtypes = tuple(dict.fromkeys([*dtypes, *self.dtypes]))


def _is_plain(spec: Spec, value: Any) -> bool:
    dtypes = _PLAIN if spec.differentiated else _PLAIN_CARRIED
    return type(value) is np.ndarray and spec.dtype in dtypes and value.dtype.isnative and spec.holder is None


def _held_once(values: Sequence[Any]) -> Iterator[int]:
    seen: set[int] = set()
    for n, value in enumerate(values):
        if value is not None and id(value) not in seen:
            seen.add(id(value))
            yield n


def is_promoted(handler: object, arg: Any) -> bool:
    """Whether an argument of its own is an integer, which is differentiated as a float."""
    if handler is PYTHON:
        return type(arg) is int
    return isinstance(handler, Library) and kind(handler.dtype(arg)) == "integer"


def _slotted(structure: Structure, leaves: Iterator[Leaf], specs: list[Spec], values: list[Any]) -> Structure:
    """The structure with a slot for every value without a gradient; the leaves and those values in its order."""
    if isinstance(structure, Static):
        specs.append(Spec(None, "", False, None))
        values.append(structure.value)
        return CARRIED
    if isinstance(structure, LeafSpec):
        leaf = next(leaves)
        specs.append(Spec(leaf.library, leaf.library.dtype(leaf.value), leaf.differentiated, leaf.holder))
        values.append(leaf.value)
        return structure
    if isinstance(structure, Frozen):
        return Frozen(_slotted(structure.inner, leaves, specs, values))
    children = tuple([_slotted(child, leaves, specs, values) for child in structure.children])
    return Node(structure.type, structure.data, children)
