"""Trees: an argument is flattened into leaves and a `Structure`, and results are rebuilt on that structure.

`recognition` finds the handler of a value, `flattening` flattens a tree, `matching` compares a tree with a structure. The
users' functions on models and gradients are in `adinterface.tree`. May import the contract.
"""

from ..contract.structures import (
    CARRIED,
    CONSTANT,
    DIFFERENTIATED,
    EACH,
    Constant,
    Each,
    Given,
    GivenConstant,
    Leaf,
    LeafSpec,
    Node,
    Owner,
    Slot,
    Static,
    Structure,
    build_gradient,
    count_leaves,
)
from .flattening import Flattening, Signature, flatten, is_differentiated, owner_of, refuse_endless
from .matching import Matcher, along, flatten_tree, rebuild, structure_key
from .recognition import HANDLERS, handler_of, is_floating_array, is_opaque_type, register_node, register_stand_in, stood_for

__all__ = [
    "CARRIED", "CONSTANT", "Constant", "DIFFERENTIATED", "EACH", "Each", "Given",
    "GivenConstant", "HANDLERS", "Owner", "Leaf", "LeafSpec", "Matcher", "Node", "Signature", "Slot", "Flattening",
    "Static", "Structure", "along", "flatten_tree", "build_gradient", "count_leaves", "flatten", "handler_of", "owner_of",
    "is_differentiated", "is_floating_array", "is_opaque_type", "rebuild", "refuse_endless", "register_node",
    "register_stand_in", "stood_for", "structure_key",
]  # fmt: skip
