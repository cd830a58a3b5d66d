"""Functions with their own derivatives, and values that are not differentiated.

May import `namespace`, the contract and `tree`; names no operator. An engine applies a rule through
`Library.custom`. Here trees are flattened, and the results of the author's code are checked, so
that a mistake is the same error on every engine.
"""

from ..core.support.publish import publish
from . import loops as loops
from .derived.crossing import differentiate_with
from .derived.implicit import fixed_point, root
from .derived.linear import linear_solve
from .derived.recompute import checkpoint
from .hooks import gradient_hook
from .ignored import ignore_derivatives, non_differentiable
from .namespace import array_namespace
from .rule import Rule, rule
from .scalar import scalar_rule

#: What finite differences call, for `ignore_derivatives`.
FUNCTIONS = {"Hold": f"{__name__}.fixed_values:Hold"}

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
]

publish(__name__, globals())
