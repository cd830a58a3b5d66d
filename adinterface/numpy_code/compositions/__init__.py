"""NumPy's functions composed of the Array API: for every engine, wherever it has none of its own.

Each takes the namespace first, then what NumPy's function takes, with NumPy's defaults and dtypes. The modules enter
their functions into the table.
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
    without_nan,
)
from .composing import COMPOSITIONS
from .indexing import added_anywhere, getitem, written, written_anywhere

__all__ = ["COMPOSITIONS", "added_anywhere", "getitem", "written", "written_anywhere"]
