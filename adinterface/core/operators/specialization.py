"""Specializations: what a prepared call keeps for arguments of one signature, compiled by the engine or not."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any

import numpy as np

from ..call.output import Function, annotate
from ..call.passages import Entrance
from ..call.plan import Plan
from ..contract.ambient import take_wish
from ..contract.decisions import Undecided
from ..contract.errors import AdinterfaceError
from ..contract.library import NUMPY, PYTHON
from ..contract.nodes import Unkeyed, contents, key_and_change
from ..contract.packed import Packed
from .evaluate import evaluate
from .operation import Compiled, Compute, Operation, Results


class Specialization:
    """An operator on one f for arguments of one signature."""

    #: From old to new keys of static values that f changed while it was compiled, such as a cache or a counter.
    written: Mapping[Any, Any] = MappingProxyType({})

    def __init__(self, operation: Operation, f: Callable[..., Any], plan: Plan):
        self.operation: Operation = operation
        self.f: Callable[..., Any] = f
        self.plan: Plan = plan

    def call(self, values: Sequence[Any], directions: tuple[Any, ...] | None) -> Any:
        """The operator's results for the values of a call, and for its directions if the operator takes any."""
        return evaluate(self.operation, self.plan, values, self.f, directions)


class CompiledSpecialization(Specialization):
    """The engine's compiled code for f and the operator, with the static values of one signature."""

    def __init__(self, operation: Operation, f: Callable[..., Any], plan: Plan, values: Sequence[Any], static: Sequence[int]):
        super().__init__(operation, f, plan)
        kept = {n: _kept(values[n]) for n in static}
        #: For each carried value: whether it is compiled in, and the value if so.
        self.places: list[tuple[bool, Any]] = [(True, kept[n]) if n in kept else (False, None) for n in plan.carried]
        #: Mutable objects of the caller that are compiled in.
        self._shared = [kept[n] for n in static if kept[n] is values[n] and _may_change(kept[n])]
        #: Whether the engine must copy the caller's arrays.
        self.copies: bool = operation.outlives or not _waits(operation, plan)
        enters, carried = plan.compiled_passages(values, copy=self.copies)
        self.enter: Entrance = Entrance(enters, plan.active)
        #: The carried values that are not compiled in, and their conversions.
        dynamic = [(n, enter) for n, enter, (inside, _) in zip(plan.carried, carried, self.places) if not inside]
        self.dynamic: tuple[int, ...] = tuple([n for n, _ in dynamic])
        self.enter_carried: Entrance = Entrance([enter for _, enter in dynamic], self.dynamic)
        self.compute: Compiled = operation.compile(self._compiled)
        #: Whether f branches on traced values and is compiled per path; None: not tried yet.
        self._deciding: bool | None = None
        self._lock = threading.Lock()

    def call(self, values: Sequence[Any], directions: tuple[Any, ...] | None) -> Any:
        try:
            return self._evaluated(values, directions)
        except Exception as error:
            if isinstance(error, (RuntimeError, TypeError)) and not isinstance(error, AdinterfaceError):
                annotate(self.plan, error)  # raised by the engine, for the arguments or for what it compiles
            if not take_wish() or self._deciding is False:
                raise
            return self._decided(error, values, directions)

    def _evaluated(self, values: Sequence[Any], directions: tuple[Any, ...] | None) -> Any:
        scope = None if self.plan.scope is None else self.plan.scope()
        if scope is None:
            return self._in_scope(values, directions)
        with scope:
            return self._in_scope(values, directions)

    def _in_scope(self, values: Sequence[Any], directions: tuple[Any, ...] | None) -> Any:
        operation = self.operation
        call = operation.call_type(self.plan, values, self.f)
        native = call.native = self.enter(values, call.taken)
        carried = self.enter_carried(values, call.taken)
        if directions is None:
            return operation.finish(call, self.compute(*native, *carried))
        tangents = operation.tangents(call, directions)
        if self.copies:
            tangents = tuple([x.copy() if type(x) is np.ndarray else x for x in tangents])
        return operation.finish(call, self.compute(*native, *carried, *tangents))

    def _decided(self, error: Exception, values: Sequence[Any], directions: tuple[Any, ...] | None) -> Any:
        """Retry with value-dependent branches compiled per path; if that fails, raise the error of an uncompiled call."""
        before = self.compute
        try:
            with self._lock:  # the first of several threads compiles
                first = self._deciding is None
                if first:
                    self.compute, self._deciding = self.operation.compile(self._compiled_deciding), True
            return self._evaluated(values, directions)
        except Undecided:  # the uncompiled run does not know the values either
            if first:
                self.compute, self._deciding = before, False
            take_wish()
            raise error from None
        except Exception as ended:
            take_wish()
            raise ended from None  # without the error of the first compilation

    # what the engine compiles

    def _compiled(self, compute: Compute) -> Compiled:
        return self._by(self.operation.backend.compile, compute)

    def _compiled_deciding(self, compute: Compute) -> Compiled:
        return self._by(self.operation.backend.compile_deciding, compute)

    def _by(self, compiler: Callable[[Compiled], Compiled | None], compute: Compute) -> Compiled:
        """Raises Undecided if the engine has nothing to offer."""
        flat = self._flat(compute)
        packed = None if self.operation.backend.takes_trees else Packed(flat)
        compiled = compiler(flat if packed is None else packed)
        if compiled is None:
            raise Undecided
        return compiled if packed is None else packed.around(compiled)

    def _flat(self, compute: Compute) -> Compiled:
        """`compute` as a function of the active leaves, the dynamic carried values and the tangents, concatenated."""
        plan, f, output, places = self.plan, self.f, self.operation.output, self.places
        count, behind = len(plan.active), len(plan.active) + len(self.dynamic)

        def flat(*arrays: Any) -> Results:
            take_wish()  # of code that ran before
            dynamic = iter(arrays[count:behind])
            both = [value if compiled_in else next(dynamic) for compiled_in, value in places]
            function = Function(plan, f, both, output)
            function.fresh = False
            before = [key_of(value) for value in self._shared]
            results = compute(function, arrays[:count], arrays[behind:])
            with suppress(Unkeyed):  # f put a value there that cannot be compared
                changes = zip(before, [key_of(value) for value in self._shared])
                self.written = {**self.written, **{old: new for old, new in changes if old != new}}
            return results

        return flat


def _waits(operation: Operation, plan: Plan) -> bool:
    """Whether some result is a NumPy array or a Python number, so that the call waits for the engine.

    Otherwise the engine may still read an argument while the caller writes into it.
    """
    if plan.result_library is NUMPY:
        return True
    like_leaves = "arguments" in operation.forms or "argument" in operation.forms
    return like_leaves and any(plan.slots[n].library in (NUMPY, PYTHON) for n in plan.active)


def key_of(value: Any) -> Any:
    """A key of a static value's content: equal only for values that f cannot tell apart. Raises Unkeyed for other values."""
    return contents(value)


def _kept(value: Any) -> Any:
    """A static value to compile in: a copy of a list or a set, since an equal one may replace it; else the value itself."""
    try:
        key_and_change(value, False)
    except Unkeyed:
        key_and_change(value, True)
        try:
            return copy.deepcopy(value)
        except (TypeError, copy.Error):  # it holds a file, a lock or the like
            return value
    return value


def _may_change(value: Any) -> bool:
    """Whether the same object may have another key in the next call."""
    try:
        return bool(key_and_change(value, False)[1])
    except Unkeyed:
        return bool(key_and_change(value, True)[1])


__all__ = ["CompiledSpecialization", "Specialization", "key_of"]
