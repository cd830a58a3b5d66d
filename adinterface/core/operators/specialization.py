"""An operator on one f for arguments of one signature: what a prepared call keeps, and what an engine compiled for it."""

from __future__ import annotations

import contextlib
import copy
import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from ..call.likeness import Signature
from ..call.output import Function, annotate
from ..call.passages import entrance_of, picker, picking
from ..call.plan import Plan, Road
from ..call.recognizer import Recognizer
from ..contract.backend import Arrays
from ..contract.callers import caller_form
from ..contract.decisions import Undecided, take_wish
from ..contract.errors import AdinterfaceError
from ..contract.library import NUMPY, PYTHON, as_it_is
from ..contract.nodes import Unkeyed, contents, key_and_change
from ..tree import builder
from .operation import Compiled, Compute, Operation, Results, road_of
from .whole import Finished, NotWhole, Way, back_by, lie_together, may_be_whole


class Specialization:
    """An operator on one f for arguments of one signature."""

    def __init__(self, operation: Operation, f: Callable[..., Any], plan: Plan, static: Sequence[tuple[int, Any]]):
        self.operation, self.f, self.plan = operation, f, plan
        #: What it is kept under.
        self.key: Any = None
        #: The static values that it is for, by their slots; empty where others make no difference.
        self.static = {n: _Static(value) for n, value in static}
        #: Objects of the caller's among them, which may change.
        self._shared = [value for value in self.static.values() if value.shared]
        self.recognize = plan.recognize
        if plan.recognize is not None and self.static:
            self.recognize = _with_static(plan.recognize, list(self.static.items()))
        #: From the values of a call, and the directions that the operator takes, to its results.
        self.call: Road = road_of(operation, plan, f)

    def written(self) -> dict[Any, Any]:
        """From old to new keys of static values into which f itself wrote while it was compiled: a cache, a count."""
        return {}

    def rename(self, keys: Mapping[Any, Any]) -> None:
        """Know these static values by new keys."""
        if self._shared:
            for value in self._shared:
                value.key = keys.get(value.key, value.key)
            same, static = self.key
            self.key = same, tuple([(n, keys.get(key, key)) for n, key in static])


