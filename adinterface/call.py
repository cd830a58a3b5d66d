"""One call of an operator, from the user's arguments to a flat function of native arrays, and back to results.

Data flows one way: arguments -> leaves -> native arrays -> the engine -> results on the arguments' structure.
"""

from __future__ import annotations

import copy
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any, Literal, NamedTuple

import numpy as np

from .auto import BUILT_IN
from .backend import Arrays, Backend
from .errors import ConversionError, DisconnectedWarning, NotDifferentiableError, OutputError
from .library import NUMPY, PYTHON, Library, complex_of, kind, widest
from .record import note_call
from .tree import (
    DIFFERENTIATED,
    Constant,
    Frozen,
    Leaf,
    Static,
    Structure,
    build,
    build_gradient,
    count_leaves,
    flatten,
    handler_of,
    paths_of,
)

#: What an operator differentiates: a real scalar; a real scalar in front of auxiliary results; every floating leaf.
OutputKind = Literal["scalar", "scalar and aux", "tree"]


class Place(NamedTuple):
    """One place of the arguments, for messages."""

    path: str
    value: str
    #: Why it has no gradient.
    note: str
    #: Its leaf, if it is differentiated.
    leaf: Leaf | None = None


class Call:
    """The arguments of one call, taken apart, and what is needed to give results their form."""

    def __init__(self, operator: str, backend: Backend, args: Sequence[Any], kwargs: dict[str, Any]):
        self.operator = operator
        self.backend = backend
        self.leaves: list[Leaf] = []
        self.promoted: list[int] = []
        self.active_arguments: list[int] = []
        self.structures = tuple([self._bind(i, arg) for i, arg in enumerate(args)])
        self.keywords = {name: self._keyword(name, value) for name, value in kwargs.items()}
        self.active = [leaf for leaf in self.leaves if leaf.differentiated]
        if not self.active:
            raise NotDifferentiableError(self._nothing_differentiable())
        self._choose_dtypes()
        self.result_library: Library = next((leaf.library for leaf in self.active if leaf.library is not PYTHON), NUMPY)
        self.python_result = all(leaf.library is PYTHON for leaf in self.active)
        self.taken: set[int] = set()
        note_call(self)

    # arguments -> leaves

    def _bind(self, i: int, arg: Any) -> Structure:
        before = len(self.leaves)
        structure = self._flatten(i, arg)
        if any(leaf.differentiated for leaf in self.leaves[before:]):
            self.active_arguments.append(i)
        return structure

    def _flatten(self, i: int, arg: Any) -> Structure:
        if type(arg) is not Constant:
            handler = handler_of(arg, path=f"args[{i}]")
            if (handler is PYTHON and type(arg) is int) or self._is_integer_array(handler, arg):
                self.promoted.append(i)
                self.leaves.append(Leaf(arg, handler, None, True))  # type: ignore[arg-type]
                return DIFFERENTIATED
        return flatten(arg, self.leaves, lambda: f"args[{i}]")

    @staticmethod
    def _is_integer_array(handler: object, arg: Any) -> bool:
        return isinstance(handler, Library) and handler is not PYTHON and kind(handler.dtype(arg)) == "integer"

    def _keyword(self, name: str, value: Any) -> Structure:
        return flatten(Constant(value), self.leaves, lambda: f"kwargs[{name!r}]")

    def _nothing_differentiable(self) -> str:
        lines = [f"{self.operator}: no argument has a gradient."]
        lines.extend(f"  {place.path}: {place.value} ({place.note})" for place in self.places())
        if not self.structures:
            lines.append(f"  There is no argument at all: write {self.operator}(f, backend, x, ...).")
        lines.append("Pass floating numbers or arrays; a model's arrays must be floating to be trained.")
        return "\n".join(lines)

    def require_one(self) -> None:
        """Only the first argument may be differentiated."""
        if self.active_arguments != [0]:
            others = ", ".join(f"args[{i}]" for i in self.active_arguments if i != 0)
            problem = f"but {others} would be, too" if 0 in self.active_arguments else "but args[0] has no gradient"
            raise NotDifferentiableError(
                f"{self.operator} differentiates exactly one argument, the first, {problem}. Wrap every further argument "
                f"in Constant(...), or pass one tuple or dict that holds them all."
            )

    def require_real(self, remedy: str = "Pass its real and imaginary parts as two real arrays.") -> None:
        """Second derivatives with respect to complex numbers are not defined here."""
        if not any(kind(dtype) == "complex" for dtype in self.dtypes):
            return
        dtypes = iter(self.dtypes)
        for i, structure in enumerate(self.structures):
            for path in self._active_paths(structure, f"args[{i}]"):
                if kind(next(dtypes)) == "complex":
                    raise NotDifferentiableError(
                        f"{self.operator} is taken with respect to real arguments only, but {path} is complex. {remedy}"
                    )

    @staticmethod
    def _active_paths(structure: Structure, path: str) -> list[str]:
        return [path for path, place in paths_of(structure, path) if place is DIFFERENTIATED]

    def places(self) -> Iterator[Place]:
        """Every place of the arguments: its path, what stands there, and its leaf or the reason why it has no gradient."""
        leaves = iter(self.leaves)
        for i, structure in enumerate(self.structures):
            for path, spec in paths_of(structure, f"args[{i}]"):
                if isinstance(spec, Static):
                    yield Place(path, _short(spec.value), spec.reason)
                elif isinstance(spec, Frozen):
                    for _ in range(count_leaves(spec.inner)):
                        next(leaves)
                    yield Place(path, "Constant", "marked as not differentiated")
                else:
                    leaf = next(leaves)
                    integers = kind(leaf.library.dtype(leaf.value)) == "integer"
                    note = "integers inside a tree are structure" if integers else "a bool is structure"
                    yield Place(path, describe(leaf.value), note, leaf if leaf.differentiated else None)

    # leaves -> native arrays

    def _choose_dtypes(self) -> None:
        """Each active leaf's dtype: its own, or for a Python number and a promoted integer the widest of the call."""
        dtypes = [leaf.library.dtype(leaf.value) for leaf in self.leaves if leaf.library is not PYTHON]
        real = widest(dtypes)
        self.dtypes: list[str] = []
        for leaf in self.active:
            own = leaf.library.dtype(leaf.value)
            if own == "complex":
                self.dtypes.append(complex_of(real))
            else:
                self.dtypes.append(real if own in ("float", "int") or kind(own) == "integer" else own)
        self.all_dtypes = [*dtypes, *self.dtypes]

    def precision(self) -> AbstractContextManager[Any]:
        """The scope in which the engine's arrays keep the dtypes of this call."""
        if self.backend.library is not None:
            return self.backend.library.precision(self.all_dtypes)
        libraries = {leaf.library for leaf in self.leaves}
        if len(libraries) == 1:
            return libraries.pop().precision(self.all_dtypes)
        stack = ExitStack()
        for library in libraries:
            stack.enter_context(
                library.precision([library.dtype(leaf.value) for leaf in self.leaves if leaf.library is library])
            )
        return stack

    def native(self, *, copy: bool = False) -> Arrays:
        """The active leaves as arrays of the engine (or of their own library, if the engine takes any)."""
        dtypes = iter(self.dtypes)
        self.carried: list[Any] = []
        active: list[Any] = []
        for leaf in self.leaves:
            if leaf.differentiated:
                active.append(self._to_native(leaf, next(dtypes), copy))
            else:
                self.carried.append(self._to_native(leaf, None, copy))
        for array in (*active, *self.carried):
            self.take(array)
        self.held = frozenset(i for i, leaf in enumerate(self.active) if leaf.holder is not None)
        self.leaves_native = tuple(active)
        return self.leaves_native

    def _to_native(self, leaf: Leaf, dtype: str | None, copy: bool) -> Any:
        target = self.backend.library
        value, source = leaf.value, leaf.library
        if leaf.holder is not None and target is not source:
            if target is None:
                return source.asarray(value, copy=True)  # f must not meet the holder itself: it is called many times
            raise ConversionError(
                f"The code of {type(leaf.holder).__name__} computes with {source.name} alone, so {self.backend.auto!r} cannot "
                f"take it. Use {_auto_name(source)}(), or AutoFiniteDifferences() without `native`."
            )
        if leaf.holder is not None:
            return value
        if target is None:
            if source is PYTHON:
                return np.dtype(dtype).type(value)
            return source.asarray(value, dtype=dtype, copy=copy)
        if source is target or source is NUMPY or source is PYTHON:
            return target.asarray(value, dtype=dtype, like=self.backend.device, copy=copy)
        if source.traced(value):
            raise ConversionError(
                f"A leaf is traced by {source.name} ({type(value).__name__}), and {type(self.backend.auto).__name__} cannot "
                f"see through that trace. Use one engine for nested calls, or AutoFiniteDifferences() for the outer one."
            )
        return target.asarray(target.foreign(value, source), dtype=dtype, like=self.backend.device, copy=copy)

    def take(self, array: Any) -> None:
        """Note that results must not overlap this array."""
        handler = self.backend.library or handler_of(array)
        if isinstance(handler, Library):
            key = handler.memory(array)
            if key is not None:
                self.taken.add(key)

    # native arrays -> the user's f -> native arrays

    def function(self, f: Callable[..., Any], output: OutputKind) -> Function:
        self.last_function = Function(self, f, output)
        return self.last_function

    def arguments(self, active: Iterable[Any]) -> tuple[list[Any], dict[str, Any]]:
        """What f is called with: the arguments with these values for the active leaves."""
        live, carried = iter(active), iter(self.carried)
        leaves: Iterator[Any] = iter([next(live) if leaf.differentiated else next(carried) for leaf in self.leaves])
        args = [build(structure, leaves) for structure in self.structures]
        return args, {name: build(structure, leaves) for name, structure in self.keywords.items()}

    # results

    def gradients(self, gradients: Sequence[Any]) -> tuple[Any, ...]:
        """The engine's gradients as a tuple of trees: the type, dtype and device of each leaf."""
        results = iter(
            [
                leaf.library.restore(result, self._library_of(result), leaf.value, dtype, self.taken)
                for leaf, dtype, result in zip(self.active, self.dtypes, gradients)
            ]
        )
        return tuple([build_gradient(structure, results) for structure in self.structures])

    def stacks(self, stacks: Sequence[Any]) -> tuple[Any, ...]:
        """Stacks of gradients: as gradients, with a leading axis, so that a number becomes an array."""
        entries = iter([self.present(stack) for stack in stacks])
        return tuple([build_gradient(structure, entries) for structure in self.structures])

    def present(self, result: Any) -> Any:
        """A result without a leaf's shape, in the library of the first differentiated array."""
        source = self._library_of(result)
        if self.python_result and source.shape(result) == () and not source.traced(result):
            number = source.to_numpy(result).item()
            return number
        dtype = source.dtype(result)
        target = self.result_library
        if target is not source and target.name == source.name:
            target = source
        presented = target.restore(result, source, None, dtype, self.taken)
        return np.asarray(presented) if isinstance(presented, np.generic) else presented

    def _library_of(self, array: Any) -> Library:
        if self.backend.library is not None and self.backend.library.owns(array):
            return self.backend.library
        handler = handler_of(array)
        assert isinstance(handler, Library), type(array)
        return handler

    def warn_disconnected(self) -> None:
        warnings.warn(
            f"{self.operator}: the value of f depends on none of its differentiated arguments, so every gradient is zero. "
            f"Only what is computed inside f, from the arguments that f receives, is differentiated.",
            DisconnectedWarning,
            stacklevel=_levels_to_the_user(),
        )


