"""The flat mathematics: every operator, derived once from `pullback` or `pushforward`.

Works on native arrays only. May import the contract.
"""

from ..contract.record import note_step
from .jacobians import from_parts, gradient, jacobian, part_of_columns, part_of_rows
from .primitives import back_stacked, linearize, pullback, push_stacked, pushforward
from .second_order import (
    DerivedFunction,
    derivative,
    gradients,
    hessian,
    hessian_diagonal,
    hessian_map,
    hvp,
    second_derivative,
)

__all__ = [
    "DerivedFunction", "back_stacked", "derivative", "from_parts", "gradient", "gradients", "hessian", "hessian_diagonal",
    "hessian_map", "hvp", "jacobian", "linearize", "note_step", "part_of_columns", "part_of_rows", "pullback",
    "push_stacked", "pushforward", "second_derivative",
]  # fmt: skip
