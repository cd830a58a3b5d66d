"""What engines may import: trees, for their optimisers and for objects that f may write to."""

from .._trees import flatten_tree
from ..core.call.output import check_scalar, scalar_and_rest
from ..core.tree import handler_of
from ..core.tree.structures import CONSTANT, Leaf, Node, Static, Structure, is_stateful
from ..tree.algebra import like
from .parameters import Parameters, each_constant, one_gradient, require_floats, stateful_type

__all__ = [
    "CONSTANT", "Leaf", "Node", "Parameters", "Static", "Structure", "check_scalar",
    "each_constant", "flatten_tree", "handler_of", "is_stateful", "like", "one_gradient",
    "require_floats", "scalar_and_rest", "stateful_type",
]  # fmt: skip
