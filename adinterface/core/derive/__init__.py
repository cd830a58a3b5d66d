"""The flat mathematics: every operator, derived once from `pullback` or `pushforward`.

Works on native arrays only. May import the contract.
"""

from .jacobians import gradient, jacobian
from .primitives import linearize, pullback, pushforward, stacked
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
    "DerivedFunction", "derivative", "gradient", "gradients", "hessian",
    "hessian_diagonal", "hessian_map", "hvp", "jacobian", "linearize", "pullback", "stacked",
    "pushforward", "second_derivative",
]  # fmt: skip
