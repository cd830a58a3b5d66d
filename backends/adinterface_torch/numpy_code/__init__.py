"""Frequent NumPy functions on tensors, with the promotion, defaults and names of NumPy.

They are faster than compositions, or the Array API has no counterpart. All others are composed, as on any engine.
"""

from types import SimpleNamespace

from . import arithmetic, complex_order, contractions, indexing, linalg, torch_special

#: Where `numpy_function` looks them up.
SOURCES = (
    complex_order,
    arithmetic,
    indexing,
    contractions,
    SimpleNamespace(linalg=linalg, special=torch_special),
)
