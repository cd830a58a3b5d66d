"""The flat mathematics: every operator, derived once from `pullback` or `pushforward`.

Works on native arrays only. May import the contract.
"""

from .jacobians import gradient, jacobian
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
    "DerivedFunction", "back_stacked", "derivative", "gradient", "gradients", "hessian",
    "hessian_diagonal", "hessian_map", "hvp", "jacobian", "linearize", "pullback", "push_stacked",
    "pushforward", "second_derivative",
]  # fmt: skip
