"""A call of an operator: its plan, and one evaluation of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..call.call import Call
from ..call.conversions import with_conversions
from ..call.cotangents import native_tangents
from ..call.output import annotate
from ..call.plan import Engines, Plan, lay_out
from ..call.row import OperatorRow
from ..contract.auto import AutoBackend, MatrixBackend
from ..contract.errors import AdinterfaceError
from ..contract.nodes import Around
from ..contract.registry import find, function_of_extension
from ..contract.tracing import untraced
from ..support.cache import Cache
from ..support.record import active_record, estimating
from ..support.static_values import Unkeyed
from ..tree import Signature
from .requirements import require_arguments, require_differentiated
from .second_order import engines_of

#: The tangents or cotangents that the user gives with the arguments; None if there are none.
DirectionValues = tuple[Any, ...] | None


@untraced
def run(
    row: OperatorRow,
    auto: AutoBackend,
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """One call of an operator, from arguments to results."""
    directions = None
    if row.directions is not None:
        args, directions = row.arguments(args)
    plan, values, _ = find_plan(row, auto, args, kwargs)
    record = active_record()
    if record is not None:
        record.calls.append((plan, values))
    call = Call(plan, f, values)
    if not plan.around:
        return evaluate(call, directions)
    call.arguments = args, kwargs
    return surrounded(call, plan.around, lambda call: evaluate(call, directions))


def evaluate(call: Call, directions: DirectionValues, in_scope: bool = False) -> Any:
    """The results of a call. directions: those of the operator, if it takes any."""
    plan = call.plan
    if plan.scope is not None and not in_scope:
        with call.scope():
            return evaluate(call, directions, True)
    try:
        leaves = call.enter()
        tangents = () if directions is None else native_tangents(call, directions)
        if plan.operator.bind is not None:
            plan = call.plan = bound(plan, call)
        if not plan.estimates:
            parts = plan.compute(call, leaves, tangents)
        else:
            with estimating() as accuracies:
                parts = plan.compute(call, leaves, tangents)
            call.warn_imprecise(accuracies)
        return (plan.operator.finish or Call.results)(call, parts)
    except (RuntimeError, TypeError) as error:  # raised by the engine
        if not isinstance(error, AdinterfaceError):
            annotate(plan, error)
        raise


def bound(plan: Plan, call: Call) -> Plan:
    """The plan with what its operator decides once for an entered call or a specialization."""
    assert plan.operator.bind is not None
    return plan.of(plan.operator.bind(call, call.leaves))


def surrounded(call: Call, around: Sequence[Around], inside: Callable[[Call], Any]) -> Any:
    """The results of a call with what surrounds it. inside: evaluates the call."""
    if not around:
        return inside(call)
    return around[0](call, lambda call: surrounded(call, around[1:], inside))


# Plans
# ------------------------------------------------------------------------------------------------

#: The plans that one-shot and prepared calls share.
_PLANS: Cache[Plan] = Cache(256)


def find_plan(
    row: OperatorRow, auto: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Plan, Sequence[Any], Signature | None]:
    """The plan for such arguments, their values, and their signature.

    Without a signature (None) nothing is cached.
    """
    if not isinstance(auto, AutoBackend):
        find(auto)  # raises an error that says what to write
    try:
        signature = Signature(args, kwargs)
    except (Unkeyed, AdinterfaceError, RecursionError):
        return *_planned(row, auto, args, kwargs), None  # which raises the error, with its path
    key = row, auto, signature.key
    known = _PLANS.get(key)
    if known is None:
        known = _PLANS.add(key, _planned(row, auto, args, kwargs)[0])
    return known, signature.values, signature


def _planned(
    row: OperatorRow, auto: AutoBackend, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Plan, Sequence[Any]]:
    """A new plan, and the values of its slots.

    The marks of a row come before `around`, which may read them, and before the requirements,
    which are those of one entry.
    """
    row, engines = resolved(row, auto)
    plan, values = lay_out(row, engines, args, kwargs)
    require_differentiated(plan, values)
    if row.marks is not None:
        plan = replace(plan, marks=row.marks(plan, values))
    surroundings = [node_type.around(row, plan) for node_type in plan.node_types()]
    plan = replace(plan, around=tuple([around for around in surroundings if around is not None]))
    require_arguments(plan, values)
    return with_conversions(plan, values), values


def resolved(row: OperatorRow, auto: AutoBackend) -> tuple[OperatorRow, Engines]:
    """The row that computes an operator on a backend value, perhaps an extension's; the engines."""
    if isinstance(auto, MatrixBackend):
        row, auto = function_of_extension("matrix_row")(row, auto), auto.backend
    return row, engines_of(row, auto)
