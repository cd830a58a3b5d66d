"""Specializations: what a compiling engine keeps of a prepared call for arguments of one signature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..call.call import Call
from ..call.conversions import EnterSlots, conversions_into_compiled, enter_slots
from ..call.output import Function, annotate
from ..call.plan import Plan
from ..contract.errors import AdinterfaceError
from ..contract.library import NUMPY, PYTHON
from .operation import Compiled, Compute, Operation, Results


class Specialization:
    """The engine's compiled code for f and the operator, with the static values of one signature."""

    def __init__(
        self,
        operation: Operation,
        f: Callable[..., Any],
        plan: Plan,
        values: Sequence[Any],
        static: Sequence[int],
    ):
        self.operation: Operation = operation
        self.f: Callable[..., Any] = f
        self.plan: Plan = plan
        self._static = tuple(static)
        #: The carried values that are compiled in: those of the last call. f sees them if the engine calls it again.
        self._given: dict[int, Any] = {n: values[n] for n in static}
        #: Whether the engine must copy the caller's arrays.
        self.copies: bool = operation.outlives or not _waits(operation, plan)
        enters, carried = conversions_into_compiled(plan.backend, plan.layout, values, copy=self.copies)
        self.enter: EnterSlots = enter_slots(enters, plan.layout.active)
        #: The carried values that are not compiled in, and their conversions.
        dynamic = [(n, enter) for n, enter in zip(plan.layout.carried, carried) if n not in self._given]
        self.dynamic: tuple[int, ...] = tuple([n for n, _ in dynamic])
        self.enter_carried: EnterSlots = enter_slots([enter for _, enter in dynamic], self.dynamic)
        self.compute: Compiled = operation.compile(self._compiled)

    def call(self, values: Sequence[Any], directions: tuple[Any, ...] | None) -> Any:
        """The operator's results for the values of a call, and for its directions if the operator takes any."""
        call = self.operation.call_type(self.plan, values, self.f)
        try:
            if self.plan.conversions.scope is None:
                return self._in_scope(call, directions)
            with call.scope():
                return self._in_scope(call, directions)
        except (RuntimeError, TypeError) as error:  # raised by the engine, for the arguments or for what it compiles
            if not isinstance(error, AdinterfaceError):
                annotate(self.plan, error)
            raise

    def _in_scope(self, call: Call, directions: tuple[Any, ...] | None) -> Any:
        operation, values = self.operation, call.values
        if self._static:
            self._given = {n: values[n] for n in self._static}
        native = call.native = self.enter(values, call.taken)
        carried = self.enter_carried(values, call.taken) if self.dynamic else ()
        if directions is None:
            return operation.finish(call, self.compute(*native, *carried))
        tangents = operation.tangents(call, directions)
        if self.copies and np.ndarray in map(type, tangents):
            tangents = tuple([x.copy() if type(x) is np.ndarray else x for x in tangents])
        return operation.finish(call, self.compute(*native, *carried, *tangents))

    # what the engine compiles

    def _compiled(self, compute: Compute) -> Compiled:
        compiled = self.operation.backend.compile(self._flat(compute))
        assert compiled is not None
        return compiled

    def _flat(self, compute: Compute) -> Compiled:
        """`compute` as a function of the active leaves, the dynamic carried values and the tangents, concatenated."""
        plan, f, output = self.plan, self.f, self.operation.output
        count, behind = len(plan.layout.active), len(plan.layout.active) + len(self.dynamic)

        def flat(*arrays: Any) -> Results:
            dynamic = iter(arrays[count:behind])
            given = self._given
            both = [given[n] if n in given else next(dynamic) for n in plan.layout.carried]
            function = Function(plan, f, both, output)
            function.owns_leaves = False
            return compute(function, arrays[:count], arrays[behind:])

        return flat


def _waits(operation: Operation, plan: Plan) -> bool:
    """Whether some result is a NumPy array or a Python number, so that the call waits for the engine.

    Otherwise the engine may still read an argument while the caller writes into it.
    """
    if plan.conversions.result_library is NUMPY:
        return True
    like_leaves = "arguments" in operation.forms or "argument" in operation.forms
    return like_leaves and any(plan.layout.slots[n].library in (NUMPY, PYTHON) for n in plan.layout.active)


__all__ = ["Specialization"]
