"""The functions of the Array API standard, composed of about 30 primitives.

Each function takes the namespace first, and calls other functions through it. So a function that
the engine has replaces the composition here and in every other composition. Indices and masks are
NumPy arrays that `asarray` converts.

Source: Python array API standard, version 2024.12.
"""

from __future__ import annotations

from . import arrays, elementwise, fourier, linear_algebra, reductions
from .composing import COMPOSITIONS
from .linear_algebra import EighResult, QRResult, SlogdetResult, SVDResult

__all__ = [
    "COMPOSITIONS",
    "EighResult",
    "QRResult",
    "SVDResult",
    "SlogdetResult",
    "arrays",
    "elementwise",
    "fourier",
    "linear_algebra",
    "reductions",
]
