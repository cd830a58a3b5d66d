"""Sparse Jacobians and Hessians: patterns are found, coloured, compressed and checked.

May import core, and the compositions of `numpy_code`, whose functions the trace of a pattern also
covers. SciPy is imported late: it is the extra `adinterface[scipy]`.
"""

from ..core.support.publish import publish
from .auto import AutoSparse
from .pattern import Colouring, SparsityPattern
from .sparsity import sparsity

#: What the core calls: for the row of an operator on `AutoSparse`, and with a large dense Jacobian
#: or Hessian.
FUNCTIONS = {
    "matrix_row": f"{__name__}.operators:sparse_row",
    "look_at_dense": f"{__name__}.wasteful:warn_if_wasteful",
}

__all__ = ["AutoSparse", "Colouring", "SparsityPattern", "sparsity"]

publish(__name__, globals())