class Function:
    """The flat function that an engine sees: builds f's arguments, calls f, and takes its result apart."""

    def __init__(self, call: Call, f: Callable[..., Any], output: OutputKind):
        self.call, self.f, self.output = call, f, output
        self.held = call.held
        self.structure: Structure = DIFFERENTIATED
        #: For each leaf of f's result: "output", "aux", or the Python number that it is.
        self.places: list[Any] = []

    def __call__(self, *active: Any) -> tuple[Arrays, Arrays]:
        args, kwargs = self.call.arguments(active)
        try:
            result = self.f(*args, **kwargs)
        except Exception as error:  # raised again as it is; a note says what the user may not know
            self._annotate(error)
            raise
        return self._split(result)

    def _annotate(self, error: Exception) -> None:
        notes = [self.call.backend.note(error)]
        if isinstance(error, (TypeError, IndexError)):
            notes.extend(
                f"argument {i} was an integer, so it was promoted to a float and differentiated; if f needs an integer "
                f"there (an axis, an index, a count), wrap it in Constant(...)"
                for i in self.call.promoted
            )
        known = getattr(error, "__notes__", [])
        for note in notes:
            if note is not None and note not in known:
                error.add_note(note)

    def _split(self, result: Any) -> tuple[Arrays, Arrays]:
        leaves: list[Leaf] = []
        if self.output == "tree":
            self.structure = flatten(result, leaves, lambda: "the result of f")
            if not any(leaf.differentiated for leaf in leaves):
                raise OutputError(f"{self.call.operator}: f returned {describe(result)}, in which nothing has a derivative.")
        else:
            first, rest = result, None
            if self.output == "scalar and aux" and isinstance(result, (tuple, dict)) and result:
                rest = result
                first = next(iter(result.values())) if isinstance(result, dict) else result[0]
            self._check_scalar(first, result)
            if rest is None:
                self.structure = flatten(first, leaves, lambda: "the result of f")
            else:
                self.structure = flatten(rest, leaves, lambda: "the result of f")
                leaves[1:] = [Leaf(leaf.value, leaf.library, None, False) for leaf in leaves[1:]]
        self.places = ["output" if leaf.differentiated else leaf.value if leaf.library is PYTHON else "aux" for leaf in leaves]
        outputs = tuple([self._native(leaf) for leaf, place in zip(leaves, self.places) if place == "output"])
        aux = tuple([self._native(leaf) for leaf, place in zip(leaves, self.places) if place == "aux"])
        return outputs, aux

    def _native(self, leaf: Leaf) -> Any:
        library = self.call.backend.library
        if library is None or leaf.library is library:
            return leaf.value if leaf.library is not PYTHON else np.asarray(leaf.value)[()]
        if leaf.library is NUMPY or leaf.library is PYTHON:
            return library.asarray(leaf.value)
        return library.asarray(library.foreign(leaf.value, leaf.library))

    def _check_scalar(self, value: Any, result: Any) -> None:
        handler = handler_of(value, scan=False)
        if type(value) is float:
            return
        operator = self.call.operator
        if not isinstance(handler, Library) or type(value) is int:
            if isinstance(value, (bool, int)):
                problem, remedy = f"the {type(value).__name__} {value}", "Return a float; counts and tests have no derivative."
            elif value is None:
                problem, remedy = "None", "Does it lack a return statement?"
            else:
                problem = describe(result)
                remedy = (
                    "For auxiliary results beside the scalar use value_and_gradient, with the scalar first; for a tree of "
                    "arrays use jacobian or pullback."
                )
            raise OutputError(f"{operator}: f must return a real scalar, but returned {problem}. {remedy}")
        shape, dtype = handler.shape(value), handler.dtype(value)
        if shape != ():
            remedy = (
                "Index it or take its sum to get a 0-d result"
                if int(np.prod(shape)) == 1
                else "Reduce it to a scalar (a sum or a mean)"
            )
            raise OutputError(
                f"{operator}: f must return a real scalar, but returned {describe(value)}. {remedy}, or use jacobian."
            )
        if type(value) is complex or kind(dtype) == "complex":
            raise OutputError(
                f"{operator}: f must return a real scalar, but returned {describe(value)}. Return its real part or its squared "
                f"modulus, or use jacobian for the derivative of a complex function."
            )
        if kind(dtype) != "real":
            raise OutputError(
                f"{operator}: f must return a real scalar, but returned {describe(value)}. Return a float; counts and tests "
                f"have no derivative."
            )

    def frozen(self) -> Function:
        """This function as it was last called, for maps that outlive the call."""
        return copy.copy(self)

    def assemble_tangent(self, tangents: Sequence[Any], present: Callable[[Any], Any]) -> Any:
        """A tangent of f's result, in its structure."""
        entries = iter([present(tangent) for tangent in tangents])
        return build_gradient(self.structure, entries)

    def assemble(self, outputs: Sequence[Any], aux: Sequence[Any], present: Callable[[Any], Any]) -> Any:
        """What f returned, from its outputs and aux, each leaf presented to the user."""
        out, other = iter(outputs), iter(aux)
        leaves = [
            present(next(out)) if place == "output" else present(next(other)) if place == "aux" else place
            for place in self.places
        ]
        return build(self.structure, iter(leaves))


def describe(value: Any) -> str:
    """A value in a few words, for an error message: its library, dtype and shape, or its type."""
    handler = handler_of(value, scan=False)
    if isinstance(handler, Library) and handler is not PYTHON:
        article = "an" if handler.name[0] in "aeiou" else "a"
        return f"{article} {handler.name} array of dtype {handler.dtype(value)} and shape {handler.shape(value)}"
    if handler is PYTHON:
        return f"the {type(value).__name__} {value}"
    return f"a {type(value).__name__}"


def _levels_to_the_user() -> int:
    """The `stacklevel` at which a warning of our caller points at the line that called this package."""
    level, frame = 0, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        level, frame = level + 1, frame.f_back
    return level + 1


def _auto_name(library: Library) -> str:
    return next((cls.__name__ for cls in BUILT_IN if cls.name == library.name), f"a backend of {library.name}")


def _short(value: Any) -> str:
    if value is None:
        return "None"
    text = repr(value)
    return f"{type(value).__name__} {text}" if len(text) <= 40 else type(value).__name__