class CompiledSpecialization(Specialization):
    """What the engine made of f and the operator, with the static values of one signature."""

    def __init__(self, operation: Operation, f: Callable[..., Any], plan: Plan, values: Sequence[Any], signature: Signature):
        super().__init__(operation, f, plan, signature.static)
        self.call = self._called
        static = self.static
        #: Of each value that is carried along: whether it is compiled in, and if so, itself.
        self.places = [(True, static[n].value) if n in static else (False, None) for n in plan.carried]
        #: What f has written into them while it was compiled: from old key to new.
        self._written: dict[Any, Any] = {}
        #: Whether the engine must not read the caller's own arrays.
        self.copies = operation.outlives or not _waits(operation, plan)
        enters, carried = plan.compiled_passages(values, copy=self.copies)
        self.enter = entrance_of(plan.backend.library, enters)
        #: The others, and how they go in.
        dynamic = [(n, enter) for n, enter, (inside, _) in zip(plan.carried, carried, self.places) if not inside]
        self.dynamic = tuple([n for n, _ in dynamic])
        library, beside = plan.backend.library, [enter for _, enter in dynamic]
        self.enter_carried = picking(library, beside, picker(self.dynamic)) if dynamic else None
        #: From all values to what compiled code takes, where the leaves go in as they are; and whether that is these values.
        together = (*plan.active, *self.dynamic)
        self.pick = picking(library, [*repeat(as_it_is, len(plan.active)), *beside], picker(together))
        self.in_order = together == (*range(len(plan.slots)),) and all(enter is as_it_is for enter in beside)
        self.compute = operation.compile(self._compiled)
        #: f goes on by numbers, and is compiled for each way that it takes; None: nobody has tried.
        self._deciding: bool | None = None
        self._lock = threading.Lock()
        if may_be_whole(operation, plan, enters):
            self.call = self._called_first

    def written(self) -> dict[Any, Any]:
        if not self._written:
            return self._written
        found, self._written = self._written, {}
        return found

    def _compiled(self, compute: Compute) -> Compiled:
        flat = self._flat(compute)
        compiled = self.operation.backend.compile(flat)
        assert compiled is not None
        return compiled

    def _compiled_deciding(self, compute: Compute) -> Compiled:
        compiled = self.operation.backend.compile_deciding(self._flat(compute))
        if compiled is None:
            raise Undecided
        return compiled

    def _flat(self, compute: Compute) -> Compiled:
        plan, f, output, places = self.plan, self.f, self.operation.output, self.places

        count, behind = len(plan.active), len(plan.active) + len(self.dynamic)

        def flat(*arrays: Any) -> Results:
            dynamic = iter(arrays[count:behind])
            both = [value if compiled_in else next(dynamic) for compiled_in, value in places]
            function = Function(plan, f, both, output)
            function.fresh = False
            before = [key_of(value.value) for value in self._shared]
            results = compute(function, arrays[:count], arrays[behind:])
            with contextlib.suppress(Unkeyed):  # what f put there cannot be compared
                changes = zip(before, [key_of(value.value) for value in self._shared])
                self._written.update((old, new) for old, new in changes if old != new)
            return results

        return flat

    def _called_first(self, values: Sequence[Any], tangents: tuple[Any, ...] | None) -> Any:
        """A call that tells whether compiled code can finish the results, which later calls then rely on."""
        operation, plan, self.call = self.operation, self.plan, self._called
        arrays = self._arrays(values, tangents)
        if arrays is None:
            return self._called(values, tangents)
        finished = Finished(operation, plan, self.f, self._flat(operation.compute))
        whole = operation.backend.compile(finished)
        library = operation.backend.library
        assert whole is not None
        assert library is not None
        scope = None if plan.scope is None else plan.scope()
        try:
            with scope or contextlib.nullcontext():
                found = whole(*arrays)
        except NotWhole:
            return self._called(values, tangents)
        except Exception as error:
            if take_wish():  # f goes on by numbers
                return self._called(values, tangents)
            self.call = self._called_first
            _annotate_own(plan, error)
            raise
        if finished.structure is None or not lie_together(library, arrays, found):
            return self._called(values, tangents)
        build = builder(finished.structure)
        self.call = self._calling(whole, build, finished.ways)
        return build(back_by(finished.ways, plan, found, values, self.f))

    def _calling(
        self, whole: Callable[..., Any], build: Callable[[Sequence[Any]], Any], ways: Sequence[Way]
    ) -> Callable[..., Any]:
        plan, f, scoping, in_steps = self.plan, self.f, self.plan.scope, self._called
        straight = self.in_order and self.operation.directions is None

        def call(values: Sequence[Any], tangents: tuple[Any, ...] | None) -> Any:
            arrays = values if straight else self._arrays(values, tangents)
            if arrays is None or caller_form() is not None:
                return in_steps(values, tangents)
            scope = None if scoping is None else scoping()
            try:
                if scope is None:
                    found = whole(*arrays)
                else:
                    with scope:
                        found = whole(*arrays)
            except NotWhole:  # in another trace, such as one of the user's that has another precision
                return in_steps(values, tangents)
            except (RuntimeError, TypeError) as error:
                _annotate_own(plan, error)
                raise
            return build(back_by(ways, plan, found, values, f) if ways else found)

        return call

    def _arrays(self, values: Sequence[Any], directions: tuple[Any, ...] | None) -> Sequence[Any] | None:
        """All that compiled code takes where leaves go in as they are; None for directions of another kind than the leaves."""
        plan, arrays = self.plan, values if self.in_order else self.pick(values, set())
        if directions is None:
            return arrays
        tangents = plan.recognized_tangents(directions, values)
        return None if tangents is None else (*arrays, *tangents)

    def _called(self, values: Sequence[Any], tangents: tuple[Any, ...] | None) -> Any:
        scoping = self.plan.scope
        scope = None if scoping is None else scoping()
        try:
            if scope is None:
                return self._evaluated(values, tangents)
            with scope:
                return self._evaluated(values, tangents)
        except Exception as error:
            _annotate_own(self.plan, error)
            if not take_wish() or self._deciding is False:
                raise
            return self._decided(error, values, tangents)

    def _decided(self, error: Exception, values: Sequence[Any], tangents: tuple[Any, ...] | None) -> Any:
        """What f gives, if it is that numbers decide which way it goes; else what an uncompiled call of it ends with."""
        before = self.compute
        try:
            with self._lock:  # of several threads that come here the first makes it
                first = self._deciding is None
                if first:
                    self.compute, self._deciding = self.operation.compile(self._compiled_deciding), True
            scoping = self.plan.scope
            with (None if scoping is None else scoping()) or contextlib.nullcontext():
                return self._evaluated(values, tangents)
        except Undecided:  # not even that run knows the numbers
            if first:
                self.compute, self._deciding = before, False
            take_wish()
            raise error from None
        except Exception as ended:
            take_wish()
            raise ended from None  # and not by what compiling it met first

    def _evaluated(self, values: Sequence[Any], directions: tuple[Any, ...] | None) -> Any:
        plan, operation = self.plan, self.operation
        call = operation.call_type(plan, values, self.f)
        taken = call.taken
        active = plan.pick(values)
        native = call.native = active if self.enter is None else self.enter(active, taken)
        carried = () if self.enter_carried is None else self.enter_carried(values, taken)
        tangents: Arrays = ()
        if directions is not None:
            like = plan.recognized_tangents(directions, values)
            if like is not None:
                tangents = tuple(like) if self.enter is None else self.enter(like, taken)
            else:
                tangents = operation.tangents(call, directions)
                if self.copies:
                    tangents = tuple([x.copy() if type(x) is np.ndarray else x for x in tangents])
        return operation.finish(call, self.compute(*native, *carried, *tangents))


