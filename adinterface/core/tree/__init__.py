"""Trees: an argument comes apart into leaves and a `Structure`, and results are built on that structure again.

`structures` says what is left of a tree without its leaves, `recognition` who handles a value, `flattening` and `building` go
there and back; the other files are what users do with models and gradients.
May import the ground, `registry`, `containers`.
"""

from ..contract.structures import (
    CARRIED as CARRIED,
)
from ..contract.structures import (
    DIFFERENTIATED as DIFFERENTIATED,
)
from ..contract.structures import (
    Constant,
    Each,
)
from ..contract.structures import (
    Frozen as Frozen,
)
from ..contract.structures import (
    Holder as Holder,
)
from ..contract.structures import (
    Leaf as Leaf,
)
from ..contract.structures import (
    LeafSpec as LeafSpec,
)
from ..contract.structures import (
    Node as Node,
)
from ..contract.structures import (
    Static as Static,
)
from ..contract.structures import (
    Structure as Structure,
)
from ..contract.structures import (
    children_of as children_of,
)
from ..contract.structures import (
    count_leaves as count_leaves,
)
from ..contract.structures import (
    count_slots as count_slots,
)
from ..contract.structures import (
    paths_of as paths_of,
)
from .algebra import (
    add,
    axpy,
    norm,
    scale,
    vdot,
    where,
    zeros_like,
)
from .building import (
    build as build,
)
from .building import (
    build_gradient as build_gradient,
)
from .duplicated import (
    DUPLICATED as DUPLICATED,
)
from .duplicated import (
    Duplicated,
)
from .duplicated import (
    store as store,
)
from .flattening import (
    flatten as flatten,
)
from .flattening import (
    flatten_argument as flatten_argument,
)
from .flattening import (
    holder_of as holder_of,
)
from .flattening import (
    is_promoted as is_promoted,
)
from .flattening import (
    refuse_endless as refuse_endless,
)
from .mapping import (
    TreeStructure,
    leaves,
    leaves_with_path,
    map,
    structure,
)
from .mapping import (
    structure_key as structure_key,
)
from .markers import (
    EACH as EACH,
)
from .recognition import (
    HANDLERS as HANDLERS,
)
from .recognition import (
    handler_of as handler_of,
)
from .recognition import (
    is_floating_array as is_floating_array,
)
from .recognition import (
    is_opaque_type as is_opaque_type,
)
from .recognition import (
    register_node,
)
from .recognition import (
    register_stand_in as register_stand_in,
)
from .recognition import (
    stood_for as stood_for,
)
from .shared import (
    sum_shared,
)
from .vectors import (
    as_matrix,
    cast,
    from_matrix,
    ravel,
    to,
)


def __dir__() -> list[str]:
    """What is for users; the core's own functions are here too."""
    return __all__


__all__ = [
    "Constant",
    "Duplicated",
    "Each",
    "TreeStructure",
    "add",
    "as_matrix",
    "axpy",
    "cast",
    "from_matrix",
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
    "where",
    "zeros_like",
]
