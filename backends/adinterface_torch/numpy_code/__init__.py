"""NumPy's functions on tensors, with NumPy's promotion, defaults and names: those that are called often.

They are here for their speed, or because the Array API has no counterpart; everything else is composed, as on any engine.
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
