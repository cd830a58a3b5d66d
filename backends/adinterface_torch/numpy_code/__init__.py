"""NumPy's functions on tensors, with NumPy's promotion, defaults and names."""

from types import SimpleNamespace

from . import elementwise, fft, indexing, linalg, products, reductions, shapes, special

#: Where `numpy_function` looks them up.
SOURCES = (elementwise, indexing, products, reductions, shapes, SimpleNamespace(linalg=linalg, fft=fft, special=special))
