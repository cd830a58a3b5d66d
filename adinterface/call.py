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

from . import tree
from .auto import BUILT_IN
from .backend import Arrays, Backend
from .errors import ConversionError, DisconnectedWarning, NotDifferentiableError, OutputError
from .library import NUMPY, PYTHON, Library, any_wide, complex_of, kind, widest
from .recognition import Recognizer, recognizer, tangent_recognizer
from .record import note_call
from .tree import (
    CARRIED,
    DIFFERENTIATED,
    Constant,
    Frozen,
    Leaf,
    LeafSpec,
    Node,
    Static,
    Structure,
    build,
    build_gradient,
    builder,
    count_leaves,
    flatten,
    gradient_builder,
    handler_of,
    paths_of,
)

#: What an operator differentiates: a real scalar; a real scalar in front of auxiliary results; every floating leaf.
OutputKind = Literal["scalar", "scalar and aux", "tree"]


class Spec(NamedTuple):
    """What a plan knows of one leaf, or of one value without a gradient."""

    #: None for a value that is no leaf.
    library: Library | None
    dtype: str
    differentiated: bool
    #: The object through which f reaches the leaf, if there is one.
    holder: Any


class Place(NamedTuple):
    """One place of the arguments, for messages."""

    path: str
    value: str
    #: Why it has no gradient.
    note: str
    #: Its leaf, if it is differentiated.
    leaf: Leaf | None = None


_PLAIN = frozenset({"float16", "float32", "float64"})
_PLAIN_CARRIED = _PLAIN | {"bool", "int8", "int16", "int32", "int64", "uint8", "complex64", "complex128"}


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
            raise NotDifferentiableError(_nothing_differentiable(operator, found, leaves))
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
        self.held = frozenset(n for n, place in enumerate(self.active) if specs[place].holder is not None)
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


