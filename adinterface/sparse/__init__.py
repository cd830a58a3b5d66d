"""Sparse Jacobians and Hessians: patterns are found, coloured, compressed and checked.

May import core, and the compositions of `numpy_code`, whose functions the trace of a pattern also covers. SciPy is imported
late: it is the extra `adinterface[sparse]`.
"""

from ..core.contract.auto import AutoBackend
from ..core.contract.publish import publish
from ..core.operators.dispatch import Extension
from .auto import AutoSparse
from .pattern import Colouring, SparsityPattern
from .sparsity import sparsity


def is_sparse(auto: AutoBackend) -> bool:
    return isinstance(auto, AutoSparse)


EXTENSION = Extension(is_sparse, f"{__name__}.operators:sparse_operation")

#: What the core calls with a large dense Jacobian or Hessian.
FUNCTIONS = {"look_at_dense": f"{__name__}.wasteful:warn_if_wasteful"}

__all__ = ["EXTENSION", "AutoSparse", "Colouring", "SparsityPattern", "is_sparse", "sparsity"]

publish(__name__, globals())
