"""The values of one call, the memory that its results must not overlap, and the presentation of results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import repeat
from operator import call
from types import NoneType
from typing import Any, ClassVar

import numpy as np

from ..contract.ambient import now
from ..contract.arrays import library_of_array
from ..contract.backend import Arrays
from ..contract.inexact import Accuracy
from ..contract.library import NUMPY, PYTHON, Leave, Library, kind, note_memory
from ..tree import Structure, build_gradient, handler_of
from .messages import Place, places_of, warn_imprecise
from .plan import Plan

_NO_SCOPE = nullcontext()


class Call:
    """The values of one call of an operator, with its plan.

    Data flows one way: values -> `enter` -> the engine -> `gradients`, `present` -> trees like the arguments.
    """

    __slots__ = ("f", "native", "plan", "taken", "values")

    #: Converts tangents in this kind of call, in place of the default: takes the call, the tangents, whether they are stacks,
    #: and the name of a single tangent in messages.
    native_tangents: ClassVar[Callable[[Any, Sequence[Any], bool, str | None], Arrays] | None] = None

    def __init__(self, plan: Plan, values: Sequence[Any], f: Callable[..., Any]):
        self.plan: Plan = plan
        self.values: Sequence[Any] = values
        self.f: Callable[..., Any] = f
        #: The memory of the inputs and of the results so far, as keys from `Library.memory`. Results must not overlap it.
        self.taken: set[int] = set()
        #: The native leaves, whose shapes and dtypes tangents must have.
        self.native: Arrays = ()

    def again(self) -> Call:
        """A copy with its own `taken`, for one call of `back` or `push`."""
        new = type(self)(self.plan, self.values, self.f)
        new.native, new.taken = self.native, set(self.taken)
        return new

    def scope(self) -> AbstractContextManager[Any]:
        """The context in which the engine evaluates the call, such as another precision."""
        scope = None if self.plan.conversions.scope is None else self.plan.conversions.scope()
        return _NO_SCOPE if scope is None else scope

    def enter(self) -> Arrays:
        """The active leaves as the engine's arrays (or unconverted, if the engine takes any library)."""
        self.native = self.plan.conversions.enter(self.values, self.taken)
        return self.native

    def enter_carried(self) -> Sequence[Any]:
        """The carried values of f, in the order of their slots."""
        return self.plan.conversions.enter_carried(self.values, self.taken)

    def take(self, array: Any) -> None:
        """Record that results must not overlap this array."""
        handler = self.plan.backend.library or handler_of(array)
        if isinstance(handler, Library):
            note_memory(handler, array, self.taken)

    # results

    def gradients(self, native: Sequence[Any]) -> tuple[Any, ...]:
        """The engine's gradients as a tuple of trees, with each leaf's type, dtype and device."""
        plan, taken = self.plan, self.taken
        results: Sequence[Any] = native
        if plan.conversions.leave is not None:
            at_once = None if plan.conversions.leave_all is None else plan.conversions.leave_all(native, taken)
            results = self._one_by_one(plan.conversions.leave, native) if at_once is None else at_once
        if now().form is not None:
            results = [in_form(result, plan.layout.slots[n].library) for n, result in zip(plan.layout.active, results)]
        return tuple(results) if plan.layout.single else plan.layout.gradients(results, self.values)

    def _one_by_one(self, leave: Sequence[Leave], native: Sequence[Any]) -> Sequence[Any]:
        results = [*map(call, leave, native, repeat(self.taken))]
        if NoneType in map(type, results):
            return [self.restore(n, native[n]) if result is None else result for n, result in enumerate(results)]
        return results

    def restore(self, active: int, gradient: Any) -> Any:
        """One of the engine's gradients as an array like its leaf; works for any array."""
        n = self.plan.layout.active[active]
        library: Any = self.plan.layout.slots[n].library
        return library.restore(
            gradient, library_of_array(gradient), self.values[n], self.plan.layout.dtypes[active], self.taken
        )

    def blocks(self, native: Sequence[Any]) -> tuple[Any, ...]:
        """A tuple of trees, as `gradients`, whose arrays may have other shapes than the leaves; a number becomes an array."""
        blocks = self._presented(native)
        return tuple(blocks) if self.plan.layout.single else self.plan.layout.gradients(blocks, self.values)

    def square(self, rows: Sequence[Sequence[Any]]) -> Any:
        """The blocks of a Hessian by the first argument, as a tree of trees.

        For `{"a": x, "b": y}`: `[[aa, ab], [ba, bb]]` -> `{"a": {"a": aa, "b": ab}, "b": {"a": ba, "b": bb}}`.
        """
        return self.plan.layout.gradients([self.blocks(row)[0] for row in rows], self.values)[0]

    def _presented(self, results: Sequence[Any]) -> Sequence[Any]:
        """Results as by `present`, at once where they need no conversion."""
        present_all = self.plan.conversions.present_all
        at_once = None if present_all is None or now().form is not None else present_all(results, self.taken)
        return [*map(self.present, results)] if at_once is None else at_once

    def present(self, result: Any) -> Any:
        """A result that is not like a leaf, in the library of the first differentiated array; a number for numbers."""
        plan = self.plan
        if plan.conversions.present is not None:
            presented = plan.conversions.present(result, self.taken)
            if presented is not None:
                return in_form(presented, plan.conversions.result_library)
        source = library_of_array(result)
        if source is not NUMPY and kind(source.dtype(result)) == "other":
            return result  # other libraries cannot represent it
        if source.traced(result):
            result = source.settled(result)
        if plan.conversions.python_result and source.shape(result) == () and not source.traced(result):
            number: Any = source.to_numpy(result)
            return float(number) if type(number) is np.float64 else number.item()  # `item` takes ten times as long
        target = plan.conversions.result_library
        if target is not source and target.name == source.name:
            target = source
        presented = target.restore(result, source, None, source.dtype(result), self.taken)
        if plan.conversions.stand_in is not None:
            return plan.conversions.stand_in(presented)
        if isinstance(presented, np.generic):
            return np.asarray(presented)
        return in_form(presented, plan.conversions.result_library)

    def tangent(self, structure: Structure, native: Sequence[Any]) -> Any:
        return build_gradient(structure, iter(self._presented(native)))

    def warn_imprecise(self, accuracies: Sequence[Accuracy]) -> None:
        for each in accuracies:
            for leaf in each.leaves:
                if leaf.doubtful:
                    warn_imprecise(
                        self.plan.operator, [place.path for place in self._places() if place.slot is not None], accuracies
                    )
                    return

    def _places(self) -> Iterator[Place]:
        return places_of(self.plan.layout.structures, zip(self.plan.layout.slots, self.values))


def in_form(result: Any, wanted: Library | None) -> Any:
    """A result in the class that the running NumPy code expects, if the arguments were NumPy arrays or Python numbers."""
    form = now().form
    return result if form is None or (wanted is not NUMPY and wanted is not PYTHON) else form(result)
