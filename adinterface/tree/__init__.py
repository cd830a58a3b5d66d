"""Trees: an argument comes apart into leaves and a `Structure`, and results are built on that structure again.

`structure` says what is left of a tree without its leaves, `recognition` who handles a value, `flattening` and `building` go
there and back; the other files are what users do with models and gradients. May import the ground, `registry`, `containers`.
"""

from .building import (
    GradientBuilder as GradientBuilder,
)
from .building import (
    build as build,
)
from .building import (
    build_gradient as build_gradient,
)
from .building import (
    builder as builder,
)
from .building import (
    gradient_builder as gradient_builder,
)
from .flattening import (
    flatten as flatten,
)
from .flattening import (
    holder_of as holder_of,
)
from .flattening import (
    refuse_endless as refuse_endless,
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
from .structure import (
    CARRIED as CARRIED,
)
from .structure import (
    DIFFERENTIATED as DIFFERENTIATED,
)
from .structure import (
    Constant,
)
from .structure import (
    Frozen as Frozen,
)
from .structure import (
    Holder as Holder,
)
from .structure import (
    Leaf as Leaf,
)
from .structure import (
    LeafSpec as LeafSpec,
)
from .structure import (
    Node as Node,
)
from .structure import (
    Static as Static,
)
from .structure import (
    Structure as Structure,
)
from .structure import (
    children_of as children_of,
)
from .structure import (
    count_leaves as count_leaves,
)
from .structure import (
    count_slots as count_slots,
)
from .structure import (
    paths_of as paths_of,
)


def __dir__() -> list[str]:
    """What is for users; the core's own functions are here too."""
    return __all__


__all__ = ["Constant", "register_node", "sum_shared"]
