"""Trees: an argument comes apart into leaves and a `Structure`, and results are built on that structure again.

`structures` says what is left of a tree without its leaves, `recognition` who handles a value, `flattening` takes a tree
apart, `matching` holds another one against it; the other files are what users do with models and gradients.
May import the ground, `registry`, `containers`.
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
from .algebra import add, axpy, norm, scale, vdot, where, zeros_like
from .duplicated import DUPLICATED, Duplicated, store
from .flattening import flatten, flatten_argument, holder_of, is_promoted, refuse_endless
from .mapping import TreeStructure, leaves, leaves_with_path, map, structure, structure_key
from .matching import Matcher
from .recognition import HANDLERS, handler_of, is_floating_array, is_opaque_type, register_node, register_stand_in, stood_for
from .shared import sum_shared
from .vectors import as_matrix, cast, from_matrix, ravel, to

__all__ = [
    "Constant", "Duplicated", "Each", "TreeStructure", "add", "as_matrix", "axpy", "cast", "from_matrix", "leaves",
    "leaves_with_path", "map", "norm", "ravel", "register_node", "scale", "structure", "sum_shared", "to", "vdot", "where",
    "zeros_like",
]  # fmt: skip
_FOR_USERS = [*__all__]
__all__ += [
    "CARRIED", "CONSTANT", "DIFFERENTIATED", "DUPLICATED", "EACH", "HANDLERS", "Holder", "Leaf", "LeafSpec", "Matcher", "Node",
    "Static", "Structure", "build_gradient", "count_leaves", "flatten", "flatten_argument", "handler_of",
    "holder_of", "is_floating_array", "is_opaque_type", "is_promoted", "refuse_endless", "register_stand_in", "stood_for",
    "store", "structure_key",
]  # fmt: skip


def __dir__() -> list[str]:
    """What is for users; the core's own functions are here too."""
    return _FOR_USERS
