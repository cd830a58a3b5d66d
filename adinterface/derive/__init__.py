"""The flat mathematics: every operator of the contract, derived once from `pullback` or `pushforward`.

Everything here sees native arrays only. It may import the contract, the registry and `tree`; nothing of a user's call.
"""

from .basis import full_like, library_of
from .jacobians import gradient, jacobian
from .primitives import back_stacked, linearize, pullback, push_stacked, pushforward
from .second_order import DerivativeFunction, GradientFunction, derivative, hessian, hessian_diagonal, hvp, second_derivative

__all__ = [
    "DerivativeFunction",
    "GradientFunction",
    "back_stacked",
    "derivative",
    "full_like",
    "gradient",
    "hessian",
    "hessian_diagonal",
    "hvp",
    "jacobian",
    "library_of",
    "linearize",
    "pullback",
    "push_stacked",
    "pushforward",
    "second_derivative",
]
