"""The flat mathematics: every operator of the contract, derived once from `pullback` or `pushforward`.

Everything here sees native arrays only. It may import the contract, the registry and `tree`; nothing of a user's call.
"""

from .basis import full_like, library_of
from ...sparse.compressed import Compressed, compressed_hessian, compressed_jacobian, directions, gathered
from .jacobians import from_parts, gradient, jacobian, part_of_columns, part_of_rows
from .primitives import back_stacked, linearize, pullback, push_stacked, pushforward
from ..contract.record import note_step
from .second_order import (
    DerivativeFunction,
    GradientFunction,
    derivative,
    hessian,
    hessian_diagonal,
    hessian_map,
    hvp,
    second_derivative,
)

__all__ = [
    "Compressed",
    "DerivativeFunction",
    "GradientFunction",
    "back_stacked",
    "compressed_hessian",
    "compressed_jacobian",
    "derivative",
    "directions",
    "from_parts",
    "full_like",
    "gathered",
    "gradient",
    "hessian",
    "hessian_diagonal",
    "hessian_map",
    "hvp",
    "jacobian",
    "library_of",
    "linearize",
    "note_step",
    "part_of_columns",
    "part_of_rows",
    "pullback",
    "push_stacked",
    "pushforward",
    "second_derivative",
]