class Call:
    """The arguments of one call, taken apart, and what is needed to give results their form."""

    def __init__(self, operator: str, backend: Backend, args: Sequence[Any], kwargs: dict[str, Any]):
        self.args, self.kwargs = args, kwargs
        plan = Plan(operator, backend, args, kwargs)
        self._bind(plan, plan.values)

    @classmethod
    def of(cls, plan: Plan, values: Sequence[Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Call:
        """A call with a plan that was made for the same signature."""
        call = object.__new__(cls)
        call.args, call.kwargs = args, kwargs
        call._bind(plan, values)
        return call

    def _bind(self, plan: Plan, values: Sequence[Any]) -> None:
        self.plan, self.values = plan, values
        self.operator, self.backend = plan.operator, plan.backend
        self.structures, self.dtypes, self.promoted = plan.structures, plan.dtypes, plan.promoted
        self.taken: set[int] = set()
        note_call(self)

    @property
    def active(self) -> list[Leaf]:
        """The differentiated leaves."""
        specs = self.plan.specs
        return [Leaf(self.values[n], specs[n].library, specs[n].holder, True) for n in self.plan.active]  # type: ignore[arg-type]

    def require_one(self) -> None:
        """Only the first argument may be differentiated."""
        if self.plan.active_arguments != [0]:
            others = ", ".join(f"args[{i}]" for i in self.plan.active_arguments if i != 0)
            problem = f"but {others} would be, too" if 0 in self.plan.active_arguments else "but args[0] has no gradient"
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
        leaves: list[Leaf] = []
        structures: list[Structure] = []
        for i, arg in enumerate(self.args):
            if i in self.promoted:
                leaves.append(Leaf(arg, handler_of(arg), None, True))  # type: ignore[arg-type]
                structures.append(DIFFERENTIATED)
            else:
                structures.append(flatten(arg, leaves, lambda: "args"))
        return places_of(structures, leaves)

    # leaves -> native arrays

    def precision(self) -> AbstractContextManager[Any]:
        """The scope in which the engine's arrays keep the dtypes of this call."""
        if self.backend.library is not None:
            return self.backend.library.precision(self.plan.all_dtypes)
        leaves = [(spec.library, spec.dtype) for spec in self.plan.specs if spec.library is not None]
        libraries = {library for library, _ in leaves}
        if len(libraries) == 1:
            return libraries.pop().precision(self.plan.all_dtypes)
        stack = ExitStack()
        for library in libraries:
            stack.enter_context(library.precision([dtype for owner, dtype in leaves if owner is library]))
        return stack

    def native(self, *, copy: bool = False) -> Arrays:
        """The active leaves as arrays of the engine (or of their own library, if the engine takes any)."""
        plan, values = self.plan, self.values
        self.carried: list[Any] = []
        self.held = plan.held
        self.fresh = plan.plain and plan.library.adopts_new
        if plan.plain and not copy:
            adopt, taken = plan.library.adopt, self.taken
            if not plan.carried:
                self.leaves_native = tuple([adopt(value, taken) for value in values])
                return self.leaves_native
            self.leaves_native = tuple([adopt(values[n], taken) for n in plan.active])
            self.carried = [adopt(values[n], taken) if leaf else values[n] for n, leaf in plan.carried]
            return self.leaves_native
        dtypes = iter(self.dtypes)
        active: list[Any] = []
        for spec, value in zip(self.plan.specs, self.values):
            if spec.differentiated:
                active.append(self._to_native(value, spec, next(dtypes), copy))
                self.take(active[-1])
            elif spec.library is None:
                self.carried.append(value)
            else:
                self.carried.append(self._to_native(value, spec, None, copy))
                self.take(self.carried[-1])
        self.leaves_native = tuple(active)
        return self.leaves_native

    def _to_native(self, value: Any, spec: Spec, dtype: str | None, copy: bool) -> Any:
        target = self.backend.library
        source = spec.library
        assert source is not None
        if spec.holder is not None and target is not source:
            if target is None:
                return source.asarray(value, copy=True)  # f must not meet the holder itself: it is called many times
            raise ConversionError(
                f"The code of {type(spec.holder).__name__} computes with {source.name} alone, so {self.backend.auto!r} cannot "
                f"take it. Use {_auto_name(source)}(), or AutoFiniteDifferences() without `native`."
            )
        if spec.holder is not None:
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

    def arguments(self, active: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """What f is called with: the arguments with these values for the active leaves."""
        plan = self.plan
        if plan.only_arrays and not plan.carried:
            return list(active), {}
        if plan.order is not None:
            both = (*active, *self.carried)
            active = [both[n] for n in plan.order]
        if plan.builders is None:
            leaves = iter(active)
            args = [build(structure, leaves) for structure in self.structures]
            return args, {name: build(structure, leaves) for name, structure in plan.keywords.items()}
        builders = plan.builders
        return [make(active) for make in builders.args], {name: make(active) for name, make in builders.keywords.items()}

    # results

    def gradients(self, gradients: Sequence[Any]) -> tuple[Any, ...]:
        """The engine's gradients as a tuple of trees: the type, dtype and device of each leaf."""
        plan = self.plan
        if plan.plain:
            release, taken = plan.library.release, self.taken
            results: list[Any] = []
            for gradient, dtype in zip(gradients, plan.numpy_dtypes):
                released = release(gradient, dtype, taken)
                results.append(self._restore(len(results), gradient) if released is None else released)
        else:
            results = [self._restore(n, gradient) for n, gradient in enumerate(gradients)]
        if plan.builders is not None:
            return tuple([make(results) for make in plan.builders.gradients])
        left = iter(results)
        return tuple([build_gradient(structure, left) for structure in self.structures])

    def _restore(self, active: int, gradient: Any) -> Any:
        n = self.plan.active[active]
        library: Any = self.plan.specs[n].library
        return library.restore(gradient, self._library_of(gradient), self.values[n], self.dtypes[active], self.taken)

    def stacks(self, stacks: Sequence[Any]) -> tuple[Any, ...]:
        """Stacks of gradients: as gradients, with a leading axis, so that a number becomes an array."""
        entries = iter([self.present(stack) for stack in stacks])
        return tuple([build_gradient(structure, entries) for structure in self.structures])

    def present(self, result: Any) -> Any:
        """A result without a leaf's shape, in the library of the first differentiated array."""
        source = self._library_of(result)
        if self.plan.python_result and source.shape(result) == () and not source.traced(result):
            number = source.to_numpy(result).item()
            return number
        dtype = source.dtype(result)
        target = self.plan.result_library
        if target is not source and target.name == source.name:
            target = source
        presented = target.restore(result, source, None, dtype, self.taken)
        return np.asarray(presented) if isinstance(presented, np.generic) else presented

    def _library_of(self, array: Any) -> Library:
        handler = tree._handlers.get(type(array)) or handler_of(array)
        assert isinstance(handler, Library), type(array)
        return handler

    def warn_disconnected(self) -> None:
        warn_disconnected(self.operator)


class Function:
    """The flat function that an engine sees: builds f's arguments, calls f, and takes its result apart."""

    def __init__(self, call: Call, f: Callable[..., Any], output: OutputKind):
        self.call, self.f, self.output = call, f, output
        self.held, self.fresh = call.held, call.fresh
        #: Whether its scalar depends on a leaf, as far as the engine knows.
        self.connected = True
        self.structure: Structure = DIFFERENTIATED
        #: For each leaf of f's result: "output", "aux", or the Python number that it is.
        self.places: list[Any] = []

    @classmethod
    def of(cls, plan: Plan, f: Callable[..., Any], output: OutputKind) -> Function:
        """For `split` and `assemble` alone."""
        call = Call.of(plan, values=[], args=(), kwargs={})
        call.held, call.fresh = plan.held, False
        return cls(call, f, output)

    def __call__(self, *active: Any) -> tuple[Arrays, Arrays]:
        args, kwargs = self.call.arguments(active)
        try:
            result = self.f(*args, **kwargs)
        except Exception as error:  # raised again as it is; a note says what the user may not know
            annotate(self.call.plan, error)
            raise
        return self.split(result)

    def repeated(self) -> Callable[[Sequence[Any]], Arrays]:
        """The outputs at one point after another, without what is auxiliary, in the shortest way."""
        f, plan, arguments, split = self.f, self.call.plan, self.call.arguments, self.split
        alone, scalar = plan.only_arrays and not plan.carried, self.output != "tree"

        def outputs(active: Sequence[Any]) -> Arrays:
            try:
                if alone:
                    result = f(*active)
                else:
                    args, kwargs = arguments(active)
                    result = f(*args, **kwargs)
            except Exception as error:  # raised again as it is; a note says what the user may not know
                annotate(plan, error)
                raise
            usual = type(result) is np.float64 if scalar else type(result) is np.ndarray and result.dtype.kind == "f"
            if usual and self.structure is DIFFERENTIATED and self.places:  # the first, which was taken apart, was one array
                return (result,)
            return split(result)[0]

        return outputs

    def split(self, result: Any) -> tuple[Arrays, Arrays]:
        """A result of f as outputs and aux."""
        if self.output != "tree":  # most of all a scalar of the engine's own
            library = tree._handlers.get(type(result))
            if library is self.call.plan.library and library.is_real_scalar(result):
                self.structure, self.places = DIFFERENTIATED, ["output"]
                return (result,), ()
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

    def after(self) -> Function:
        """What `assemble` needs of this function once it was called, without what it was called with."""
        new = copy.copy(self)
        new.call = Call.of(self.call.plan, values=[], args=(), kwargs={})
        return new

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


def warn_disconnected(operator: str) -> None:
    """Tell the user that every gradient is zero."""
    warnings.warn(
        f"{operator}: the value of f depends on none of its differentiated arguments, so every gradient is zero. "
        f"Only what is computed inside f, from the arguments that f receives, is differentiated.",
        DisconnectedWarning,
        stacklevel=_levels_to_the_user(),
    )


class Evaluation:
    """f at plain arrays, for the straight way: what a call and a function do, without both."""

    __slots__ = ("active", "carried", "f", "function", "output", "plan", "taken")

    def __init__(self, plan: Plan, f: Callable[..., Any], values: Sequence[Any], output: OutputKind):
        self.plan, self.f, self.output = plan, f, output
        self.function: Function | None = None
        #: The memory that results must not overlap.
        self.taken: set[int] = set()
        if plan.carried:
            adopt, taken = plan.library.adopt, self.taken
            self.carried = [adopt(values[n], taken) if leaf else values[n] for n, leaf in plan.carried]
            self.active: Sequence[Any] = [values[n] for n in plan.active]
        else:
            self.active = values

    def __call__(self, leaves: Sequence[Any]) -> tuple[Any, Arrays]:
        """The native scalar that f returns, and what is auxiliary."""
        plan = self.plan
        try:
            if plan.only_arrays:
                result = self.f(*leaves)
            else:
                if plan.order is not None:
                    both = (*leaves, *self.carried)
                    leaves = [both[n] for n in plan.order]
                builders = plan.builders
                assert builders is not None
                words = {name: make(leaves) for name, make in builders.keywords.items()}
                result = self.f(*[make(leaves) for make in builders.args], **words)
        except Exception as error:  # raised again as it is; a note says what the user may not know
            annotate(plan, error)
            raise
        library = plan.library
        if type(result) is np.float64 and library is NUMPY:  # a look saved in each of many evaluations
            return result, ()
        if tree._handlers.get(type(result)) is library and library.is_real_scalar(result):
            return result, ()
        self.function = Function.of(plan, self.f, self.output)
        (output,), aux = self.function.split(result)
        return output, aux

    def value(self, output: Any, aux: Arrays) -> Any:
        """What f returned, as the user gets it."""
        if self.function is None:
            return np.array(self.plan.library.to_numpy(output))
        self.function.call.taken = self.taken
        return self.function.assemble((output,), aux, self.function.call.present)


class Released(Call):
    """A call whose results are the caller's own NumPy arrays already."""

    def gradients(self, gradients: Sequence[Any]) -> tuple[Any, ...]:
        builders = self.plan.builders
        assert builders is not None
        return tuple(gradients) if self.plan.only_arrays else tuple([make(gradients) for make in builders.gradients])

    def present(self, result: Any) -> Any:
        return result


def annotate(plan: Plan, error: Exception) -> None:
    """Add to an error that f raised what its author may not know."""
    notes = [plan.backend.note(error)]
    if isinstance(error, (TypeError, IndexError)):
        notes.extend(
            f"argument {i} was an integer, so it was promoted to a float and differentiated; if f needs an integer "
            f"there (an axis, an index, a count), wrap it in Constant(...)"
            for i in plan.promoted
        )
    known = getattr(error, "__notes__", [])
    for note in notes:
        if note is not None and note not in known:
            error.add_note(note)


def _is_plain(spec: Spec, value: Any) -> bool:
    dtypes = _PLAIN if spec.differentiated else _PLAIN_CARRIED
    return type(value) is np.ndarray and spec.dtype in dtypes and value.dtype.isnative and spec.holder is None


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


def places_of(structures: Iterable[Structure], found: Iterable[Leaf]) -> Iterator[Place]:
    """Every place of some arguments, with what a message says of it."""
    leaves = iter(found)
    for i, structure in enumerate(structures):
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


def _nothing_differentiable(operator: str, structures: Sequence[Structure], leaves: Iterable[Leaf]) -> str:
    lines = [f"{operator}: no argument has a gradient."]
    lines.extend(f"  {place.path}: {place.value} ({place.note})" for place in places_of(structures, leaves))
    if not structures:
        lines.append(f"  There is no argument at all: write {operator}(f, backend, x, ...).")
    lines.append("Pass floating numbers or arrays; a model's arrays must be floating to be trained.")
    return "\n".join(lines)


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
