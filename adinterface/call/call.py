"""One call of an operator, from the user's arguments to native arrays, and from the engine's results back to the user's.

Data flows one way: arguments -> leaves -> native arrays -> the engine -> results on the arguments' structure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import numpy as np

from .. import tree
from ..contract.backend import Arrays, Backend
from ..contract.errors import ConversionError, NotDifferentiableError
from ..contract.library import NUMPY, PYTHON, Library, kind
from ..derive.record import note_call
from ..tree import DIFFERENTIATED, Leaf, Structure, build, build_gradient, flatten, handler_of, paths_of
from .messages import Place, auto_name, places_of, warn_disconnected
from .plan import Plan, Spec


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
                f"take it. Use {auto_name(source)}(), or AutoFiniteDifferences() without `native`."
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


class Released(Call):
    """A call whose results are the caller's own NumPy arrays already."""

    def gradients(self, gradients: Sequence[Any]) -> tuple[Any, ...]:
        builders = self.plan.builders
        assert builders is not None
        return tuple(gradients) if self.plan.only_arrays else tuple([make(gradients) for make in builders.gradients])

    def present(self, result: Any) -> Any:
        return result
