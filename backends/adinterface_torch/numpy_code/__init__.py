"""NumPy's functions on tensors, with NumPy's promotion, defaults and names: those that are called often.

They are here for their speed, or because the Array API has no counterpart; everything else is composed, as on any engine.
"""

from types import SimpleNamespace

from . import elementwise, fft, indexing, linalg, ordered, products, reductions, shapes, torch_special

#: Where `numpy_function` looks them up.
SOURCES = (
    ordered,
    elementwise,
    indexing,
    products,
    reductions,
    shapes,
    SimpleNamespace(fft=fft, linalg=linalg, special=torch_special),
)
