"""What operators require of the arguments of a call, checked when it is planned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..call.messages import nothing_differentiable
from ..call.plan import Plan
from ..contract.errors import NotDifferentiableError
from ..contract.library import dtype_kind
from ..tree import DIFFERENTIATED


def require_arguments(plan: Plan, values: Sequence[Any]) -> None:
    """Raise NotDifferentiableError for arguments that the operator does not take."""
    row = plan.operator
    if row.takes != "arguments":
        _require_one(plan)
    if row.takes == "one number":
        _require_number(plan, _shape(plan, values))
    elif row.order == 2 and not row.of_complex:
        _require_real(plan)


def _shape(plan: Plan, values: Sequence[Any]) -> tuple[int, ...]:
    """The shape of the first differentiated leaf, as f gets it."""
    n = plan.active[0]
    library = plan.slots[n].library
    assert library is not None
    shape = library.shape(values[n])
    return shape if plan.marks is None else plan.marks.shape_in_f(n, shape)


def require_differentiated(plan: Plan, values: Sequence[Any]) -> None:
    """Raise NotDifferentiableError if nothing is differentiated."""
    if not plan.active:
        raise NotDifferentiableError(nothing_differentiable(plan, zip(plan.slots, values)))


def _require_one(plan: Plan) -> None:
    """Only the first argument may be differentiated."""
    active = plan.active_arguments
    if active != (0,):
        others = ", ".join(f"args[{i}]" for i in active if i != 0)
        problem = f"but {others} would be, too" if 0 in active else "but args[0] has no gradient"
        raise NotDifferentiableError(
            f"{plan.operator.name} differentiates exactly one argument, the first, {problem}. Wrap"
            " every further argument in Constant(...), or pass one tuple or dict that holds them"
            " all."
        )


def _require_number(plan: Plan, shape: tuple[int, ...]) -> None:
    """Only one real number may be differentiated. shape: that of the first leaf."""
    if len(plan.active) != 1 or shape != ():
        count = len(plan.active)
        actual = f"an array of shape {shape}" if count == 1 else f"{count} arrays"
        raise NotDifferentiableError(
            f"{plan.operator.name} differentiates with respect to one real number, but args[0]"
            f" holds {actual}. Use jacobian, or pushforward for the derivative in one direction."
        )
    _require_real(
        plan,
        "A holomorphic derivative is a jacobian; otherwise pass the real and imaginary parts as two"
        " real arguments.",
    )


def _require_real(
    plan: Plan, remedy: str = "Pass its real and imaginary parts as two real arrays."
) -> None:
    """Derivatives by one number, and second ones, are not defined for complex numbers."""
    if not any(dtype_kind(dtype) == "complex" for dtype in plan.dtypes):
        return
    dtypes = iter(plan.dtypes)
    for i, structure in enumerate(plan.structures):
        for path, place in structure.places(f"args[{i}]"):
            if place is DIFFERENTIATED and dtype_kind(next(dtypes)) == "complex":
                raise NotDifferentiableError(
                    f"{plan.operator.name} is taken with respect to real arguments only, but {path}"
                    f" is complex. {remedy}"
                )
