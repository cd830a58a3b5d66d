"""NumPy's functions composed of the Array API, for every engine that lacks them.

Each takes the namespace first, then the arguments of NumPy's function, with NumPy's defaults and
dtypes. The modules register their functions in the table.
"""

from . import (  # noqa: F401
    calculus,
    creation,
    einsum,
    elementwise,
    indexing,
    joining,
    linear_algebra,
    padding,
    polynomials,
    products,
    quantiles,
    reductions,
    shapes,
    sorting,
    standard_elementwise,
    statistics,
    transforms,
)
from .composing import COMPOSITIONS
from .indexing import added_anywhere, getitem, written, written_anywhere

__all__ = ["COMPOSITIONS", "added_anywhere", "getitem", "written", "written_anywhere"]
