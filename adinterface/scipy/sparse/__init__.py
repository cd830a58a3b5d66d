"""SciPy sparse matrices, as constants in products with the arrays of any engine.

Inside `numpy_function`, `A @ x`, `x @ A` and `A.dot(x)` are these products. Elsewhere, for an
engine's own array, write `product(A, x)`.
"""

from ..dispatch import rest_of
from . import linalg as linalg
from .sparse_products import product

__getattr__ = rest_of("scipy.sparse", globals())

__all__ = ["linalg", "product"]
