"""f as an engine sees it: a flat function of native arrays, whose result is taken apart and put together again."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from .. import tree
from ..contract.backend import Arrays
from ..contract.errors import OutputError
from ..contract.library import NUMPY, PYTHON, Library, kind
from ..tree import DIFFERENTIATED, Leaf, Structure, build, build_gradient, flatten, handler_of
from .call import Call
from .messages import describe
from .plan import Plan

#: What an operator differentiates: a real scalar; a real scalar in front of auxiliary results; every floating leaf.
OutputKind = Literal["scalar", "scalar and aux", "tree"]


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
        elsewhere = copy.copy(self)  # which forgets nothing of the first result, where Python numbers are kept as they were

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
            return (elsewhere.split if self.places else split)(result)[0]

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
        function = Function.of(plan, self.f, self.output)
        (output,), aux = function.split(result)
        if self.function is None:  # the first is the one at the point; differences come again, beside it
            self.function = function
        return output, aux

    def value(self, output: Any, aux: Arrays) -> Any:
        """What f returned, as the user gets it."""
        if self.function is None:
            return np.array(self.plan.library.to_numpy(output))
        self.function.call.taken = self.taken
        return self.function.assemble((output,), aux, self.function.call.present)


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
