"""One call: its values, the flat function that an engine sees, and the presentation of results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import repeat
from operator import call
from types import NoneType
from typing import Any

import numpy as np

from ..contract.arrays import library_of_array
from ..contract.backend import Arrays, Aux
from ..contract.inexact import Accuracy
from ..contract.library import NUMPY, PYTHON, REAL_SCALARS, Library, dtype_kind, note_memory
from ..contract.registry import REGISTRY
from ..derive.primitives import Sampled
from ..support.ambient import CORE, now, within
from ..tree import (
    Owner,
    build_gradient,
    handler_of,
)
from .messages import (
    Place,
    look_at_dense,
    places_of,
    require_function,
    warn_disconnected,
    warn_imprecise,
)
from .output import ALONE, OutputLayout, annotate, floating, split
from .plan import Plan
from .row import FieldForm, OperatorRow, OutputKind, Parts

_NO_SCOPE = nullcontext()


class Call(Sampled):
    """The values of one call of an operator, with its plan.

    Called with native leaves, it is the flat function that an engine differentiates: it builds the
    arguments of f, calls f, and flattens the value. Data flows one way: values -> `enter` -> the
    engine -> `results`, `gradients` -> trees like the arguments.
    """

    __slots__ = (
        "arguments",
        "entered",
        "f",
        "layout",
        "leaves",
        "occupied",
        "output",
        "plan",
        "values",
    )

    def __init__(
        self,
        plan: Plan,
        f: Callable[..., Any],
        values: Sequence[Any],
        entered: Sequence[Any] = (),
    ):
        self.plan: Plan = plan
        self.f: Callable[..., Any] = f
        #: The user's arguments and keywords, for what surrounds the call (`Plan.around`).
        self.arguments: tuple[Sequence[Any], Mapping[str, Any]] = (), {}
        #: The values of all slots: those of the user, and those that f gets.
        self.values: Sequence[Any] = values
        self.entered: Sequence[Any] = entered
        #: The native leaves, whose shapes and dtypes tangents must have.
        self.leaves: Arrays = ()
        self.output: OutputKind = plan.operator.output
        #: The layout of another value of f: where it has floats, integers of a value become floats.
        self.layout: OutputLayout | None = None
        self.owned: frozenset[int] = plan.owned
        #: The memory of the inputs and of the results so far, as keys (`note_memory`).
        #: Results must not overlap it.
        self.occupied: set[int] = set()

    def copy(self) -> Call:
        """The same call with its own `occupied`, as for one call of `back` or `push`."""
        new = Call(self.plan, self.f, self.values, self.entered)
        new.leaves, new.occupied = self.leaves, set(self.occupied)
        return new

    def of(self, row: OperatorRow) -> Call:
        """A call of another operator with the same arguments."""
        new = Call(self.plan.of(row), self.f, self.values)
        new.arguments = self.arguments
        return new

    # into the engine

    def scope(self) -> AbstractContextManager[Any]:
        """The context in which the engine evaluates the call, such as another precision."""
        scope = None if self.plan.scope is None else self.plan.scope()
        return _NO_SCOPE if scope is None else scope

    def enter(self) -> Arrays:
        """The active leaves as the engine's arrays; unconverted, if it takes any library."""
        plan = self.plan
        if plan.enters is None:
            self.entered = self.values
        else:
            self.entered = tuple(map(call, plan.enters, self.values, repeat(self.occupied)))
        every = len(plan.active) == len(self.entered)
        self.leaves = tuple(self.entered if every else map(self.entered.__getitem__, plan.active))
        return self.leaves

    def occupy(self, array: Any) -> None:
        """Record that results must not overlap this array."""
        handler = self.plan.backend.library or handler_of(array)
        if isinstance(handler, Library):
            note_memory(handler, array, self.occupied)

    # the flat function

    def __call__(self, *active: Any) -> tuple[Arrays, Aux]:
        plan, state = self.plan, now()
        library = plan.library
        unmarked = plan.records_evaluation and library not in state.evaluating
        if unmarked or state.wrap is not None or state.constants:
            evaluating = (*state.evaluating, library) if unmarked else state.evaluating
            # f's own code runs without the `wrap` and the Constants of the calling code.
            with within(CORE, state._replace(wrap=None, constants=(), evaluating=evaluating)):
                return self(*active)
        try:
            if self.records_leaves:
                result = self._recorded(active)
            elif plan.single:
                result = self.f(*active)
            else:
                args, kwargs = plan.arguments(self._with(active))
                result = self.f(*args, **kwargs)
        except Exception as error:  # raised again, unchanged
            require_function(plan.operator.name, self.f)
            annotate(plan, error, [self.entered[n] for n in plan.carried])
            raise
        return self.received(result)

    def _with(self, active: Sequence[Any]) -> Sequence[Any]:
        """The values of all slots, with these active ones."""
        if len(active) == len(self.entered):
            return active
        values = [*self.entered]
        for n, leaf in zip(self.plan.active, active):
            values[n] = leaf
        return values

    @property
    def records_leaves(self) -> bool:
        """Whether f is to find leaves by identity: 0-d, in Constants, and numbers if it asks."""
        if self.plan.inner_constants or self.plan.zero_d_arrays:
            return True
        return bool(self.plan.python_numbers) and hasattr(self.f, "asks_for_python_numbers")

    def _recorded(self, active: Sequence[Any]) -> Any:
        """f's value, with a record of its leaves that are numbers, 0-d arrays, or in a Constant."""
        plan, values = self.plan, self._distinct(active)
        args, kwargs = plan.arguments(values)
        numbers = [values[n] for n in plan.python_numbers]
        zero_d = [values[n] for n in plan.zero_d_arrays]
        constants = [values[n] for n in plan.inner_constants]
        state = now()._replace(numbers=numbers, zero_d=zero_d, constants=constants)
        with within(CORE, state):
            return self.f(*args, **kwargs)

    def _distinct(self, active: Sequence[Any]) -> list[Any]:
        """The values of all slots. A leaf of a Constant is copied if it is also another leaf."""
        values, constants = [*self._with(active)], self.plan.inner_constants
        others = {id(value) for n, value in enumerate(values) if n not in constants}
        for n in constants:
            if id(values[n]) in others:
                opposite = -values[n]  # arithmetic copies an array of any library, traced or not
                values[n] = -opposite
        return values

    def received(self, result: Any) -> tuple[Arrays, Aux]:
        if self.layout is not None:
            result = floating(self.layout.structure, result)
        plan = self.plan
        library, cls = plan.library, type(result)
        if REGISTRY.handlers.get(cls) is library:
            fits = library.is_floating if self.output == "tree" else library.is_real_scalar
            if fits(result):
                return (result,), ALONE
        elif cls in REAL_SCALARS and library is NUMPY:
            return (result,), ALONE
        return split(plan, self.output, result)

    @property
    def owners(self) -> Sequence[Any]:
        slots = [self.entered[n] for n in self.plan.owners]
        return [slot.value for slot in slots if type(slot) is Owner]

    @property
    def side_inputs(self) -> Sequence[Any]:
        return [self.entered[n] for n in self.plan.side_inputs]

    def repeated(self) -> Call:
        carried = self.plan.carried
        if not any(type(self.entered[n]) is np.ndarray for n in carried):
            return self
        values = [*self.entered]
        for n in carried:
            values[n] = _read_only(values[n])
        new = Call(self.plan, self.f, self.values, values)
        new.owned, new.layout = self.owned, self.layout
        return new

    def elsewhere(self, layout: OutputLayout | None = None) -> Call:
        if layout is None and not self.owned:
            return self
        new = Call(self.plan, self.f, self.values, self.entered)
        new.owned, new.layout = frozenset(), layout
        return new

    @property
    def unchecked(self) -> Call:
        new = Call(self.plan, self.f, self.values, self.entered)
        new.output = "tree"
        return new

    def task(
        self, active: Sequence[Any]
    ) -> tuple[Callable[..., Any], Sequence[Any], Mapping[str, Any]]:
        # f finds them by identity, which is lost on the way to another process.
        if self.plan.inner_constants:
            return self, active, {}
        args, kwargs = self.plan.arguments(self._with(active))
        return self.f, args, kwargs

    # results

    def gradients(self, native: Sequence[Any]) -> Any:
        """The engine's gradients as a tuple of trees, with each leaf's type, dtype and device.

        That of the first argument alone, if the operator differentiates only that.
        """
        plan = self.plan
        results: Sequence[Any] = native
        if plan.to_leaf is not None:
            results = [*map(call, plan.to_leaf, native, repeat(self.occupied))]
            if NoneType in map(type, results):
                pairs = enumerate(results)
                results = [self.restore(n, native[n]) if x is None else x for n, x in pairs]
        if now().wrap is not None:
            libraries = [plan.slots[n].library for n in plan.active]
            results = [*map(_wrapped, results, libraries)]
        trees = tuple(results) if plan.single else plan.gradients(results, self.values)
        return trees if plan.operator.takes == "arguments" else trees[0]

    def restore(self, active: int, gradient: Any) -> Any:
        """One of the engine's gradients as an array like its leaf; works for any array."""
        n, dtype = self.plan.active[active], self.plan.dtypes[active]
        library = self.plan.slots[n].library
        assert library is not None
        if library is PYTHON and self.plan.marks is not None:
            return self.to_user(gradient)  # it may be an array
        return library.restore(
            gradient, library_of_array(gradient), self.values[n], dtype, self.occupied
        )

    def results(self, parts: Parts) -> Any:
        """The user's results, from what the row's `compute` gives."""
        row = self.plan.operator
        if len(parts) > len(row.forms):
            warn_disconnected(row.name)
        if row.result is None:
            return _RESULTS[row.forms[0]](self, parts[0])
        return row.result(*map(call, map(_RESULTS.__getitem__, row.forms), repeat(self), parts))

    def blocks(self, native: Sequence[Any]) -> tuple[Any, ...]:
        """As `gradients`, with arrays that have other shapes than the leaves; of numbers, too."""
        results = self.all_to_user(native)
        return tuple(results) if self.plan.single else self.plan.gradients(results, self.values)

    def jacobian(self, part: tuple[Aux | tuple[()], Sequence[Sequence[Any]]]) -> Any:
        """A tree like the value, of tuples of blocks; from rows of blocks."""
        aux, rows = part
        look_at_dense(self.plan.operator.name, "Jacobian", rows)
        if not isinstance(aux, Aux):
            return self.blocks(rows[0])
        return build_gradient(aux.layout.structure, iter([*map(self.blocks, rows)]))

    def hessian(self, rows: Sequence[Sequence[Any]]) -> Any:
        """A tree of trees like the first argument, from rows of blocks.

        For `{"a": x, "b": y}`: `[[aa, ab], [ba, bb]]` -> `{"a": {"a": aa, "b": ab}, "b": {"a": ba,
        "b": bb}}`.
        """
        look_at_dense(self.plan.operator.name, "Hessian", rows)
        return self.plan.gradients([self.blocks(row)[0] for row in rows], self.values)[0]

    def all_to_user(self, results: Sequence[Any]) -> Sequence[Any]:
        return [*map(self.to_user, results)]

    def to_user(self, result: Any) -> Any:
        """A result not like a leaf, in the result library; a number if all leaves are numbers."""
        plan = self.plan
        if plan.to_user is not None:
            presented = plan.to_user(result, self.occupied)
            if presented is not None:
                return _wrapped(presented, plan.result_library)
        source = library_of_array(result)
        if source is not NUMPY and dtype_kind(source.dtype(result)) == "other":
            return result  # other libraries cannot represent it
        if source.traced(result):
            result = source.settled(result)
        if plan.python_result and source.shape(result) == () and not source.traced(result):
            number: Any = source.to_numpy(result)
            # `item` takes ten times as long
            return float(number) if type(number) is np.float64 else number.item()
        target = plan.result_library
        if target is not source and target.name == source.name:
            target = source
        presented = target.restore(result, source, None, source.dtype(result), self.occupied)
        if plan.stand_in is not None:
            return plan.stand_in(presented)
        if isinstance(presented, np.generic):
            return np.asarray(presented)
        return _wrapped(presented, plan.result_library)

    def value(self, part: tuple[Sequence[Any], Aux]) -> Any:
        """What f returned, from its outputs and aux."""
        outputs, aux = part
        if aux.layout is ALONE.layout:
            return self.to_user(outputs[0])
        return aux.layout.assemble(self.all_to_user(outputs), self.all_to_user(aux.arrays))

    def tangent(self, part: tuple[Aux | tuple[()], Sequence[Any]]) -> Any:
        """A tree like the value, None for a leaf without a derivative."""
        aux, native = part
        if not isinstance(aux, Aux):
            return self.to_user(native[0])
        return build_gradient(aux.layout.structure, iter(self.all_to_user(native)))

    def warn_imprecise(self, accuracies: Sequence[Accuracy]) -> None:
        if any(leaf.doubtful for each in accuracies for leaf in each.leaves):
            paths = [place.path for place in self._places() if place.slot is not None]
            warn_imprecise(self.plan.operator.name, paths, accuracies)

    def _places(self) -> Iterator[Place]:
        return places_of(self.plan.structures, zip(self.plan.slots, self.values))


def _wrapped(result: Any, wanted: Library | None) -> Any:
    """A result in the class that running NumPy code expects for NumPy arrays and Python numbers."""
    wrap = now().wrap
    return result if wrap is None or wanted not in (NUMPY, PYTHON) else wrap(result)


#: What makes a field of the result, by its form.
_RESULTS: dict[FieldForm, Callable[[Call, Any], Any]] = {
    "value": Call.value,
    "tangent": Call.tangent,
    "arguments": Call.gradients,
    "argument": Call.gradients,
    "jacobian": Call.jacobian,
    "hessian": Call.hessian,
}


def _read_only(value: Any) -> Any:
    # not asked whether it is writeable: NumPy warns of that for an array of broadcast_arrays
    if type(value) is np.ndarray:
        value = value.view()
        value.flags.writeable = False
    return value
