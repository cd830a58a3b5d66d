"""The NumPy functions that torch knows better than compositions.

All others are composed, as on any engine.
"""

from types import SimpleNamespace

from . import functions, indexing, linalg, torch_special

#: Where `numpy_function` looks them up.
SOURCES = (functions, indexing, SimpleNamespace(linalg=linalg, special=torch_special))
