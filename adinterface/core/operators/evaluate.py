"""One evaluation of an operator: from the plan and the values of a call to its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..call.call import Call
from ..call.output import annotate
from ..call.plan import Plan
from ..contract.record import active_record, estimating
from .operation import Operation, Results


def evaluate(
    operation: Operation, plan: Plan, f: Callable[..., Any], values: Sequence[Any], directions: tuple[Any, ...] | None
) -> Any:
    """The operator's results for the values of a call, and for its directions if the operator takes any."""
    record = active_record()
    if record is not None:
        record.calls.append((plan, values))
    try:
        call = operation.call_type(plan, f, values, operation.output)
        with call.scope():
            leaves = call.enter()
            tangents = () if directions is None else operation.tangents(call, directions)
            if operation.specializes:
                operation = operation.specialized(call, leaves)
            if not operation.estimates:
                return operation.finish(call, operation.compute(call, leaves, tangents))
            with estimating() as accuracies:
                results: Results = operation.compute(call, leaves, tangents)
            call.warn_imprecise(accuracies)
            return operation.finish(call, results)
    except RuntimeError as error:  # raised by the engine
        annotate(plan, error)
        raise


def specialized(operation: Operation, plan: Plan, values: Sequence[Any], f: Callable[..., Any]) -> Operation:
    """The operation with what is decided once for a specialization of a prepared call, such as a sparsity pattern."""
    if not operation.specializes:
        return operation
    call = Call(plan, f, values, operation.output)
    with call.scope():
        return operation.specialized(call, call.enter())
