"""Functions that bring their own derivatives, and values that are not differentiated.

A floor above `namespace`: it may import that, the contract and `tree`, and knows no operator. What an engine makes of a rule
is the engine's, behind `Library.custom`; here a rule is taken from trees to flat arrays, and what its author's code returns
is checked, so that a mistake is the same error on every engine.
"""

from . import loops as loops
from .derived.crossing import differentiate_with
from .derived.implicit import fixed_point, root
from .derived.linear import linear_solve
from .derived.recompute import checkpoint
from .hooks import gradient_hook, straight_through
from .ignored import ignore_derivatives, non_differentiable
from .namespace import array_namespace
from .rule import Rule, rule
from .scalar import scalar_rule

__all__ = [
    "Rule",
    "array_namespace",
    "checkpoint",
    "differentiate_with",
    "fixed_point",
    "gradient_hook",
    "ignore_derivatives",
    "linear_solve",
    "loops",
    "non_differentiable",
    "root",
    "rule",
    "scalar_rule",
    "straight_through",
]
