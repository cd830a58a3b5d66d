"""What operators require of the arguments of a call, checked when it is planned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..call.messages import nothing_differentiable
from ..call.plan import Plan
from ..contract.errors import NotDifferentiableError
from ..contract.library import kind
from ..tree import DIFFERENTIATED


def require_leaves(operator: str, plan: Plan, values: Sequence[Any]) -> None:
    """Something must be differentiated."""
    if not plan.active:
        raise NotDifferentiableError(nothing_differentiable(operator, plan, zip(plan.slots, values)))


def require_one(operator: str, plan: Plan) -> None:
    """Only the first argument may be differentiated."""
    active = plan.active_arguments
    if active != (0,):
        others = ", ".join(f"args[{i}]" for i in active if i != 0)
        problem = f"but {others} would be, too" if 0 in active else "but args[0] has no gradient"
        raise NotDifferentiableError(
            f"{operator} differentiates exactly one argument, the first, {problem}. Wrap every further argument "
            f"in Constant(...), or pass one tuple or dict that holds them all."
        )


def require_number(operator: str, plan: Plan, shape: tuple[int, ...]) -> None:
    """Only one real number may be differentiated. shape: that of the first leaf."""
    if len(plan.active) != 1 or shape != ():
        actual = f"{len(plan.active)} arrays" if len(plan.active) != 1 else f"an array of shape {shape}"
        raise NotDifferentiableError(
            f"{operator} differentiates with respect to one real number, but args[0] holds {actual}. "
            f"Use jacobian, or pushforward for the derivative in one direction."
        )
    require_real(
        operator,
        plan,
        "A holomorphic derivative is a jacobian; otherwise pass the real and imaginary parts as two real arguments.",
    )


def require_real(operator: str, plan: Plan, remedy: str = "Pass its real and imaginary parts as two real arrays.") -> None:
    """Derivatives by one number, and second derivatives, with respect to complex numbers are not defined here."""
    if not any(kind(dtype) == "complex" for dtype in plan.dtypes):
        return
    dtypes = iter(plan.dtypes)
    for i, structure in enumerate(plan.structures):
        for path in [path for path, place in structure.places(f"args[{i}]") if place is DIFFERENTIATED]:
            if kind(next(dtypes)) == "complex":
                raise NotDifferentiableError(
                    f"{operator} is taken with respect to real arguments only, but {path} is complex. {remedy}"
                )
