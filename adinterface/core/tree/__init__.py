"""Trees: arguments are flattened into leaves and a `Structure`, on which results are built.

`recognition` finds the handler of a value, `flattening` flattens a tree, `matching` compares a tree
with a structure. The users' functions on models and gradients are in `adinterface.tree`. May import
the contract.
"""

from .flattening import (
    Flattening,
    Signature,
    flatten,
    is_differentiated,
    is_promoted,
    owner_of,
)
from .matching import Matcher
from .recognition import (
    handler_of,
    is_floating_array,
    register_node,
    register_stand_in,
    stood_for,
)
from .structures import (
    CARRIED,
    CONSTANT,
    DIFFERENTIATED,
    CallData,
    Constant,
    Leaf,
    LeafSpec,
    Node,
    Owner,
    Slot,
    Static,
    Structure,
    build_gradient,
    count_leaves,
    is_in_front,
)

__all__ = [
    "CARRIED", "CONSTANT", "CallData", "Constant", "DIFFERENTIATED", "Flattening", 
    "Leaf", "LeafSpec", "Matcher", "Node", "Owner", "Signature", "Slot", "Static", "Structure",
    "build_gradient", "count_leaves", "flatten", "handler_of",
    "is_differentiated", "is_floating_array", "is_in_front", "is_promoted",
    "owner_of", "register_node", "register_stand_in", "stood_for",
]  # fmt: skip
