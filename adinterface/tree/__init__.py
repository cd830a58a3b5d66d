"""`adinterface.tree`: map over the leaves of models and gradients, add them, make vectors.

No operator needs it. May import core, `Duplicated` and `Each`; tools and fit import it.
"""

from ..batching.batched_call import Each
from ..batching.duplicated import Duplicated
from ..core.support.publish import publish
from ..core.tree import Constant, register_node
from .algebra import add, axpy, norm, scale, sum_shared, vdot, zeros_like
from .mapping import TreeStructure, leaves, leaves_with_path, map, structure
from .vectors import as_matrix, cast, ravel, to

__all__ = [
    "Constant",
    "Duplicated",
    "Each",
    "TreeStructure",
    "add",
    "as_matrix",
    "axpy",
    "cast",
    "leaves",
    "leaves_with_path",
    "map",
    "norm",
    "ravel",
    "register_node",
    "scale",
    "structure",
    "sum_shared",
    "to",
    "vdot",
    "zeros_like",
]


def __dir__() -> list[str]:
    """What is for users."""
    return __all__


publish("adinterface.tree", globals())
