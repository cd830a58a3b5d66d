"""A plan whose `compute` an engine has compiled, for the prepared calls of one signature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..call.call import Call
from ..call.conversions import copies_for_compiled, into_compiled
from ..call.plan import Plan
from ..call.row import Compiled, Compute, Parts
from ..contract.backend import Arrays


def compiled(
    plan: Plan, f: Callable[..., Any], values: Sequence[Any], static: Sequence[int]
) -> Plan:
    """The plan with compiled code in place of its `compute`, and conversions into it.

    static: the slots whose values are compiled in.
    """
    carried = [n for n in plan.carried if n not in static]
    # The arrays that compiled code takes, in front of the tangents.
    dynamic = (*plan.active, *carried)
    copies = copies_for_compiled(plan)
    # Those of the last call: f sees the static ones if the engine calls it again. It keeps no other
    # value alive.
    last = _only(values, static)

    def compile_one(compute: Compute) -> Compiled:
        def flat(*arrays: Any) -> Parts:
            entered = [*last]
            for n, array in zip(dynamic, arrays):
                entered[n] = array
            call = Call(plan, f, last, entered)
            return compute(call, arrays[: len(plan.active)], arrays[len(dynamic) :])

        whole = plan.backend.compile(flat)
        assert whole is not None
        return whole

    whole = plan.operator.compiled(compile_one)

    def compute(call: Call, leaves: Arrays, tangents: Arrays) -> Parts:
        nonlocal last
        if static:
            last = _only(call.values, static)
        if copies and np.ndarray in map(type, tangents):
            tangents = tuple([x.copy() if type(x) is np.ndarray else x for x in tangents])
        if not carried:
            return whole(*leaves, *tangents)
        return whole(*leaves, *[call.entered[n] for n in carried], *tangents)

    return replace(into_compiled(plan, values), compute=compute)


def _only(values: Sequence[Any], slots: Sequence[int]) -> Sequence[Any]:
    return [value if n in slots else None for n, value in enumerate(values)]
