"""Specializations: what a compiling engine keeps of a prepared call for arguments of one signature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..call.call import Call
from ..call.conversions import conversions_into_compiled, unless_identity
from ..call.output import annotate
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
        #: The values of the last call, of which the static ones are compiled in. f sees these if the engine calls it again.
        self._values: Sequence[Any] = [values[n] if n in static else None for n in range(len(values))]
        #: Whether the engine must copy the caller's arrays.
        self.copies: bool = operation.outlives or not _waits(operation, plan)
        enters = conversions_into_compiled(plan.backend, plan, values, copy=self.copies)
        #: The plan of the calls of compiled code.
        self._into = replace(plan, enters=unless_identity(enters))
        #: The carried values that are not compiled in.
        self.dynamic: tuple[int, ...] = tuple([n for n in plan.carried if n not in static])
        self.compute: Compiled = operation.compile(self._compiled)

    def call(self, values: Sequence[Any], directions: tuple[Any, ...] | None) -> Any:
        """The operator's results for the values of a call, and for its directions if the operator takes any."""
        call = self.operation.call_type(self._into, self.f, values, self.operation.output)
        try:
            if self.plan.scope is None:
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
            self._values = [values[n] if n in self._static else None for n in range(len(values))]
        native = call.enter()
        carried = [call.entered[n] for n in self.dynamic]
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
        dynamic = (*plan.active, *self.dynamic)

        def flat(*arrays: Any) -> Results:
            entered = [*self._values]
            for n, array in zip(dynamic, arrays):
                entered[n] = array
            function = Call(plan, f, self._values, output, entered)
            function.owns_leaves = False
            return compute(function, arrays[: len(plan.active)], arrays[len(dynamic) :])

        return flat


def _waits(operation: Operation, plan: Plan) -> bool:
    """Whether some result is a NumPy array or a Python number, so that the call waits for the engine.

    Otherwise the engine may still read an argument while the caller writes into it.
    """
    if plan.result_library is NUMPY:
        return True
    like_leaves = "arguments" in operation.forms or "argument" in operation.forms
    return like_leaves and any(plan.slots[n].library in (NUMPY, PYTHON) for n in plan.active)


__all__ = ["Specialization"]
