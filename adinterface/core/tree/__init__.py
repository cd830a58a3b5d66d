"""Trees: an argument comes apart into leaves and a `Structure`, and results are built on that structure again.

`recognition` says who handles a value, `flattening` takes a tree apart, `matching` holds another one against it. What users do
with models and gradients is `adinterface.tree`. May import the contract.
"""

from ..contract.structures import (
    CARRIED,
    CONSTANT,
    DIFFERENTIATED,
    EACH,
    Constant,
    Each,
    Holder,
    Leaf,
    LeafSpec,
    Node,
    Static,
    Structure,
    build_gradient,
    count_leaves,
)
from .duplicated import DUPLICATED, Duplicated, store
from .flattening import flatten, flatten_argument, holder_of, is_promoted, refuse_endless
from .matching import Matcher, along, apart, rebuild, structure_key
from .recognition import HANDLERS, handler_of, is_floating_array, is_opaque_type, register_node, register_stand_in, stood_for

__all__ = [
    "CARRIED", "CONSTANT", "Constant", "DIFFERENTIATED", "DUPLICATED", "Duplicated", "EACH", "Each", "HANDLERS", "Holder",
    "Leaf", "LeafSpec", "Matcher", "Node", "Static", "Structure", "along", "apart", "build_gradient", "count_leaves", "flatten",
    "flatten_argument", "handler_of", "holder_of", "is_floating_array", "is_opaque_type", "is_promoted", "rebuild",
    "refuse_endless", "register_node", "register_stand_in", "stood_for", "store", "structure_key",
]  # fmt: skip