def _annotate_own(plan: Plan, error: Exception) -> None:
    """Notes for an error of the engine itself, of the arguments or of what it compiles."""
    if isinstance(error, (RuntimeError, TypeError)) and not isinstance(error, AdinterfaceError):
        annotate(plan, error)


def _waits(operation: Operation, plan: Plan) -> bool:
    """Whether some result is a NumPy array or a Python number, for which the call waits until the engine has computed it.

    Otherwise the engine may still be computing when the caller writes into an array that it was given.
    """
    if plan.result_library is NUMPY:
        return True
    like_leaves = "arguments" in operation.forms or "argument" in operation.forms
    return like_leaves and any(plan.slots[n].library in (NUMPY, PYTHON) for n in plan.active)


class _Static:
    """A static value, and the key that is equal only for what f cannot tell from it.

    A list or a set is copied, since an equal one may come in its place; an object that its class compares by identity is not.
    Raises Unkeyed where there is no telling.
    """

    __slots__ = ("changing", "key", "shared", "value")

    def __init__(self, value: Any):
        self.value = value
        try:
            #: Whether the same object may have another key in the next call.
            self.key, self.changing = key_and_change(value, False)
        except Unkeyed:
            self.key, self.changing = key_and_change(value, True)
            self.value = _copied(value)
        #: Whether f is given the caller's own object, which may change.
        self.shared = self.changing and self.value is value

    def is_like(self, value: Any) -> bool:
        """Whether f cannot tell the value from this one."""
        return (value is self.value and not self.changing) or bool(key_of(value) == self.key)


def key_of(value: Any) -> Any:
    """The key of a static value, as it is now."""
    return contents(value)


def _copied(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except (TypeError, copy.Error):  # it holds a file, a lock or the like
        return value


def _with_static(recognize: Recognizer, static: Sequence[tuple[int, _Static]]) -> Recognizer:
    """A recognizer that also compares the static values."""

    def with_static(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any] | None:
        values = recognize(args, kwargs)
        if values is not None:
            try:
                for n, known in static:
                    if not known.is_like(values[n]):
                        return None
            except Unkeyed:
                return None
        return values

    return with_static


__all__ = ["CompiledSpecialization", "Specialization", "key_of"]
